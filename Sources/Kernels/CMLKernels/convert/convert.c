// Conversion between number types.
#include "../isa/isa.h"
#include <string.h>

#define SERIAL_COUNT (32 << 10)
#define CHUNK 2048

static long size(cml_type type) {
    switch (type) {
    case CML_TYPE_F32: case CML_TYPE_I32: return 4;
    case CML_TYPE_F16: case CML_TYPE_I16: case CML_TYPE_U16: return 2;
    default: return 1;
    }
}

typedef struct {
    const cml_isa *isa;
    cml_type from, to;
    const char *source;
    char *target;
    long count, each;
} job;

static void run(void *context, long task, int worker) {
    (void)worker;
    const job *j = context;
    long at = task * j->each;
    const long end = at + j->each < j->count ? at + j->each : j->count;
    if (j->from != CML_TYPE_F16 && j->to != CML_TYPE_F16) {
        j->isa->convert_row(j->from, j->source + at * size(j->from), j->to, j->target + at * size(j->to), end - at);
        return;
    }
    float middle[CHUNK];
    for (; at < end; at += CHUNK) {
        const long count = end - at < CHUNK ? end - at : CHUNK;
        const char *source = j->source + at * size(j->from);
        char *target = j->target + at * size(j->to);
        if (j->from == j->to) {
            memcpy(target, source, (size_t)count * 2);
        } else if (j->from == CML_TYPE_F16) {
            float *wide = j->to == CML_TYPE_F32 ? (float *)target : middle;
            j->isa->widen((const uint16_t *)source, wide, count);
            if (j->to != CML_TYPE_F32) j->isa->convert_row(CML_TYPE_F32, middle, j->to, target, count);
        } else {
            const float *wide = j->from == CML_TYPE_F32 ? (const float *)source : middle;
            if (j->from != CML_TYPE_F32) j->isa->convert_row(j->from, source, CML_TYPE_F32, middle, count);
            j->isa->narrow(wide, (uint16_t *)target, count);
        }
    }
}

void cml_convert(const cml_isa *isa, cml_type from, const void *source, cml_type to, void *target, long count) {
    if (count <= 0) return;
    job j = {isa, from, to, source, target, count, count};
    const long workers = cml_worker_count();
    if (count > SERIAL_COUNT) j.each = (count / (4 * workers) + CHUNK - 1) / CHUNK * CHUNK;
    cml_parallel_for((count + j.each - 1) / j.each, run, &j);
}

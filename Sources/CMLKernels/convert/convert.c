// Conversion between number types.
#include "../isa/isa.h"
#include <string.h>

#define SERIAL_COUNT (32 << 10)
#define CHUNK 2048

static inline int64_t to_integer(float x, int64_t low, int64_t high) {
    return x != x ? 0 : x <= (float)low ? low : x >= (float)high ? high : (int64_t)x;
}

#define INTEGERS(source_type, target_type)                                                      \
    for (long i = 0; i < count; i++) ((target_type *)target)[i] = (target_type)((const source_type *)source)[i];
#define TO_FLOAT(source_type)                                                                   \
    for (long i = 0; i < count; i++) ((float *)target)[i] = (float)((const source_type *)source)[i];
#define FROM_FLOAT(target_type, low, high)                                                      \
    for (long i = 0; i < count; i++)                                                            \
        ((target_type *)target)[i] = (target_type)to_integer(((const float *)source)[i], low, high);
#define TO_BOOL(source_type)                                                                    \
    for (long i = 0; i < count; i++) ((uint8_t *)target)[i] = ((const source_type *)source)[i] != 0;
#define FROM_INTEGER(source_type)                                                               \
    switch (to) {                                                                               \
    case CML_TYPE_F32: TO_FLOAT(source_type) return;                                            \
    case CML_TYPE_I32: INTEGERS(source_type, int32_t) return;                                   \
    case CML_TYPE_I16: INTEGERS(source_type, int16_t) return;                                   \
    case CML_TYPE_U16: INTEGERS(source_type, uint16_t) return;                                  \
    case CML_TYPE_I8: INTEGERS(source_type, int8_t) return;                                     \
    case CML_TYPE_U8: INTEGERS(source_type, uint8_t) return;                                    \
    case CML_TYPE_BOOL: TO_BOOL(source_type) return;                                            \
    default: return;                                                                            \
    }

// Neither type is half floats.
static void convert(cml_type from, const void *source, cml_type to, void *target, long count) {
    switch (from) {
    case CML_TYPE_F32:
        switch (to) {
        case CML_TYPE_F32: memcpy(target, source, (size_t)count * 4); return;
        case CML_TYPE_I32: FROM_FLOAT(int32_t, INT32_MIN, INT32_MAX) return;
        case CML_TYPE_I16: FROM_FLOAT(int16_t, INT16_MIN, INT16_MAX) return;
        case CML_TYPE_U16: FROM_FLOAT(uint16_t, 0, UINT16_MAX) return;
        case CML_TYPE_I8: FROM_FLOAT(int8_t, INT8_MIN, INT8_MAX) return;
        case CML_TYPE_U8: FROM_FLOAT(uint8_t, 0, UINT8_MAX) return;
        case CML_TYPE_BOOL: TO_BOOL(float) return;
        default: return;
        }
    case CML_TYPE_I32: FROM_INTEGER(int32_t)
    case CML_TYPE_I16: FROM_INTEGER(int16_t)
    case CML_TYPE_U16: FROM_INTEGER(uint16_t)
    case CML_TYPE_I8: FROM_INTEGER(int8_t)
    case CML_TYPE_U8: FROM_INTEGER(uint8_t)
    case CML_TYPE_BOOL: FROM_INTEGER(uint8_t)
    default: return;
    }
}

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
        convert(j->from, j->source + at * size(j->from), j->to, j->target + at * size(j->to), end - at);
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
            if (j->to != CML_TYPE_F32) convert(CML_TYPE_F32, middle, j->to, target, count);
        } else {
            const float *wide = j->from == CML_TYPE_F32 ? (const float *)source : middle;
            if (j->from != CML_TYPE_F32) convert(j->from, source, CML_TYPE_F32, middle, count);
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

// Copies by index tables (padding, slicing, repetition), gathers and fills.
#include "../isa/isa.h"
#include <string.h>

#define SERIAL_BYTES (64 << 10)

static void fill(char *target, long bytes, const void *value, long count) {
    switch (bytes) {
    case 1: memset(target, *(const uint8_t *)value, (size_t)count); return;
    case 2: for (long i = 0; i < count; i++) ((uint16_t *)target)[i] = *(const uint16_t *)value; return;
    case 4: for (long i = 0; i < count; i++) ((uint32_t *)target)[i] = *(const uint32_t *)value; return;
    default: for (long i = 0; i < count; i++) ((uint64_t *)target)[i] = *(const uint64_t *)value; return;
    }
}

typedef struct {
    const cml_remap_shape *shape;
    long bytes, rows, rows_each;
    const char *source;
    char *target;
    const void *constant;
} remap_job;

#define STEPS(type)                                                                            \
    for (long i = 0; i < s->count; i++) ((type *)target)[i] = ((const type *)from)[i * s->step];

static void remap_row(const remap_job *j, const char *source, char *target) {
    const cml_segment *segments = j->shape->segments;
    for (long n = 0; n < j->shape->segment_count; n++, target += segments[n - 1].count * j->bytes) {
        const cml_segment *s = segments + n;
        const char *from = source + s->source * j->bytes;
        if (s->source < 0) {
            fill(target, j->bytes, j->constant, s->count);
        } else if (s->step == 1) {
            memcpy(target, from, (size_t)(s->count * j->bytes));
        } else {
            switch (j->bytes) {
            case 1: STEPS(uint8_t) break;
            case 2: STEPS(uint16_t) break;
            case 4: STEPS(uint32_t) break;
            default: STEPS(uint64_t) break;
            }
        }
    }
}

static void remap_rows(void *context, long task, int worker) {
    (void)worker;
    const remap_job *j = context;
    const cml_remap_shape *s = j->shape;
    const long end = (task + 1) * j->rows_each < j->rows ? (task + 1) * j->rows_each : j->rows;
    for (long row = task * j->rows_each; row < end; row++) {
        long rest = row, offset = 0;
        for (int axis = s->rank - 1; axis >= 0; axis--) {
            const long step = s->offset[axis][rest % s->extent[axis]];
            rest /= s->extent[axis];
            if (step < 0) {
                offset = -1;
                break;
            }
            offset += step;
        }
        char *target = j->target + row * s->width * j->bytes;
        if (offset < 0) fill(target, j->bytes, j->constant, s->width);
        else remap_row(j, j->source + offset * j->bytes, target);
    }
}

// Rows of one task: everything, or a share that gives each worker a few tasks.
static long share(long rows, long bytes) {
    const long workers = cml_worker_count();
    if (rows * bytes < SERIAL_BYTES || workers < 2) return rows > 0 ? rows : 1;
    return (rows + 4 * workers - 1) / (4 * workers);
}

void cml_remap(const cml_isa *isa, const cml_remap_shape *shape, long element_bytes, const void *source, void *target,
               const void *constant) {
    (void)isa;
    remap_job j = {.shape = shape, .bytes = element_bytes, .rows = 1, .source = source, .target = target,
                   .constant = constant};
    for (int axis = 0; axis < shape->rank; axis++) j.rows *= shape->extent[axis];
    if (j.rows <= 0 || shape->width <= 0) return;
    j.rows_each = share(j.rows, shape->width * element_bytes);
    cml_parallel_for((j.rows + j.rows_each - 1) / j.rows_each, remap_rows, &j);
}

typedef struct {
    const cml_isa *isa;
    const char *source;
    const int32_t *indices;   // clamped inside
    char *target;
    long bytes, lines, axis, inner, count, rows, rows_each;
    int half;
} gather_job;

static inline int32_t clamped(int32_t index, long axis) {
    const long position = index < 0 ? index + axis : index;
    return (int32_t)(position < 0 ? 0 : position >= axis ? axis - 1 : position);
}

#define SINGLES(type)                                                                          \
    for (long i = 0; i < n; i++) ((type *)target)[i] = ((const type *)source)[index[i]];       \
    break;

// Neighbouring rows of the result that come from one line.
static void gather_run(const gather_job *j, const char *source, const int32_t *index, char *target, long n) {
    const long bytes = j->inner * j->bytes;
    if (j->half) {
        for (long i = 0; i < n; i++)
            j->isa->widen((const uint16_t *)source + index[i] * j->inner, (float *)target + i * j->inner, j->inner);
        return;
    }
    switch (bytes) {
    case 1: SINGLES(uint8_t)
    case 2: SINGLES(uint16_t)
    case 4: SINGLES(uint32_t)
    case 8: SINGLES(uint64_t)
    default:
        for (long i = 0; i < n; i++) memcpy(target + i * bytes, source + index[i] * bytes, (size_t)bytes);
    }
}

static void gather_rows(void *context, long task, int worker) {
    (void)worker;
    const gather_job *j = context;
    const long first = task * j->rows_each;
    const long end = first + j->rows_each < j->rows ? first + j->rows_each : j->rows;
    const long width = j->inner * (j->half ? 4 : j->bytes);
    for (long row = first; row < end;) {
        const long line = row / j->count, position = row % j->count, left = j->count - position;
        const long n = left < end - row ? left : end - row;
        gather_run(j, j->source + line * j->axis * j->inner * j->bytes,
                   j->indices + line / j->lines * j->count + position, j->target + row * width, n);
        row += n;
    }
}

static void gather(gather_job *j, long batch, long outer) {
    j->lines = outer;
    j->rows = batch * outer * j->count;
    if (j->rows <= 0 || j->inner <= 0 || j->axis <= 0) return;
    int32_t *positions = cml_scratch(1, sizeof(int32_t) * (size_t)(batch * j->count));
    for (long i = 0; i < batch * j->count; i++) positions[i] = clamped(j->indices[i], j->axis);
    j->indices = positions;
    j->rows_each = share(j->rows, j->inner * j->bytes);
    cml_parallel_for((j->rows + j->rows_each - 1) / j->rows_each, gather_rows, j);
}

void cml_gather(const cml_isa *isa, long element_bytes, const void *source, long batch, long outer, long axis,
                long inner, const int32_t *indices, long count, void *target) {
    gather_job j = {.isa = isa, .source = source, .indices = indices, .target = target, .bytes = element_bytes,
                    .axis = axis, .inner = inner, .count = count};
    gather(&j, batch, outer);
}

void cml_gather_half(const cml_isa *isa, const uint16_t *source, long batch, long outer, long axis, long inner,
                     const int32_t *indices, long count, float *target) {
    gather_job j = {.isa = isa, .source = (const char *)source, .indices = indices, .target = (char *)target,
                    .bytes = 2, .axis = axis, .inner = inner, .count = count, .half = 1};
    gather(&j, batch, outer);
}

typedef struct {
    char *target;
    long bytes, count, each;
    const void *value;
} fill_job;

static void fill_part(void *context, long task, int worker) {
    (void)worker;
    const fill_job *j = context;
    const long start = task * j->each, count = j->count - start < j->each ? j->count - start : j->each;
    fill(j->target + start * j->bytes, j->bytes, j->value, count);
}

void cml_fill(void *target, long element_bytes, const void *value, long count) {
    fill_job j = {target, element_bytes, count, share(count, element_bytes), value};
    cml_parallel_for((count + j.each - 1) / j.each, fill_part, &j);
}

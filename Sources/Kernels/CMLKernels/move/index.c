// Gathering and scattering by indices.  An index counts from the end when negative and is clamped to its axis.
#include "../isa/isa.h"
#include "../threads/division.h"
#include <string.h>

static inline long clamped(int32_t index, long extent) {
    const long position = index < 0 ? index + extent : index;
    return position < 0 ? 0 : position >= extent ? extent - 1 : position;
}

typedef struct {
    long bytes, axis, inner, count, parts, width;
    const char *source;
    const int32_t *indices;
    char *target;
    cml_division division;
} element_job;

#define GATHER(type)                                                                            \
    do {                                                                                        \
        const type *s = (const type *)source;                                                   \
        type *t = (type *)target;                                                               \
        if (j->inner == 1) for (long i = 0; i < j->width; i++) t[i] = s[clamped(index[i], j->axis)]; \
        else for (long i = 0; i < j->width; i++) t[i] = s[clamped(index[i], j->axis) * j->inner + i]; \
    } while (0)

// Rows of the result: with inner 1 a whole line, otherwise one position of the axis.
static void gather_elements(void *context, long task, int worker) {
    (void)worker;
    const element_job *j = context;
    for (long row = task * j->division.each, end = cml_division_end(&j->division, task); row < end; row++) {
        const long outer = j->inner == 1 ? row : row / j->count;
        const char *source = j->source + outer * j->axis * j->inner * j->bytes;
        const int32_t *index = j->indices + row * j->width;
        char *target = j->target + row * j->width * j->bytes;
        switch (j->bytes) {
        case 1: GATHER(uint8_t); break;
        case 2: GATHER(uint16_t); break;
        case 4: GATHER(uint32_t); break;
        default: GATHER(uint64_t); break;
        }
    }
}

void cml_gather_elements(long element_bytes, const void *source, long outer, long axis, long inner,
                         const int32_t *indices, long count, void *target) {
    if (outer <= 0 || axis <= 0 || inner <= 0 || count <= 0) return;
    const long rows = inner == 1 ? outer : outer * count, width = inner == 1 ? count : inner;
    element_job j = {element_bytes, axis, inner, count, 1, width, source, indices, target, cml_divide(rows, width)};
    cml_parallel_for(j.division.tasks, gather_elements, &j);
}

typedef struct {
    long bytes, items, length, slice, batch_size;
    long extent[CML_MAX_RANK];
    const char *source;
    const int32_t *indices;
    char *target;
    cml_division division;
} place_job;

static inline long start_of(const place_job *j, const int32_t *index) {
    long start = 0;
    for (long axis = 0; axis < j->length; axis++) start = start * j->extent[axis] + clamped(index[axis], j->extent[axis]);
    return start;
}

#define SLICES(type)                                                                                    \
    for (long row = first; row < end; row++) {                                                          \
        const long from = row / j->items * j->batch_size + start_of(j, j->indices + row * j->length);   \
        ((type *)j->target)[row] = ((const type *)j->source)[from];                                     \
    }

static void gather_nd(void *context, long task, int worker) {
    (void)worker;
    const place_job *j = context;
    const long first = task * j->division.each, end = cml_division_end(&j->division, task);
    if (j->slice == 1) {
        switch (j->bytes) {
        case 1: SLICES(uint8_t) return;
        case 2: SLICES(uint16_t) return;
        case 4: SLICES(uint32_t) return;
        default: SLICES(uint64_t) return;
        }
    }
    const size_t size = (size_t)(j->slice * j->bytes);
    for (long row = first; row < end; row++) {
        const long from = row / j->items * j->batch_size + start_of(j, j->indices + row * j->length) * j->slice;
        memcpy(j->target + (size_t)row * size, j->source + from * j->bytes, size);
    }
}

void cml_gather_nd(long element_bytes, const void *source, long batch, long batch_size, const long *extents,
                   long length, long slice, const int32_t *indices, long items, void *target) {
    if (batch <= 0 || items <= 0 || slice <= 0) return;
    place_job j = {.bytes = element_bytes, .items = items, .length = length, .slice = slice, .batch_size = batch_size,
                   .source = source, .indices = indices, .target = target, .division = cml_divide(batch * items, slice)};
    memcpy(j.extent, extents, (size_t)length * sizeof *extents);
    cml_parallel_for(j.division.tasks, gather_nd, &j);
}

// MARK: Scattering

static inline int32_t saturated(double x) {
    return x != x ? 0 : x >= 2147483647.0 ? INT32_MAX : x <= -2147483648.0 ? INT32_MIN : (int32_t)x;
}

#define COMBINE(old, new)                                                                               \
    (mode == CML_SCATTER_ADD ? (old) + (new) : mode == CML_SCATTER_SUBTRACT ? (old) - (new)             \
     : mode == CML_SCATTER_MULTIPLY ? (old) * (new) : mode == CML_SCATTER_DIVIDE ? (old) / (new)        \
     : mode == CML_SCATTER_MAXIMUM ? ((new) >= (old) ? (new) : (old)) : ((new) < (old) ? (new) : (old)))

typedef struct {
    cml_scatter_mode mode;
    int is_integer;
    long bytes, axis, inner, count, parts, width;
    const int32_t *indices;
    const char *updates;
    char *target;
    cml_division division;
} scatter_job;

// One update after another into `target` at positions `index` (times `step`, plus `i` when `moves`).
#define EACH_UPDATE(type, expression)                                                                   \
    for (long i = 0; i < n; i++) {                                                                      \
        type *at = (type *)target + clamped(index[i], extent) * step + (moves ? i : 0);                    \
        const type u = ((const type *)updates)[i];                                                      \
        *at = (expression);                                                                             \
    }
#define EACH_MODE(CASE)                                                                                 \
    switch (mode) {                                                                                     \
    case CML_SCATTER_ADD: CASE(CML_SCATTER_ADD) return;                                                 \
    case CML_SCATTER_SUBTRACT: CASE(CML_SCATTER_SUBTRACT) return;                                       \
    case CML_SCATTER_MULTIPLY: CASE(CML_SCATTER_MULTIPLY) return;                                       \
    case CML_SCATTER_DIVIDE: CASE(CML_SCATTER_DIVIDE) return;                                           \
    case CML_SCATTER_MAXIMUM: CASE(CML_SCATTER_MAXIMUM) return;                                         \
    default: CASE(CML_SCATTER_MINIMUM) return;                                                          \
    }
#define FLOATS(MODE) { const cml_scatter_mode mode = MODE; EACH_UPDATE(float, COMBINE(*at, u)) }
#define INTEGERS(MODE) \
    { const cml_scatter_mode mode = MODE; EACH_UPDATE(int32_t, saturated(COMBINE((double)*at, (double)u))) }

static void scatter_row(const scatter_job *j, char *target, const int32_t *index, const char *updates, long n,
                        long extent, long step, int moves) {
    const cml_scatter_mode mode = j->mode;
    if (mode == CML_SCATTER_UPDATE) {
        switch (j->bytes) {
        case 1: EACH_UPDATE(uint8_t, u) return;
        case 2: EACH_UPDATE(uint16_t, u) return;
        case 4: EACH_UPDATE(uint32_t, u) return;
        default: EACH_UPDATE(uint64_t, u) return;
        }
    }
    if (j->is_integer) EACH_MODE(INTEGERS)
    else EACH_MODE(FLOATS)
}

// Each task owns some lines, or some columns, of the target, so that updates keep their order.
static void scatter_elements(void *context, long task, int worker) {
    (void)worker;
    const scatter_job *j = context;
    for (long item = task * j->division.each, end = cml_division_end(&j->division, task); item < end; item++) {
        if (j->inner == 1) {
            scatter_row(j, j->target + item * j->axis * j->bytes, j->indices + item * j->count,
                        j->updates + item * j->count * j->bytes, j->count, j->axis, 1, 0);
            continue;
        }
        const long outer = item / j->parts, start = item % j->parts * j->width, left = j->inner - start;
        const long n = left < j->width ? left : j->width;
        for (long row = 0; row < j->count; row++) {
            const long at = (outer * j->count + row) * j->inner + start;
            scatter_row(j, j->target + (outer * j->axis * j->inner + start) * j->bytes, j->indices + at,
                        j->updates + at * j->bytes, n, j->axis, j->inner, 1);
        }
    }
}

static scatter_job scatter(cml_scatter_mode mode, int is_integer, long bytes, long outer, long axis, long inner,
                           long count, const int32_t *indices, const void *updates, void *target) {
    scatter_job j = {mode, is_integer, bytes, axis, inner, count, 1, inner, indices, updates, target, {0, 0, 0}};
    const long workers = cml_worker_count();
    if (inner > 1 && outer < 4 * workers) {
        // Columns enough to fill cache lines.
        j.width = inner / (2 * workers) > 16 ? (inner / (2 * workers) + 15) / 16 * 16 : inner < 16 ? inner : 16;
        j.parts = (inner + j.width - 1) / j.width;
    }
    j.division = cml_divide(outer * j.parts, count * (inner < j.width ? inner : j.width));
    return j;
}

void cml_scatter_elements(cml_scatter_mode mode, int is_integer, long element_bytes, long outer, long axis, long inner,
                          const int32_t *indices, long count, const void *updates, void *target) {
    if (outer <= 0 || axis <= 0 || inner <= 0 || count <= 0) return;
    scatter_job j = scatter(mode, is_integer, element_bytes, outer, axis, inner, count, indices, updates, target);
    cml_parallel_for(j.division.tasks, scatter_elements, &j);
}

#define FLOAT_ROW(MODE)                                                                                 \
    { const cml_scatter_mode mode = MODE; float *t = (float *)target; const float *u = (const float *)updates; \
      for (long i = 0; i < n; i++) t[i] = COMBINE(t[i], u[i]); }
#define INTEGER_ROW(MODE)                                                                               \
    { const cml_scatter_mode mode = MODE; int32_t *t = (int32_t *)target; const int32_t *u = (const int32_t *)updates; \
      for (long i = 0; i < n; i++) t[i] = saturated(COMBINE((double)t[i], (double)u[i])); }

static void combine_row(const scatter_job *j, char *restrict target, const char *restrict updates, long n) {
    if (j->mode == CML_SCATTER_UPDATE) {
        memcpy(target, updates, (size_t)(n * j->bytes));
        return;
    }
    const cml_scatter_mode mode = j->mode;
    if (j->is_integer) EACH_MODE(INTEGER_ROW)
    else EACH_MODE(FLOAT_ROW)
}

static void scatter_slices(void *context, long task, int worker) {
    (void)worker;
    const scatter_job *j = context;
    for (long item = task * j->division.each, end = cml_division_end(&j->division, task); item < end; item++) {
        if (j->inner == 1) {
            scatter_row(j, j->target + item * j->axis * j->bytes, j->indices, j->updates + item * j->count * j->bytes,
                        j->count, j->axis, 1, 0);
            continue;
        }
        const long outer = item / j->parts, start = item % j->parts * j->width, left = j->inner - start;
        const long n = left < j->width ? left : j->width;
        for (long row = 0; row < j->count; row++) {
            const long position = clamped(j->indices[row], j->axis);
            combine_row(j, j->target + ((outer * j->axis + position) * j->inner + start) * j->bytes,
                     j->updates + ((outer * j->count + row) * j->inner + start) * j->bytes, n);
        }
    }
}

void cml_scatter_slices(cml_scatter_mode mode, int is_integer, long element_bytes, long outer, long axis, long inner,
                        const int32_t *indices, long count, const void *updates, void *target) {
    if (outer <= 0 || axis <= 0 || inner <= 0 || count <= 0) return;
    scatter_job j = scatter(mode, is_integer, element_bytes, outer, axis, inner, count, indices, updates, target);
    cml_parallel_for(j.division.tasks, scatter_slices, &j);
}

typedef struct {
    long slice, axis, count, total;   // bytes of a slice and of the target
    const int32_t *owner;
    const char *source, *updates;
    char *target;
} replace_job;

// Bytes of the target that one task writes.
#define REPLACED_BYTES (128 << 10)

static void replace_slices(void *context, long task, int worker) {
    (void)worker;
    const replace_job *j = context;
    const long start = task * REPLACED_BYTES, left = j->total - start;
    const long end = start + (left < REPLACED_BYTES ? left : REPLACED_BYTES);
    for (long at = start, n; at < end; at += n) {
        const long item = at / j->slice, inside = at % j->slice, owner = j->owner[item % j->axis];
        n = j->slice - inside < end - at ? j->slice - inside : end - at;
        const char *from = owner < 0 ? j->source + at
                                     : j->updates + (item / j->axis * j->count + owner) * j->slice + inside;
        memcpy(j->target + at, from, (size_t)n);
    }
}

void cml_replace_slices(long element_bytes, long outer, long axis, long inner, const int32_t *owner, long count,
                        const void *source, const void *updates, void *target) {
    if (outer <= 0 || axis <= 0 || inner <= 0) return;
    const long slice = inner * element_bytes;
    replace_job j = {slice, axis, count, outer * axis * slice, owner, source, updates, target};
    cml_parallel_for((j.total + REPLACED_BYTES - 1) / REPLACED_BYTES, replace_slices, &j);
}

typedef struct {
    scatter_job row;
    place_job position;
    long slice;
} spread_job;

#define SPREAD(type)                                                                                    \
    for (long row = 0; row < p->items; row++)                                                           \
        ((type *)j->target)[start_of(p, p->indices + row * p->length)] = ((const type *)j->updates)[row];

// Part of every slice, one slice after the other.
static void spread(void *context, long part, int worker) {
    (void)worker;
    const spread_job *s = context;
    const scatter_job *j = &s->row;
    const place_job *p = &s->position;
    if (s->slice == 1 && j->mode == CML_SCATTER_UPDATE) {
        switch (j->bytes) {
        case 1: SPREAD(uint8_t) return;
        case 2: SPREAD(uint16_t) return;
        case 4: SPREAD(uint32_t) return;
        default: SPREAD(uint64_t) return;
        }
    }
    if (s->slice == 1 && j->mode == CML_SCATTER_ADD && !j->is_integer) {
        for (long row = 0; row < p->items; row++)
            ((float *)j->target)[start_of(p, p->indices + row * p->length)] += ((const float *)j->updates)[row];
        return;
    }
    const long start = part * j->width, left = s->slice - start, n = left < j->width ? left : j->width;
    for (long row = 0; row < p->items; row++) {
        const long at = start_of(p, p->indices + row * p->length) * s->slice + start;
        combine_row(j, j->target + at * j->bytes, j->updates + (row * s->slice + start) * j->bytes, n);
    }
}

void cml_scatter_nd(cml_scatter_mode mode, int is_integer, long element_bytes, const long *extents, long length,
                    long slice, const int32_t *indices, long items, const void *updates, void *target) {
    if (items <= 0 || slice <= 0) return;
    spread_job s = {.slice = slice};
    s.row = (scatter_job){.mode = mode, .is_integer = is_integer, .bytes = element_bytes, .updates = updates,
                          .target = target, .width = slice};
    s.position = (place_job){.items = items, .length = length, .indices = indices};
    memcpy(s.position.extent, extents, (size_t)length * sizeof *extents);
    const long workers = cml_worker_count();
    if (slice >= 64 * workers) s.row.width = (slice / workers + 15) / 16 * 16;
    cml_parallel_for((slice + s.row.width - 1) / s.row.width, spread, &s);
}

// Strided copies: axes are ordered and merged, then rows, planes to be transposed or single elements are moved.
#include "../isa/isa.h"
#include <string.h>

// Rows longer than this are left to the C library.
#define SHORT_BYTES 4096
// Below this many bytes one thread does the whole copy.
#define SERIAL_BYTES (64 << 10)

typedef struct {
    const cml_isa *isa;
    cml_copy_shape shape;   // outermost target axis first
    long bytes;             // of an element
    int row, column;        // axes of the inner kernel, -1 when it has none
    int split;              // axis divided among tasks
    long grain, tasks;
    const char *source;
    char *target;
} job;

static void order_and_merge(cml_copy_shape *shape) {
    int rank = 0;
    for (int axis = 0; axis < shape->rank; axis++) {
        if (shape->extent[axis] == 1) continue;
        int position = rank++;
        long extent = shape->extent[axis], source = shape->source[axis], target = shape->target[axis];
        for (; position > 0 && shape->target[position - 1] < target; position--) {
            shape->extent[position] = shape->extent[position - 1];
            shape->source[position] = shape->source[position - 1];
            shape->target[position] = shape->target[position - 1];
        }
        shape->extent[position] = extent;
        shape->source[position] = source;
        shape->target[position] = target;
    }
    int merged = 0;
    for (int axis = 0; axis < rank; axis++) {
        const long extent = shape->extent[axis], source = shape->source[axis], target = shape->target[axis];
        if (merged > 0 && shape->source[merged - 1] == source * extent && shape->target[merged - 1] == target * extent) {
            shape->extent[merged - 1] *= extent;
            shape->source[merged - 1] = source;
            shape->target[merged - 1] = target;
        } else {
            shape->extent[merged] = extent;
            shape->source[merged] = source;
            shape->target[merged] = target;
            merged++;
        }
    }
    if (merged == 0) {
        shape->extent[0] = shape->source[0] = shape->target[0] = 1;
        merged = 1;
    }
    shape->rank = merged;
}

#define STRIDED(type)                                                                          \
    for (long i = 0; i < count; i++) ((type *)target)[i * to] = ((const type *)source)[i * from];

static void copy_strided(const char *source, long from, char *target, long to, long count, long bytes) {
    switch (bytes) {
    case 1: STRIDED(uint8_t) return;
    case 2: STRIDED(uint16_t) return;
    case 4: STRIDED(uint32_t) return;
    default: STRIDED(uint64_t) return;
    }
}

// Squares of 8 keep both sides in the L1 cache.
#define SQUARES(type)                                                                                           \
    for (long i = 0; i < rows; i += 8)                                                                          \
        for (long j = 0; j < columns; j += 8)                                                                   \
            for (long q = j; q < (j + 8 < columns ? j + 8 : columns); q++)                                      \
                for (long p = i; p < (i + 8 < rows ? i + 8 : rows); p++)                                        \
                    ((type *)target)[q * to + p] = ((const type *)source)[p * from + q];

static void copy_transposed(const cml_isa *isa, const char *source, long from, long rows, long columns, char *target,
                            long to, long bytes) {
    switch (bytes) {
    case 1: SQUARES(uint8_t) return;
    case 2: SQUARES(uint16_t) return;
    case 4: isa->transpose_plane((const float *)source, from, rows, columns, (float *)target, to); return;
    default: SQUARES(uint64_t) return;
    }
}

static void run(void *context, long task, int worker) {
    (void)worker;
    const job *j = context;
    cml_copy_shape s = j->shape;
    const char *source = j->source;
    char *target = j->target;
    const long units = (s.extent[j->split] + j->grain - 1) / j->grain;
    const long lo = units * task / j->tasks * j->grain;
    long hi = units * (task + 1) / j->tasks * j->grain;
    if (hi > s.extent[j->split]) hi = s.extent[j->split];
    source += lo * s.source[j->split] * j->bytes;
    target += lo * s.target[j->split] * j->bytes;
    s.extent[j->split] = hi - lo;
    if (hi <= lo) return;

    const int last = s.rank - 1;
    int outer[CML_MAX_RANK], outer_count = 0;
    for (int axis = 0; axis < last; axis++) {
        if (axis != j->row) outer[outer_count++] = axis;
    }
    // Short rows are copied as a group, along the axis next to them.
    const long width = s.extent[last] * j->bytes;
    const int grouped = j->row < 0 && s.source[last] == 1 && s.target[last] == 1 && outer_count > 0
        && width <= SHORT_BYTES && width % 4 == 0
        && s.source[outer[outer_count - 1]] * j->bytes % 4 == 0 && s.target[outer[outer_count - 1]] * j->bytes % 4 == 0;
    const int group = grouped ? outer[--outer_count] : 0;
    long position[CML_MAX_RANK] = {0};
    const long count = s.extent[last], from = s.source[last], to = s.target[last];
    for (;;) {
        if (j->row >= 0) {
            copy_transposed(j->isa, source, from, count, s.extent[j->row], target, s.target[j->row], j->bytes);
        } else if (grouped) {
            j->isa->copy_rows((const float *)source, s.source[group] * j->bytes / 4, (float *)target,
                              s.target[group] * j->bytes / 4, s.extent[group], width / 4);
        } else if (from == 1 && to == 1) {
            memcpy(target, source, (size_t)(count * j->bytes));
        } else {
            copy_strided(source, from, target, to, count, j->bytes);
        }
        int axis = outer_count - 1;
        for (; axis >= 0; axis--) {
            const int a = outer[axis];
            source += s.source[a] * j->bytes;
            target += s.target[a] * j->bytes;
            if (++position[a] < s.extent[a]) break;
            source -= s.source[a] * s.extent[a] * j->bytes;
            target -= s.target[a] * s.extent[a] * j->bytes;
            position[a] = 0;
        }
        if (axis < 0) return;
    }
}

void cml_copy(const cml_isa *isa, const cml_copy_shape *shape, long element_bytes, const void *source, void *target) {
    long total = element_bytes;
    for (int axis = 0; axis < shape->rank; axis++) total *= shape->extent[axis];
    if (total <= 0) return;
    job j = {.isa = isa, .shape = *shape, .bytes = element_bytes, .row = -1, .source = source, .target = target};
    order_and_merge(&j.shape);
    const cml_copy_shape *s = &j.shape;
    const int last = s->rank - 1;
    if (s->target[last] == 1 && s->source[last] != 1) {
        for (int axis = 0; axis < last; axis++) {
            if (s->source[axis] == 1) j.row = axis;
        }
    }
    const long workers = cml_worker_count();
    j.tasks = 1;
    j.grain = 1;
    if (total >= SERIAL_BYTES && workers > 1) {
        j.split = 0;
        for (int axis = 1; axis < s->rank && s->extent[j.split] < 4 * workers; axis++) {
            if (s->extent[axis] > s->extent[j.split]) j.split = axis;
        }
        j.grain = j.split == last || j.split == j.row ? 64 : 1;
        const long units = (s->extent[j.split] + j.grain - 1) / j.grain;
        j.tasks = units < 4 * workers ? units : 4 * workers;
    }
    cml_parallel_for(j.tasks, run, &j);
}

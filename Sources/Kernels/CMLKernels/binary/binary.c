// Elementwise functions: axes are merged, divided among tasks, and handed row by row to the instruction set.
#include "../isa/isa.h"
#include "../threads/division.h"
#include <string.h>

typedef struct {
    const cml_isa *isa;
    cml_binary function;
    cml_element element;
    cml_broadcast shape;
    const char *a, *b;
    const uint8_t *mask;
    char *y;
    long bytes, result_bytes;
    cml_unary then;
    float alpha, beta;
    int split;
    long grain, tasks;
    long result_stride[8];
} job;

static void merge(cml_broadcast *s) {
    int merged = 0;
    for (int axis = 0; axis < s->rank; axis++) {
        const long extent = s->extent[axis], a = s->a[axis], b = s->b[axis], mask = s->mask[axis];
        if (extent == 1) continue;
        if (merged > 0 && s->a[merged - 1] == a * extent && s->b[merged - 1] == b * extent
            && s->mask[merged - 1] == mask * extent) {
            s->extent[merged - 1] *= extent;
        } else {
            s->extent[merged++] = extent;
        }
        s->a[merged - 1] = a;
        s->b[merged - 1] = b;
        s->mask[merged - 1] = mask;
    }
    if (merged == 0) {
        s->extent[0] = 1;
        s->a[0] = s->b[0] = s->mask[0] = 0;
        merged = 1;
    }
    s->rank = merged;
}

static void row(const job *j, const char *a, const char *b, const uint8_t *mask, char *y, long n) {
    const int last = j->shape.rank - 1;
    const long a_step = j->shape.a[last], b_step = j->shape.b[last];
    if (mask) {
        j->isa->select_row(j->bytes, mask, j->shape.mask[last], a, a_step, b, b_step, y, n);
    } else if (j->element == CML_ELEMENT_I32) {
        j->isa->integer_row(j->function, (const int32_t *)a, a_step, (const int32_t *)b, b_step, y, n);
    } else if (j->element == CML_ELEMENT_BYTE) {
        j->isa->byte_row(j->function, (const uint8_t *)a, a_step, (const uint8_t *)b, b_step, (uint8_t *)y, n);
    } else {
        const int plain = (a_step == 0 || a_step == 1) && (b_step == 0 || b_step == 1);
        // Other steps: element by element, as rows of one.
        const long count = plain ? n : 1, times = plain ? 1 : n;
        for (long i = 0; i < times; i++) {
            const float *p = (const float *)a + i * a_step, *q = (const float *)b + i * b_step;
            if (j->function >= CML_EQUAL) {
                j->isa->compare_row(j->function, p, a_step, q, b_step, (uint8_t *)y + i, count);
            } else {
                j->isa->binary_row(j->function, p, plain ? a_step : 1, q, plain ? b_step : 1, (float *)y + i, count);
            }
        }
        if (j->then != CML_IDENTITY) j->isa->unary(j->then, j->alpha, j->beta, (float *)y, (float *)y, n);
    }
}

static void run(void *context, long task, int worker) {
    (void)worker;
    const job *j = context;
    const cml_broadcast *s = &j->shape;
    const long units = (s->extent[j->split] + j->grain - 1) / j->grain;
    const long lo = units * task / j->tasks * j->grain;
    long hi = units * (task + 1) / j->tasks * j->grain;
    if (hi > s->extent[j->split]) hi = s->extent[j->split];
    if (hi <= lo) return;
    long extent[8], position[8] = {0};
    memcpy(extent, s->extent, sizeof extent);
    extent[j->split] = hi - lo;
    const char *a = j->a + lo * s->a[j->split] * j->bytes, *b = j->b + lo * s->b[j->split] * j->bytes;
    const uint8_t *mask = j->mask ? j->mask + lo * s->mask[j->split] : NULL;
    char *y = j->y + lo * j->result_stride[j->split] * j->result_bytes;
    const int last = s->rank - 1;
    for (;;) {
        row(j, a, b, mask, y, extent[last]);
        int axis = last - 1;
        for (; axis >= 0; axis--) {
            const long back = ++position[axis] < extent[axis] ? 0 : extent[axis];
            a += (s->a[axis] - back * s->a[axis]) * j->bytes;
            b += (s->b[axis] - back * s->b[axis]) * j->bytes;
            if (mask) mask += s->mask[axis] - back * s->mask[axis];
            y += (j->result_stride[axis] - back * j->result_stride[axis]) * j->result_bytes;
            if (!back) break;
            position[axis] = 0;
        }
        if (axis < 0) return;
    }
}

static void start(job *j) {
    cml_broadcast *s = &j->shape;
    long total = 1;
    for (int axis = 0; axis < s->rank; axis++) total *= s->extent[axis];
    if (total <= 0) return;
    merge(s);
    const int last = s->rank - 1;
    long step = 1;
    for (int axis = last; axis >= 0; axis--) {
        j->result_stride[axis] = step;
        step *= s->extent[axis];
    }
    const long workers = cml_worker_count();
    j->tasks = j->grain = 1;
    if (workers > 1 && total * (j->then > CML_PRELU || j->function == CML_POWER ? 4 : 1) >= (24 << 10)) {
        for (int axis = 1; axis <= last && s->extent[j->split] < 4 * workers; axis++) {
            if (s->extent[axis] > s->extent[j->split]) j->split = axis;
        }
        if (j->split == last) j->grain = 256;
        const long units = (s->extent[j->split] + j->grain - 1) / j->grain;
        j->tasks = units < 4 * workers ? units : 4 * workers;
    }
    cml_parallel_for(j->tasks, run, j);
}

void cml_binary_apply(const cml_isa *isa, cml_binary function, cml_element element, const cml_broadcast *shape,
                      const void *a, const void *b, void *y, cml_unary then, float alpha, float beta) {
    job j = {.isa = isa, .function = function, .element = element, .shape = *shape, .a = a, .b = b, .y = y,
             .then = then, .alpha = alpha, .beta = beta};
    j.bytes = element == CML_ELEMENT_BYTE ? 1 : 4;
    j.result_bytes = function >= CML_EQUAL ? 1 : 4;
    memset(j.shape.mask, 0, sizeof j.shape.mask);
    start(&j);
}

void cml_select(const cml_isa *isa, const cml_broadcast *shape, long element_bytes, const uint8_t *mask, const void *a,
                const void *b, void *y) {
    job j = {.isa = isa, .shape = *shape, .a = a, .b = b, .mask = mask, .y = y, .bytes = element_bytes,
             .result_bytes = element_bytes};
    start(&j);
}

typedef struct {
    const cml_isa *isa;
    const cml_affine *affine;
    const float *x;
    float *y;
    cml_division division;
} affine_job;

static void run_affine(void *context, long task, int worker) {
    (void)worker;
    const affine_job *j = context;
    const cml_affine *f = j->affine;
    const cml_isa *isa = j->isa;
    static const float one = 1, zero = 0;
    const int channels_last = f->inner == 1;
    const long width = channels_last ? f->channels : f->inner;
    const int clamped = f->function == CML_RELU || f->function == CML_CLIP;
    const float low = f->function == CML_RELU ? 0 : clamped ? f->alpha : -__builtin_inff();
    const float high = f->function == CML_CLIP ? f->beta : __builtin_inff();
    const int straight = f->scale || f->shift || clamped;
    for (long row = task * j->division.each, end = cml_division_end(&j->division, task); row < end; row++) {
        const long channel = channels_last ? 0 : row % f->channels;
        const float *x = j->x + row * width;
        float *y = j->y + row * width;
        if (straight) {
            isa->affine_row(x, f->scale ? f->scale + channel : &one, f->scale && channels_last,
                            f->shift ? f->shift + channel : &zero, f->shift && channels_last, low, high, y, width);
            x = y;
        }
        if (f->function == CML_PRELU) {
            if (!channels_last) {
                isa->unary(CML_LEAKY_RELU, f->slope[channel], 0, x, y, width);
                continue;
            }
            if (x != y) memcpy(y, x, (size_t)width * sizeof *y);
            isa->prelu_row(f->slope, y, width);
        } else if (!clamped && (f->function != CML_IDENTITY || x != y)) {
            isa->unary(f->function, f->alpha, f->beta, x, y, width);
        }
    }
}

void cml_affine_apply(const cml_isa *isa, const cml_affine *affine, const float *x, float *y) {
    const int channels_last = affine->inner == 1;
    const long width = channels_last ? affine->channels : affine->inner;
    const long rows = channels_last ? affine->outer : affine->outer * affine->channels;
    if (rows <= 0 || width <= 0) return;
    affine_job j = {isa, affine, x, y, cml_divide(rows, width * (affine->function > CML_PRELU ? 4 : 1))};
    cml_parallel_for(j.division.tasks, run_affine, &j);
}

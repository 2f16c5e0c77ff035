#include "../isa/isa.h"
#include "../threads/division.h"
#include <math.h>
#include <string.h>

// Elements one task works on, and columns it takes of an inner axis.
#define CHUNK 8192
#define COLUMNS 64

typedef struct {
    const cml_isa *isa;
    cml_reduction op;
    const float *x;
    float *y;
    long outer, axis, inner, rows_each, parts;
    int softmax;
} job;

static void work(void *context, long index, int worker) {
    (void)worker;
    const job *j = context;
    if (j->inner == 1) {
        const long end = (index + 1) * j->rows_each < j->outer ? (index + 1) * j->rows_each : j->outer;
        for (long row = index * j->rows_each; row < end; row++) {
            const float *x = j->x + row * j->axis;
            if (j->softmax) j->isa->softmax_row(x, j->y + row * j->axis, j->axis, 1, NULL, 0, NULL, 0);
            else j->y[row] = j->isa->reduce_row(j->op, x, j->axis);
        }
        return;
    }
    const long outer = index / j->parts, start = index % j->parts * COLUMNS, left = j->inner - start;
    const long count = left < COLUMNS ? left : COLUMNS;
    const float *x = j->x + outer * j->axis * j->inner + start;
    if (j->softmax) j->isa->softmax_columns(x, j->y + outer * j->axis * j->inner + start, j->axis, j->inner, count);
    else j->isa->reduce_columns(j->op, x, j->axis, j->inner, j->y + outer * j->inner + start, count);
}

static void run(job *j) {
    if (j->outer <= 0 || j->inner <= 0) return;
    j->rows_each = j->axis > 0 ? (CHUNK + j->axis - 1) / j->axis : j->outer;
    j->parts = (j->inner + COLUMNS - 1) / COLUMNS;
    const long tasks = j->inner == 1 ? (j->outer + j->rows_each - 1) / j->rows_each : j->outer * j->parts;
    if (j->outer * j->axis * j->inner < CHUNK) {
        for (long index = 0; index < tasks; index++) work(j, index, 0);
    } else {
        cml_parallel_for(tasks, work, j);
    }
}

// Slices of a long axis, summed beside one another.
#define SLICES 16

typedef struct {
    const cml_isa *isa;
    const float *x;
    float *partial;
    long axis, inner;
} slice_job;

static void sum_slice(void *context, long index, int worker) {
    (void)worker;
    const slice_job *j = context;
    const long start = j->axis * index / SLICES, end = j->axis * (index + 1) / SLICES;
    j->isa->reduce_columns(CML_SUM, j->x + start * j->inner, end - start, j->inner, j->partial + index * j->inner,
                           j->inner);
}

void cml_reduce(const cml_isa *isa, cml_reduction op, const float *x, float *y, long outer, long axis, long inner) {
    if (inner > 1 && inner <= 8 * COLUMNS && (op == CML_SUM || op == CML_MEAN) && axis * inner > 8 * CHUNK) {
        // A mean over the pixels of an image: few columns, so the long axis is divided.
        float partial[SLICES * 8 * COLUMNS];
        slice_job j = {isa, x, partial, axis, inner};
        for (long item = 0; item < outer; item++, j.x += axis * inner) {
            cml_parallel_for(SLICES, sum_slice, &j);
            isa->reduce_columns(CML_SUM, partial, SLICES, inner, y + item * inner, inner);
            if (op == CML_MEAN) isa->scale_row(1 / (float)axis, y + item * inner, inner);
        }
        return;
    }
    job j = {.isa = isa, .op = op, .x = x, .y = y, .outer = outer, .axis = axis, .inner = inner};
    run(&j);
}

void cml_softmax(const cml_isa *isa, const float *x, float *y, long outer, long axis, long inner) {
    job j = {.isa = isa, .x = x, .y = y, .outer = outer, .axis = axis, .inner = inner, .softmax = 1};
    if (axis > 0) run(&j);
}

typedef struct {
    const cml_isa *isa;
    const float *x;
    int32_t *y;
    long axis, inner, parts;
    float sign;
    cml_division division;
} arg_job;

static void arg_items(void *context, long task, int worker) {
    (void)worker;
    const arg_job *j = context;
    for (long item = task * j->division.each, end = cml_division_end(&j->division, task); item < end; item++) {
        if (j->inner == 1) {
            j->y[item] = j->isa->arg_row(j->sign, j->x + item * j->axis, j->axis);
            continue;
        }
        const long outer = item / j->parts, start = item % j->parts * COLUMNS, left = j->inner - start;
        j->isa->arg_columns(j->sign, j->x + outer * j->axis * j->inner + start, j->axis, j->inner,
                            j->y + outer * j->inner + start, left < COLUMNS ? left : COLUMNS);
    }
}

void cml_arg_extreme(const cml_isa *isa, const float *x, int32_t *y, long outer, long axis, long inner, int smallest) {
    if (outer <= 0 || axis <= 0 || inner <= 0) return;
    const long parts = inner == 1 ? 1 : (inner + COLUMNS - 1) / COLUMNS;
    const arg_job j = {isa, x, y, axis, inner, parts, smallest ? -1 : 1,
                       cml_divide(outer * parts, axis * (inner < COLUMNS ? inner : COLUMNS))};
    cml_parallel_for(j.division.tasks, arg_items, (void *)&j);
}

typedef struct {
    const cml_isa *isa;
    const float *x, *gamma, *beta;
    float *y;
    long rows, length, repeat, groups, rows_each;
    float epsilon;
    int keep_mean;
} norm_job;

static void normalize(void *context, long index, int worker) {
    (void)worker;
    const norm_job *j = context;
    const long end = (index + 1) * j->rows_each < j->rows ? (index + 1) * j->rows_each : j->rows;
    for (long row = index * j->rows_each; row < end; row++) {
        const long at = row % j->groups * (j->length / j->repeat);
        j->isa->normalize_row(j->x + row * j->length, j->y + row * j->length, j->length, j->epsilon, j->keep_mean,
                              j->gamma ? j->gamma + at : NULL, j->beta ? j->beta + at : NULL, j->repeat);
    }
}

void cml_normalize_rows(const cml_isa *isa, const float *x, float *y, long rows, long length, float epsilon,
                        int keep_mean, const float *gamma, const float *beta, long repeat, long groups) {
    if (rows <= 0 || length <= 0) return;
    norm_job j = {isa, x, gamma, beta, y, rows, length, repeat, groups, (CHUNK / 2 + length - 1) / length, epsilon,
                  keep_mean};
    cml_parallel_for((rows + j.rows_each - 1) / j.rows_each, normalize, &j);
}

typedef struct {
    const cml_isa *isa;
    const float *x;
    float *y, *center, *sums, *squares, *scale, *shift;
    long pixels, channels, slices;
    cml_unary function;
    float alpha, beta;
} instance_job;

static void moments(void *context, long index, int worker) {
    (void)worker;
    const instance_job *j = context;
    const long r0 = j->pixels * index / j->slices, r1 = j->pixels * (index + 1) / j->slices, c = j->channels;
    // Rows in groups that stay in the first cache while the columns are walked.
    const long group = 4096 / c > 1 ? 4096 / c : 1;
    for (long r = r0; r < r1; r += group) {
        j->isa->column_moments(j->x + r * c, r1 - r < group ? r1 - r : group, c, c, j->center, j->sums + index * c,
                               j->squares + index * c);
    }
}

static void apply(void *context, long index, int worker) {
    (void)worker;
    const instance_job *j = context;
    const long r0 = j->pixels * index / j->slices, r1 = j->pixels * (index + 1) / j->slices, c = j->channels;
    for (long r = r0; r < r1; r++) {
        j->isa->center_row(j->x + r * c, j->y + r * c, c, j->center, j->scale, j->shift);
        if (j->function != CML_IDENTITY) j->isa->unary(j->function, j->alpha, j->beta, j->y + r * c, j->y + r * c, c);
    }
}

void cml_instance_norm_inner(const cml_isa *isa, const float *x, float *y, long batch, long pixels, long channels,
                             float epsilon, const float *gamma, const float *beta, cml_unary function, float alpha,
                             float beta_parameter) {
    if (pixels <= 0 || channels <= 0) return;
    const long slices = pixels * channels > 16384 ? 4 * cml_worker_count() : 1;
    float *memory = cml_scratch(0, sizeof(float) * (size_t)(channels * (2 * slices + 3)));
    instance_job j = {.isa = isa, .pixels = pixels, .channels = channels, .slices = slices, .function = function,
                      .alpha = alpha, .beta = beta_parameter};
    j.center = memory;
    j.scale = memory + channels;
    j.shift = memory + 2 * channels;
    j.sums = memory + 3 * channels;
    j.squares = j.sums + slices * channels;
    for (long item = 0; item < batch; item++) {
        j.x = x + item * pixels * channels;
        j.y = y + item * pixels * channels;
        // Moments about a first pixel lose no digits to a large common offset.
        memcpy(j.center, j.x, sizeof(float) * (size_t)channels);
        memset(j.sums, 0, sizeof(float) * (size_t)(2 * slices * channels));
        cml_parallel_for(slices, moments, &j);
        for (long c = 0; c < channels; c++) {
            double sum = 0, square = 0;
            for (long s = 0; s < slices; s++) {
                sum += j.sums[s * channels + c];
                square += j.squares[s * channels + c];
            }
            const double mean = sum / (double)pixels;
            double variance = square / (double)pixels - mean * mean;
            if (variance < 0) variance = 0;
            j.scale[c] = (float)((gamma ? gamma[c] : 1) / sqrt(variance + epsilon));
            j.shift[c] = (float)((beta ? beta[c] : 0) - mean * j.scale[c]);
        }
        cml_parallel_for(slices, apply, &j);
    }
}

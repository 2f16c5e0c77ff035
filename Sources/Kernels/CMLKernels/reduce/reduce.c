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

// Slices of a long axis, reduced in parallel.
#define SLICES 16

typedef struct {
    const cml_isa *isa;
    cml_reduction op;
    const float *x;
    float *partial;
    long axis, inner;
} slice_job;

// The reduction of slices, and the meaning of their results.
static cml_reduction slice_operation(cml_reduction op) {
    return op == CML_MEAN || op == CML_LOG_SUM ? CML_SUM : op == CML_L2 ? CML_SUM_SQUARES : op;
}
static cml_reduction joining_operation(cml_reduction op) {
    return op == CML_MEAN || op == CML_L2 || op == CML_L1 || op == CML_SUM_SQUARES ? CML_SUM : op;
}

static void reduce_slice(void *context, long index, int worker) {
    (void)worker;
    const slice_job *j = context;
    const long start = j->axis * index / SLICES, end = j->axis * (index + 1) / SLICES;
    if (j->inner == 1) j->partial[index] = j->isa->reduce_row(j->op, j->x + start, end - start);
    else j->isa->reduce_columns(j->op, j->x + start * j->inner, end - start, j->inner, j->partial + index * j->inner,
                                j->inner);
}

void cml_reduce(const cml_isa *isa, cml_reduction op, const float *x, float *y, long outer, long axis, long inner) {
    const int tall = inner == 1 ? outer < 4 && axis > 4 * CHUNK : inner <= 8 * COLUMNS && axis * inner > 8 * CHUNK;
    if (tall && inner > 0 && outer < 16) {
        // All elements, or the pixels of an image: few columns, so the long axis is divided.
        float partial[SLICES * 8 * COLUMNS];
        slice_job j = {isa, slice_operation(op), x, partial, axis, inner};
        for (long item = 0; item < outer; item++, j.x += axis * inner) {
            float *result = y + item * inner;
            cml_parallel_for(SLICES, reduce_slice, &j);
            if (inner == 1) *result = isa->reduce_row(joining_operation(op), partial, SLICES);
            else isa->reduce_columns(joining_operation(op), partial, SLICES, inner, result, inner);
            if (op == CML_MEAN) isa->scale_row(1 / (float)axis, result, inner);
            if (op == CML_L2) isa->unary(CML_SQRT, 0, 0, result, result, inner);
        }
        return;
    }
    job j = {.isa = isa, .op = op, .x = x, .y = y, .outer = outer, .axis = axis, .inner = inner};
    run(&j);
}

typedef struct {
    const cml_isa *isa;
    cml_reduction op;
    const int32_t *x;
    int32_t *y;
    double *partial;
    long axis, inner, parts;
    cml_division division;
} integer_job;

// The result of a running value: means are divided, and everything is truncated and saturates as in conversions.
static int32_t concluded(cml_reduction op, double total, long axis) {
    if (op == CML_MEAN) total /= (double)axis;
    if (total != total) return 0;
    return total >= 2147483647.0 ? INT32_MAX : total <= -2147483648.0 ? INT32_MIN : (int32_t)total;
}

static void integer_slice(void *context, long index, int worker) {
    (void)worker;
    const integer_job *j = context;
    const long start = j->axis * index / SLICES, end = j->axis * (index + 1) / SLICES;
    j->partial[index] = j->isa->reduce_row_i32(j->op, j->x + start, end - start);
}

static void integer_items(void *context, long task, int worker) {
    (void)worker;
    const integer_job *j = context;
    for (long item = task * j->division.each, end = cml_division_end(&j->division, task); item < end; item++) {
        if (j->inner == 1) {
            j->y[item] = concluded(j->op, j->isa->reduce_row_i32(j->op, j->x + item * j->axis, j->axis), j->axis);
            continue;
        }
        double totals[COLUMNS];
        const long outer = item / j->parts, start = item % j->parts * COLUMNS, left = j->inner - start;
        const long count = left < COLUMNS ? left : COLUMNS;
        j->isa->reduce_columns_i32(j->op, j->x + outer * j->axis * j->inner + start, j->axis, j->inner, totals, count);
        for (long i = 0; i < count; i++) j->y[outer * j->inner + start + i] = concluded(j->op, totals[i], j->axis);
    }
}

void cml_reduce_i32(const cml_isa *isa, cml_reduction op, const int32_t *x, int32_t *y, long outer, long axis,
                    long inner) {
    if (outer <= 0 || inner <= 0) return;
    double partial[SLICES];
    integer_job j = {isa, op, x, y, partial, axis, inner, inner == 1 ? 1 : (inner + COLUMNS - 1) / COLUMNS, {0, 0, 0}};
    if (inner == 1 && outer < 4 && axis > 4 * CHUNK) {
        for (long item = 0; item < outer; item++, j.x += axis) {
            cml_parallel_for(SLICES, integer_slice, &j);
            double total = partial[0];
            for (int n = 1; n < SLICES; n++) {
                const double v = partial[n];
                total = op == CML_MAX ? (v > total ? v : total) : op == CML_MIN ? (v < total ? v : total)
                    : op == CML_PRODUCT ? total * v : total + v;
            }
            y[item] = concluded(op, total, axis);
        }
        return;
    }
    j.division = cml_divide(outer * j.parts, axis * (inner < COLUMNS ? inner : COLUMNS));
    cml_parallel_for(j.division.tasks, integer_items, &j);
}

void cml_softmax(const cml_isa *isa, const float *x, float *y, long outer, long axis, long inner) {
    job j = {.isa = isa, .x = x, .y = y, .outer = outer, .axis = axis, .inner = inner, .softmax = 1};
    if (axis > 0) run(&j);
}

typedef struct {
    const cml_isa *isa;
    cml_element element;
    const void *x;
    int32_t *y;
    long axis, inner, parts;
    int smallest;
    cml_division division;
} arg_job;

static void arg_items(void *context, long task, int worker) {
    (void)worker;
    const arg_job *j = context;
    const float sign = j->smallest ? -1 : 1;
    for (long item = task * j->division.each, end = cml_division_end(&j->division, task); item < end; item++) {
        const long outer = j->inner == 1 ? item : item / j->parts, start = j->inner == 1 ? 0 : item % j->parts * COLUMNS;
        const long at = outer * j->axis * j->inner + start, left = j->inner - start;
        const long count = left < COLUMNS ? left : COLUMNS;
        int32_t *y = j->y + outer * j->inner + start;
        if (j->element == CML_ELEMENT_I32) {
            const int32_t *x = (const int32_t *)j->x + at;
            if (j->inner == 1) *y = j->isa->arg_row_i32(j->smallest, x, j->axis);
            else j->isa->arg_columns_i32(j->smallest, x, j->axis, j->inner, y, count);
        } else {
            const float *x = (const float *)j->x + at;
            if (j->inner == 1) *y = j->isa->arg_row(sign, x, j->axis);
            else j->isa->arg_columns(sign, x, j->axis, j->inner, y, count);
        }
    }
}

void cml_arg_extreme(const cml_isa *isa, cml_element element, const void *x, int32_t *y, long outer, long axis,
                     long inner, int smallest) {
    if (outer <= 0 || axis <= 0 || inner <= 0) return;
    const long parts = inner == 1 ? 1 : (inner + COLUMNS - 1) / COLUMNS;
    const arg_job j = {isa, element, x, y, axis, inner, parts, smallest,
                       cml_divide(outer * parts, axis * (inner < COLUMNS ? inner : COLUMNS))};
    cml_parallel_for(j.division.tasks, arg_items, (void *)&j);
}

typedef struct {
    const cml_isa *isa;
    const float *x, *gamma, *beta;
    float *y;
    long axis, inner, parts;
    float epsilon;
    const cml_local_response *neighbours;
    cml_division division;
} column_job;

static void column_items(void *context, long task, int worker) {
    (void)worker;
    const column_job *j = context;
    for (long item = task * j->division.each, end = cml_division_end(&j->division, task); item < end; item++) {
        const long start = item % j->parts * COLUMNS, left = j->inner - start, count = left < COLUMNS ? left : COLUMNS;
        const long at = item / j->parts * j->axis * j->inner + start;
        if (j->neighbours) j->isa->local_response_norm(j->x + at, j->y + at, j->axis, j->inner, count, j->neighbours);
        else j->isa->normalize_columns(j->x + at, j->y + at, j->axis, j->inner, count, j->epsilon, j->gamma, j->beta);
    }
}

static void run_columns(column_job *j, long outer) {
    if (outer <= 0 || j->axis <= 0 || j->inner <= 0) return;
    j->parts = (j->inner + COLUMNS - 1) / COLUMNS;
    j->division = cml_divide(outer * j->parts, 4 * j->axis * (j->inner < COLUMNS ? j->inner : COLUMNS));
    cml_parallel_for(j->division.tasks, column_items, j);
}

void cml_normalize_columns(const cml_isa *isa, const float *x, float *y, long outer, long axis, long inner,
                           float epsilon, const float *gamma, const float *beta) {
    column_job j = {.isa = isa, .x = x, .y = y, .axis = axis, .inner = inner, .epsilon = epsilon, .gamma = gamma,
                    .beta = beta};
    run_columns(&j, outer);
}

void cml_local_response_norm(const cml_isa *isa, const float *x, float *y, long outer, long channels, long inner,
                             const cml_local_response *neighbours) {
    column_job j = {.isa = isa, .x = x, .y = y, .axis = channels, .inner = inner, .neighbours = neighbours};
    run_columns(&j, outer);
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

typedef struct {
    const norm_job *norm;
    float mean, inverse;
    float sums[SLICES];
    int phase;
} long_norm;

// One slice of a long row: its sum, its squares about the mean, or its results.
static void normalize_slice(void *context, long index, int worker) {
    (void)worker;
    long_norm *l = context;
    const norm_job *j = l->norm;
    const long start = j->length * index / SLICES, n = j->length * (index + 1) / SLICES - start;
    if (l->phase == 0) l->sums[index] = j->isa->reduce_row(CML_SUM, j->x + start, n);
    else if (l->phase == 1) l->sums[index] = j->isa->squared_deviations_row(j->x + start, n, l->mean);
    else j->isa->center_scale_row(j->x + start, j->y + start, start, n, l->mean, l->inverse, j->gamma, j->beta, j->repeat);
}

static void normalize_long(norm_job *j) {
    long_norm l = {.norm = j};
    for (long row = 0; row < j->rows; row++, j->x += j->length, j->y += j->length) {
        for (l.phase = j->keep_mean; l.phase < 3; l.phase++) {
            cml_parallel_for(SLICES, normalize_slice, &l);
            double total = 0;
            for (int i = 0; i < SLICES && l.phase < 2; i++) total += l.sums[i];
            if (l.phase == 0) l.mean = (float)(total / (double)j->length);
            if (l.phase == 1) l.inverse = 1 / sqrtf((float)(total / (double)j->length) + j->epsilon);
        }
    }
}

void cml_normalize_rows(const cml_isa *isa, const float *x, float *y, long rows, long length, float epsilon,
                        int keep_mean, const float *gamma, const float *beta, long repeat, long groups) {
    if (rows <= 0 || length <= 0) return;
    norm_job j = {isa, x, gamma, beta, y, rows, length, repeat, groups, (CHUNK / 2 + length - 1) / length, epsilon,
                  keep_mean};
    if (groups == 1 && rows < 2 * cml_worker_count() && length > 4 * CHUNK) {
        normalize_long(&j);
        return;
    }
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
    // Rows in groups that stay in the L1 cache while the columns are traversed.
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
    const long slices = pixels * channels > 16384 ? SLICES : 1;
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

// Broadcasting: axes that are walked the same way by every operand are joined, the innermost becomes the row kernels'.
#include "../isa/isa.h"

#define CHUNK 8192

typedef struct {
    long rank, sizes[CML_MAX_RANK], strides[3][CML_MAX_RANK];
    int operands;
} walk;

// Joins axes; the result has at least one.
static walk join(long rank, const long *sizes, const long *const strides[3], int operands) {
    walk w = {.operands = operands};
    for (long axis = 0; axis < rank; axis++) {
        if (sizes[axis] == 1) continue;
        int joined = w.rank > 0;
        for (int o = 0; joined && o < operands; o++)
            joined = w.strides[o][w.rank - 1] == strides[o][axis] * sizes[axis];
        if (joined) w.rank--;
        w.sizes[w.rank] = (joined ? w.sizes[w.rank] : 1) * sizes[axis];
        for (int o = 0; o < operands; o++) w.strides[o][w.rank] = strides[o][axis];
        w.rank++;
    }
    if (w.rank == 0) {
        w.rank = 1;
        w.sizes[0] = 1;
    }
    return w;
}

typedef struct {
    walk w;
    const cml_isa *isa;
    cml_binary op;
    const uint8_t *condition;
    const float *x, *y;
    float *z;
    long rows, rows_each, parts, part;  // tasks are groups of rows, or parts of one row
} job;

static void locate(const walk *w, long row, long offsets[3]) {
    for (int o = 0; o < w->operands; o++) offsets[o] = 0;
    for (long axis = w->rank - 2; axis >= 0; axis--) {
        const long at = row % w->sizes[axis];
        row /= w->sizes[axis];
        for (int o = 0; o < w->operands; o++) offsets[o] += at * w->strides[o][axis];
    }
}

static void combine(void *context, long index, int worker) {
    (void)worker;
    const job *j = context;
    const walk *w = &j->w;
    const long length = w->sizes[w->rank - 1], part = index % j->parts;
    const long row0 = index / j->parts * j->rows_each;
    const long row1 = row0 + j->rows_each < j->rows ? row0 + j->rows_each : j->rows;
    const long start = part * j->part, left = length - start, count = left < j->part ? left : j->part;
    for (long row = row0; row < row1; row++) {
        long offset[3];
        locate(w, row, offset);
        const long xs = w->strides[0][w->rank - 1], ys = w->strides[1][w->rank - 1];
        const float *x = j->x + offset[0] + start * xs, *y = j->y + offset[1] + start * ys;
        float *z = j->z + row * length + start;
        if (j->condition) {
            const long cs = w->strides[2][w->rank - 1];
            const uint8_t *c = j->condition + offset[2] + start * cs;
            for (long i = 0; i < count; i++) z[i] = c[i * cs] ? x[i * xs] : y[i * ys];
        } else if ((xs | ys) >> 1 == 0) {
            j->isa->binary(j->op, x, xs, y, ys, z, count);
        } else {
            for (long i = 0; i < count; i++) j->isa->binary(j->op, x + i * xs, 0, y + i * ys, 0, z + i, 1);
        }
    }
}

static void run(job *j) {
    const walk *w = &j->w;
    const long length = w->sizes[w->rank - 1];
    j->rows = 1;
    for (long axis = 0; axis < w->rank - 1; axis++) j->rows *= w->sizes[axis];
    if (length <= 0 || j->rows <= 0) return;
    j->parts = (length + CHUNK - 1) / CHUNK;
    j->part = j->parts > 1 ? CHUNK : length;
    j->rows_each = j->parts > 1 ? 1 : (CHUNK + length - 1) / length;
    cml_parallel_for((j->rows + j->rows_each - 1) / j->rows_each * j->parts, combine, j);
}

void cml_binary_map(const cml_isa *isa, cml_binary op, long rank, const long *sizes, const float *x,
                    const long *x_strides, const float *y, const long *y_strides, float *z) {
    const long *const strides[3] = {x_strides, y_strides};
    job j = {.w = join(rank, sizes, strides, 2), .isa = isa, .op = op, .x = x, .y = y, .z = z};
    run(&j);
}

void cml_select_map(long rank, const long *sizes, const uint8_t *condition, const long *condition_strides,
                    const float *x, const long *x_strides, const float *y, const long *y_strides, float *z) {
    const long *const strides[3] = {x_strides, y_strides, condition_strides};
    job j = {.w = join(rank, sizes, strides, 3), .condition = condition, .x = x, .y = y, .z = z};
    run(&j);
}

typedef struct {
    const cml_isa *isa;
    const float *x, *scale, *shift;
    float *y;
    long rows, channels, inner, rows_each;
    cml_unary function;
    float alpha, beta;
} affine_job;

static void affine(void *context, long index, int worker) {
    (void)worker;
    const affine_job *j = context;
    const long length = j->inner == 1 ? j->channels : j->inner;
    const long row1 = (index + 1) * j->rows_each < j->rows ? (index + 1) * j->rows_each : j->rows;
    for (long row = index * j->rows_each; row < row1; row++) {
        const long channel = j->inner == 1 ? 0 : row % j->channels;
        float *y = j->y + row * length;
        j->isa->affine_row(j->x + row * length, y, length, j->scale ? j->scale + channel : NULL,
                           j->shift ? j->shift + channel : NULL, j->inner == 1);
        if (j->function != CML_IDENTITY) j->isa->unary(j->function, j->alpha, j->beta, y, y, length);
    }
}

void cml_scale_shift(const cml_isa *isa, const float *x, float *y, long outer, long channels, long inner,
                     const float *scale, const float *shift, cml_unary function, float alpha, float beta) {
    if (outer * channels * inner == 0) return;
    affine_job j = {isa, x, scale, shift, y, inner == 1 ? outer : outer * channels, channels, inner, 1,
                    function, alpha, beta};
    j.rows_each = (CHUNK + (inner == 1 ? channels : inner) - 1) / (inner == 1 ? channels : inner);
    cml_parallel_for((j.rows + j.rows_each - 1) / j.rows_each, affine, &j);
}

#include "../isa/isa.h"
#include "../threads/division.h"
#include <math.h>
#include <string.h>

typedef struct {
    const cml_isa *isa;
    cml_pooling kind;
    const cml_pool_shape *shape;
    const float *x;
    float *y;
    const float *widths;   // of planes' means: elements of each window along the row
    cml_division division;
} job;

// Taps of one window along one axis: the first inside, the number inside, and the number inside or in the padding.
typedef struct {
    long start, count, padded;
} span;

static span window(const cml_pool_shape *s, int axis, long out) {
    const long origin = out * s->stride[axis] - s->pad[axis], step = s->dilation[axis];
    long first = origin >= 0 ? 0 : (-origin + step - 1) / step, end = s->kernel[axis], padded = s->kernel[axis];
    while (end > first && origin + (end - 1) * step >= s->in[axis]) end--;
    while (padded > 0 && origin + (padded - 1) * step >= s->in[axis] + s->pad_after[axis]) padded--;
    return (span){origin + first * step, end > first ? end - first : 0, padded};
}

// Rows of planes: the rows of a window are combined into one line with its borders, then windows slide along that.
static void pool_planes(void *context, long task, int worker) {
    (void)worker;
    const job *j = context;
    const cml_pool_shape *s = j->shape;
    const long length = (s->out[2] - 1) * s->stride[2] + (s->kernel[2] - 1) * s->dilation[2] + 1;
    const long lead = s->pad[2] < length ? s->pad[2] : length;
    const long inside = s->in[2] < length - lead ? s->in[2] : length - lead;
    float *line = cml_scratch(3, sizeof(float) * (size_t)length);
    const float neutral = j->kind == CML_POOL_MAX ? -INFINITY : 0;
    const int alone = s->kernel[0] * s->kernel[1] == 1 && lead == 0 && inside == length && j->kind != CML_POOL_L2;
    for (long i = 0; i < length; i++) line[i] = neutral;
    for (long index = task * j->division.each, end = cml_division_end(&j->division, task); index < end; index++) {
        const long oh = index % s->out[1], od = index / s->out[1] % s->out[0], item = index / s->out[1] / s->out[0];
        const span depth = window(s, 0, od), height = window(s, 1, oh);
        float *y = j->y + index * s->out[2];
        int first = 1;
        for (long a = 0; a < depth.count; a++) {
            for (long b = 0; b < height.count; b++, first = 0) {
                const float *row = j->x + ((item * s->in[0] + depth.start + a * s->dilation[0]) * s->in[1] + height.start
                                           + b * s->dilation[1]) * s->in[2];
                // One row without borders needs no line.
                if (alone) j->isa->pool_windows(j->kind, row, s->stride[2], s->dilation[2], s->kernel[2], y, s->out[2]);
                else if (inside > 0) j->isa->pool_combine_row(j->kind, row, line + lead, inside, first);
            }
        }
        if (first) {
            for (long i = 0; i < inside; i++) line[lead + i] = neutral;
        }
        if (first || !alone)
            j->isa->pool_windows(j->kind, line, s->stride[2], s->dilation[2], s->kernel[2], y, s->out[2]);
        if (j->kind == CML_POOL_L2) j->isa->pool_divide(y, NULL, 1, s->out[2]);
        if (!j->widths) continue;
        const long rows = j->kind == CML_POOL_MEAN ? depth.count * height.count : depth.padded * height.padded;
        j->isa->pool_divide(y, j->widths, (float)(rows > 0 ? rows : 1), s->out[2]);
    }
}

static void pool_row(void *context, long index, int worker) {
    (void)worker;
    const job *j = context;
    const cml_pool_shape *s = j->shape;
    const long oh = index % s->out[1], od = index / s->out[1] % s->out[0], item = index / s->out[1] / s->out[0];
    const span depth = window(s, 0, od), height = window(s, 1, oh);
    const long rows = depth.count * height.count;
    const float **lines = cml_scratch(3, sizeof(float *) * (size_t)(rows * (s->kernel[2] + 1) + 1));
    const float **taps = lines + rows;
    for (long a = 0, n = 0; a < depth.count; a++)
        for (long b = 0; b < height.count; b++, n++)
            lines[n] = j->x + ((item * s->in[0] + depth.start + a * s->dilation[0]) * s->in[1] + height.start
                               + b * s->dilation[1]) * s->in[2] * s->inner;
    for (long ow = 0; ow < s->out[2]; ow++) {
        const span width = window(s, 2, ow);
        const long count = rows * width.count;
        float *y = j->y + (index * s->out[2] + ow) * s->inner;
        float divisor = j->kind == CML_POOL_MEAN_PADDED ? (float)(depth.padded * height.padded * width.padded) : (float)count;
        if (divisor == 0) divisor = 1;
        for (long n = 0, t = 0; n < rows; n++)
            for (long k = 0; k < width.count; k++)
                taps[t++] = lines[n] + (width.start + k * s->dilation[2]) * s->inner;
        j->isa->pool_pixel(j->kind, taps, count, divisor, y, s->inner);
    }
}

void cml_pool(const cml_isa *isa, cml_pooling kind, const cml_pool_shape *s, const float *x, float *y) {
    job j = {isa, kind, s, x, y, NULL, {0, 0, 0}};
    if (s->inner <= 0 || s->out[2] <= 0) return;
    if (s->inner == 1) {
        if (kind == CML_POOL_MEAN || kind == CML_POOL_MEAN_PADDED) {
            float *widths = cml_scratch(2, sizeof(float) * (size_t)s->out[2]);
            for (long i = 0; i < s->out[2]; i++) {
                const span w = window(s, 2, i);
                const long count = kind == CML_POOL_MEAN ? w.count : w.padded;
                widths[i] = (float)(count > 0 ? count : 1);
            }
            j.widths = widths;
        }
        j.division = cml_divide(s->batch * s->out[0] * s->out[1],
                                s->kernel[0] * s->kernel[1] * s->in[2] + s->kernel[2] * s->out[2]);
        cml_parallel_for(j.division.tasks, pool_planes, &j);
        return;
    }
    cml_parallel_for(s->batch * s->out[0] * s->out[1], pool_row, &j);
}

typedef struct {
    const cml_isa *isa;
    const float *x;
    float *y;
    long inner;
    const cml_resize_axis *height, *width;
    int nearest;   // no column is mixed
    cml_division division;
} resize_job;

// Row `index`; the one before it is there when `follows`.
static void resize_row(const resize_job *j, long index, int follows) {
    const cml_resize_axis *h = j->height, *w = j->width;
    const long item = index / h->out, row = index % h->out, line = w->in * j->inner;
    const float *image = j->x + item * h->in * line;
    const float *low = image + h->low[row] * line, *mixed = low;
    float *y = j->y + index * w->out * j->inner;
    if (follows && row > 0 && h->low[row] == h->low[row - 1] && h->weight[row] == h->weight[row - 1]
        && (h->weight[row] == 0 || h->high[row] == h->high[row - 1])) {
        memcpy(y, y - w->out * j->inner, sizeof(float) * (size_t)(w->out * j->inner));
        return;
    }
    if (h->weight[row] != 0) {
        float *buffer = cml_scratch(3, sizeof(float) * (size_t)line);
        j->isa->interpolate_rows(low, image + h->high[row] * line, h->weight[row], buffer, line);
        mixed = buffer;
    }
    if (j->inner == 1) {
        j->isa->interpolate_row(mixed, w->in, w->low, w->high, j->nearest ? NULL : w->weight, y, w->out);
        return;
    }
    for (long i = 0; i < w->out; i++, y += j->inner) {
        const float *a = mixed + w->low[i] * j->inner, *b = mixed + w->high[i] * j->inner;
        if (w->weight[i] == 0) memcpy(y, a, sizeof(float) * (size_t)j->inner);
        else j->isa->interpolate_rows(a, b, w->weight[i], y, j->inner);
    }
}

static void resize_rows(void *context, long task, int worker) {
    (void)worker;
    const resize_job *j = context;
    const long start = task * j->division.each;
    for (long row = start, end = cml_division_end(&j->division, task); row < end; row++) resize_row(j, row, row > start);
}

void cml_resize(const cml_isa *isa, const float *x, float *y, long batch, long inner, const cml_resize_axis *height,
                const cml_resize_axis *width) {
    resize_job j = {isa, x, y, inner, height, width, 1, cml_divide(batch * height->out, 2 * width->out * inner)};
    for (long i = 0; i < width->out && j.nearest; i++) j.nearest = width->weight[i] == 0;
    cml_parallel_for(j.division.tasks, resize_rows, &j);
}

void cml_pool_pairs_back(const cml_isa *isa, const float *x, const float *y, float *rest, float *dx, long count) {
    isa->pool_pairs_back(x, y, rest, dx, count);
}

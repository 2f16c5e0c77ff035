#include "../isa/isa.h"
#include <math.h>
#include <string.h>

typedef struct {
    const cml_isa *isa;
    cml_pooling kind;
    const cml_pool_shape *shape;
    const float *x;
    float *y;
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

static float pool_scalar(cml_pooling kind, const float *const *rows, long count, long width, long step) {
    float best = -INFINITY, sum = 0;
    for (long t = 0; t < count; t++) {
        for (long k = 0; k < width; k++) {
            const float v = rows[t][k * step];
            if (kind == CML_POOL_MAX) best = best >= v ? best : v;
            else sum += kind == CML_POOL_L2 ? v * v : v;
        }
    }
    return kind == CML_POOL_MAX ? best : sum;
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
        if (s->inner == 1) {
            const float *starts[rows > 0 ? rows : 1];
            for (long n = 0; n < rows; n++) starts[n] = lines[n] + width.start;
            const float total = pool_scalar(j->kind, starts, rows, width.count, s->dilation[2]);
            *y = j->kind == CML_POOL_MAX ? total : j->kind == CML_POOL_L2 ? sqrtf(total) : total / divisor;
            continue;
        }
        for (long n = 0, t = 0; n < rows; n++)
            for (long k = 0; k < width.count; k++)
                taps[t++] = lines[n] + (width.start + k * s->dilation[2]) * s->inner;
        j->isa->pool_pixel(j->kind, taps, count, divisor, y, s->inner);
    }
}

void cml_pool(const cml_isa *isa, cml_pooling kind, const cml_pool_shape *s, const float *x, float *y) {
    job j = {isa, kind, s, x, y};
    if (s->inner <= 0 || s->out[2] <= 0) return;
    cml_parallel_for(s->batch * s->out[0] * s->out[1], pool_row, &j);
}

typedef struct {
    const cml_isa *isa;
    const float *x;
    float *y;
    long inner;
    const cml_resize_axis *height, *width;
} resize_job;

static void resize_row(void *context, long index, int worker) {
    (void)worker;
    const resize_job *j = context;
    const cml_resize_axis *h = j->height, *w = j->width;
    const long item = index / h->out, row = index % h->out, line = w->in * j->inner;
    const float *image = j->x + item * h->in * line;
    const float *low = image + h->low[row] * line, *mixed = low;
    if (h->weight[row] != 0) {
        float *buffer = cml_scratch(3, sizeof(float) * (size_t)line);
        j->isa->mix_rows(low, image + h->high[row] * line, h->weight[row], buffer, line);
        mixed = buffer;
    }
    float *y = j->y + index * w->out * j->inner;
    for (long i = 0; i < w->out; i++, y += j->inner) {
        const float *a = mixed + w->low[i] * j->inner, *b = mixed + w->high[i] * j->inner;
        if (j->inner == 1) *y = *a + w->weight[i] * (*b - *a);
        else if (w->weight[i] == 0) memcpy(y, a, sizeof(float) * (size_t)j->inner);
        else j->isa->mix_rows(a, b, w->weight[i], y, j->inner);
    }
}

void cml_resize(const cml_isa *isa, const float *x, float *y, long batch, long inner, const cml_resize_axis *height,
                const cml_resize_axis *width) {
    resize_job j = {isa, x, y, inner, height, width};
    cml_parallel_for(batch * height->out, resize_row, &j);
}

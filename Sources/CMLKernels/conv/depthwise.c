// Depthwise convolution: division of the rows; the arithmetic is in depthwise.inc.
#include "conv.h"

typedef struct {
    const cml_isa *isa;
    const cml_conv_shape *shape;
    const cml_axis *axes;
    const float *x, *weights;
    float *y;
    const cml_epilogue *epilogue;
    long inside_lo, inside_hi;
    int dense;
} job;

static void convolve_row(void *context, long index, int worker) {
    (void)worker;
    const job *j = context;
    const cml_conv_shape *s = j->shape;
    const cml_axis *d = &j->axes[0], *h = &j->axes[1], *w = &j->axes[2];
    const cml_epilogue *e = j->epilogue;
    const long channels = s->in_channels, oh = index % h->count, od = index / h->count % d->count;
    const long item = index / h->count / d->count;
    const float *rows[CML_DEPTHWISE_ROWS], *weights[CML_DEPTHWISE_ROWS];
    struct cml_depthwise_row row = {
        .channels = channels, .count = w->count, .width = w->in_size, .stride = w->in_stride, .taps = w->taps,
        .tap = w->tap, .offset = w->offset, .x_step = channels, .y_step = channels, .residual_step = e->ldr,
        .rows = rows, .weights = weights, .inside_lo = j->inside_lo, .inside_hi = j->inside_hi, .dense = j->dense,
        .y = j->y + index * w->count * channels,
        .residual = e->residual ? e->residual + index * w->count * e->ldr : NULL,
        .bias = e->bias, .slope = e->slope, .function = e->function, .alpha = e->alpha, .beta = e->beta,
    };
    for (long a = 0; a < d->taps; a++) {
        const long z = od * d->in_stride + d->offset[a];
        for (long b = 0; b < h->taps; b++) {
            const long y = oh * h->in_stride + h->offset[b];
            if (z < 0 || z >= d->in_size || y < 0 || y >= h->in_size) continue;
            rows[row.row_count] = j->x + ((item * d->in_size + z) * h->in_size + y) * w->in_size * channels;
            weights[row.row_count++] = j->weights + (a * s->kernel[1] + b) * s->kernel[2] * channels;
        }
    }
    j->isa->depthwise_row(&row);
}

void cml_depthwise(const cml_isa *isa, const cml_conv_shape *s, const cml_axis axes[3], const float *x,
                   const float *weights, float *y, const cml_epilogue *epilogue) {
    const cml_axis *w = &axes[2];
    job j = {isa, s, axes, x, weights, y, epilogue, 0, w->count, s->dilation[2] == 1};
    for (long k = 0; k < w->taps; k++) {
        long lo, hi;
        cml_axis_range(w, k, &lo, &hi);
        if (lo > j.inside_lo) j.inside_lo = lo;
        if (hi < j.inside_hi) j.inside_hi = hi;
    }
    if (j.inside_hi < j.inside_lo) j.inside_hi = j.inside_lo;
    cml_parallel_for(s->batch * axes[0].count * axes[1].count, convolve_row, &j);
}

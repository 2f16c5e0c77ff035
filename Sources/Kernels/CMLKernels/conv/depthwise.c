// Depthwise convolution: division of the rows; the arithmetic is in depthwise.inc.
#include "conv.h"
#include <math.h>

typedef struct {
    const cml_isa *isa;
    const cml_conv_shape *shape;
    const cml_axis *axes;
    const float *x, *weights;
    float *y;
    const cml_epilogue *epilogue;
    long parts, channels_each;    // ranges of channels a row is divided into
} job;

void cml_depthwise_line(const cml_isa *isa, const cml_conv_shape *s, const cml_axis *w, const cml_depthwise_rows *rows,
                        long first, long channels, float *y, const float *residual, const cml_epilogue *e) {
    static const float zeros[CML_MAX_VECTOR];
    const long step = s->in_channels;
    const float *inputs[CML_DEPTHWISE_ROWS], *weights[CML_DEPTHWISE_ROWS];
    for (long i = 0; i < rows->count; i++) {
        inputs[i] = rows->inputs[i] + first;
        weights[i] = rows->weights[i] + first;
    }
    const struct cml_depthwise_row row = {
        .channels = channels, .count = w->count, .width = w->in_size, .stride = w->in_stride, .taps = w->taps, .tap = w->tap,
        .offset = w->offset, .x_step = step, .y_step = step, .residual_step = e->ldr, .weight_step = step, .rows = inputs,
        .weights = weights, .row_count = rows->count, .dense = s->dilation[2] == 1, .zeros = zeros, .y = y + first,
        .residual = residual ? residual + first : NULL, .bias = e->bias ? e->bias + first : NULL,
        .slope = e->slope ? e->slope + first : NULL, .function = e->function, .alpha = e->alpha, .beta = e->beta,
        .low = e->function == CML_RELU ? 0 : e->function == CML_CLIP ? e->alpha : -INFINITY,
        .high = e->function == CML_CLIP ? e->beta : INFINITY,
    };
    isa->depthwise_row(&row);
}

static void convolve_row(void *context, long index, int worker) {
    (void)worker;
    const job *j = context;
    const cml_conv_shape *s = j->shape;
    const cml_axis *d = &j->axes[0], *h = &j->axes[1], *w = &j->axes[2];
    const cml_epilogue *e = j->epilogue;
    const long line = index / j->parts, first = index % j->parts * j->channels_each, left = s->in_channels - first;
    if (left <= 0) return;
    const long step = s->in_channels, oh = line % h->count, od = line / h->count % d->count;
    const long item = line / h->count / d->count;
    cml_depthwise_rows rows = {0};
    for (long a = 0; a < d->taps; a++) {
        const long z = od * d->in_stride + d->offset[a];
        for (long b = 0; b < h->taps; b++) {
            const long y = oh * h->in_stride + h->offset[b];
            if (z < 0 || z >= d->in_size || y < 0 || y >= h->in_size) continue;
            rows.inputs[rows.count] = j->x + ((item * d->in_size + z) * h->in_size + y) * w->in_size * step;
            rows.weights[rows.count++] = j->weights + (a * s->kernel[1] + b) * s->kernel[2] * step;
        }
    }
    cml_depthwise_line(j->isa, s, w, &rows, first, left < j->channels_each ? left : j->channels_each,
                       j->y + line * w->count * step, e->residual ? e->residual + line * w->count * e->ldr : NULL, e);
}

void cml_depthwise(const cml_isa *isa, const cml_conv_shape *s, const cml_axis axes[3], const float *x,
                   const float *weights, float *y, const cml_epilogue *epilogue) {
    const long lines = s->batch * axes[0].count * axes[1].count, workers = cml_worker_count();
    job j = {isa, s, axes, x, weights, y, epilogue, 1, s->in_channels};
    // Few rows do not divide evenly: ranges of channels do.
    if (lines < 8 * workers && s->in_channels >= 8 * isa->vector) {
        j.parts = 2;
        j.channels_each = ((s->in_channels + 1) / 2 + isa->vector - 1) / isa->vector * isa->vector;
    }
    cml_parallel_for(lines * j.parts, convolve_row, &j);
}

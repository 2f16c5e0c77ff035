// Declarations shared by the convolution files.
#pragma once
#include "../codes/codes.h"
#include "../isa/isa.h"
#include "../amx/amx.h"

// One axis of a convolution: output q (of `count`) lies at out_start + q * out_step and takes, from tap i, input
// q * in_stride + offset[i] with the kernel's element tap[i].  A transposed convolution is one of these per phase.
typedef struct {
    long count, in_size, in_stride, out_start, out_step;
    long taps;
    const long *tap, *offset;
} cml_axis;

// The outputs lo..<hi (within 0..<count) for which tap i reads inside the input.
static inline void cml_axis_range(const cml_axis *axis, long i, long *lo, long *hi) {
    long offset = axis->offset[i], stride = axis->in_stride;
    long first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
    long last = axis->in_size - 1 - offset < 0 ? 0 : (axis->in_size - 1 - offset) / stride + 1;
    *lo = first < axis->count ? first : axis->count;
    *hi = last < axis->count ? last : axis->count;
    if (*hi < *lo) *hi = *lo;
}

static inline int cml_conv_is_depthwise(const cml_conv_shape *s) {
    return s->kernel[0] * s->kernel[1] <= CML_DEPTHWISE_ROWS && !s->transposed && s->groups > 1 && s->groups == s->in_channels && s->out_channels == s->in_channels;
}

// The input rows that an output row of a depthwise convolution reads, those inside the input, and the weights for each.
typedef struct {
    const float *inputs[CML_DEPTHWISE_ROWS], *weights[CML_DEPTHWISE_ROWS];
    long count;
} cml_depthwise_rows;

static inline long cml_conv_taps(const cml_conv_shape *s) { return s->kernel[0] * s->kernel[1] * s->kernel[2]; }

void cml_depthwise(const cml_isa *isa, const cml_conv_shape *shape, const cml_axis axes[3], const float *x,
                   const float *weights, float *y, const cml_epilogue *epilogue);
// One output row, the channels first..<first + channels of it; `y` and `residual` are the row's first element.
void cml_depthwise_line(const cml_isa *isa, const cml_conv_shape *shape, const cml_axis *width,
                        const cml_depthwise_rows *rows, long first, long channels, float *y, const float *residual,
                        const cml_epilogue *epilogue);
// The positions of a tile, each with a matrix of weights.
long cml_winograd_positions(const cml_conv_shape *shape);
void cml_winograd_pack(const cml_isa *isa, const cml_conv_shape *shape, const void *source, cml_storage storage,
                       long g_stride, long o_stride, long i_stride, float *packed);
// `codes`, where they are given, are transformed in each call instead of `packed`.
void cml_winograd(const cml_isa *isa, const cml_conv_shape *shape, const float *x, const float *packed,
                  const cml_codes *codes, float *y, const cml_epilogue *epilogue);

// Convolutions over channels-last tensors: [batch][depth][height][width][channels].
#pragma once
#include "cml_gemm.h"

// Axes in the order depth, height, width; unused leading axes have size 1, kernel 1, stride 1, dilation 1, padding 0.
// The algorithm of a convolution: direct, or Winograd convolution in tiles of 2 or 4 outputs a side.
typedef enum { CML_CONV_DIRECT = 0, CML_CONV_WINOGRAD_2 = 2, CML_CONV_WINOGRAD_4 = 4 } cml_conv_method;

// Input rows that one output row of a depthwise convolution reads, at most.
enum { CML_DEPTHWISE_ROWS = 64 };

typedef struct {
    long batch;
    long in[3], out[3], kernel[3], stride[3], dilation[3];
    long pad[3];                      // before the first element; out-of-range taps count as zero
    long in_channels, out_channels, groups;
    int transposed;                   // out[o = stride * i - pad + dilation * k] += in[i] weight[k]
    cml_conv_method method;           // weights are packed for one method
} cml_conv_shape;

// The method that is fastest for the shape within single precision's accuracy; always the straight one when the
// environment has COREML_WINOGRAD=0.
cml_conv_method cml_conv_choose(const cml_conv_shape *shape);

// Bytes of the packed weights.
size_t cml_conv_packed_bytes(const cml_isa *isa, const cml_conv_shape *shape, cml_storage storage);
// Packs the weight of (group g, output o of the group, input i of the group, tap t in [kd][kh][kw] order) found at
// source[g * g_stride + o * o_stride + i * i_stride + t].
void cml_conv_pack(const cml_isa *isa, const cml_conv_shape *shape, const void *source, cml_storage storage,
                   long g_stride, long o_stride, long i_stride, void *packed);
// y = epilogue(convolution(x)).  `storage` as packed; the residual has the layout of y, its row is a pixel.  With CML_CODES
// `packed` is a cml_codes of taps * in_channels terms, [kd][kh][kw][input channel], by out_channels columns, for one group;
// the packed form of the method is made in each call, panel by panel where that is possible.
void cml_conv(const cml_isa *isa, const cml_conv_shape *shape, const float *x, const void *packed,
              cml_storage storage, float *y, const cml_epilogue *epilogue);

// Whether Winograd's method is the faster one for the gradient of the weights of a convolution; never when the environment
// has COREML_WINOGRAD=0.
int cml_winograd_gradient_suits(const cml_conv_shape *shape);
// Bytes of scratch memory, aligned to 64, that the gradient needs.
size_t cml_winograd_gradient_bytes(const cml_isa *isa, const cml_conv_shape *shape);
// dw[output][input][tap] = the sums over batch and positions of x times dy, for a shape that suits. `x` and `dy`, the gradient
// of the result, are row-major, [batch][channels][height][width].
void cml_winograd_gradient(const cml_isa *isa, const cml_conv_shape *shape, const float *x, const float *dy, float *dw,
                           void *scratch);

// A convolution of row-major tensors, [batch][channels][depth][height][width], but not for transposed convolutions, and always
// straight.  Packed weights are floats, as many as there are; `source` is [output channel][input channel of the
// group][depth][height][width].  The residual has the layout of y.
void cml_conv_planes_pack(const cml_isa *isa, const cml_conv_shape *shape, const void *source, cml_storage storage,
                          float *packed);
void cml_conv_planes(const cml_isa *isa, const cml_conv_shape *shape, const float *x, const float *packed, float *y,
                     const cml_epilogue *epilogue);

// A depthwise convolution of two axes between two 1×1 convolutions, of which either may be missing.  The tensors
// between them are kept in the L2 cache, a few rows at a time, and never written as a whole.
typedef struct {
    cml_conv_shape depthwise;       // its channels are those between the products; at most 64 taps an axis
    const float *weights;           // as packed for the depthwise convolution
    cml_epilogue epilogue;          // without a residual
    const void *expand;             // packed weights of the first product; null when there is none
    cml_storage expand_storage;     // CML_F32 or CML_F16
    long in_channels;               // of x
    cml_epilogue expand_epilogue;   // without a residual
    const void *project;            // packed weights of the last product; null when there is none
    cml_storage project_storage;
    long out_channels;              // of y
    cml_epilogue project_epilogue;  // its residual has the layout of y
} cml_conv_separable;

// y = the three convolutions of x, one after the other, with the numbers that they give one at a time.
void cml_conv_separable_run(const cml_isa *isa, const cml_conv_separable *convolution, const float *x, float *y);

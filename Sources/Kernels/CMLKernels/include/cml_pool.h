// Pooling and resizing.
#pragma once
#include "cml_gemm.h"

typedef enum { CML_POOL_MAX, CML_POOL_MEAN, CML_POOL_MEAN_PADDED, CML_POOL_L2 } cml_pooling;

// Windows over three axes (depth, height, width) of [batch][axes...][inner]: inner is the channels when they are last,
// and 1 when batch counts planes.  CML_POOL_MEAN divides by the elements inside the input, CML_POOL_MEAN_PADDED by
// those inside the input or its padding (pad before, pad_after after).
typedef struct {
    long batch, inner;
    long in[3], out[3], kernel[3], stride[3], dilation[3], pad[3], pad_after[3];
} cml_pool_shape;

void cml_pool(const cml_isa *isa, cml_pooling kind, const cml_pool_shape *shape, const float *x, float *y);

// The gradient of a maximum to the first of the largest elements, for two columns of `count` windows next to each other:
// y[i] is the largest element of window i and rest[i] the gradient that none of its elements has taken so far; x and dx
// are pairs of columns.  dx is overwritten.
void cml_pool_pairs_back(const cml_isa *isa, const float *x, const float *y, float *rest, float *dx, long count);

// One axis of a resize: output i mixes inputs low[i] and high[i]: (1 - weight[i]) low + weight[i] high.
typedef struct {
    long in, out;
    const int32_t *low, *high;
    const float *weight;
} cml_resize_axis;

// [batch][height][width][inner]
void cml_resize(const cml_isa *isa, const float *x, float *y, long batch, long inner, const cml_resize_axis *height,
                const cml_resize_axis *width);

// y[p][i] = bias[i] + sum over taps (at most 8) of weights[t][i] x[p][positions[t][i]] for `planes` planes of `plane`
// elements; an element whose weight is 0 does not count, whatever it is, but exists.
void cml_sample(const cml_isa *isa, const float *x, long planes, long plane, long taps, const int32_t *const *positions,
                const float *const *weights, const float *bias, float *y, long count);

// oneDNN when it is installed: opened at run time, never linked.  API versions 2 and 3 behind one small interface.
#pragma once
#include <stdbool.h>

// The major version of the library found, 0 when there is none.  Opens it on the first call; its threads are kept from
// spinning for long, because that must be asked for before it is loaded.
int codnn_version(void);

// A prepared operation with its weights in the library's own layout.  One thread at a time may run it.
typedef struct codnn_operation codnn_operation;

// Channels-last convolution with `axes` spatial axes (1...3); weights are [output][input / groups][kernel...]; `after`
// is the padding behind the last element; bias may be null.  Null when the library refuses.
codnn_operation *codnn_convolution(int axes, long batch, long in_channels, long out_channels, long groups,
                                   const long *in, const long *out, const long *kernel, const long *stride,
                                   const long *dilation, const long *before, const long *after, const float *weights,
                                   const float *bias);
// dst[m, n] = src[m, k] weights[k, n] + bias[n]; element (i, j) of the weights at i * k_stride + j * n_stride.
codnn_operation *codnn_matmul(long m, long n, long k, long src_stride, long dst_stride, const float *weights,
                              long k_stride, long n_stride, const float *bias);
bool codnn_run(codnn_operation *operation, const float *src, float *dst);
void codnn_destroy(codnn_operation *operation);

// oneDNN when it is installed: opened at run time, never linked.  API versions 2 and 3 behind one small interface.
#pragma once
#include <stdbool.h>

// The major version of the library found, 0 when there is none.  Opens it on the first call; its threads are kept from
// spinning for long, because that must be set before it is loaded.
int codnn_version(void);

// A prepared operation with its weights in the library's own layout.  One thread at a time may run it.
typedef struct codnn_operation codnn_operation;

// A channels-last convolution; arrays have an element for each spatial axis.
typedef struct {
    int axes;  // spatial axes, 1...3
    long batch, in_channels, out_channels, groups;
    const long *in_size, *out_size;
    const long *kernel, *stride, *dilation;
    const long *padding_before, *padding_after;
    const float *weights;  // [output][input / groups][kernel...]
    const float *bias;  // [output], or null
} codnn_convolution_arguments;

// dst[m, n] = src[m, k] weights[k, n] + bias[n]; strides are in elements.
typedef struct {
    long m, n, k;
    long src_stride, dst_stride;  // from row to row
    const float *weights;  // element (i, j) at i * k_stride + j * n_stride
    long k_stride, n_stride;
    const float *bias;  // [n], or null
} codnn_matmul_arguments;

// Prepare an operation; weights and bias are copied.  Null when the library is not installed or refuses.
codnn_operation *codnn_convolution(const codnn_convolution_arguments *arguments);
codnn_operation *codnn_matmul(const codnn_matmul_arguments *arguments);
// Whether the library reported success.
bool codnn_run(codnn_operation *operation, const float *src, float *dst);
void codnn_destroy(codnn_operation *operation);

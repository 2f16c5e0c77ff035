// Elementwise functions of one and two arrays, with broadcasting.
#pragma once
#include "cml_gemm.h"

// y[i] = function(x[i]); y may be x.
void cml_unary_map(const cml_isa *isa, cml_unary function, float alpha, float beta, const float *x, float *y,
                   long count);

// Derivatives that follow from a function's value y.
typedef enum {
    CML_DERIVATIVE_STEP,      // 1 where y > 0, else `low`
    CML_DERIVATIVE_WINDOW,    // 1 where low < y < high, else 0
    CML_DERIVATIVE_SIGMOID,   // y (1 - y)
    CML_DERIVATIVE_TANH,      // 1 - y y
} cml_derivative;

// dx[i] = derivative(y[i]) dy[i]; dx may be y or dy.
void cml_derivative_map(const cml_isa *isa, cml_derivative form, float low, float high, const float *y, const float *dy,
                        float *dx, long count);

typedef enum {
    CML_INTEGER_ABSOLUTE, CML_INTEGER_SIGN, CML_INTEGER_SQUARE,
    CML_INTEGER_THRESHOLD,   // max(x, bound)
} cml_integer_unary;

// The same of integers; results saturate.
void cml_integer_map(const cml_isa *isa, cml_integer_unary function, int32_t bound, const int32_t *x, int32_t *y,
                     long count);

typedef enum {
    CML_ADD = 0, CML_SUBTRACT, CML_MULTIPLY, CML_DIVIDE, CML_MAXIMUM, CML_MINIMUM,
    CML_POWER,
    CML_FLOOR_DIVIDE,      // floor(a / b); of integers 0 when b is 0
    CML_MODULO,            // a - b floor(a / b); of integers 0 when b is 0
    CML_SQUARED_DIFFERENCE,
    CML_EQUAL, CML_NOT_EQUAL, CML_LESS, CML_LESS_EQUAL, CML_GREATER, CML_GREATER_EQUAL,   // results are bytes 0 or 1
    CML_AND, CML_OR, CML_XOR,                                                             // bytes to bytes
} cml_binary;

typedef enum { CML_ELEMENT_F32, CML_ELEMENT_I32, CML_ELEMENT_BYTE } cml_element;

// Result element (i0, i1, ...), contiguous, takes a[sum i * a[]] and b[sum i * b[]]; strides may be 0.
typedef struct {
    int rank;
    long extent[8], a[8], b[8], mask[8];   // mask: of cml_select only
} cml_broadcast;

// y = then(function(a, b)).  `then` (with alpha and beta) applies to arithmetic on floats only.  y may be a or b when
// that operand has the result's shape.
void cml_binary_apply(const cml_isa *isa, cml_binary function, cml_element element, const cml_broadcast *shape,
                      const void *a, const void *b, void *y, cml_unary then, float alpha, float beta);

// y = mask ? a : b for elements of 1, 2, 4 or 8 bytes and masks of bytes.
void cml_select(const cml_isa *isa, const cml_broadcast *shape, long element_bytes, const uint8_t *mask, const void *a,
                const void *b, void *y);

// y[o][c][i] = function(x[o][c][i] scale[c] + shift[c]); null scale is 1, null shift is 0.  With CML_PRELU the slope is
// per channel.  x may be y.
typedef struct {
    long outer, channels, inner;
    const float *scale, *shift, *slope;
    cml_unary function;
    float alpha, beta;
} cml_affine;

void cml_affine_apply(const cml_isa *isa, const cml_affine *affine, const float *x, float *y);

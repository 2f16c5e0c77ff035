// Reductions and normalisations over [outer][axis][inner].
#pragma once
#include "cml_elementwise.h"

typedef enum {
    CML_SUM, CML_MEAN, CML_MAX, CML_MIN, CML_PRODUCT, CML_SUM_SQUARES, CML_L1, CML_L2, CML_LOG_SUM, CML_LOG_SUM_EXP
} cml_reduction;

// y[outer][inner]
void cml_reduce(const cml_isa *isa, cml_reduction op, const float *x, float *y, long outer, long axis, long inner);
// The same of integers, all but CML_L2 and the logarithms; means are truncated towards zero, results saturate.
void cml_reduce_i32(const cml_isa *isa, cml_reduction op, const int32_t *x, int32_t *y, long outer, long axis,
                    long inner);
// The first index of the largest (or smallest) element, of floats or 32-bit integers.
void cml_arg_extreme(const cml_isa *isa, cml_element element, const void *x, int32_t *y, long outer, long axis,
                     long inner, int smallest);
// Running sums along the axis, of floats or 32-bit integers: without the element itself when exclusive, from the end
// when reverse.  y may be x.
void cml_cumulative_sum(const cml_isa *isa, cml_element element, const void *x, void *y, long outer, long axis,
                        long inner, int exclusive, int reverse);
void cml_softmax(const cml_isa *isa, const float *x, float *y, long outer, long axis, long inner);
// Rows of `length`: (x - mean) / sqrt(variance + epsilon) * gamma[i] + beta[i]; gamma and beta may be null.  With
// `keep_mean` the mean is taken for zero: root-mean-square norm.  Element i of gamma and beta is repeated `repeat`
// times along the row, and row r uses them from (r % groups) * length / repeat on: layer norm has repeat 1, groups 1;
// group norm of [n][c][space] has rows n * groups, length c / groups * space, repeat space.
void cml_normalize_rows(const cml_isa *isa, const float *x, float *y, long rows, long length, float epsilon,
                        int keep_mean, const float *gamma, const float *beta, long repeat, long groups);
// Instance norm of [batch][pixels][channels].
void cml_instance_norm_inner(const cml_isa *isa, const float *x, float *y, long batch, long pixels, long channels,
                             float epsilon, const float *gamma, const float *beta, cml_unary function, float alpha,
                             float beta_parameter);
// (x - mean) / sqrt(variance + epsilon) * gamma[a] + beta[a] along the axis of [outer][axis][inner]; y may be x.
void cml_normalize_columns(const cml_isa *isa, const float *x, float *y, long outer, long axis, long inner,
                           float epsilon, const float *gamma, const float *beta);

// y = x / (bias + factor * sum over `before` channels before to `after` channels after it of their squares) ^ exponent,
// over [outer][channels][inner]; y must not be x.
typedef struct {
    long before, after;
    float factor, bias, exponent;
} cml_local_response;

void cml_local_response_norm(const cml_isa *isa, const float *x, float *y, long outer, long channels, long inner,
                             const cml_local_response *neighbours);

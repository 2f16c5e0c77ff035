// Reductions and normalisations over [outer][axis][inner].
#pragma once
#include "cml_gemm.h"

typedef enum {
    CML_SUM, CML_MEAN, CML_MAX, CML_MIN, CML_PRODUCT, CML_SUM_SQUARES, CML_L1, CML_L2, CML_LOG_SUM, CML_LOG_SUM_EXP
} cml_reduction;

// y[outer][inner]
void cml_reduce(const cml_isa *isa, cml_reduction op, const float *x, float *y, long outer, long axis, long inner);
// The first index of the largest (or smallest) element.
void cml_arg_extreme(const cml_isa *isa, const float *x, int32_t *y, long outer, long axis, long inner, int smallest);
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

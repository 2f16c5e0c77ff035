// Products in double precision.
#pragma once
#include "cml_runtime.h"

// y[i * ldy + j] = a[i] . b[j] for m rows of a and n rows of b, k terms each.
void cml_dots_double(const cml_isa *isa, const double *a, long lda, long m, const double *b, long ldb, long n, long k,
                     double *y, long ldy);
// y[i] = exp(x[i]), within one unit in the last place; 0 below -745, infinity above 709.
void cml_exp_double(const cml_isa *isa, const double *x, double *y, long count);

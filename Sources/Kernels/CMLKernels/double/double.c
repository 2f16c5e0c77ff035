#include "../isa/isa.h"

void cml_dots_double(const cml_isa *isa, const double *a, long lda, long m, const double *b, long ldb, long n, long k,
                     double *y, long ldy) {
    isa->dots_double(a, lda, m, b, ldb, n, k, y, ldy);
}

void cml_exp_double(const cml_isa *isa, const double *x, double *y, long count) { isa->exp_double(x, y, count); }

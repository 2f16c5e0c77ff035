// Functions of every element.
#pragma once
#include "cml_gemm.h"
#include "cml_move.h"

// y[i] = function(x[i]); y may be x.
void cml_unary_map(const cml_isa *isa, cml_unary function, float alpha, float beta, const float *x, float *y,
                   long count);

typedef enum {
    CML_ADD, CML_SUBTRACT, CML_MULTIPLY, CML_DIVIDE, CML_MAXIMUM, CML_MINIMUM,
    CML_FLOOR_DIVIDE, CML_MODULO,  // modulo has the sign of the divisor
    CML_POWER, CML_SQUARED_DIFFERENCE,
    CML_EQUAL, CML_NOT_EQUAL, CML_LESS, CML_LESS_EQUAL, CML_GREATER, CML_GREATER_EQUAL,  // 1 or 0
    CML_AND, CML_OR, CML_XOR,                                                            // of "not 0"
} cml_binary;

// z = x op y over `rank` sizes; z contiguous, strides of x and y free (0 repeats).  z may be x or y when theirs are
// contiguous too.
void cml_binary_map(const cml_isa *isa, cml_binary op, long rank, const long *sizes, const float *x,
                    const long *x_strides, const float *y, const long *y_strides, float *z);
// z = condition != 0 ? x : y, broadcast the same way.
void cml_select_map(long rank, const long *sizes, const uint8_t *condition, const long *condition_strides,
                    const float *x, const long *x_strides, const float *y, const long *y_strides, float *z);
// y[o][c][i] = x[o][c][i] * scale[c] + shift[c], then the function; scale or shift may be null.
void cml_scale_shift(const cml_isa *isa, const float *x, float *y, long outer, long channels, long inner,
                     const float *scale, const float *shift, cml_unary function, float alpha, float beta);

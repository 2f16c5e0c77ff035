// Products of integers of 16 and of 8 bits, whose sums are exact 32-bit integers, and linear quantisation without a
// zero point.
#pragma once
#include "cml_runtime.h"

// Linear quantisation: the integer clamp(round(x * inverse), low, high), halves to even, stands for that multiple of
// `step`.
typedef struct {
    float inverse, step, low, high;  // low and high are integers of 16 bits, for bytes in 0...255
} cml_quantizer;

// The steps between the integer sums of a product with CML_PAIRS or CML_BYTES and its epilogue, and from the results to
// codes: sum * scale[column] + bias[column], rounded to `rounded`, + residual, function, to `codes` or `bytes`.
typedef struct {
    const float *scale;         // per column
    const cml_quantizer *rounded;    // or null
    const int16_t *residual;    // of the result's shape and strides, in multiples of residual_step; or null
    const uint8_t *residual_bytes;  // the same as bytes; one of them at most
    float residual_step;
    int16_t *codes;             // takes the results on `grid`, with the result's strides, or null; the floats of the
    uint8_t *bytes;             // result are then scratch memory, and must not be the codes'; the same as bytes
    cml_quantizer grid;
} cml_integers;

// Packed pairs, for terms that are an even number at each tap: int16 elements of [panels][taps][terms / 2][width]; those
// of one tap are followed by the same as bytes where matrix tiles multiply these (amx/amx.h).
size_t cml_pairs_bytes(const cml_isa *isa, long taps, long terms, long columns);
// Packs element (tap t, term i, column n) at source[t * t_stride + i * i_stride + n * n_stride], int8_t or uint8_t, minus
// zero[n], or minus nothing where `zero` is null.
void cml_pairs_pack(const cml_isa *isa, const void *source, int is_signed, const int16_t *zero, long taps, long terms,
                    long columns, long t_stride, long i_stride, long n_stride, int16_t *packed);

// The same for bytes, terms a multiple of 8 at each tap; values must be -128...127.  int8_t elements of
// [panels][taps][terms / 4][width][4], then for each panel, tap and eight terms a byte: 1 where the products with numbers of
// 0...127 could leave 16 bits if those of the first two of the first four terms and of the second four, or of the last two,
// were added; where many could, all have a 1; then zeros.
size_t cml_bytes_size(const cml_isa *isa, long taps, long terms, long columns);
void cml_bytes_pack(const cml_isa *isa, const void *source, int is_signed, const int16_t *zero, long taps, long terms,
                    long columns, long t_stride, long i_stride, long n_stride, int8_t *packed);

// y = clamp(round(x * inverse), low, high); of cml_fake_quantize times `step`.
void cml_quantize(const cml_isa *isa, const float *x, const cml_quantizer *grid, int16_t *y, long count);
void cml_quantize_bytes(const cml_isa *isa, const float *x, const cml_quantizer *grid, uint8_t *y, long count);
void cml_fake_quantize(const cml_isa *isa, const float *x, const cml_quantizer *grid, float *y, long count);
// y = step * x.
void cml_dequantize(const cml_isa *isa, const int16_t *x, float step, float *y, long count);
void cml_dequantize_bytes(const cml_isa *isa, const uint8_t *x, float step, float *y, long count);

// Rows of `terms` floats, each with a step of its own, the greatest magnitude in it / 127: y = round(x * 127 / greatest) and
// steps[row]; of cml_round_rows the integers times the step, where y may be x.  The step of a row that is not finite is
// not finite either.
void cml_quantize_rows(const cml_isa *isa, const float *x, long rows, long terms, int16_t *y, float *steps);
void cml_round_rows(const cml_isa *isa, const float *x, long rows, long terms, float *y);

// Products with matrices whose elements are stored as codes of few bits.
#pragma once
#include "cml_gemm.h"

// A packed matrix of k terms by n columns whose elements follow from codes: entries of tables, or scale (code - offset)
// of signed codes.
typedef struct cml_codes {
    int bits;               // of a code: 1, 2, 3, 4, 6 or 8; of linear codes 4 or 8
    int is_table;
    int has_offsets;        // of linear codes: 0 none, 1 integers, 2 floats
    cml_storage parameter;  // of table entries and of scales
    long k, n;
    long segment;           // terms that share a table or scale; k, or a divisor of k and multiple of cml_codes_chunk
    long group;             // columns that share a table; n or more, or a multiple of the panel width
    const void *packed;     // cml_codes_bytes of them, aligned to 64
} cml_codes;

// The number of terms whose codes are packed together.
long cml_codes_chunk(int bits);
// The size of the packed form.
size_t cml_codes_bytes(const cml_isa *isa, const cml_codes *codes);

// The source of the codes and their parameters.
typedef struct {
    const uint8_t *codes;     // without gaps, low bits first: element (k, n) is number k * k_stride + n * n_stride,
                              // or (k % channels) * k_stride + k / channels + n * n_stride where there are channels
    size_t code_bytes;        // readable bytes of them
    long k_stride, n_stride;  // one of them is 1, except where there are channels
    long channels;            // of a convolution whose windows have several taps, else 0; divides k
    int is_signed;            // of linear codes
    const void *parameters;   // scales [n blocks][k blocks], or tables [n groups][k segments][2^bits]
    const void *offsets;      // as the scales, for signed codes (8-bit: minus 128, 4-bit: minus 8, where unsigned), int8_t
                              // or float; or null
    long scale_k, scale_n;    // strides of scales and offsets, in elements
    long scale_period;        // segments after which their scales begin again: those of the next tap; 0 for none
    long scale_columns;       // columns that share a scale
} cml_code_source;

// Packs panels first..<end of `codes` into `packed`; parameters are packed with panel 0.
void cml_codes_pack(const cml_isa *isa, const cml_codes *codes, const cml_code_source *source, long first, long end,
                    void *packed);

// A matrix of codes as stored in a file: element (r, c) is number r * columns + c, low bits first without gaps.
typedef struct {
    const uint8_t *codes;
    int bits, is_table, is_signed;
    cml_storage parameter;         // of tables and scales; elements of lines are rounded to it
    const void *parameters;        // [row blocks][column blocks] scales, or tables of 2^bits
    const int16_t *offsets;        // as the scales, or null
    const float *float_offsets;    // instead of them, or null
    long rows, columns;
    long row_block, column_block;  // rows and columns that share parameters
} cml_code_rows;

// target[i][:] = row indices[i], counted from the end when negative, then clamped.
void cml_gather_codes(const cml_isa *isa, const cml_code_rows *matrix, const int32_t *indices, long count,
                      float *target);

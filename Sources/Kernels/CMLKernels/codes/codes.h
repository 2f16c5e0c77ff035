// The layout of packed codes: panels of codes; then tables, or for every panel its scales and then its offsets.
#pragma once
#include "../include/cml_codes.h"
#include "../isa/isa.h"

static inline long cml_codes_rounded(const cml_codes *c) {
    const long chunk = cml_codes_chunk(c->bits);
    return (c->k + chunk - 1) / chunk * chunk;
}
// Bytes of a panel's codes.
static inline size_t cml_codes_panel(const cml_codes *c, long width) {
    return (size_t)(cml_codes_rounded(c) * width) * (size_t)c->bits / 8;
}
static inline long cml_codes_segments(const cml_codes *c) { return c->segment < c->k ? c->k / c->segment : 1; }
// Entries of a packed table: those of up to four bits are repeated, so that lookups need not clear higher bits.
static inline long cml_codes_entries(const cml_codes *c) { return c->bits <= 4 ? 16 : 1L << c->bits; }
static inline size_t cml_codes_element(const cml_codes *c) { return c->parameter == CML_F32 ? 4 : 2; }
// Bytes of an offset.
static inline size_t cml_codes_offset(const cml_codes *c) { return c->has_offsets == 2 ? 4 : c->has_offsets ? 1 : 0; }
// Whether the stream kernels read rows that cml_scale_row has made: those of AVX2 for linear codes of 4 bits.
static inline int cml_scales_rows(const cml_isa *isa, const cml_codes *c) {
    return isa->identifier == CML_ISA_AVX2 && !c->is_table && c->bits == 4;
}
// Elements of such a row.
static inline long cml_scaled_row(const cml_codes *c) { return c->k + cml_codes_segments(c); }
// Divides every element by 16^i, i its place among eight (6 for the last); the sums of the blocks follow. Returns 0 if one of
// them is infinite or not a number: codes are stored plus 8, and subtracting 8 times such a sum gives no number.
int cml_scale_row(const cml_codes *c, const float *row, float *result);
// Gives a table of AVX-512 the kernels of palettes of 8 bits that need AVX512-VBMI.
void cml_look_up_bytes(cml_isa *table);

// The layout of packed codes: panels of codes; then tables, or for every panel its scales and then its offsets.
#pragma once
#include "../include/cml_codes.h"

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

// What the files of this folder share: the product of a block of rows with panels.
#pragma once
#include "amx.h"

#define AMX_ROWS 32                       // of a block: two tiles
#define AMX_COLUMNS 32                    // of a panel: two tiles
#define AMX_STEP 64                       // bytes of a row of a tile: 32 terms in bfloat16, 64 in bytes
#define AMX_TILE (16 * AMX_STEP)

static inline long amx_round(long count, long unit) { return (count + unit - 1) / unit * unit; }

// Rows of the first factor times panels of the second. All strides count bytes.
typedef struct {
    cml_storage storage;                  // CML_F16 for bfloat16, CML_BYTES, or CML_PAIRS for signed bytes
    const char *a;                        // row i, step j of tap t at a[offsets[t] + i * stride + j * AMX_STEP]; whole blocks
    long stride;                          // of rows may be read
    const long *offsets;
    long taps, steps;                     // steps of each tap
    const char *b;                        // panels
    long panel_step, tap_step;            // from panel to panel, and from tap to tap
    long first_panel, panels, columns;    // columns of the whole product
    const cml_epilogue *epilogue;
    float *y;                             // the whole result, where its quantised form begins
    // The results of a row, and its residual: null for rows that are not stored.
    float *const *c;
    const float *const *residual;
    long ldc, ldr;                        // elements from a row to the next, where these are neighbours
    long rows;
} amx_block;

// Stores epilogue(a b) for all rows and the given panels.
void cml_amx_multiply(const cml_isa *isa, const amx_block *block);
// Rounds `count` floats to bfloat16, to nearest, ties to even, and adds zeros up to `padded`.
void cml_amx_round(const float *source, long count, long padded, uint16_t *target);
// Narrows `count` integers to bytes and adds zeros up to `padded`; whether all of them fit.
int cml_amx_narrow(const int16_t *source, long count, long padded, int8_t *target);
// Copies `lines` lines of `bytes` bytes, `step` apart, next to each other.
void cml_amx_copy_lines(const char *source, long step, long lines, long bytes, char *target);
// Tiles are ready for use between these, on one thread, with at most 16 rows of the first factor and of results: with fewer
// the products of a tile take less time.
void cml_amx_begin(long rows);
void cml_amx_end(void);

// Whether the taps of a window are terms of one sum: of a tile's row few channels would use little. For bytes channels are
// fours.
static inline int amx_is_gathered(const cml_conv_shape *s, cml_storage storage) {
    return s->in_channels < (storage == CML_BYTES ? 12 : 24) && s->kernel[1] * s->kernel[2] > 1;
}

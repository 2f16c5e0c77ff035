// The table every instruction set fills, and the calls its tile kernels take.
#pragma once
#include "CMLKernels.h"

#define CML_MAX_ROWS 14
#define CML_MAX_PANEL 32
#define CML_MAX_VECTOR 16

// One tile of a product: up to CML_MAX_ROWS rows by one panel, summed over `taps` times `k` terms.
typedef struct {
    const float *a;          // row i, term j of tap t at a[tap_a[t] + i * lda + j]
    long lda;
    const long *tap_a;
    const float *b;          // panel row of term j of tap t at b[tap_b[t] + j * ldb]
    const long *tap_b;
    long ldb;
    long taps, k;
    const char *prefetch;    // memory to prefetch while the terms are summed, or null
    long prefetch_step;      // bytes of it for each term, at most a cache line
    float *c;
    long ldc;
    long n;                  // columns stored, at most the panel width
    int accumulate;          // c holds a partial sum
    int last;                // the sum is complete: apply the epilogue
    const float *bias;       // epilogue, already shifted to this tile
    const float *residual;
    long ldr;
    const float *slope;
    cml_unary function;      // up to CML_PRELU except CML_LEAKY_RELU; the others are applied with cml_finish
    float alpha, beta;
    const cml_integers *integers;  // of tiles of pairs: with the scale of this tile, where c and the codes begin, and
    const float *scale;            // whether they are written: not before a function that tiles do not apply
    const float *base;
    int whole;
    const float *sums;       // of tiles of integers: the partial sums, lds apart, if not in c; or null
    long lds;
    const float *panel;      // of tiles of bytes: the panel's first term, and for each two terms whether they are large
    const uint8_t *large;
} cml_tile;

// The step with which `bytes` for each term are prefetched evenly while `tiles` tiles pass over the terms.
static inline long cml_prefetch_step(long bytes, long tiles) {
    const long step = tiles > 0 ? (bytes + tiles - 1) / tiles : 0;
    return step < 64 ? step : 64;
}

// Rows times one panel for few rows; b is streamed once.
typedef struct {
    cml_tile tile;           // taps, tap_a, tap_b, accumulate, last unused
    const void *packed;      // panel in its storage type, or its codes
    long prefetch_bytes;     // distance of the software prefetch
    const cml_codes *codes;  // for kernels of codes, with the panel's number
    long panel;
    const float *scaled;     // where codes are converted in place (cml_scales_rows): the rows of `a` for them, one every
    long scaled_row;         // `scaled_row` elements, each followed by the sums of its blocks
} cml_stream;

// One output row of a depthwise convolution, or a range of its channels.
struct cml_depthwise_row {
    long channels, count, width, stride, taps, x_step, y_step, residual_step, weight_step;
    const long *tap, *offset;             // of the width axis
    const float *const *rows;             // input rows inside the input, and their weights [kw][weight_step]
    const float *const *weights;
    long row_count;
    int dense;                            // no dilation
    const float *zeros;                   // a vector of them, for pixels outside
    float *y;
    const float *residual, *bias, *slope;
    cml_unary function;
    float alpha, beta;
    float low, high;                      // bounds of the results before a function beyond CML_CLIP
};

typedef void (*cml_tile_kernel)(const cml_tile *tile);
typedef void (*cml_stream_kernel)(const cml_stream *stream);

struct cml_isa {
    int identifier;
    const char *name;
    long vector, panel, rows;                          // floats per register, columns per panel, rows per tile
    int low, byte_tiles;                               // products of half-floats in bfloat16; those of bytes with tiles: amx/
    int looks_up_bytes;                                // see cml_isa_looks_up_bytes
#define CML_KERNELS(kernel, row, functions) const kernel *row;
#define CML_KERNEL(result, row, parameters) result(*row) parameters;
#include "templates.inc"
};

extern const cml_isa cml_isa_avx512, cml_isa_avx2, cml_isa_sse2, cml_isa_neon;

// True for the functions that tiles apply in registers; the others take a pass over finished results.
static inline int cml_tile_applies(cml_unary function) {
    return function == CML_IDENTITY || function == CML_RELU || function == CML_CLIP || function == CML_PRELU;
}

// True for products of integers, whose terms have the size of floats.
static inline int cml_is_integer(cml_storage storage) { return storage == CML_PAIRS || storage == CML_BYTES; }

// The tiles of `n` columns.
static inline const cml_tile_kernel *cml_tiles(const cml_isa *isa, cml_storage storage, long n) {
    if (storage == CML_BYTES) return n <= isa->vector ? isa->tile_bytes_narrow : isa->tile_bytes_wide;
    if (storage == CML_PAIRS) return n <= isa->vector ? isa->tile_pairs_narrow : isa->tile_pairs_wide;
    return n <= isa->vector ? isa->tile_narrow : isa->tile_wide;
}

// The distance between the terms of a pair: adjacent, or after those of the columns of a vector.
static inline long cml_pair_distance(const cml_isa *isa) { return isa->identifier == CML_ISA_NEON ? isa->vector : 1; }

// The additional fields of tiles of pairs, for the columns from `column` on; `base` is the result's first element.
static inline void cml_tile_integers(cml_tile *t, const cml_epilogue *e, long column, const float *base) {
    t->integers = e->integers;
    if (!e->integers) return;
    t->scale = e->integers->scale + column;
    t->base = base;
    t->whole = cml_tile_applies(e->function);
}

// Applies the epilogue's function to `rows` rows of `columns` results when the tiles did not; `base` as above.
static inline void cml_finish(const cml_isa *isa, const cml_epilogue *e, float *c, long ldc, long rows, long columns,
                              const float *base) {
    if (cml_tile_applies(e->function)) return;
    const cml_integers *q = e->integers;
    if (q && (q->codes || q->bytes)) {
        for (long row = 0; row < rows; row++) {
            float *const from = c + row * ldc;
            isa->unary(e->function, e->alpha, e->beta, from, from, columns);
            if (q->bytes) isa->quantize_bytes(from, &q->grid, q->bytes + (from - base), columns);
            else isa->quantize(from, &q->grid, q->codes + (from - base), columns);
        }
        return;
    }
    if (ldc == columns) {
        isa->unary(e->function, e->alpha, e->beta, c, c, rows * columns);
        return;
    }
    for (long row = 0; row < rows; row++)
        isa->unary(e->function, e->alpha, e->beta, c + row * ldc, c + row * ldc, columns);
}

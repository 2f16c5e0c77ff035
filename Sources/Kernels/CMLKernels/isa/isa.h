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
    const char *ahead;       // memory to bring near while the terms are summed, or null
    long ahead_step;         // bytes of it for each term, at most a cache line
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
} cml_tile;

// The step that brings `bytes` for each term near evenly while `tiles` tiles pass over the terms.
static inline long cml_ahead_step(long bytes, long tiles) {
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
    const cml_tile_kernel *tile_narrow, *tile_wide;    // [rows + 1], for n <= vector and n <= panel
    const cml_tile_kernel *tile_pairs_narrow, *tile_pairs_wide;  // of integers
    const cml_stream_kernel *stream_f32, *stream_f16;  // [5], 1...4 rows
    // The same for codes: tables by their bits, scaled codes of 4 and 8 bits without and with offsets.
    const cml_stream_kernel *stream_table_1, *stream_table_2, *stream_table_3, *stream_table_4, *stream_table_6;
    const cml_stream_kernel *stream_table_8, *stream_linear_4, *stream_linear_8, *stream_offset_4, *stream_offset_8;
    void (*expand_codes)(const cml_codes *codes, long panel, long k0, long k1, float *result);
    void (*pack_rows)(const float *source, long stride, long k, long n, float *packed);
    void (*pack_columns)(const float *source, long stride, long k, long n, float *packed);
    double (*peak)(float *result);
    void (*to_grid)(const float *x, const cml_grid *grid, int16_t *y, long count);
    void (*onto_grid)(const float *x, const cml_grid *grid, float *y, long count);
    void (*from_grid)(const int16_t *x, float step, float *y, long count);
    void (*widen)(const uint16_t *source, float *result, long count);
    void (*narrow)(const float *source, uint16_t *result, long count);
    void (*unary)(cml_unary function, float alpha, float beta, const float *x, float *y, long count);
    void (*integer_map)(cml_integer_unary function, int32_t bound, const int32_t *x, int32_t *y, long count);
    void (*depthwise_row)(const struct cml_depthwise_row *row);
    void (*winograd_input_2)(const float *const *pixels, long channels, float *v, long step);
    void (*winograd_input_4)(const float *const *pixels, long channels, float *v, long step);
    void (*winograd_filter_2)(const float *taps, long count, float *u, long step);
    void (*winograd_filter_4)(const float *taps, long count, float *u, long step);
    void (*winograd_output_2)(const float *positions, long step, float *const *pixels, const float *const *residuals,
                              long channels, const cml_epilogue *e);
    void (*winograd_output_4)(const float *positions, long step, float *const *pixels, const float *const *residuals,
                              long channels, const cml_epilogue *e);
    void (*winograd_input_line)(const float *const *pixels, long channels, float *v, long step);
    void (*winograd_filter_line)(const float *taps, long count, float *u, long step);
    void (*winograd_output_line)(const float *positions, long step, float *const *pixels, const float *const *residuals,
                                 long channels, const cml_epilogue *e);
    void (*gather_terms)(const float *source, const long *offsets, long terms, long step, float *panel, long stride,
                         long count);
    void (*depthwise_plane_row)(const float *source, const long *offsets, const float *weights, long taps, float bias,
                                float *y, long count);
    void (*prelu_row)(const float *slope, float *row, long count);
    void (*transpose_plane)(const float *source, long stride, long rows, long columns, float *result,
                            long result_stride);
    void (*copy_rows)(const float *source, long from, float *target, long to, long rows, long count);
    void (*binary_row)(cml_binary function, const float *a, long a_step, const float *b, long b_step, float *y, long n);
    void (*compare_row)(cml_binary function, const float *a, long a_step, const float *b, long b_step, uint8_t *y,
                        long n);
    void (*affine_row)(const float *x, const float *scale, long scale_step, const float *shift, long shift_step,
                       float low, float high, float *y, long n);
    void (*integer_row)(cml_binary function, const int32_t *a, long a_step, const int32_t *b, long b_step, void *y,
                        long n);
    void (*byte_row)(cml_binary function, const uint8_t *a, long a_step, const uint8_t *b, long b_step, uint8_t *y,
                     long n);
    void (*select_row)(long bytes, const uint8_t *mask, long mask_step, const void *a, long a_step, const void *b,
                       long b_step, void *y, long n);
    void (*convert_row)(cml_type from, const void *source, cml_type to, void *target, long count);
    double (*reduce_row_i32)(cml_reduction op, const int32_t *x, long count);
    void (*reduce_columns_i32)(cml_reduction op, const int32_t *x, long axis, long stride, double *y, long count);
    int32_t (*arg_row_i32)(int smallest, const int32_t *x, long count);
    void (*arg_columns_i32)(int smallest, const int32_t *x, long axis, long stride, int32_t *y, long count);
    void (*scan_columns)(const float *x, float *y, long axis, long stride, long count, int exclusive, int reverse);
    void (*scan_columns_i32)(const int32_t *x, int32_t *y, long axis, long stride, long count, int exclusive,
                             int reverse);
    void (*normalize_columns)(const float *x, float *y, long axis, long stride, long count, float epsilon,
                              const float *gamma, const float *beta);
    void (*neighbour_norm)(const float *x, float *y, long channels, long stride, long count, const cml_neighbours *n);
    void (*pool_join_row)(cml_pooling kind, const float *x, float *y, long count, int first);
    void (*pool_windows)(cml_pooling kind, const float *line, long stride, long dilation, long taps, float *y,
                         long count);
    void (*pool_divide)(float *y, const float *widths, float factor, long count);
    void (*mix_places)(const float *line, long width, const int32_t *low, const int32_t *high, const float *weight,
                       float *y, long count);
    void (*blend_taps)(const float *plane, long taps, const int32_t *const *places, const float *const *shares,
                       const float *added, float *y, long count);
    void (*center_row)(const float *x, float *y, long count, const float *center, const float *scale,
                       const float *shift);
    float (*reduce_row)(cml_reduction op, const float *x, long count);
    void (*reduce_columns)(cml_reduction op, const float *x, long axis, long stride, float *y, long count);
    void (*arg_columns)(float sign, const float *x, long axis, long stride, int32_t *y, long count);
    int32_t (*arg_row)(float sign, const float *x, long count);
    void (*softmax_row)(const float *x, float *y, long count, float scale, const float *mask, long mask_stride,
                        const uint8_t *keep, long keep_stride);
    float (*softmax_scores)(const float *x, float *y, long count, float scale, const float *mask, long mask_stride,
                            const uint8_t *keep, long keep_stride);
    void (*scale_row)(float factor, float *y, long count);
    void (*softmax_columns)(const float *x, float *y, long axis, long stride, long count);
    void (*normalize_row)(const float *x, float *y, long length, float epsilon, int keep_mean, const float *gamma,
                          const float *beta, long repeat);
    float (*spread_row)(const float *x, long length, float mean);
    void (*center_scale_row)(const float *x, float *y, long start, long length, float mean, float inverse,
                             const float *gamma, const float *beta, long repeat);
    void (*column_moments)(const float *x, long rows, long stride, long count, const float *center, float *sums,
                           float *squares);
    void (*attend_few)(const float *q, const float *k, long k_stride, long size, const float *v, long v_stride,
                       long value_size, long keys, float scale, const float *mask, long mask_stride,
                       const uint8_t *keep, long keep_stride, float *scores, float *out);
    void (*pool_pixel)(cml_pooling kind, const float *const *taps, long count, float divisor, float *y, long inner);
    void (*mix_rows)(const float *low, const float *high, float weight, float *y, long count);
    void (*lstm_cell)(const float *gates, long width, float *c, float *scratch, long count, float clip);
    void (*multiply_row)(const float *x, const float *y, float *z, long count);
    void (*dots_double)(const double *a, long lda, long m, const double *b, long ldb, long n, long k, double *y,
                        long ldy);
    void (*exp_double)(const double *x, double *y, long count);
    void (*sum_cells)(const int32_t *rows, long count, const float *examples, const uint8_t *bins, long columns,
                      double *cells);
};

// The table itself, or, while tables are watched, one that counts the calls of its rows.
const cml_isa *cml_isa_watched(const cml_isa *isa);

extern const cml_isa cml_isa_avx512, cml_isa_avx2, cml_isa_sse2, cml_isa_neon;

// True for the functions that tiles apply in registers; the others take a pass over finished results.
static inline int cml_tile_applies(cml_unary function) {
    return function == CML_IDENTITY || function == CML_RELU || function == CML_CLIP || function == CML_PRELU;
}

// The tiles of `n` columns.
static inline const cml_tile_kernel *cml_tiles(const cml_isa *isa, cml_storage storage, long n) {
    if (storage == CML_PAIRS) return n <= isa->vector ? isa->tile_pairs_narrow : isa->tile_pairs_wide;
    return n <= isa->vector ? isa->tile_narrow : isa->tile_wide;
}

// The distance between the terms of a pair: next to each other, or behind those of the columns of a vector.
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
    if (e->integers && e->integers->codes) {
        for (long row = 0; row < rows; row++) {
            float *const from = c + row * ldc;
            isa->unary(e->function, e->alpha, e->beta, from, from, columns);
            isa->to_grid(from, &e->integers->grid, e->integers->codes + (from - base), columns);
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

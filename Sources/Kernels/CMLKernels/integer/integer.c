// Packing of integer weights, and quantisation and dequantisation.
#include "../amx/amx.h"
#include "../threads/division.h"
#include <stdatomic.h>
#include <string.h>

// Elements that one task of a pass works on.
#define PART (16 << 10)
// A matrix tile (amx/tiles.h) reads as much beyond the last panel, for terms that it multiplies by zero.
#define TILE_BYTES 2048

static size_t pairs_alone(const cml_isa *isa, long taps, long terms, long columns) {
    return (size_t)((columns + isa->panel - 1) / isa->panel * isa->panel) * (size_t)(taps * terms) * sizeof(int16_t);
}

size_t cml_pairs_bytes(const cml_isa *isa, long taps, long terms, long columns) {
    const size_t alone = pairs_alone(isa, taps, terms, columns);
    // Matrix tiles multiply them as bytes.
    return isa->byte_tiles && taps == 1 ? cml_amx_signed_start(alone) + cml_amx_signed_size(terms, columns) : alone;
}

size_t cml_bytes_size(const cml_isa *isa, long taps, long terms, long columns) {
    const size_t panels = (size_t)((columns + isa->panel - 1) / isa->panel), all = (size_t)(taps * terms);
    return panels * (all * (size_t)isa->panel + all / 8) + (isa->byte_tiles ? TILE_BYTES : 0);
}

typedef struct {
    const cml_isa *isa;
    const void *source;
    int is_signed;
    const int16_t *zero;
    long taps, terms, columns, t_stride, i_stride, n_stride;
    void *packed;
    atomic_int *is_large;
} pack_job;

// The element of tap t, term i, column n; zero beyond the columns.
static int element(const pack_job *j, long t, long i, long n) {
    if (n >= j->columns) return 0;
    const long at = t * j->t_stride + i * j->i_stride + n * j->n_stride;
    const int value = j->is_signed ? ((const int8_t *)j->source)[at] : ((const uint8_t *)j->source)[at];
    return j->zero ? value - j->zero[n] : value;
}

static void pack_panel(void *context, long panel, int worker) {
    (void)worker;
    const pack_job *j = context;
    const long width = j->isa->panel, first = panel * width;
    const long apart = cml_pair_distance(j->isa);
    int16_t *row = (int16_t *)j->packed + first * j->taps * j->terms;
    for (long t = 0; t < j->taps; t++) {
        for (long pair = 0; pair < j->terms / 2; pair++, row += 2 * width) {
            for (long c = 0; c < width; c++) {
                for (long odd = 0; odd < 2; odd++) {
                    const int value = element(j, t, 2 * pair + odd, first + c);
                    row[c / apart * 2 * apart + (apart == 1 ? odd : c % apart + odd * apart)] = (int16_t)value;
                }
            }
        }
    }
}

// The same as signed bytes for matrix tiles.
static void pack_signed_panel(void *context, long panel, int worker) {
    (void)worker;
    const pack_job *j = context;
    const long width = j->isa->panel;
    int8_t *const target = cml_amx_signed_panel(j->packed, j->terms, panel);
    memset(target, 0, (size_t)(cml_amx_signed_panel(j->packed, j->terms, 1) - cml_amx_signed_panel(j->packed, j->terms, 0)));
    for (long i = 0; i < j->terms; i++)
        for (long c = 0; c < width; c++) {
            const int value = element(j, 0, i, panel * width + c);
            if (value < -128 || value > 127) atomic_store(j->is_large, 1);
            target[(i / 4 * width + c) * 4 + i % 4] = (int8_t)value;
        }
}

void cml_pairs_pack(const cml_isa *isa, const void *source, int is_signed, const int16_t *zero, long taps, long terms,
                    long columns, long t_stride, long i_stride, long n_stride, int16_t *packed) {
    pack_job job = {isa, source, is_signed, zero, taps, terms, columns, t_stride, i_stride, n_stride, packed, NULL};
    cml_parallel_for((columns + isa->panel - 1) / isa->panel, pack_panel, &job);
    if (!isa->byte_tiles || taps != 1) return;
    atomic_int is_large = 0;
    job.is_large = &is_large;
    job.packed = (char *)packed + cml_amx_signed_start(pairs_alone(isa, taps, terms, columns));
    cml_parallel_for((columns + isa->panel - 1) / isa->panel, pack_signed_panel, &job);
    cml_amx_signed_finish(job.packed, !atomic_load(&is_large));
}

// The greatest sum of four weights of one sign whose products with 0...127 stay within 16 bits.
#define LARGEST_SUM 258

static void pack_bytes_panel(void *context, long panel, int worker) {
    (void)worker;
    const pack_job *j = context;
    const long width = j->isa->panel, all = j->taps * j->terms, first = panel * width;
    const long panels = (j->columns + width - 1) / width;
    long count = 0;
    int8_t *row = (int8_t *)j->packed + first * all;
    uint8_t *large = (uint8_t *)j->packed + panels * width * all + panel * (all / 8);
    for (long t = 0; t < j->taps; t++) {
        for (long eight = 0; eight < j->terms / 8; eight++, row += 8 * width) {
            int is_large = 0;
            for (long c = 0; c < width; c++) {
                int above[2] = {0, 0}, below[2] = {0, 0};
                for (long i = 0; i < 8; i++) {
                    const int value = element(j, t, 8 * eight + i, first + c);
                    row[(i / 4 * width + c) * 4 + i % 4] = (int8_t)value;
                    *(value > 0 ? &above[i % 4 / 2] : &below[i % 4 / 2]) += value > 0 ? value : -value;
                }
                for (int lane = 0; lane < 2; lane++)
                    is_large |= above[lane] > LARGEST_SUM || below[lane] > LARGEST_SUM;
            }
            *large++ = (uint8_t)is_large;
            count += is_large;
        }
    }
    // Steps of which many differ take longer than the same step for all.
    if (count * 4 > all / 8) memset(large - all / 8, 1, (size_t)(all / 8));
}

void cml_bytes_pack(const cml_isa *isa, const void *source, int is_signed, const int16_t *zero, long taps, long terms,
                    long columns, long t_stride, long i_stride, long n_stride, int8_t *packed) {
    pack_job job = {isa, source, is_signed, zero, taps, terms, columns, t_stride, i_stride, n_stride, packed, NULL};
    if (isa->byte_tiles) memset(packed + cml_bytes_size(isa, taps, terms, columns) - TILE_BYTES, 0, TILE_BYTES);
    cml_parallel_for((columns + isa->panel - 1) / isa->panel, pack_bytes_panel, &job);
}

typedef struct {
    const cml_isa *isa;
    const float *x;
    const int16_t *whole;
    const uint8_t *whole_bytes;
    float step;
    const cml_quantizer *grid;
    float *y;
    int16_t *codes;
    uint8_t *bytes;
    long count;
} pass;

static long part_count(const pass *p, long part) {
    return p->count - part * PART < PART ? p->count - part * PART : PART;
}

static void quantize_part(void *context, long part, int worker) {
    (void)worker;
    const pass *p = context;
    if (p->bytes) p->isa->quantize_bytes(p->x + part * PART, p->grid, p->bytes + part * PART, part_count(p, part));
    else p->isa->quantize(p->x + part * PART, p->grid, p->codes + part * PART, part_count(p, part));
}

static void fake_quantize_part(void *context, long part, int worker) {
    (void)worker;
    const pass *p = context;
    p->isa->fake_quantize(p->x + part * PART, p->grid, p->y + part * PART, part_count(p, part));
}

static void dequantize_part(void *context, long part, int worker) {
    (void)worker;
    const pass *p = context;
    const long at = part * PART;
    if (p->whole_bytes) p->isa->dequantize_bytes(p->whole_bytes + at, p->step, p->y + at, part_count(p, part));
    else p->isa->dequantize(p->whole + at, p->step, p->y + at, part_count(p, part));
}

static void run(pass *p, void (*body)(void *, long, int)) {
    cml_parallel_for((p->count + PART - 1) / PART, body, p);
}

void cml_quantize(const cml_isa *isa, const float *x, const cml_quantizer *grid, int16_t *y, long count) {
    pass p = {.isa = isa, .x = x, .grid = grid, .codes = y, .count = count};
    run(&p, quantize_part);
}

void cml_quantize_bytes(const cml_isa *isa, const float *x, const cml_quantizer *grid, uint8_t *y, long count) {
    pass p = {.isa = isa, .x = x, .grid = grid, .bytes = y, .count = count};
    run(&p, quantize_part);
}

void cml_fake_quantize(const cml_isa *isa, const float *x, const cml_quantizer *grid, float *y, long count) {
    pass p = {.isa = isa, .x = x, .grid = grid, .y = y, .count = count};
    run(&p, fake_quantize_part);
}

void cml_dequantize(const cml_isa *isa, const int16_t *x, float step, float *y, long count) {
    pass p = {.isa = isa, .whole = x, .step = step, .y = y, .count = count};
    run(&p, dequantize_part);
}

void cml_dequantize_bytes(const cml_isa *isa, const uint8_t *x, float step, float *y, long count) {
    pass p = {.isa = isa, .whole_bytes = x, .step = step, .y = y, .count = count};
    run(&p, dequantize_part);
}

typedef struct {
    const cml_isa *isa;
    const float *x;
    long terms;
    int16_t *codes;
    float *steps, *y;
    cml_division division;
} row_pass;

static void quantize_rows(void *context, long task, int worker) {
    (void)worker;
    const row_pass *p = context;
    for (long row = task * p->division.each, end = cml_division_end(&p->division, task); row < end; row++) {
        const float *x = p->x + row * p->terms, greatest = p->isa->greatest_magnitude(x, p->terms);
        const cml_quantizer grid = {greatest > 0 ? 127 / greatest : 0, greatest / 127, -127, 127};
        if (p->y) {
            p->isa->fake_quantize(x, &grid, p->y + row * p->terms, p->terms);
        } else {
            p->isa->quantize(x, &grid, p->codes + row * p->terms, p->terms);
            p->steps[row] = grid.step;
        }
    }
}

void cml_quantize_rows(const cml_isa *isa, const float *x, long rows, long terms, int16_t *y, float *steps) {
    row_pass p = {isa, x, terms, y, steps, NULL, cml_divide(rows, 2 * terms)};
    cml_parallel_for(p.division.tasks, quantize_rows, &p);
}

void cml_round_rows(const cml_isa *isa, const float *x, long rows, long terms, float *y) {
    row_pass p = {isa, x, terms, NULL, NULL, y, cml_divide(rows, 2 * terms)};
    cml_parallel_for(p.division.tasks, quantize_rows, &p);
}

// Packing of integer weights, and passes between floats and whole numbers.
#include "../isa/isa.h"

// Elements that one task of a pass works on.
#define PART (16 << 10)

size_t cml_pairs_bytes(const cml_isa *isa, long taps, long terms, long columns) {
    return (size_t)((columns + isa->panel - 1) / isa->panel * isa->panel) * (size_t)(taps * terms) * sizeof(int16_t);
}

typedef struct {
    const cml_isa *isa;
    const void *source;
    int is_signed;
    const int16_t *zero;
    long taps, terms, columns, t_stride, i_stride, n_stride;
    int16_t *packed;
} pack_job;

static void pack_panel(void *context, long panel, int worker) {
    (void)worker;
    const pack_job *j = context;
    const long width = j->isa->panel, first = panel * width;
    const long apart = cml_pair_distance(j->isa);
    int16_t *row = j->packed + first * j->taps * j->terms;
    for (long t = 0; t < j->taps; t++) {
        for (long pair = 0; pair < j->terms / 2; pair++, row += 2 * width) {
            for (long c = 0; c < width; c++) {
                for (long odd = 0; odd < 2; odd++) {
                    const long n = first + c, at = t * j->t_stride + (2 * pair + odd) * j->i_stride + n * j->n_stride;
                    int value = 0;
                    if (n < j->columns) {
                        value = j->is_signed ? ((const int8_t *)j->source)[at] : ((const uint8_t *)j->source)[at];
                        if (j->zero) value -= j->zero[n];
                    }
                    row[c / apart * 2 * apart + (apart == 1 ? odd : c % apart + odd * apart)] = (int16_t)value;
                }
            }
        }
    }
}

void cml_pairs_pack(const cml_isa *isa, const void *source, int is_signed, const int16_t *zero, long taps, long terms,
                    long columns, long t_stride, long i_stride, long n_stride, int16_t *packed) {
    pack_job job = {isa, source, is_signed, zero, taps, terms, columns, t_stride, i_stride, n_stride, packed};
    cml_parallel_for((columns + isa->panel - 1) / isa->panel, pack_panel, &job);
}

typedef struct {
    const cml_isa *isa;
    const float *x;
    const int16_t *whole;
    float step;
    const cml_grid *grid;
    float *y;
    int16_t *codes;
    long count;
} pass;

static long part_count(const pass *p, long part) {
    return p->count - part * PART < PART ? p->count - part * PART : PART;
}

static void to_grid_part(void *context, long part, int worker) {
    (void)worker;
    const pass *p = context;
    p->isa->to_grid(p->x + part * PART, p->grid, p->codes + part * PART, part_count(p, part));
}

static void onto_grid_part(void *context, long part, int worker) {
    (void)worker;
    const pass *p = context;
    p->isa->onto_grid(p->x + part * PART, p->grid, p->y + part * PART, part_count(p, part));
}

static void from_grid_part(void *context, long part, int worker) {
    (void)worker;
    const pass *p = context;
    p->isa->from_grid(p->whole + part * PART, p->step, p->y + part * PART, part_count(p, part));
}

static void run(pass *p, void (*body)(void *, long, int)) {
    cml_parallel_for((p->count + PART - 1) / PART, body, p);
}

void cml_to_grid(const cml_isa *isa, const float *x, const cml_grid *grid, int16_t *y, long count) {
    pass p = {.isa = isa, .x = x, .grid = grid, .codes = y, .count = count};
    run(&p, to_grid_part);
}

void cml_onto_grid(const cml_isa *isa, const float *x, const cml_grid *grid, float *y, long count) {
    pass p = {.isa = isa, .x = x, .grid = grid, .y = y, .count = count};
    run(&p, onto_grid_part);
}

void cml_from_grid(const cml_isa *isa, const int16_t *x, float step, float *y, long count) {
    pass p = {.isa = isa, .whole = x, .step = step, .y = y, .count = count};
    run(&p, from_grid_part);
}

// Packing of weights in bfloat16, and where signed bytes lie.
#include "tiles.h"
#include <string.h>

#define TERMS 32                          // of a step

static uint16_t rounded(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

typedef struct {
    const cml_isa *isa;
    const uint16_t *source;
    long taps, k, n;                      // terms of each tap
    long tap_stride, k_stride, n_stride;
    long inner, inner_stride;             // a term's number is term / inner, with k_stride, and term % inner
    char *packed;
} pack_job;

static long panel_bytes(long taps, long k) { return taps * (amx_round(k, TERMS) / TERMS) * 2 * AMX_TILE; }

// The terms first..<first + count of a column at one tap, as they lie in a step: pairs, each with those of 16 columns.
static void pack_terms(const pack_job *j, const uint16_t *source, long first, long count, uint16_t *target) {
    uint16_t halves[TERMS];
    float values[TERMS];
    long outer = first / j->inner, inner = first % j->inner;
    for (long i = 0; i < count; i++) {
        halves[i] = source[outer * j->k_stride + inner * j->inner_stride];
        if (++inner == j->inner) {
            inner = 0;
            outer++;
        }
    }
    j->isa->widen(halves, values, count);
    for (long i = 0; i < count; i++) target[i / 2 * 32 + i % 2] = rounded(values[i]);
}

static void pack_panel(void *context, long panel, int worker) {
    (void)worker;
    const pack_job *j = context;
    const long steps = amx_round(j->k, TERMS) / TERMS, bytes = panel_bytes(j->taps, j->k);
    uint16_t *const target = (uint16_t *)(void *)(j->packed + panel * bytes);
    memset(target, 0, (size_t)bytes);
    for (long column = 0; column < AMX_COLUMNS && panel * AMX_COLUMNS + column < j->n; column++) {
        const uint16_t *const source = j->source + (panel * AMX_COLUMNS + column) * j->n_stride;
        for (long tap = 0; tap < j->taps; tap++)
            for (long term = 0; term < j->k; term += TERMS) {
                const long tile = (tap * steps + term / TERMS) * 2 + column / 16;
                pack_terms(j, source + tap * j->tap_stride, term, j->k - term < TERMS ? j->k - term : TERMS,
                           target + tile * (AMX_TILE / 2) + column % 16 * 2);
            }
    }
}

size_t cml_low_packed_bytes(long k, long n) {
    return (size_t)(panel_bytes(1, k) * ((n + AMX_COLUMNS - 1) / AMX_COLUMNS));
}

void cml_low_pack(const cml_isa *isa, const uint16_t *source, long k, long n, long k_stride, long n_stride, void *packed) {
    pack_job j = {.isa = isa, .source = source, .taps = 1, .k = k, .n = n, .k_stride = k_stride, .n_stride = n_stride, .inner = 1,
                  .packed = packed};
    cml_parallel_for((n + AMX_COLUMNS - 1) / AMX_COLUMNS, pack_panel, &j);
}

// MARK: Convolutions

// Sums of fewer terms take less time than rounding and storing, which tiles do in passes of their own.
#define LEAST_TERMS 48

int cml_low_convolves(const cml_isa *isa, const cml_conv_shape *s, cml_storage storage) {
    return cml_is_low(isa, storage) && !s->transposed && s->groups == 1 && s->kernel[0] == 1
        && s->kernel[1] * s->kernel[2] * s->in_channels >= LEAST_TERMS;
}

static pack_job pack_form(const cml_conv_shape *s) {
    const long taps = s->kernel[1] * s->kernel[2];
    if (amx_is_gathered(s, CML_F16)) return (pack_job){.taps = 1, .k = taps * s->in_channels, .n = s->out_channels, .inner = s->in_channels};
    return (pack_job){.taps = taps, .k = s->in_channels, .n = s->out_channels, .inner = 1};
}

size_t cml_low_conv_bytes(const cml_conv_shape *s) {
    const pack_job form = pack_form(s);
    return (size_t)(panel_bytes(form.taps, form.k) * ((form.n + AMX_COLUMNS - 1) / AMX_COLUMNS));
}

void cml_low_conv_pack(const cml_isa *isa, const cml_conv_shape *s, const uint16_t *source, long o_stride, long i_stride,
                       void *packed) {
    pack_job j = pack_form(s);
    j.isa = isa;
    j.source = source;
    j.packed = packed;
    j.n_stride = o_stride;
    j.tap_stride = 1;
    j.k_stride = amx_is_gathered(s, CML_F16) ? 1 : i_stride;
    j.inner_stride = amx_is_gathered(s, CML_F16) ? i_stride : 0;
    cml_parallel_for((j.n + AMX_COLUMNS - 1) / AMX_COLUMNS, pack_panel, &j);
}

// MARK: Signed bytes

#define HEADER 64                         // bytes, the first of which says whether the weights fit

size_t cml_amx_signed_start(size_t before) { return (before + 63) / 64 * 64; }

size_t cml_amx_signed_size(long terms, long columns) {
    return HEADER + (size_t)(amx_round(terms, AMX_STEP) * amx_round(columns, AMX_COLUMNS));
}

int8_t *cml_amx_signed_panel(void *form, long terms, long panel) {
    return (int8_t *)form + HEADER + panel * amx_round(terms, AMX_STEP) * AMX_COLUMNS;
}

void cml_amx_signed_finish(void *form, int fits) {
    memset(form, 0, HEADER);
    *(char *)form = (char)fits;
}

// The kernels with matrix tiles, and the tables of AVX-512.
#include "tiles.h"
#include "../codes/codes.h"
#include "../integer/dots.h"

#if defined(__x86_64__) && defined(__linux__)
#include <immintrin.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// arch_prctl's request for a state component, and the component of the tiles' contents.
#define REQUEST_PERMISSION 0x1023
#define TILE_DATA 18

static cml_isa best, low;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_tables(void) {
    unsigned a = 7, b = 0, c = 0, d = 0;
    best = __builtin_cpu_supports("avx512vnni") ? *cml_avx512_dots_table() : cml_isa_avx512;
    if (__builtin_cpu_supports("avx512vbmi")) cml_look_up_bytes(&best);
    __asm__("cpuid" : "+a"(a), "+b"(b), "+c"(c), "+d"(d));
    const int has_tiles = d >> 24 & 1, has_bfloat16 = d >> 22 & 1, has_bytes = d >> 25 & 1;
    a = 1;
    c = 0;
    __asm__("cpuid" : "+a"(a), "+b"(b), "+c"(c), "+d"(d));
    const int keeps_states = c >> 27 & 1;
    const char *allowed = getenv("COREML_AMX");
    // The operating system keeps the tiles of a process that asks for them.
    if (!has_tiles || !keeps_states || (allowed && allowed[0] == '0')
        || syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) != 0) return;
    best.byte_tiles = has_bytes;
    if (has_bytes) best.name = "avx512-tiles";
    if (!has_bfloat16 || !__builtin_cpu_supports("avx512bf16")) return;
    low = best;
    low.low = 1;
    low.name = "avx512-bfloat16";
}

const cml_isa *cml_avx512_table(void) {
    pthread_once(&once, make_tables);
    return &best;
}

const cml_isa *cml_avx512_low_table(void) {
    pthread_once(&once, make_tables);
    return low.low ? &low : NULL;
}

#pragma clang attribute push(__attribute__((target("amx-tile,amx-bf16,amx-int8,avx512f,avx512vl,avx512bw,avx512dq,avx512bf16,fma,bmi2"))), \
                             apply_to = function)

typedef struct {
    uint8_t palette, start, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} configuration;

void cml_amx_begin(long rows) {
    configuration c;
    memset(&c, 0, sizeof c);
    c.palette = 1;
    for (int tile = 0; tile < 8; tile++) {
        c.bytes[tile] = AMX_STEP;
        c.rows[tile] = tile == 2 || tile == 3 || rows > 16 ? 16 : (uint8_t)rows;
    }
    _tile_loadconfig(&c);
}

void cml_amx_end(void) { _tile_release(); }

void cml_amx_round(const float *source, long count, long padded, uint16_t *target) {
    for (long i = 0; i < padded; i += 16) {
        const long left = count - i;
        const __mmask16 m = left >= 16 ? 0xffff : left > 0 ? (__mmask16)((1u << left) - 1) : 0;
        _mm256_storeu_si256((void *)(target + i), (__m256i)_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(m, source + i)));
    }
}

int cml_amx_narrow(const int16_t *source, long count, long padded, int8_t *target) {
    __mmask32 unlike = 0;
    for (long i = 0; i < padded; i += 32) {
        const long left = count - i;
        const __mmask32 m = left >= 32 ? 0xffffffff : left > 0 ? (__mmask32)((1u << left) - 1) : 0;
        const __m512i wide = _mm512_maskz_loadu_epi16(m, source + i);
        const __m256i narrow = _mm512_cvtsepi16_epi8(wide);
        unlike |= _mm512_cmpneq_epi16_mask(_mm512_cvtepi8_epi16(narrow), wide);
        _mm256_storeu_si256((void *)(target + i), narrow);
    }
    return unlike == 0;
}

void cml_amx_copy_lines(const char *source, long step, long lines, long bytes, char *target) {
    const __mmask64 last = bytes % 64 ? ((__mmask64)1 << bytes % 64) - 1 : 0;
    for (long line = 0; line < lines; line++, source += step, target += bytes) {
        long i = 0;
        for (; i + 64 <= bytes; i += 64) _mm512_storeu_si512(target + i, _mm512_loadu_si512(source + i));
        if (last) _mm512_mask_storeu_epi8(target + i, last, _mm512_maskz_loadu_epi8(last, source + i));
    }
}

// Memory that is fetched while a block is multiplied: the next of it at each step.
typedef struct {
    const char *at;
    long step;
} ahead;

// Panels that one block of rows reads stream from memory: how many bytes ahead they are fetched.
#define AHEAD (4 << 10)

// One or two tiles of rows by one or two of columns; the sums go to [row][AMX_COLUMNS]. Of the panels, a step takes
// 2 * AMX_TILE bytes; its second tile of columns begins at SECOND, and rows of tiles are PITCH bytes apart.
#define PRODUCT(NAME, MULTIPLY, PITCH, SECOND, TWO_ROWS, TWO_COLUMNS)                                      \
    static void NAME(const amx_block *s, const char *a, const char *panel, ahead next, float *sums) {       \
        const long stride = s->stride;                                                                      \
        _tile_zero(4);                                                                                      \
        if (TWO_COLUMNS) _tile_zero(5);                                                                     \
        if (TWO_ROWS) _tile_zero(6);                                                                        \
        if (TWO_ROWS && TWO_COLUMNS) _tile_zero(7);                                                         \
        for (long tap = 0; tap < s->taps; tap++) {                                                          \
            const char *from = a + s->offsets[tap], *b = panel + tap * s->tap_step;                         \
            for (long step = 0; step < s->steps; step++, from += AMX_STEP, b += 2 * AMX_TILE) {             \
                for (long line = 0; line < next.step; line += 64) _mm_prefetch(next.at + line, _MM_HINT_T1); \
                next.at += next.step;                                                                       \
                _tile_loadd(0, from, stride);                                                               \
                _tile_loadd(2, b, PITCH);                                                                   \
                MULTIPLY(4, 0, 2);                                                                          \
                if (TWO_COLUMNS) {                                                                          \
                    _tile_loadd(3, b + SECOND, PITCH);                                                      \
                    MULTIPLY(5, 0, 3);                                                                      \
                }                                                                                           \
                if (TWO_ROWS) {                                                                             \
                    _tile_loadd(1, from + 16 * stride, stride);                                             \
                    MULTIPLY(6, 1, 2);                                                                      \
                    if (TWO_COLUMNS) MULTIPLY(7, 1, 3);                                                     \
                }                                                                                           \
            }                                                                                               \
        }                                                                                                   \
        _tile_stored(4, sums, AMX_COLUMNS * sizeof(float));                                                 \
        if (TWO_COLUMNS) _tile_stored(5, sums + 16, AMX_COLUMNS * sizeof(float));                           \
        if (TWO_ROWS) _tile_stored(6, sums + 16 * AMX_COLUMNS, AMX_COLUMNS * sizeof(float));                \
        if (TWO_ROWS && TWO_COLUMNS) _tile_stored(7, sums + 16 * AMX_COLUMNS + 16, AMX_COLUMNS * sizeof(float)); \
    }

typedef void (*product)(const amx_block *s, const char *a, const char *panel, ahead next, float *sums);

PRODUCT(low_11, _tile_dpbf16ps, AMX_STEP, AMX_TILE, 0, 0)
PRODUCT(low_12, _tile_dpbf16ps, AMX_STEP, AMX_TILE, 0, 1)
PRODUCT(low_21, _tile_dpbf16ps, AMX_STEP, AMX_TILE, 1, 0)
PRODUCT(low_22, _tile_dpbf16ps, AMX_STEP, AMX_TILE, 1, 1)
PRODUCT(bytes_11, _tile_dpbusd, 2 * AMX_STEP, AMX_STEP, 0, 0)
PRODUCT(bytes_12, _tile_dpbusd, 2 * AMX_STEP, AMX_STEP, 0, 1)
PRODUCT(bytes_21, _tile_dpbusd, 2 * AMX_STEP, AMX_STEP, 1, 0)
PRODUCT(bytes_22, _tile_dpbusd, 2 * AMX_STEP, AMX_STEP, 1, 1)
PRODUCT(signed_11, _tile_dpbssd, 2 * AMX_STEP, AMX_STEP, 0, 0)
PRODUCT(signed_12, _tile_dpbssd, 2 * AMX_STEP, AMX_STEP, 0, 1)
PRODUCT(signed_21, _tile_dpbssd, 2 * AMX_STEP, AMX_STEP, 1, 0)
PRODUCT(signed_22, _tile_dpbssd, 2 * AMX_STEP, AMX_STEP, 1, 1)

// By storage, two tiles of rows, two tiles of columns.
static const product products[3][2][2] = {{{low_11, low_12}, {low_21, low_22}},
                                          {{bytes_11, bytes_12}, {bytes_21, bytes_22}},
                                          {{signed_11, signed_12}, {signed_21, signed_22}}};

// Columns column... of one row, with the epilogue up to the functions that tiles apply.
static inline __attribute__((always_inline)) void finish(__m512 v, float *c, const float *residual, long column,
                                                        __mmask16 m, const cml_epilogue *e) {
    if (e->bias) v = _mm512_add_ps(v, _mm512_maskz_loadu_ps(m, e->bias + column));
    if (residual) v = _mm512_add_ps(v, _mm512_maskz_loadu_ps(m, residual + column));
    if (e->function == CML_RELU) v = _mm512_max_ps(_mm512_setzero_ps(), v);
    else if (e->function == CML_CLIP) v = _mm512_min_ps(_mm512_set1_ps(e->beta), _mm512_max_ps(_mm512_set1_ps(e->alpha), v));
    else if (e->function == CML_PRELU) {
        const __mmask16 negative = _mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_LT_OQ);
        v = _mm512_mask_mul_ps(v, negative, v, _mm512_maskz_loadu_ps(m, e->slope + column));
    }
    _mm512_mask_storeu_ps(c + column, m, v);
}

// Stores the sums of some rows as floats.
static void store_floats(const cml_isa *isa, const amx_block *s, const float *sums, long row, long rows, long column, long columns) {
    const cml_epilogue *e = s->epilogue;
    const __mmask16 first = columns >= 16 ? 0xffff : (__mmask16)((1u << columns) - 1);
    const __mmask16 second = columns >= 32 ? 0xffff : columns > 16 ? (__mmask16)((1u << (columns - 16)) - 1) : 0;
    for (long r = 0; r < rows; r++) {
        float *c = s->c[row + r];
        if (!c) continue;
        const float *residual = s->residual[row + r];
        finish(_mm512_load_ps(sums + r * AMX_COLUMNS), c, residual, column, first, e);
        if (columns > 16) finish(_mm512_load_ps(sums + r * AMX_COLUMNS + 16), c, residual, column + 16, second, e);
        if (!cml_tile_applies(e->function)) isa->unary(e->function, e->alpha, e->beta, c + column, c + column, columns);
    }
}

// Gives the sums of some rows to the kernels of integers, which apply their epilogue.
static void store_integers(const cml_isa *isa, const amx_block *s, const float *sums, long row, long rows, long column, long columns) {
    const cml_epilogue *e = s->epilogue;
    cml_tile t = {.n = columns, .ldc = s->ldc, .ldr = s->ldr, .lds = AMX_COLUMNS, .accumulate = 1, .last = 1,
                  .bias = e->bias ? e->bias + column : NULL, .slope = e->slope ? e->slope + column : NULL,
                  .function = cml_tile_applies(e->function) ? e->function : CML_IDENTITY, .alpha = e->alpha, .beta = e->beta};
    cml_tile_integers(&t, e, column, s->y);
    const cml_tile_kernel *kernels = cml_tiles(isa, s->storage, columns);
    for (long r = 0, count; r < rows; r += count) {
        count = 1;
        float *c = s->c[row + r];
        if (!c) continue;
        while (r + count < rows && count < isa->rows && s->c[row + r + count] == c + count * s->ldc) count++;
        t.sums = sums + r * AMX_COLUMNS;
        t.c = c + column;
        t.residual = s->residual[row + r] ? s->residual[row + r] + column : NULL;
        kernels[count](&t);
        cml_finish(isa, e, t.c, s->ldc, count, columns, s->y);
    }
}

void cml_amx_multiply(const cml_isa *isa, const amx_block *s) {
    float sums[AMX_ROWS * AMX_COLUMNS] __attribute__((aligned(64)));
    const int kind = s->storage == CML_F16 ? 0 : s->storage == CML_BYTES ? 1 : 2;
    const long blocks = (s->rows + AMX_ROWS - 1) / AMX_ROWS;
    // The blocks share out the next panel.
    const long part = amx_round(2 * AMX_TILE / (blocks > 0 ? blocks : 1), 64);
    for (long panel = s->first_panel; panel < s->first_panel + s->panels; panel++) {
        const long column = panel * AMX_COLUMNS, left = s->columns - column, columns = left < AMX_COLUMNS ? left : AMX_COLUMNS;
        for (long row = 0; row < s->rows; row += AMX_ROWS) {
            const long rows = s->rows - row < AMX_ROWS ? s->rows - row : AMX_ROWS;
            const char *const b = s->b + panel * s->panel_step;
            ahead next = {b + AHEAD, part};
            if (blocks > 1) next.at = b + s->panel_step + row / AMX_ROWS * s->taps * s->steps * part;
            if (blocks > 1 && panel + 1 == s->first_panel + s->panels) next.step = 0;
            products[kind][rows > 16][columns > 16](s, s->a + row * s->stride, b, next, sums);
            (kind > 0 ? store_integers : store_floats)(isa, s, sums, row, rows, column, columns);
        }
    }
}

#pragma clang attribute pop

#else

#include <stdlib.h>

#if defined(__x86_64__)
const cml_isa *cml_avx512_table(void) { return __builtin_cpu_supports("avx512vnni") ? cml_avx512_dots_table() : &cml_isa_avx512; }
#endif
const cml_isa *cml_avx512_low_table(void) { return NULL; }

// Without tables for them nobody calls these.
void cml_amx_begin(long rows) { (void)rows; }
void cml_amx_end(void) {}
void cml_amx_round(const float *source, long count, long padded, uint16_t *target) {
    (void)source, (void)count, (void)padded, (void)target;
    abort();
}
int cml_amx_narrow(const int16_t *source, long count, long padded, int8_t *target) {
    (void)source, (void)count, (void)padded, (void)target;
    abort();
}
void cml_amx_copy_lines(const char *source, long step, long lines, long bytes, char *target) {
    (void)source, (void)step, (void)lines, (void)bytes, (void)target;
    abort();
}
void cml_amx_multiply(const cml_isa *isa, const amx_block *block) {
    (void)isa, (void)block;
    abort();
}

#endif

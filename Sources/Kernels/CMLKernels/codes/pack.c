// Rearranges the codes of a matrix into the panels that the kernels of codes read.
#include "../isa/isa.h"
#include "codes.h"
#include <string.h>

// Terms whose codes are gathered at a time.
#define BLOCK_TERMS 256

long cml_codes_chunk(int bits) { return bits == 8 ? 4 : bits == 6 ? 8 : bits == 3 ? 32 : 32 / bits; }

static long panel_count(const cml_isa *isa, const cml_codes *c) { return (c->n + isa->panel - 1) / isa->panel; }

static long table_count(const cml_codes *c) { return (c->group < c->n ? c->n / c->group : 1) * cml_codes_segments(c); }

size_t cml_codes_bytes(const cml_isa *isa, const cml_codes *c) {
    const size_t panels = (size_t)panel_count(isa, c), element = cml_codes_element(c);
    const size_t codes = panels * cml_codes_panel(c, isa->panel);
    if (c->is_table) return codes + (size_t)(table_count(c) * cml_codes_entries(c)) * element;
    return codes + panels * (size_t)(cml_codes_segments(c) * isa->panel) * (element + cml_codes_offset(c));
}

// `count` codes from number `first` on, at result[i * step].
static void unpack(const cml_code_source *s, int bits, size_t first, long count, uint8_t *result, long step) {
    if (bits == 8) {
        for (long i = 0; i < count; i++) result[i * step] = s->codes[first + (size_t)i];
        return;
    }
    const unsigned mask = (1u << bits) - 1;
    if (bits == 4 && first % 2 == 0) {
        const uint8_t *bytes = s->codes + first / 2;
        long i = 0;
        for (; i + 1 < count; i += 2, bytes++) {
            result[i * step] = *bytes & 15;
            result[(i + 1) * step] = *bytes >> 4;
        }
        if (i < count) result[i * step] = *bytes & 15;
        return;
    }
    if (bits == 4) {
        for (long i = 0; i < count; i++) {
            const size_t position = first + (size_t)i;
            result[i * step] = (uint8_t)(s->codes[position >> 1] >> (position & 1) * 4 & 15);
        }
        return;
    }
    for (long i = 0; i < count; i++) {
        const size_t position = (first + (size_t)i) * (size_t)bits, byte = position >> 3;
        unsigned word = s->codes[byte];
        if (byte + 1 < s->code_bytes) word |= (unsigned)s->codes[byte + 1] << 8;
        result[i * step] = (uint8_t)(word >> (position & 7) & mask);
    }
}

// The codes of terms first..<end of a column where the taps of a window follow each other.
static void unpack_taps(const cml_code_source *s, int bits, long column, long first, long end, uint8_t *result, long step) {
    const unsigned mask = (1u << bits) - 1;
    long tap = first / s->channels, channel = first % s->channels;
    for (long k = first; k < end; k++, result += step) {
        const size_t number = (size_t)(column * s->n_stride + channel * s->k_stride + tap);
        const size_t position = number * (size_t)bits, byte = position >> 3;
        unsigned word = s->codes[byte];
        if ((position & 7) + (size_t)bits > 8) word |= (unsigned)s->codes[byte + 1] << 8;
        *result = (uint8_t)(word >> (position & 7) & mask);
        if (++channel == s->channels) channel = 0, tap++;
    }
}

// Whether codes are packed for byte shuffles; see planes.inc.
static int has_planes(const cml_isa *isa, const cml_codes *c) {
    return isa->identifier == CML_ISA_AVX2 && c->is_table && c->parameter == CML_F16;
}

// A chunk of codes [chunk][width] as planes.inc reads it; `width` is 16.
static void pack_planes(int bits, const uint8_t *codes, long chunk, long width, uint8_t *packed) {
    memset(packed, 0, (size_t)(chunk * width * bits / 8));
    for (long i = 0; i < chunk; i++) {
        const long pair = i / 2;
        uint8_t *first = packed + i % 2 * width;
        for (long j = 0; j < width; j++, first++) {
            const unsigned code = codes[i * width + j];
            if (bits == 6 && pair == 3) {
                for (int line = 0; line < 3; line++) first[32 * line] |= (uint8_t)((code >> 2 * line & 3) << 6);
            } else if (bits == 6) {
                first[32 * pair] |= (uint8_t)code;
            } else if (bits == 3 && pair >= 12) {
                uint8_t *lines = first + (pair < 14 ? 0 : 96);
                if (pair % 2 == 0) {
                    lines[0] |= (uint8_t)((code & 3) << 6);
                    lines[32] |= (uint8_t)(code >> 2 << 6);
                } else {
                    lines[32] |= (uint8_t)((code & 1) << 7);
                    lines[64] |= (uint8_t)(code >> 1 << 6);
                }
            } else {
                const long each = 8 / bits;
                first[32 * (pair / each)] |= (uint8_t)(code << pair % each * bits);
            }
        }
    }
}

// A chunk of codes [chunk][width] as the words of its panel.
static void pack_chunk(int bits, const uint8_t *codes, long width, uint8_t *packed) {
    if (bits == 8) {
        memcpy(packed, codes, (size_t)(4 * width));
    } else if (bits == 6) {
        uint16_t *words = (uint16_t *)packed;
        for (long j = 0; j < width; j++) {
            uint16_t c[8];
            for (long i = 0; i < 8; i++) c[i] = codes[i * width + j];
            words[j] = (uint16_t)(c[0] | c[1] << 6 | (c[6] & 15) << 12);
            words[width + j] = (uint16_t)(c[2] | c[3] << 6 | c[6] >> 4 << 12 | (c[7] & 3) << 14);
            words[2 * width + j] = (uint16_t)(c[4] | c[5] << 6 | c[7] >> 2 << 12);
        }
    } else {
        uint32_t words[3 * CML_MAX_PANEL] = {0};
        const int each = bits == 3 ? 10 : 32 / bits;
        for (int i = 0; i < (bits == 3 ? 30 : each); i++) {
            uint32_t *w = words + i / each * width;
            const int shift = i % each * bits;
            for (long j = 0; j < width; j++) w[j] |= (uint32_t)codes[i * width + j] << shift;
        }
        if (bits == 3) {
            for (long j = 0; j < width; j++) {
                const uint32_t first = codes[30 * width + j], second = codes[31 * width + j];
                words[j] |= (first & 3) << 30;
                words[width + j] |= first >> 2 << 30 | (second & 1) << 31;
                words[2 * width + j] |= second >> 1 << 30;
            }
        }
        memcpy(packed, words, (size_t)((bits == 3 ? 3 : 1) * width) * sizeof(uint32_t));
    }
}

typedef struct {
    const cml_isa *isa;
    const cml_codes *codes;
    const cml_code_source *source;
    char *packed;
    long first;
} job;

static void pack_codes(const job *j, long panel) {
    const cml_codes *c = j->codes;
    const cml_code_source *s = j->source;
    const long width = j->isa->panel, chunk = cml_codes_chunk(c->bits), column = panel * width;
    const long n = c->n - column < width ? c->n - column : width, rounded = cml_codes_rounded(c);
    const size_t step = cml_codes_panel(c, width), each = (size_t)(chunk * width) * (size_t)c->bits / 8;
    uint8_t *packed = (uint8_t *)j->packed + (size_t)panel * step;
    // Linear codes are stored signed, those of 4 bits plus 8.
    const int flips = !c->is_table && (c->bits == 4 ? s->is_signed : !s->is_signed);
    const uint8_t flip = flips ? (uint8_t)(1 << (c->bits - 1)) : 0;
    uint8_t block[BLOCK_TERMS * CML_MAX_PANEL];
    for (long k0 = 0; k0 < rounded; k0 += BLOCK_TERMS) {
        const long end = k0 + BLOCK_TERMS < c->k ? k0 + BLOCK_TERMS : c->k;
        const long padded = k0 + BLOCK_TERMS < rounded ? k0 + BLOCK_TERMS : rounded;
        memset(block, 0, (size_t)((padded - k0) * width));
        if (s->channels > 0) {
            for (long i = 0; i < n; i++) unpack_taps(s, c->bits, column + i, k0, end, block + i, width);
        } else if (s->k_stride == 1) {
            for (long i = 0; i < n; i++)
                unpack(s, c->bits, (size_t)(column + i) * (size_t)s->n_stride + (size_t)k0, end - k0, block + i, width);
        } else {
            for (long k = k0; k < end; k++)
                unpack(s, c->bits, (size_t)k * (size_t)s->k_stride + (size_t)column, n, block + (k - k0) * width, 1);
        }
        if (flip) for (long i = 0; i < (end - k0) * width; i++) block[i] ^= flip;
        for (long k = k0; k < padded; k += chunk, packed += each) {
            const uint8_t *given = block + (k - k0) * width;
            if (c->bits < 8 && has_planes(j->isa, c)) pack_planes(c->bits, given, chunk, width, packed);
            else pack_chunk(c->bits, given, width, packed);
        }
    }
}

static void pack_scales(const job *j, long panel) {
    const cml_codes *c = j->codes;
    const cml_code_source *s = j->source;
    const long width = j->isa->panel, segments = cml_codes_segments(c);
    const size_t element = cml_codes_element(c), each = (size_t)(segments * width);
    char *scales = j->packed + cml_codes_panel(c, width) * (size_t)panel_count(j->isa, c)
        + (size_t)panel * each * (element + cml_codes_offset(c));
    char *offsets = scales + each * element;
    const int8_t middle = (int8_t)-(1 << (c->bits - 1));
    const long period = s->scale_period > 0 ? s->scale_period : segments;
    memset(scales, 0, each * (element + cml_codes_offset(c)));
    for (long i = 0; i < width && panel * width + i < c->n; i++) {
        const long row = (panel * width + i) / s->scale_columns * s->scale_n;
        for (long segment = 0; segment < segments; segment++) {
            const size_t from = (size_t)(row + segment % period * s->scale_k), to = (size_t)(segment * width + i);
            memcpy(scales + to * element, (const char *)s->parameters + from * element, element);
            if (c->has_offsets == 2) ((float *)offsets)[to] = ((const float *)s->offsets)[from];
            else if (c->has_offsets) ((int8_t *)offsets)[to] = s->offsets ? ((const int8_t *)s->offsets)[from] : middle;
        }
    }
}

static void pack_panel(void *context, long index, int worker) {
    (void)worker;
    const job *j = context;
    pack_codes(j, j->first + index);
    if (!j->codes->is_table) pack_scales(j, j->first + index);
}

void cml_codes_pack(const cml_isa *isa, const cml_codes *codes, const cml_code_source *source, long first, long end,
                    void *packed) {
    job j = {isa, codes, source, packed, first};
    cml_parallel_for(end - first, pack_panel, &j);
    if (!codes->is_table || first > 0) return;
    char *tables = j.packed + cml_codes_panel(codes, isa->panel) * (size_t)panel_count(isa, codes);
    const size_t element = cml_codes_element(codes);
    const long entries = cml_codes_entries(codes), given = 1L << codes->bits, count = table_count(codes);
    for (long table = 0; table < count; table++) {
        for (long i = 0; i < entries; i++)
            memcpy(tables + (size_t)(table * entries + i) * element,
                   (const char *)source->parameters + (size_t)(table * given + i % given) * element, element);
    }
}

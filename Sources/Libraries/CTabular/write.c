// Writing of delimited text.
#include "ctabular.h"

#include "cnumbertext.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t bytes16 __attribute__((ext_vector_type(16)));
typedef uint8_t bytes16_unaligned __attribute__((ext_vector_type(16), aligned(1)));
typedef int64_t words2 __attribute__((ext_vector_type(2)));

static const char pairs[] =
    "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
    "5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

static inline int digit_count(uint64_t x) {
    int count = 1;
    for (;;) {
        if (x < 10) return count;
        if (x < 100) return count + 1;
        if (x < 1000) return count + 2;
        if (x < 10000) return count + 3;
        x /= 10000;
        count += 4;
    }
}

static inline uint8_t *put_unsigned(uint64_t x, uint8_t *out) {
    const int count = digit_count(x);
    uint8_t *p = out + count;
    while (x >= 100) {
        p -= 2;
        memcpy(p, pairs + x % 100 * 2, 2);
        x /= 100;
    }
    if (x >= 10)
        memcpy(p - 2, pairs + x * 2, 2);
    else
        p[-1] = (uint8_t)('0' + x);
    return out + count;
}

static inline uint8_t *put_int64(int64_t x, uint8_t *out) {
    if (x < 0) *out++ = '-';
    return put_unsigned(x < 0 ? 0 - (uint64_t)x : (uint64_t)x, out);
}

static inline uint8_t *put_double(double x, uint8_t *out) {
    // Few decimals: a number of at most 15 digits is the only one that they can mean.
    const double hundredths = x * 100;
    if (fabs(hundredths) < 1e15) {
        const int64_t whole = (int64_t)(hundredths + (hundredths < 0 ? -0.5 : 0.5));
        if ((double)whole / 100 == x && whole != 0) {
            const uint64_t size = whole < 0 ? 0 - (uint64_t)whole : (uint64_t)whole;
            if (whole < 0) *out++ = '-';
            out = put_unsigned(size / 100, out);
            *out++ = '.';
            memcpy(out, pairs + size % 100 * 2, 2);
            return out + (size % 10 ? 2 : 1);
        }
    }
    return out + cnum_write(x, out);
}

// Nonzero if a byte requires quotes.
static inline bytes16 asks_for_quotes(bytes16 x, bytes16 delimiter) {
    return (bytes16)(x == (bytes16)(uint8_t)'"') | (bytes16)(x == (bytes16)(uint8_t)10) |
           (bytes16)(x == (bytes16)(uint8_t)13) | (bytes16)(x == delimiter);
}

// The text, in quotes when it needs them; `out` has room for twice its bytes and 18 more.
static inline uint8_t *put_text(const uint8_t *text, size_t count, uint8_t delimiter, uint8_t *out) {
    bytes16 flags = (bytes16)(uint8_t)0;
    const bytes16 d = (bytes16)delimiter;
    size_t place = 0;
    for (; place + 16 <= count; place += 16) {
        const bytes16 x = *(const bytes16_unaligned *)(text + place);
        *(bytes16_unaligned *)(out + place) = x;
        flags |= asks_for_quotes(x, d);
    }
    if (place < count) {
        // The rest is filled with a byte that requires none.
        uint8_t rest[16];
        memset(rest, delimiter == 'x' ? 'y' : 'x', 16);
        memcpy(rest, text + place, count - place);
        const bytes16 x = *(const bytes16_unaligned *)rest;
        *(bytes16_unaligned *)(out + place) = x;
        flags |= asks_for_quotes(x, d);
    }
    const words2 found = (words2)flags;
    if ((found[0] | found[1]) == 0) return out + count;
    *out++ = '"';
    for (size_t i = 0; i < count; i++) {
        *out = '"';
        out += text[i] == '"';
        *out++ = text[i];
    }
    *out++ = '"';
    return out;
}

static inline uint8_t *put_span(ctab_span span, uint8_t *out) {
    if (span.count == 1) {
        *out = *span.bytes;
        return out + 1;
    }
    if (span.count > 0) memcpy(out, span.bytes, span.count);
    return out + span.count;
}

static inline int is_missing(const ctab_column *c, size_t row) {
    return c->validity && !(c->validity[row >> 6] >> (row & 63) & 1);
}

int ctab_write(const ctab_column *columns, size_t width, const uint32_t *rows, size_t start, size_t count,
               const ctab_dialect *dialect, ctab_arena *out) {
    size_t most = dialect->missing.count;
    if (dialect->trues.count > most) most = dialect->trues.count;
    if (dialect->falses.count > most) most = dialect->falses.count;
    if (most < 48) most = 48;
    const size_t fixed = width * (most + dialect->delimiter.count) + dialect->newline.count + 64;
    const uint8_t delimiter = dialect->delimiter.count ? dialect->delimiter.bytes[0] : 0;
    for (size_t place = 0; place < count; place++) {
        const size_t row = rows ? rows[place] : start + place;
        size_t need = fixed;
        for (size_t column = 0; column < width; column++) {
            if (columns[column].kind != CTAB_TEXT) continue;
            const size_t own = columns[column].by_place ? place : row;
            if (is_missing(columns + column, own)) continue;
            need += 2 * (size_t)(uint32_t)((const ctab_view *)columns[column].values)[own].head + 20;
        }
        if (out->capacity - out->count < need) {
            const size_t capacity = out->capacity * 2 + need;
            uint8_t *bytes = realloc(out->bytes, capacity);
            if (!bytes) return 0;
            out->bytes = bytes;
            out->capacity = capacity;
        }
        uint8_t *p = out->bytes + out->count;
        for (size_t column = 0; column < width; column++) {
            const ctab_column *c = columns + column;
            const size_t own = c->by_place ? place : row;
            if (column > 0) p = put_span(dialect->delimiter, p);
            if (is_missing(c, own)) {
                p = put_span(dialect->missing, p);
                continue;
            }
            switch (c->kind) {
            case CTAB_INT64: p = put_int64(((const int64_t *)c->values)[own], p); break;
            case CTAB_DOUBLE: p = put_double(((const double *)c->values)[own], p); break;
            case CTAB_BOOL: p = put_span(((const uint8_t *)c->values)[own] ? dialect->trues : dialect->falses, p); break;
            case CTAB_TEXT: {
                const ctab_view *view = (const ctab_view *)c->values + own;
                const size_t length = (uint32_t)view->head;
                const uint8_t *text = length <= 12 ? (const uint8_t *)view + 4
                                                   : c->arenas[view->tail >> 40] + (view->tail & 0xFFFFFFFFFF);
                p = put_text(text, length, delimiter, p);
                break;
            }
            }
        }
        p = put_span(dialect->newline, p);
        out->count = (size_t)(p - out->bytes);
    }
    return 1;
}

#include "ctabular.h"

#include <stdlib.h>
#include <string.h>

static int reserve(ctab_arena *arena, size_t more) {
    if (arena->capacity - arena->count >= more) return 1;
    size_t capacity = arena->capacity * 2 + more + 4096;
    uint8_t *bytes = realloc(arena->bytes, capacity);
    if (!bytes) return 0;
    arena->bytes = bytes;
    arena->capacity = capacity;
    return 1;
}

static inline ctab_view short_view(const uint8_t *s, size_t count, const uint8_t *limit) {
    uint8_t bytes[16] = {0};
    if (limit - s >= 12) {
        uint32_t a;
        uint64_t b;
        memcpy(&a, s, 4);
        memcpy(&b, s + 4, 8);
        uint64_t low = count >= 4 ? ~(uint64_t)0 : ((uint64_t)1 << (8 * count)) - 1;
        uint64_t high = count >= 12 ? ~(uint64_t)0 : count <= 4 ? 0 : ((uint64_t)1 << (8 * (count - 4))) - 1;
        return (ctab_view){(uint64_t)count | ((uint64_t)a & low) << 32, b & high};
    }
    memcpy(bytes, s, count);
    uint32_t a;
    uint64_t b;
    memcpy(&a, bytes, 4);
    memcpy(&b, bytes + 4, 8);
    return (ctab_view){(uint64_t)count | (uint64_t)a << 32, b};
}

static inline ctab_view long_view(const uint8_t *s, size_t count, size_t offset, uint64_t arena) {
    uint32_t a;
    memcpy(&a, s, 4);
    return (ctab_view){(uint64_t)count | (uint64_t)a << 32, (uint64_t)offset | arena << 40};
}

size_t ctab_text(const ctab_cells *c, size_t row, size_t rows, ctab_view *out, uint64_t *validity, size_t bit,
                 size_t *missing, ctab_arena *arena, uint64_t arena_index, uint64_t *quotes) {
    for (; row < rows; row++) {
        size_t k = row * c->stride + c->column;
        const uint8_t *end = c->bytes + c->positions[k];
        const uint8_t *start = k == 0 ? c->bytes : c->bytes + c->positions[k - 1] + 1;
        if (c->column + 1 == c->stride && end > start && end[-1] == '\r') end--;
        size_t count = (size_t)(end - start);
        size_t doubled = 0;
        if (c->quoting && count > 0 && *start == '"') {
            if (count < 2 || end[-1] != '"') return row;
            start++;
            end--;
            count -= 2;
            const uint8_t *p = start;
            while ((p = memchr(p, '"', (size_t)(end - p)))) {
                if (p + 1 == end || p[1] != '"') return row;
                doubled++;
                p += 2;
                if (p == end) break;
            }
            *quotes += 2 + 2 * doubled;
        }
        if (count == 0 && c->empty_is_missing) {
            out[row] = (ctab_view){0, 0};
            validity[(bit + row) >> 6] &= ~((uint64_t)1 << ((bit + row) & 63));
            *missing += 1;
            continue;
        }
        if (doubled) {
            if (count > UINT32_MAX || !reserve(arena, count + 16)) return row;
            uint8_t *to = arena->bytes + arena->count;
            size_t kept = 0;
            for (const uint8_t *p = start; p < end; p++) {
                to[kept++] = *p;
                if (*p == '"') p++;
            }
            if (kept <= 12) {
                out[row] = short_view(to, kept, to + kept);
            } else {
                out[row] = long_view(to, kept, arena->count, arena_index);
                arena->count += kept;
            }
        } else if (count <= 12) {
            out[row] = short_view(start, count, c->limit);
        } else {
            if (count > UINT32_MAX || !reserve(arena, count)) return row;
            memcpy(arena->bytes + arena->count, start, count);
            out[row] = long_view(start, count, arena->count, arena_index);
            arena->count += count;
        }
    }
    return rows;
}

int ctab_quotes_are_placed(const uint8_t *bytes, const uint32_t *positions, size_t count, size_t stride,
                           uint64_t quotes) {
    const uint8_t *s = bytes;
    size_t left = stride;
    for (size_t k = 0; k < count; k++) {
        const uint8_t *e = bytes + positions[k], *next = e + 1;
        left--;
        if (e > s && *s == '"') {
            if (left == 0 && e[-1] == '\r') e--;
            if (e - s < 2 || *--e != '"' || quotes < 2) return 0;
            quotes -= 2;
            const uint8_t *p = s + 1;
            while (p < e && (p = memchr(p, '"', (size_t)(e - p)))) {
                if (p + 1 == e || p[1] != '"' || quotes < 2) return 0;
                quotes -= 2;
                p += 2;
            }
        }
        if (left == 0) left = stride;
        s = next;
    }
    return quotes == 0;
}

int ctab_has_byte_above(const uint8_t *s, size_t count, uint8_t least) {
    uint8_t most = 0;
    for (size_t i = 0; i < count; i++) most = s[i] > most ? s[i] : most;
    return most > least;
}

int ctab_is_utf8(const uint8_t *s, size_t count) {
    const uint8_t *e = s + count;
    while (s < e) {
        while (e - s >= 8) {
            uint64_t x;
            memcpy(&x, s, 8);
            if (x & 0x8080808080808080u) break;
            s += 8;
        }
        while (s < e && *s < 128) s++;
        if (s == e) break;
        uint8_t a = *s;
        size_t left = (size_t)(e - s);
#define TAIL(i) ((s[i] & 0xC0) == 0x80)
        if (a >= 0xC2 && a <= 0xDF) {
            if (left < 2 || !TAIL(1)) return 0;
            s += 2;
        } else if (a >= 0xE0 && a <= 0xEF) {
            if (left < 3 || !TAIL(1) || !TAIL(2)) return 0;
            if ((a == 0xE0 && s[1] < 0xA0) || (a == 0xED && s[1] > 0x9F)) return 0;
            s += 3;
        } else if (a >= 0xF0 && a <= 0xF4) {
            if (left < 4 || !TAIL(1) || !TAIL(2) || !TAIL(3)) return 0;
            if ((a == 0xF0 && s[1] < 0x90) || (a == 0xF4 && s[1] > 0x8F)) return 0;
            s += 4;
        } else {
            return 0;
        }
#undef TAIL
    }
    return 1;
}

static inline uint64_t mixed(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t ctab_hash(const uint8_t *s, size_t count) {
    uint64_t hash = 0x9E3779B97F4A7C15u ^ count, x;
    while (count >= 8) {
        memcpy(&x, s, 8);
        hash = mixed(hash ^ x, 0xD6E8FEB86659FD93u);
        s += 8;
        count -= 8;
    }
    x = 0;
    memcpy(&x, s, count);
    return mixed(hash ^ x, 0xA0761D6478BD642Fu);
}

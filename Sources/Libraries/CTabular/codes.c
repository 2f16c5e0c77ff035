// Numbers for the different strings of a column.
#include "ctabular.h"

#include <stdlib.h>
#include <string.h>

// Strings whose hash slots are prefetched before the first of them is needed.
#define BLOCK 16

static inline uint64_t hash_of(const ctab_strings *s, ctab_view view) {
    if ((uint32_t)view.head <= 12) {
        unsigned __int128 product =
            (unsigned __int128)(view.head ^ 0x9E3779B97F4A7C15u) * (view.tail ^ 0xD6E8FEB86659FD93u);
        return ((uint64_t)(product >> 64) ^ (uint64_t)product) * 0x9E3779B97F4A7C15u;
    }
    return ctab_hash(s->arenas[view.tail >> 40] + (view.tail & 0xFFFFFFFFFF), (uint32_t)view.head);
}

static inline int is_equal(const ctab_strings *s, ctab_view a, const ctab_strings *t, ctab_view b) {
    if (a.head != b.head) return 0;
    if ((uint32_t)a.head <= 12) return a.tail == b.tail;
    return memcmp(s->arenas[a.tail >> 40] + (a.tail & 0xFFFFFFFFFF), t->arenas[b.tail >> 40] + (b.tail & 0xFFFFFFFFFF),
                  (uint32_t)a.head) == 0;
}

// Whether no byte begins a character at or above U+0300: such strings are equal only when their bytes are.
static int is_plain(const ctab_strings *s, ctab_view view) {
    if ((uint32_t)view.head > 12)
        return !ctab_has_byte_above(s->arenas[view.tail >> 40] + (view.tail & 0xFFFFFFFFFF), (uint32_t)view.head, 0xCB);
    if (((view.head >> 32 | view.tail) & 0x8080808080808080u) == 0) return 1;
    uint8_t bytes[12];
    uint32_t start = (uint32_t)(view.head >> 32);
    memcpy(bytes, &start, 4);
    memcpy(bytes + 4, &view.tail, 8);
    return !ctab_has_byte_above(bytes, 12, 0xCB);
}

static inline int is_missing(const ctab_strings *s, size_t row) {
    return s->validity && !(s->validity[row >> 6] >> (row & 63) & 1);
}

static inline size_t row_at(const ctab_strings *s, size_t place) { return s->rows ? s->rows[place] : s->start + place; }

void ctab_codes_free(ctab_codes *c) {
    free(c->slots);
    free(c->keys);
    free(c->first_rows);
    *c = (ctab_codes){0};
}

// Room for one more code; the table is at most half full.
static int reserve(ctab_codes *c) {
    if (c->count == c->capacity) {
        const size_t capacity = c->capacity ? c->capacity * 2 : 512;
        ctab_key *keys = realloc(c->keys, capacity * sizeof *keys);
        if (!keys) return 0;
        c->keys = keys;
        uint32_t *rows = realloc(c->first_rows, capacity * sizeof *rows);
        if (!rows) return 0;
        c->first_rows = rows;
        c->capacity = capacity;
    }
    if ((c->count + 1) * 2 > c->size) {
        const size_t size = c->size ? c->size * 4 : 1024;
        uint32_t *slots = malloc(size * sizeof *slots);
        if (!slots) return 0;
        memset(slots, 0xFF, size * sizeof *slots);
        for (size_t code = 0; code < c->count; code++) {
            if (code == c->missing) continue;
            size_t place = c->keys[code].hash & (size - 1);
            while (slots[place] != CTAB_NONE) place = (place + 1) & (size - 1);
            slots[place] = (uint32_t)code;
        }
        free(c->slots);
        c->slots = slots;
        c->size = size;
    }
    return 1;
}

ctab_result ctab_encode(const ctab_strings *s, ctab_codes *c, uint32_t *codes) {
    if (!c->size) c->missing = CTAB_NONE;
    if (!reserve(c)) return CTAB_NO_MEMORY;
    uint64_t hashes[BLOCK];
    for (size_t start = 0; start < s->count; start += BLOCK) {
        const size_t count = s->count - start < BLOCK ? s->count - start : BLOCK;
        for (size_t i = 0; i < count; i++) {
            const size_t row = row_at(s, start + i);
            // The view of a missing string has no meaning.
            hashes[i] = is_missing(s, row) ? 0 : hash_of(s, s->views[row]);
            __builtin_prefetch(c->slots + (hashes[i] & (c->size - 1)));
        }
        for (size_t i = 0; i < count; i++) {
            const size_t row = row_at(s, start + i);
            uint32_t code;
            if (is_missing(s, row)) {
                if (c->missing == CTAB_NONE) {
                    if (!reserve(c)) return CTAB_NO_MEMORY;
                    c->missing = (uint32_t)c->count;
                    c->first_rows[c->count++] = (uint32_t)row;
                }
                code = c->missing;
            } else {
                const ctab_view view = s->views[row];
                size_t place = hashes[i] & (c->size - 1);
                while ((code = c->slots[place]) != CTAB_NONE) {
                    if (c->keys[code].hash == hashes[i] && is_equal(s, view, s, c->keys[code].view)) break;
                    place = (place + 1) & (c->size - 1);
                }
                if (code == CTAB_NONE) {
                    if (!is_plain(s, view)) return CTAB_NOT_BYTEWISE;
                    code = (uint32_t)c->count;
                    c->slots[place] = code;
                    c->keys[code] = (ctab_key){hashes[i], view};
                    c->first_rows[code] = (uint32_t)row;
                    c->count++;
                    if (!reserve(c)) return CTAB_NO_MEMORY;
                }
            }
            if (codes) codes[start + i] = code;
        }
    }
    return CTAB_ENCODED;
}

void ctab_find(const ctab_strings *s, const ctab_codes *c, const ctab_strings *known, uint32_t *codes) {
    for (size_t i = 0; i < s->count; i++) {
        const size_t row = row_at(s, i);
        uint32_t code = CTAB_NONE;
        if (!is_missing(s, row) && c->size) {
            const ctab_view view = s->views[row];
            const uint64_t hash = hash_of(s, view);
            size_t place = hash & (c->size - 1);
            while ((code = c->slots[place]) != CTAB_NONE) {
                if (c->keys[code].hash == hash && is_equal(s, view, known, c->keys[code].view)) break;
                place = (place + 1) & (c->size - 1);
            }
        }
        codes[i] = code;
    }
}

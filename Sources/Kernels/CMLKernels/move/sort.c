// Sorted positions along one axis: the best few by a running selection, more by sorting digit by digit.
#include "../isa/isa.h"
#include "../threads/division.h"
#include <string.h>

#define FEW 128      // selected by insertion
#define SHORT 4096   // lines up to this length are sorted by bytes, longer ones by 11 bits at a time

typedef struct {
    cml_element element;
    const void *x;
    void *values;
    int32_t *positions;
    long axis, inner, count;
    int ascending;
    cml_division division;
} job;

// A number whose unsigned order is that of the results: best first.  Both zeros are one number.
static inline uint32_t key_of(const job *j, long at) {
    uint32_t key;
    if (j->element == CML_ELEMENT_I32) {
        key = (uint32_t)((const int32_t *)j->x)[at] ^ 0x80000000u;
    } else {
        float v = ((const float *)j->x)[at];
        if (v == 0) v = 0;
        memcpy(&key, &v, 4);
        key ^= key & 0x80000000u ? 0xffffffffu : 0x80000000u;
    }
    return j->ascending ? key : ~key;
}

typedef struct {
    uint32_t key;
    int32_t position;
} entry;

// One stable pass over `bits` bits from `shift` on; 0 when all entries share them, so nothing moved.
static int pass(const entry *from, entry *to, long n, int shift, int bits, uint32_t *counts) {
    const uint32_t size = 1u << bits, mask = size - 1;
    memset(counts, 0, size * sizeof *counts);
    for (long i = 0; i < n; i++) counts[from[i].key >> shift & mask]++;
    if (counts[from[0].key >> shift & mask] == (uint32_t)n) return 0;
    uint32_t sum = 0;
    for (uint32_t d = 0; d < size; d++) {
        const uint32_t count = counts[d];
        counts[d] = sum;
        sum += count;
    }
    for (long i = 0; i < n; i++) to[counts[from[i].key >> shift & mask]++] = from[i];
    return 1;
}

static const entry *sorted(entry *a, entry *b, long n) {
    uint32_t counts[2048];
    const int bits = n <= SHORT ? 8 : 11;
    for (int shift = 0; shift < 32; shift += bits) {
        if (pass(a, b, n, shift, shift + bits > 32 ? 32 - shift : bits, counts)) {
            entry *const c = a;
            a = b;
            b = c;
        }
    }
    return a;
}

// The best `count` of a line in order: a candidate that beats the last one kept moves up to its position.
static void select(const job *j, long start, entry *kept) {
    const long n = j->axis, count = j->count;
    long have = 0;
    for (long i = 0; i < n; i++) {
        const uint32_t key = key_of(j, start + i * j->inner);
        if (have == count && key >= kept[count - 1].key) continue;
        long at = have < count ? have++ : count - 1;
        for (; at > 0 && kept[at - 1].key > key; at--) kept[at] = kept[at - 1];
        kept[at] = (entry){key, (int32_t)i};
    }
}

static void sort_lines(void *context, long task, int worker) {
    (void)worker;
    const job *j = context;
    const int few = j->count <= FEW && j->count < j->axis;
    const long room = few ? FEW : 2 * j->axis;
    entry *memory = cml_scratch(3, sizeof(entry) * (size_t)room);
    for (long line = task * j->division.each, end = cml_division_end(&j->division, task); line < end; line++) {
        const long outer = line / j->inner, column = line % j->inner;
        const long start = outer * j->axis * j->inner + column;
        const entry *best = memory;
        if (few) {
            select(j, start, memory);
        } else {
            for (long i = 0; i < j->axis; i++) memory[i] = (entry){key_of(j, start + i * j->inner), (int32_t)i};
            best = sorted(memory, memory + j->axis, j->axis);
        }
        long target = outer * j->count * j->inner + column;
        for (long rank = 0; rank < j->count; rank++, target += j->inner) {
            if (j->positions) j->positions[target] = best[rank].position;
            if (j->values) {
                const long at = start + best[rank].position * j->inner;
                ((uint32_t *)j->values)[target] = ((const uint32_t *)j->x)[at];
            }
        }
    }
}

void cml_sort(cml_element element, const void *x, long outer, long axis, long inner, long count, int ascending,
              void *values, int32_t *positions) {
    if (outer <= 0 || inner <= 0 || count <= 0 || axis <= 0) return;
    job j = {element, x, values, positions, axis, inner, count, ascending, cml_divide(outer * inner, 8 * axis)};
    cml_parallel_for(j.division.tasks, sort_lines, &j);
}

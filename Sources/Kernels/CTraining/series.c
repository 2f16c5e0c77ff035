#include "ctraining.h"
#include "vectors.h"
#include <string.h>

// Levels that are compared with a value at a time.
#define LEVELS 4

INLINE void negated_sums(const float *x, long distance, float *result, long length) {
    for (long t = 0; t < length; t += VL) {
        vf sum = 0;
        for (long tap = 0; tap < 9; tap++) sum -= VECTOR(x + t + tap * distance);
        STORE(result + t, sum);
    }
}

INLINE void kernel_sums(const float *common, const float *a, const float *b, const float *c, float *result, long length,
                        int adds) {
    for (long t = 0; t < length; t += VL) {
        vf sum = VECTOR(common + t) + (VECTOR(a + t) + VECTOR(b + t) + VECTOR(c + t)) * 3.0f;
        if (adds) sum += VECTOR(result + t);
        STORE(result + t, sum);
    }
}

INLINE void count_above(const float *values, long length, const float *levels, long count, int32_t *counts) {
    for (long first = 0; first < count; first += LEVELS) {
        const long some = count - first < LEVELS ? count - first : LEVELS;
        float level[LEVELS];
        vi above[LEVELS];
        for (long i = 0; i < LEVELS; i++) {
            level[i] = levels[first + (i < some ? i : 0)];
            above[i] = 0;
        }
        long t = 0;
        for (; t + VL <= length; t += VL) {
            const vf v = VECTOR(values + t);
            for (long i = 0; i < LEVELS; i++) above[i] -= v > level[i];
        }
        for (long i = 0; i < some; i++) {
            int32_t sum = 0;
            for (long j = 0; j < VL; j++) sum += above[i][j];
            for (long rest = t; rest < length; rest++) sum += values[rest] > level[i];
            counts[first + i] = sum;
        }
    }
}

#ifdef WIDE
WIDE void wide_negated_sums(const float *x, long distance, float *result, long length) {
    negated_sums(x, distance, result, length);
}
WIDE void wide_kernel_sums(const float *common, const float *a, const float *b, const float *c, float *result, long length,
                           int adds) {
    kernel_sums(common, a, b, c, result, length, adds);
}
WIDE void wide_count_above(const float *values, long length, const float *levels, long count, int32_t *counts) {
    count_above(values, length, levels, count, counts);
}
#endif

void ctraining_negated_sums(const float *x, long distance, float *result, long length, int wide) {
    IN_WIDE_IF(wide, negated_sums(x, distance, result, length))
    negated_sums(x, distance, result, length);
}

void ctraining_kernel_sums(const float *common, const float *a, const float *b, const float *c, float *result, long length,
                           int adds, int wide) {
    IN_WIDE_IF(wide, kernel_sums(common, a, b, c, result, length, adds))
    kernel_sums(common, a, b, c, result, length, adds);
}

void ctraining_count_above(const float *values, long length, const float *levels, long count, int32_t *counts, int wide) {
    IN_WIDE_IF(wide, count_above(values, length, levels, count, counts))
    count_above(values, length, levels, count, counts);
}

// MARK: Sorting

// Bits whose order as an integer is that of the numbers, and back.
INLINE uint32_t key_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits ^ ((bits >> 31 ? ~0u : 0) | 1u << 31);
}
INLINE float value_of(uint32_t key) {
    const uint32_t bits = key ^ ((key >> 31 ? 0 : ~0u) | 1u << 31);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// By the four bytes of the keys, the lowest first.
void ctraining_sort(float *values, float *scratch, long count) {
    long starts[4][256] = {{0}};
    for (long i = 0; i < count; i++) {
        const uint32_t key = key_of(values[i]);
        for (int byte = 0; byte < 4; byte++) starts[byte][key >> 8 * byte & 255]++;
    }
    float *from = values, *to = scratch;
    for (int byte = 0; byte < 4; byte++) {
        long start = 0;
        for (int digit = 0; digit < 256; digit++) {
            const long number = starts[byte][digit];
            starts[byte][digit] = start;
            start += number;
        }
        for (long i = 0; i < count; i++) {
            const uint32_t key = key_of(from[i]);
            to[starts[byte][key >> 8 * byte & 255]++] = value_of(key);
        }
        float *const swapped = from;
        from = to;
        to = swapped;
    }
}

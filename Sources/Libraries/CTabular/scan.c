#include "ctabular.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

static inline uint64_t prefix_xor(uint64_t bits) {
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    bits ^= bits << 32;
    return bits;
}

#if defined(__x86_64__)

static inline __attribute__((always_inline)) uint64_t sse2_equal(const uint8_t *block, uint8_t byte) {
    __m128i wanted = _mm_set1_epi8((char)byte);
    uint64_t bits = 0;
    for (int i = 0; i < 4; i++) {
        __m128i part = _mm_loadu_si128((const __m128i *)(block + 16 * i));
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(part, wanted)) << (16 * i);
    }
    return bits;
}

static inline __attribute__((always_inline)) uint64_t sse2_high(const uint8_t *block) {
    uint64_t bits = 0;
    for (int i = 0; i < 4; i++) {
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_loadu_si128((const __m128i *)(block + 16 * i))) << (16 * i);
    }
    return bits;
}

#define NAME(x) sse2_##x
#define TARGET
#define MASKS(block, delimiter)                                                                                        \
    uint64_t quote = sse2_equal(block, '"'), newline = sse2_equal(block, '\n'), comma = sse2_equal(block, delimiter),  \
             high = sse2_high(block);
#include "scan.inc"

#define NAME(x) avx2_##x
#define TARGET __attribute__((target("avx2,bmi,popcnt,lzcnt")))
#define AVX2_EQUAL(a, b, byte)                                                                                         \
    ((uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, _mm256_set1_epi8((char)(byte)))) |                  \
     (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, _mm256_set1_epi8((char)(byte)))) << 32)
#define MASKS(block, delimiter)                                                                                        \
    __m256i low_half = _mm256_loadu_si256((const __m256i *)(block));                                                   \
    __m256i high_half = _mm256_loadu_si256((const __m256i *)((block) + 32));                                           \
    uint64_t quote = AVX2_EQUAL(low_half, high_half, '"'), newline = AVX2_EQUAL(low_half, high_half, '\n'),            \
             comma = AVX2_EQUAL(low_half, high_half, delimiter),                                                       \
             high = (uint64_t)(uint32_t)_mm256_movemask_epi8(low_half) |                                               \
                    (uint64_t)(uint32_t)_mm256_movemask_epi8(high_half) << 32;
#include "scan.inc"

#define NAME(x) avx512_##x
#define TARGET __attribute__((target("avx512f,avx512bw,bmi,popcnt,lzcnt")))
#define MASKS(block, delimiter)                                                                                        \
    __m512i whole = _mm512_loadu_si512((const void *)(block));                                                         \
    uint64_t quote = _mm512_cmpeq_epi8_mask(whole, _mm512_set1_epi8('"')),                                             \
             newline = _mm512_cmpeq_epi8_mask(whole, _mm512_set1_epi8('\n')),                                          \
             comma = _mm512_cmpeq_epi8_mask(whole, _mm512_set1_epi8((char)(delimiter))),                               \
             high = _mm512_movepi8_mask(whole);
#include "scan.inc"

#else

#if defined(__aarch64__)
static inline uint64_t byte_mask(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) {
    const uint8x16_t bit = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t ab = vpaddq_u8(vandq_u8(a, bit), vandq_u8(b, bit));
    uint8x16_t cd = vpaddq_u8(vandq_u8(c, bit), vandq_u8(d, bit));
    uint8x16_t all = vpaddq_u8(ab, cd);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}
static inline uint64_t any_equal(const uint8_t *block, uint8_t byte) {
    uint8x16_t wanted = vdupq_n_u8(byte);
    return byte_mask(vceqq_u8(vld1q_u8(block), wanted), vceqq_u8(vld1q_u8(block + 16), wanted),
                     vceqq_u8(vld1q_u8(block + 32), wanted), vceqq_u8(vld1q_u8(block + 48), wanted));
}
static inline uint64_t any_high(const uint8_t *block) {
    uint8x16_t least = vdupq_n_u8(128);
    return byte_mask(vcgeq_u8(vld1q_u8(block), least), vcgeq_u8(vld1q_u8(block + 16), least),
                     vcgeq_u8(vld1q_u8(block + 32), least), vcgeq_u8(vld1q_u8(block + 48), least));
}
#else
static inline uint64_t any_equal(const uint8_t *block, uint8_t byte) {
    uint64_t bits = 0;
    for (int i = 0; i < 64; i++) bits |= (uint64_t)(block[i] == byte) << i;
    return bits;
}
static inline uint64_t any_high(const uint8_t *block) {
    uint64_t bits = 0;
    for (int i = 0; i < 64; i++) bits |= (uint64_t)(block[i] >> 7) << i;
    return bits;
}
#endif

#define NAME(x) any_##x
#define TARGET
#define MASKS(block, delimiter)                                                                                        \
    uint64_t quote = any_equal(block, '"'), newline = any_equal(block, '\n'), comma = any_equal(block, delimiter),     \
             high = any_high(block);
#include "scan.inc"

#endif

void ctab_count(const uint8_t *bytes, size_t count, int quoting, ctab_counts *result) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512bw")) {
        avx512_count(bytes, count, quoting, result);
    } else if (__builtin_cpu_supports("avx2")) {
        avx2_count(bytes, count, quoting, result);
    } else {
        sse2_count(bytes, count, quoting, result);
    }
#else
    any_count(bytes, count, quoting, result);
#endif
}

size_t ctab_separators(const uint8_t *bytes, size_t count, uint8_t delimiter, int quoting, uint32_t *positions,
                       size_t *newlines, uint64_t *quotes) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512bw")) {
        return avx512_separators(bytes, count, delimiter, quoting, positions, newlines, quotes);
    }
    if (__builtin_cpu_supports("avx2")) {
        return avx2_separators(bytes, count, delimiter, quoting, positions, newlines, quotes);
    }
    return sse2_separators(bytes, count, delimiter, quoting, positions, newlines, quotes);
#else
    return any_separators(bytes, count, delimiter, quoting, positions, newlines, quotes);
#endif
}

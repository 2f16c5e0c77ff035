// Vectors of eight numbers, and functions that are compiled twice: for every processor and for those with vectors of 256 bits.
// A function of a vector is written once, as INLINE; its results do not depend on the width of the processor's vectors.
#pragma once
#include <stdint.h>

// A product and a sum are two roundings on every processor.
#pragma clang fp contract(off)

#define INLINE static inline __attribute__((always_inline))
#define VL 8

typedef float vf __attribute__((ext_vector_type(VL)));
typedef float vf_unaligned __attribute__((ext_vector_type(VL), aligned(4)));
typedef int32_t vi __attribute__((ext_vector_type(VL)));

#define VECTOR(p) (*(const vf_unaligned *)(p))
#define STORE(p, v) (*(vf_unaligned *)(p) = (v))

#if defined(__x86_64__)
#define WIDE static __attribute__((target("avx2")))
#define IN_WIDE_IF(wide, call) \
    if ((wide) && __builtin_cpu_supports("avx2")) { \
        wide_##call; \
        return; \
    }
#else
#define IN_WIDE_IF(wide, call) (void)(wide);
#endif

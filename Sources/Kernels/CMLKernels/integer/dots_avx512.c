// The tiles of integers with AVX512-VNNI.
#include "dots.h"
#include <math.h>
#include <pthread.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx512vnni,avx2,fma,f16c,bmi,bmi2"))), apply_to = function)
#define ISA_AVX512 1
#define VL 16
#define TILE_ROWS 14
#define PLAIN cml_isa_avx512
#define FUNCTION cml_avx512_dots_table
#include "dots.inc"
#pragma clang attribute pop
#endif

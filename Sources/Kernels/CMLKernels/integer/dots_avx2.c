// The tiles of integers with AVX-VNNI.
#include "dots.h"
#include <math.h>
#include <pthread.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx2,avxvnni,fma,f16c,bmi,bmi2"))), apply_to = function)
#define ISA_AVX2 1
#define VL 8
#define TILE_ROWS 6
#define PLAIN cml_isa_avx2
#define FUNCTION cml_avx2_dots_table
#include "dots.inc"
#pragma clang attribute pop
#endif

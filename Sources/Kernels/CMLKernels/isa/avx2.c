#include "isa.h"
#include <math.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,bmi,bmi2"))), apply_to = function)
#define ISA_AVX2 1
#define VL 8
#define TILE_ROWS 6
#define TABLE cml_isa_avx2
#define IDENTIFIER CML_ISA_AVX2
#define NAME "avx2"
#include "table.inc"
#pragma clang attribute pop
#endif

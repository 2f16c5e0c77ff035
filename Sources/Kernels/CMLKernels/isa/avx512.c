#include "isa.h"
#include <math.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,f16c,bmi,bmi2"))), apply_to = function)
#define ISA_AVX512 1
#define VL 16
#define TILE_ROWS 14
#define TABLE cml_isa_avx512
#define IDENTIFIER CML_ISA_AVX512
#define NAME "avx512"
#include "table.inc"
#pragma clang attribute pop
#endif

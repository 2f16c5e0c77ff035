#include "isa.h"
#include <math.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#define ISA_SSE2 1
#define VL 4
#define TILE_ROWS 4
#define TABLE cml_isa_sse2
#define IDENTIFIER CML_ISA_SSE2
#define NAME "sse2"
#include "table.inc"
#endif

#include "isa.h"
#include <math.h>
#include <string.h>
#if defined(__aarch64__)
#include <arm_neon.h>
#define ISA_NEON 1
#define VL 4
#define TILE_ROWS 12
#define TABLE cml_isa_neon
#define IDENTIFIER CML_ISA_NEON
#define NAME "neon"
#include "table.inc"
#endif

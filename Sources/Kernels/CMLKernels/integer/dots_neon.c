// The tiles of integers with Arm's dot products.
#include "dots.h"
#include <math.h>
#include <pthread.h>
#include <string.h>
#if defined(__aarch64__)
#include <arm_neon.h>
#pragma clang attribute push(__attribute__((target("dotprod"))), apply_to = function)
#define ISA_NEON 1
#define VL 4
#define TILE_ROWS 12
#define PLAIN cml_isa_neon
#define FUNCTION cml_neon_dots_table
#include "dots.inc"
#pragma clang attribute pop
#endif

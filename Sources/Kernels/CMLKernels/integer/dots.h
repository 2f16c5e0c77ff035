// The tables of dots.inc, only for processors with the instructions.
#pragma once
#include "../isa/isa.h"

const cml_isa *cml_avx512_dots_table(void);  // AVX512-VNNI
const cml_isa *cml_avx2_dots_table(void);    // AVX-VNNI
const cml_isa *cml_neon_dots_table(void);    // dotprod

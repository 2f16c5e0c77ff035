// Palettes of 8 bits with AVX512-VBMI, whose permutations of bytes look up 64 entries of half a half float.
#include "codes.h"
#include <math.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx512vbmi,avx2,fma,f16c,bmi,bmi2"))), apply_to = function)
#define ISA_AVX512 1
#define ISA_BYTE_PERMUTATIONS 1
#define VL 16
#define UNROLL _Pragma("clang loop unroll(full)")
#pragma clang fp contract(fast)
#include "../isa/vector.inc"
#include "decode.inc"
// What the end of a stream kernel calls: it needs no further instructions.
#define prelu_row cml_isa_avx512.prelu_row
#define BITS 8
#define LINEAR 0
#define NAMED(rows) stream_table_8_##rows
#include "streams.inc"

static const cml_stream_kernel streams[5] = {
    NULL, stream_table_8_1, stream_table_8_2, stream_table_8_3, stream_table_8_4,
};

void cml_look_up_bytes(cml_isa *table) {
    table->looks_up_bytes = 1;
    table->expand_codes = expand_codes;
    table->stream_table_8 = streams;
}
#pragma clang attribute pop
#endif

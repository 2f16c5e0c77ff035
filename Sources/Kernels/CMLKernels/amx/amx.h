// Products with matrix tiles (AMX): of half-floats rounded to bfloat16, with sums in single precision, in tables that have
// `low` set; and of bytes, whose sums are those of the other kernels, in tables that have `byte_tiles` set. The environment's
// COREML_AMX=0 turns both off.
#pragma once
#include "../isa/isa.h"

// The best table of AVX-512 for this processor, and the same with products of half-floats in bfloat16: null when the
// processor lacks the tiles for them. Only for processors with AVX-512.
const cml_isa *cml_avx512_table(void);
const cml_isa *cml_avx512_low_table(void);

// MARK: bfloat16
//
// Packed weights are bfloat16: for each 32 columns, for each tap, for each 32 terms two tiles of [16 pairs of terms][16
// columns][2]; columns and terms beyond the matrix are zeros.

// Whether a table computes with weights of a storage type so.
static inline int cml_is_low(const cml_isa *isa, cml_storage storage) { return isa->low && storage == CML_F16; }

size_t cml_low_packed_bytes(long k, long n);
// As cml_pack, from half-floats.
void cml_low_pack(const cml_isa *isa, const uint16_t *source, long k, long n, long k_stride, long n_stride, void *packed);

// Whether the convolutions of this window and these channels are computed so, whatever their other sizes.
int cml_low_convolves(const cml_isa *isa, const cml_conv_shape *shape, cml_storage storage);
size_t cml_low_conv_bytes(const cml_conv_shape *shape);
// As cml_conv_pack, from half-floats.
void cml_low_conv_pack(const cml_isa *isa, const cml_conv_shape *shape, const uint16_t *source, long o_stride, long i_stride,
                       void *packed);

// MARK: Signed bytes
//
// Weights of pairs that fit signed bytes are packed as such, too: whether they fit, then for each 32 columns, for each 64
// terms, [16 fours of terms][32 columns][4]; columns and terms beyond the matrix are zeros. Pairs of the first factor
// are narrowed while they are copied; where they do not fit, the kernels of pairs multiply.

// Where this form begins behind `before` bytes, and its bytes.
size_t cml_amx_signed_start(size_t before);
size_t cml_amx_signed_size(long terms, long columns);
int8_t *cml_amx_signed_panel(void *form, long terms, long panel);
void cml_amx_signed_finish(void *form, int fits);

// MARK: Products

// Whether a product, or a convolution of this shape, is computed by tiles.
int cml_amx_multiplies(const cml_isa *isa, const cml_gemm_call *call);
int cml_amx_convolves(const cml_isa *isa, const cml_conv_shape *shape, cml_storage storage);
// As cml_gemm, for one item; 0, and nothing is done, where the first factor does not fit. As cml_conv.
int cml_amx_gemm(const cml_isa *isa, const cml_gemm_call *call);
void cml_amx_conv(const cml_isa *isa, const cml_conv_shape *shape, const float *x, const void *packed, cml_storage storage,
                  float *y, const cml_epilogue *epilogue);

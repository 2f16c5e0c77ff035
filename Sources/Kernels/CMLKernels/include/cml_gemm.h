// Matrix products with packed right-hand sides and fused epilogues.
#pragma once
#include "cml_integer.h"
#include "cml_runtime.h"

// Functions of one variable, with parameters alpha and beta where noted.
typedef enum {
    CML_IDENTITY = 0,
    CML_RELU,              // max(x, 0)
    CML_CLIP,              // min(max(x, alpha), beta)
    CML_LEAKY_RELU,        // x < 0 ? alpha x : x
    CML_PRELU,             // x < 0 ? slope[column] x : x (epilogues only)
    CML_GELU_ERF,          // x/2 (1 + erf(x/sqrt 2))
    CML_GELU_TANH,         // x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
    CML_GELU_SIGMOID,      // x sigmoid(1.702 x)
    CML_SIGMOID,
    CML_SILU,              // x sigmoid(x)
    CML_TANH,
    CML_HARD_SWISH,        // x min(max(alpha x + beta, 0), 1)
    CML_HARD_SIGMOID,      // min(max(alpha x + beta, 0), 1)
    CML_ELU,               // x < 0 ? alpha (exp(x) - 1) : x
    CML_SOFTPLUS,          // log(1 + exp(x))
    CML_SOFTPLUS_SCALED,   // alpha log(1 + exp(beta x))
    CML_SOFTSIGN,          // x / (1 + |x|)
    CML_LINEAR,            // alpha x + beta
    CML_SCALED_TANH,       // alpha tanh(beta x)
    CML_THRESHOLDED_RELU,  // x >= alpha ? x : 0
    CML_ABS,
    CML_NEGATE,
    CML_EXP,
    CML_EXP2,
    CML_LOG,               // log(x + alpha)
    CML_SQRT,
    CML_RSQRT,             // 1 / sqrt(x + alpha)
    CML_INVERSE,           // 1 / (x + alpha)
    CML_SQUARE,
    CML_ERF,
    CML_SIN,
    CML_COS,
    CML_CEIL,
    CML_FLOOR,
    CML_ROUND,             // half to even
    CML_SIGN,
    CML_THRESHOLD,         // max(x, alpha)
    CML_LOGICAL_NOT,       // x == 0
    CML_EXPM1,
    CML_TAN,
    CML_ASIN,
    CML_ACOS,
    CML_ATAN,
    CML_SINH,
    CML_COSH,
    CML_ASINH,
    CML_ACOSH,
    CML_ATANH,
    CML_CLAMPED_RELU,      // min(x < 0 ? alpha x : x, beta)
} cml_unary;

// The epilogue of a result before it is stored: + bias[column], + residual[row][column], then the function.
typedef struct {
    const float *bias;      // per column, or null
    const float *residual;  // same shape as the result, or null; may be the result itself
    long ldr;               // row stride of the residual
    cml_unary function;
    float alpha, beta;      // parameters of the function
    const float *slope;     // per column, for CML_PRELU; not after products of integers
    const cml_integers *integers;  // for CML_PAIRS and CML_BYTES
} cml_epilogue;

// CML_CODES: see cml_codes.h.  CML_PAIRS: both factors have pairs of int16_t of the size of floats, so that all numbers
// of terms and strides count pairs; sums of products must not leave 32 bits.  CML_BYTES: the same with four bytes,
// 0...127 in the first factor and signed ones packed by cml_bytes_pack in the second; an even number of fours at each
// tap.
typedef enum { CML_F32 = 0, CML_F16 = 1, CML_CODES = 2, CML_PAIRS = 3, CML_BYTES = 4 } cml_storage;
struct cml_codes;

// Floats that packed [k, n] weights take: panels of the panel width, the last padded with zeros.
size_t cml_packed_count(const cml_isa *isa, long k, long n);
// Bytes that packed [k, n] weights of CML_F32 or CML_F16 take in the form of the table. Those of the first columns, a multiple
// of the panel width, are the first ones.
size_t cml_packed_bytes(const cml_isa *isa, cml_storage storage, long k, long n);
// Packs element (k, n) at source[k * k_stride + n * n_stride] into [n / width][k][width], keeping the storage type.
void cml_pack(const cml_isa *isa, const void *source, cml_storage storage, long k, long n, long k_stride,
              long n_stride, void *packed);

// c[m, n] = epilogue(a[m, k] b[k, n]), `batch` times with the given element offsets or strides.
typedef struct {
    long m, n, k;
    long whole;               // rows of the product that this is a part of, from which the order of sums follows; 0: m
    const float *a;
    long lda;
    const void *b;            // packed panels
    cml_storage storage;      // of b
    const struct cml_codes *codes;  // instead of b, for CML_CODES; of one item
    float *c;
    long ldc;
    cml_epilogue epilogue;
    long batch;               // at least 1
    const long *a_offsets;    // per batch item, or null for 0; b_offsets count elements of packed b
    const long *b_offsets;
    const long *c_offsets;    // also apply to the residual
} cml_gemm_call;

void cml_gemm(const cml_isa *isa, const cml_gemm_call *call);

// The same with b in plain memory: element (k, n) at b[k * k_stride + n * n_stride], one of the strides being 1;
// b_offsets count elements of that memory.  Packs into the calling thread's scratch, in parallel.
void cml_gemm_unpacked(const cml_isa *isa, const cml_gemm_call *call, long k_stride, long n_stride);

// y = epilogue(x) for results another library computed; y has row stride ldy, x is contiguous.
void cml_epilogue_apply(const cml_isa *isa, const cml_epilogue *epilogue, const float *x, float *y, long rows,
                        long columns, long ldy);

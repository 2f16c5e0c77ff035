// Fused attention.
#pragma once
#include "cml_gemm.h"

// out[b][h][i] = sum over j of softmax_j(scale q[b][h][i] . k[b][g][j] + mask[b][h][i][j]) v[b][g][j],
// with g = h / (heads / key_heads).  Strides count elements from one batch item, head and position to the next; the last axis
// is contiguous.
typedef struct {
    long batch, heads, key_heads, queries, keys, size, value_size;
    const float *q;
    const void *k, *v;            // both float, or both half floats
    cml_storage key_storage;      // CML_F32 or CML_F16
    long q_strides[3], k_strides[3], v_strides[3];
    float *out;
    long out_strides[3];
    float scale;
    const float *mask;            // added, or null
    const uint8_t *keep;          // 0 hides the key, or null
    long mask_strides[4];         // batch, head, query, key; 0 repeats, that of key is 0 or 1
    int causal;                   // query i sees the keys up to i + keys - queries
} cml_attention_call;

void cml_attention(const cml_isa *isa, const cml_attention_call *call);

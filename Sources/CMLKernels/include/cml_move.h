// Copies that change layout, extent or type.  Elements are 1, 2, 4 or 8 bytes of any meaning unless stated.
#pragma once
#include "cml_runtime.h"

#define CML_MAX_RANK 8

// Element (i0, i1, ...) moves from source[sum i * source[]] to target[sum i * target[]].  Strides count elements;
// those of the source may be 0 (repetition) or negative, those of the target are positive and do not overlap.
typedef struct {
    int rank;
    long extent[CML_MAX_RANK], source[CML_MAX_RANK], target[CML_MAX_RANK];
} cml_copy_shape;

void cml_copy(const cml_isa *isa, const cml_copy_shape *shape, long element_bytes, const void *source, void *target);

// `count` elements of the innermost target axis from `start` on come from source offsets `source`, `source + step`, ...;
// source < 0 means the constant.
typedef struct {
    long start, count, source, step;
} cml_segment;

// Contiguous target element (i0, ..., in) = source[offset[0][i0] + ... + offset[n][in]], or the constant where one of
// the offsets is negative.  The innermost axis comes as segments, the others as tables.
typedef struct {
    int rank;                                 // axes outside the innermost
    long extent[CML_MAX_RANK];
    const long *offset[CML_MAX_RANK];
    long width;                               // extent of the innermost axis
    const cml_segment *segments;
    long segment_count;
} cml_remap_shape;

void cml_remap(const cml_isa *isa, const cml_remap_shape *shape, long element_bytes, const void *source, void *target,
               const void *constant);

// target[o][c][:] = source[o][indices[c]][:] for source of [outer, axis, inner].  Negative indices count from the end;
// indices outside are moved to the nearest inside.
void cml_gather(const cml_isa *isa, long element_bytes, const void *source, long outer, long axis, long inner,
                const int32_t *indices, long count, void *target);
// The same from half floats to floats.
void cml_gather_half(const cml_isa *isa, const uint16_t *source, long outer, long axis, long inner,
                     const int32_t *indices, long count, float *target);

void cml_fill(void *target, long element_bytes, const void *value, long count);

typedef enum {
    CML_TYPE_F32, CML_TYPE_F16, CML_TYPE_I32, CML_TYPE_I16, CML_TYPE_U16, CML_TYPE_I8, CML_TYPE_U8, CML_TYPE_BOOL
} cml_type;

// Numbers of one type as another: towards zero and saturating from floating point to integers (NaN is 0), low bits
// between integers, x != 0 for booleans.
void cml_convert(const cml_isa *isa, cml_type from, const void *source, cml_type to, void *target, long count);

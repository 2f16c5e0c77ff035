// Copies that change layout, extent or type.  Elements are 1, 2, 4 or 8 bytes of any meaning unless stated.
#pragma once
#include "cml_elementwise.h"

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

// target[b][o][c][:] = source[b][o][indices[b][c]][:] for source of [batch, outer, axis, inner].  Negative indices count
// from the end; indices outside are moved to the nearest inside.
void cml_gather(const cml_isa *isa, long element_bytes, const void *source, long batch, long outer, long axis,
                long inner, const int32_t *indices, long count, void *target);
// The same from half floats to floats.
void cml_gather_half(const cml_isa *isa, const uint16_t *source, long batch, long outer, long axis, long inner,
                     const int32_t *indices, long count, float *target);

// target[o][c][i] = source[o][indices[o][c][i]][i] for source [outer, axis, inner] and indices [outer, count, inner],
// clamped in the same way.
void cml_gather_elements(long element_bytes, const void *source, long outer, long axis, long inner,
                         const int32_t *indices, long count, void *target);
// target[b][n][:] = source[b][the position indices[b][n][0 ..< length] in an array of `extents`][:] with slices
// of `slice` elements; one item of the batch has `batch_size` elements.  length is at most CML_MAX_RANK.
void cml_gather_nd(long element_bytes, const void *source, long batch, long batch_size, const long *extents,
                   long length, long slice, const int32_t *indices, long items, void *target);

typedef enum {
    CML_SCATTER_UPDATE, CML_SCATTER_ADD, CML_SCATTER_SUBTRACT, CML_SCATTER_MULTIPLY, CML_SCATTER_DIVIDE,
    CML_SCATTER_MAXIMUM, CML_SCATTER_MINIMUM
} cml_scatter_mode;

// The counterparts: updates are combined, in their order, with the elements of the target.  CML_SCATTER_UPDATE moves
// elements of any meaning; the other modes take floats or, with is_integer, 32-bit integers, whose results saturate.
void cml_scatter_elements(cml_scatter_mode mode, int is_integer, long element_bytes, long outer, long axis, long inner,
                          const int32_t *indices, long count, const void *updates, void *target);
// target[o][indices[c]][:] is combined with updates[o][c][:].
void cml_scatter_slices(cml_scatter_mode mode, int is_integer, long element_bytes, long outer, long axis, long inner,
                        const int32_t *indices, long count, const void *updates, void *target);
// target[o][a][:] = updates[o][owner[a]][:], or source[o][a][:] where the owner is negative, for updates
// [outer, count, inner].  Neither source nor updates overlap the target.
void cml_replace_slices(long element_bytes, long outer, long axis, long inner, const int32_t *owner, long count,
                        const void *source, const void *updates, void *target);
void cml_scatter_nd(cml_scatter_mode mode, int is_integer, long element_bytes, const long *extents, long length,
                    long slice, const int32_t *indices, long items, const void *updates, void *target);

// For each line along the axis of [outer][axis][inner] floats or 32-bit integers, the `count` largest elements (smallest
// when ascending) in order, equal ones in the order of their positions: their values and positions, each or null.
void cml_sort(cml_element element, const void *x, long outer, long axis, long inner, long count, int ascending,
              void *values, int32_t *positions);

void cml_fill(void *target, long element_bytes, const void *value, long count);

typedef enum {
    CML_TYPE_F32, CML_TYPE_F16, CML_TYPE_I32, CML_TYPE_I16, CML_TYPE_U16, CML_TYPE_I8, CML_TYPE_U8, CML_TYPE_BOOL
} cml_type;

// Numbers of one type as another: towards zero from floating point to integers (NaN is 0), the nearest number of the
// type for integers outside its range, x != 0 for booleans.
void cml_convert(const cml_isa *isa, cml_type from, const void *source, cml_type to, void *target, long count);

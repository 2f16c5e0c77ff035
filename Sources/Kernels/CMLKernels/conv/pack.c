// Packed weights of a convolution: for each group, panels of output channels, [kd][kh][kw][input channel][column].
// Depthwise weights are [kd][kh][kw][channel] in single precision.
#include "conv.h"
#include <string.h>

size_t cml_conv_packed_bytes(const cml_isa *isa, const cml_conv_shape *s, cml_storage storage) {
    const long taps = cml_conv_taps(s);
    if (cml_low_convolves(isa, s, storage)) return cml_low_conv_bytes(s);
    if (s->method != CML_CONV_DIRECT) {
        const long inputs = s->in_channels / s->groups, outputs = s->out_channels / s->groups;
        const size_t matrices = (size_t)(cml_winograd_positions(s) * s->groups);
        return matrices * cml_packed_count(isa, s->kernel[0] * inputs, outputs) * sizeof(float);
    }
    if (cml_conv_is_depthwise(s)) return (size_t)(taps * s->in_channels) * sizeof(float);
    const size_t count = cml_packed_count(isa, taps * (s->in_channels / s->groups), s->out_channels / s->groups);
    return count * (size_t)s->groups * (storage == CML_F32 ? sizeof(float) : sizeof(uint16_t));
}

typedef struct {
    const cml_isa *isa;
    const cml_conv_shape *shape;
    const void *source;
    cml_storage storage;
    long g_stride, o_stride, i_stride, panels;
    void *packed;
} job;

#define PACK(TYPE)                                                                                          \
    do {                                                                                                    \
        const TYPE *source = (const TYPE *)j->source + group * j->g_stride + panel * width * j->o_stride;   \
        TYPE *packed = (TYPE *)j->packed + (size_t)index * (size_t)(taps * channels * width);               \
        if (columns < width) memset(packed, 0, sizeof(TYPE) * (size_t)(taps * channels * width));           \
        for (long i0 = 0; i0 < channels; i0 += 16)                                                          \
            for (long o = 0; o < columns; o++)                                                              \
                for (long i = i0; i < channels && i < i0 + 16; i++)                                         \
                    for (long t = 0; t < taps; t++)                                                         \
                        packed[(t * channels + i) * width + o] = source[o * j->o_stride + i * j->i_stride + t]; \
    } while (0)

static void pack_panel(void *context, long index, int worker) {
    (void)worker;
    const job *j = context;
    const cml_conv_shape *s = j->shape;
    const long width = j->isa->panel, taps = cml_conv_taps(s), channels = s->in_channels / s->groups;
    const long group = index / j->panels, panel = index % j->panels;
    const long left = s->out_channels / s->groups - panel * width, columns = left < width ? left : width;
    if (j->storage == CML_F32) PACK(float);
    else PACK(uint16_t);
}

void cml_conv_pack(const cml_isa *isa, const cml_conv_shape *s, const void *source, cml_storage storage, long g_stride,
                   long o_stride, long i_stride, void *packed) {
    if (cml_low_convolves(isa, s, storage)) {
        cml_low_conv_pack(isa, s, source, o_stride, i_stride, packed);
        return;
    }
    if (s->method != CML_CONV_DIRECT) {
        cml_winograd_pack(isa, s, source, storage, g_stride, o_stride, i_stride, packed);
        return;
    }
    if (cml_conv_is_depthwise(s)) {
        const long taps = cml_conv_taps(s), channels = s->in_channels;
        float *weights = packed;
        for (long c = 0; c < channels; c++) {
            for (long t = 0; t < taps; t++) {
                const long at = c * g_stride + t;
                if (storage == CML_F32) weights[t * channels + c] = ((const float *)source)[at];
                else isa->widen((const uint16_t *)source + at, &weights[t * channels + c], 1);
            }
        }
        return;
    }
    const long panels = (s->out_channels / s->groups + isa->panel - 1) / isa->panel;
    job j = {isa, s, source, storage, g_stride, o_stride, i_stride, panels, packed};
    cml_parallel_for(panels * s->groups, pack_panel, &j);
}

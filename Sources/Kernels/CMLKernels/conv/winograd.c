// Convolution by minimal filtering: a task transforms the inputs of some tiles, multiplies each position by its matrix,
// and transforms back, all within the second cache.
#include "conv.h"
#include <stdlib.h>
#include <string.h>

// Bytes of transformed inputs and products a task keeps.
#define TASK_BYTES (1 << 20)

cml_conv_method cml_conv_choose(const cml_conv_shape *s) {
    if (s->transposed || s->groups != 1 || s->kernel[0] != 1 || s->kernel[1] != 3 || s->kernel[2] != 3) return CML_CONV_DIRECT;
    if (s->in[0] != 1 || s->stride[1] != 1 || s->stride[2] != 1 || s->dilation[1] != 1 || s->dilation[2] != 1) {
        return CML_CONV_DIRECT;
    }
    // Few channels do not pay for the transforms; few pixels do not pay for reading the larger weights.
    const char *allowed = getenv("COREML_WINOGRAD");
    if (allowed && allowed[0] == '0') return CML_CONV_DIRECT;
    if (s->in_channels < 32 || s->out_channels < 32 || s->in_channels > 512) return CML_CONV_DIRECT;
    const long pixels = s->batch * s->out[1] * s->out[2];
    if (pixels >= 24 * 24) return CML_CONV_WINOGRAD_4;
    return pixels >= 12 * 12 ? CML_CONV_WINOGRAD_2 : CML_CONV_DIRECT;
}

static const double filter_4[6][3] = {
    {1.0 / 4, 0, 0}, {-1.0 / 6, -1.0 / 6, -1.0 / 6}, {-1.0 / 6, 1.0 / 6, -1.0 / 6},
    {1.0 / 24, 1.0 / 12, 1.0 / 6}, {1.0 / 24, -1.0 / 12, 1.0 / 6}, {0, 0, 1},
};
static const double filter_2[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};

typedef struct {
    const cml_isa *isa;
    const cml_conv_shape *shape;
    const void *source;
    cml_storage storage;
    long o_stride, i_stride, panels;
    float *packed;
} pack_job;

static void pack_panel(void *context, long panel, int worker) {
    (void)worker;
    const pack_job *j = context;
    const cml_conv_shape *s = j->shape;
    const long width = j->isa->panel, side = s->method + 2;
    const double(*filter)[3] = s->method == CML_CONV_WINOGRAD_4 ? filter_4 : filter_2;
    for (long i = 0; i < s->in_channels; i++) {
        for (long o = 0; o < width; o++) {
            double g[3][3] = {{0}}, half[6][3];
            const long at = (panel * width + o) * j->o_stride + i * j->i_stride;
            for (int t = 0; t < 9 && panel * width + o < s->out_channels; t++) {
                float value;
                if (j->storage == CML_F32) value = ((const float *)j->source)[at + t];
                else j->isa->widen((const uint16_t *)j->source + at + t, &value, 1);
                g[t / 3][t % 3] = value;
            }
            for (long y = 0; y < side; y++)
                for (int x = 0; x < 3; x++)
                    half[y][x] = filter[y][0] * g[0][x] + filter[y][1] * g[1][x] + filter[y][2] * g[2][x];
            for (long y = 0; y < side; y++)
                for (long x = 0; x < side; x++)
                    j->packed[((y * side + x) * j->panels + panel) * s->in_channels * width + i * width + o] =
                        (float)(half[y][0] * filter[x][0] + half[y][1] * filter[x][1] + half[y][2] * filter[x][2]);
        }
    }
}

void cml_winograd_pack(const cml_isa *isa, const cml_conv_shape *s, const void *source, cml_storage storage,
                       long o_stride, long i_stride, float *packed) {
    pack_job j = {isa, s, source, storage, o_stride, i_stride, (s->out_channels + isa->panel - 1) / isa->panel, packed};
    cml_parallel_for(j.panels, pack_panel, &j);
}

typedef struct {
    const cml_isa *isa;
    const cml_conv_shape *shape;
    const float *x, *packed;
    long position_step;              // floats between the matrices of two positions
    float *y;
    const cml_epilogue *epilogue;
    long down, across, tiles, each;  // tiles per column, per row, in all, of a task
} job;

static void convolve(void *context, long index, int worker) {
    (void)worker;
    const job *j = context;
    const cml_conv_shape *s = j->shape;
    const cml_isa *isa = j->isa;
    const cml_epilogue *e = j->epilogue;
    const long n = s->method, side = n + 2, width = isa->panel, inputs = s->in_channels, outputs = s->out_channels;
    const long tile0 = index * j->each, left = j->tiles - tile0, count = left < j->each ? left : j->each;
    // One line more than needed between positions, so that they do not fall into one set of the first cache.
    const long v_step = count * inputs + 16, m_step = count * outputs + 16, panels = (outputs + width - 1) / width;
    float *v = cml_scratch(3, sizeof(float) * (size_t)(side * side * (v_step + m_step) + inputs));
    float *m = v + side * side * v_step, *blank = m + side * side * m_step;
    memset(blank, 0, sizeof(float) * (size_t)inputs);

    for (long tile = 0; tile < count; tile++) {
        const long at = tile0 + tile, tx = at % j->across, ty = at / j->across % j->down, item = at / j->across / j->down;
        const float *pixels[36], *image = j->x + item * s->in[1] * s->in[2] * inputs;
        for (long r = 0; r < side; r++) {
            for (long q = 0; q < side; q++) {
                const long y = ty * n - s->pad[1] + r, x = tx * n - s->pad[2] + q;
                const int inside = y >= 0 && y < s->in[1] && x >= 0 && x < s->in[2];
                pixels[r * side + q] = inside ? image + (y * s->in[2] + x) * inputs : blank;
            }
        }
        (n == 4 ? isa->winograd_input_4 : isa->winograd_input_2)(pixels, inputs, v + tile * inputs, v_step);
    }

    static const long zero = 0;
    cml_tile t = {.lda = inputs, .ldb = width, .ldc = outputs, .tap_a = &zero, .tap_b = &zero, .taps = 1, .k = inputs,
                  .last = 1, .function = CML_IDENTITY};
    const long row_tiles = (count + isa->rows - 1) / isa->rows;
    t.ahead_step = cml_ahead_step(width * (long)sizeof(float), row_tiles);
    for (long position = 0; position < side * side; position++) {
        for (long panel = 0; panel < panels; panel++) {
            t.b = j->packed + position * j->position_step + panel * inputs * width;
            t.n = outputs - panel * width < width ? outputs - panel * width : width;
            const cml_tile_kernel *kernels = t.n <= isa->vector ? isa->tile_narrow : isa->tile_wide;
            for (long row = 0; row < row_tiles; row++) {
                const long r0 = count * row / row_tiles, r1 = count * (row + 1) / row_tiles;
                t.a = v + position * v_step + r0 * inputs;
                t.c = m + position * m_step + r0 * outputs + panel * width;
                t.ahead = (const char *)(t.b + inputs * width) + row * inputs * t.ahead_step;
                kernels[r1 - r0](&t);
            }
        }
    }

    for (long tile = 0; tile < count; tile++) {
        const long at = tile0 + tile, tx = at % j->across, ty = at / j->across % j->down, item = at / j->across / j->down;
        float *pixels[16];
        const float *residuals[16];
        for (long r = 0; r < n; r++) {
            for (long q = 0; q < n; q++) {
                const long y = ty * n + r, x = tx * n + q, pixel = (item * s->out[1] + y) * s->out[2] + x;
                const int inside = y < s->out[1] && x < s->out[2];
                pixels[r * n + q] = inside ? j->y + pixel * outputs : NULL;
                residuals[r * n + q] = inside && e->residual ? e->residual + pixel * e->ldr : NULL;
            }
        }
        (n == 4 ? isa->winograd_output_4 : isa->winograd_output_2)(m + tile * outputs, m_step, pixels, residuals,
                                                                   outputs, e);
    }
}

typedef struct {
    const cml_isa *isa;
    const cml_conv_shape *shape;
    const cml_codes *codes;
    float *result;
    long position_step;
} transform_job;

static void transform_panel(void *context, long panel, int worker) {
    (void)worker;
    const transform_job *j = context;
    const long count = j->shape->in_channels * j->isa->panel;
    float *taps = cml_scratch(3, sizeof(float) * (size_t)(9 * count));
    j->isa->expand_codes(j->codes, panel, 0, 9 * j->shape->in_channels, taps);
    float *result = j->result + panel * count;
    (j->shape->method == CML_CONV_WINOGRAD_4 ? j->isa->winograd_filter_4 : j->isa->winograd_filter_2)(
        taps, count, result, j->position_step);
}

// The transformed weights in the calling thread's scratch.
static const float *transformed(const cml_isa *isa, const cml_conv_shape *s, const cml_codes *codes, long position_step) {
    const long positions = (s->method + 2) * (s->method + 2);
    float *result = cml_scratch(2, sizeof(float) * (size_t)(positions * position_step));
    transform_job j = {isa, s, codes, result, position_step};
    cml_parallel_for((s->out_channels + isa->panel - 1) / isa->panel, transform_panel, &j);
    return result;
}

void cml_winograd(const cml_isa *isa, const cml_conv_shape *s, const float *x, const float *packed,
                  const cml_codes *codes, float *y, const cml_epilogue *epilogue) {
    const long n = s->method, side = n + 2;
    job j = {.isa = isa, .shape = s, .x = x, .packed = packed, .y = y, .epilogue = epilogue,
             .down = (s->out[1] + n - 1) / n, .across = (s->out[2] + n - 1) / n};
    j.tiles = s->batch * j.down * j.across;
    if (j.tiles <= 0) return;
    j.position_step = (s->out_channels + isa->panel - 1) / isa->panel * s->in_channels * isa->panel;
    if (codes) {
        // Positions that do not fall into one set of the first cache are written together.
        j.position_step += 16;
        j.packed = transformed(isa, s, codes, j.position_step);
    }
    const long workers = cml_worker_count();
    long most = TASK_BYTES / (4 * side * side * (s->in_channels + s->out_channels));
    if (most < isa->rows) most = isa->rows;
    long tasks = (j.tiles + most - 1) / most;
    tasks = (tasks + workers - 1) / workers * workers;
    j.each = (j.tiles + tasks - 1) / tasks;
    cml_parallel_for((j.tiles + j.each - 1) / j.each, convolve, &j);
}

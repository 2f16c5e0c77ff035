// Winograd convolution: a task transforms the inputs of some tiles, multiplies each position by its matrix,
// and transforms back, all within the L2 cache.
//
// The windows have three taps along one or both of the last two axes, one along the other, and any number along the depth:
// the slices under those are transformed once for some output slices, whose sums are formed of transformed numbers.  With
// a dilation of d a plane is d interleaved planes along that axis, each in tiles of its own.
#include "conv.h"
#include <stdlib.h>
#include <string.h>

// Bytes of transformed inputs and products a task keeps: few enough to share the L2 cache with weights, unless it then
// had fewer than two rows of tiles for each panel of those.
#define TASK_BYTES (320 << 10)
#define MOST_TASK_BYTES (1 << 20)
// Output slices that share transformed ones.
#define MOST_SLICES 8

// The most that the transformed weights may take of a window that is not of 3×3 in one group without dilation.
#define MOST_WEIGHT_BYTES (16 << 20)

// A tile along one axis: outputs, and positions, which are the inputs it takes.
typedef struct {
    long outputs, positions;
} side;

static side side_of(const cml_conv_shape *s, int axis) {
    if (s->kernel[axis] == 1) return (side){1, 1};
    return (side){s->method, s->method + 2};
}

long cml_winograd_positions(const cml_conv_shape *s) { return side_of(s, 1).positions * side_of(s, 2).positions; }

// The tiles along one axis: those of the interleaved planes alternate.
typedef struct {
    long planes, tiles;
} tiling;

static tiling tiles_of(const cml_conv_shape *s, int axis) {
    const long planes = s->kernel[axis] == 1 ? 1 : s->dilation[axis], outputs = side_of(s, axis).outputs;
    return (tiling){planes, planes * (((s->out[axis] + planes - 1) / planes + outputs - 1) / outputs)};
}

cml_conv_method cml_conv_choose(const cml_conv_shape *s) {
    if (s->transposed) return CML_CONV_DIRECT;
    for (int axis = 1; axis < 3; axis++)
        if ((s->kernel[axis] != 1 && s->kernel[axis] != 3) || s->stride[axis] != 1) return CML_CONV_DIRECT;
    const int axes = (s->kernel[1] == 3) + (s->kernel[2] == 3);
    if (axes == 0 || s->stride[0] != 1 || s->dilation[0] != 1) return CML_CONV_DIRECT;
    const char *allowed = getenv("COREML_WINOGRAD");
    if (allowed && allowed[0] == '0') return CML_CONV_DIRECT;
    // Few channels do not pay for the transforms; few pixels do not pay for reading the larger weights.
    const long inputs = s->in_channels / s->groups, outputs = s->out_channels / s->groups;
    const long pixels = s->batch * s->out[0] * s->out[1] * s->out[2];
    cml_conv_shape by_four = *s;
    by_four.method = CML_CONV_WINOGRAD_4;
    const int plain = axes == 2 && s->groups == 1 && s->kernel[0] == 1 && s->in[0] == 1 && s->dilation[1] == 1
        && s->dilation[2] == 1;
    if (plain) {
        if (inputs < 32 || outputs < 32 || inputs > 512) return CML_CONV_DIRECT;
        if (pixels >= 24 * 24) return CML_CONV_WINOGRAD_4;
        return pixels >= 12 * 12 ? CML_CONV_WINOGRAD_2 : CML_CONV_DIRECT;
    }
    const long terms = s->kernel[0] * inputs;
    if (inputs < 16 || outputs < 16 || inputs > 512 || pixels < 24 * 24) return CML_CONV_DIRECT;
    if (s->groups == 1 && (terms < 32 || (outputs < 32 && s->kernel[0] == 1))) return CML_CONV_DIRECT;
    if (cml_winograd_positions(&by_four) * terms * s->out_channels * 4 > MOST_WEIGHT_BYTES) return CML_CONV_DIRECT;
    // Nor do tiles that lie mostly beyond the edges.
    long covered = 1, used = 1;
    for (int axis = 1; axis < 3; axis++) {
        covered *= tiles_of(&by_four, axis).tiles * side_of(&by_four, axis).outputs;
        used *= s->out[axis];
    }
    return 4 * used >= 3 * covered ? CML_CONV_WINOGRAD_4 : CML_CONV_DIRECT;
}

typedef struct {
    const cml_isa *isa;
    const cml_conv_shape *shape;
    const void *source;
    cml_storage storage;
    long g_stride, o_stride, i_stride, panels;
    float *packed;
} pack_job;

// Terms whose taps are gathered at a time.
#define BLOCK_TERMS 16

// Copies the taps of a filter for `count` successive input channels to result[channel][tap][0].
static void read_taps(const pack_job *j, long at, long count, long taps, float *result, long step) {
    for (long i = 0; i < count; i++, at += j->i_stride, result += taps * step) {
        float wide[9];
        const float *source = wide;
        if (j->storage == CML_F32) source = (const float *)j->source + at;
        else j->isa->widen((const uint16_t *)j->source + at, wide, taps);
        for (long tap = 0; tap < taps; tap++) result[tap * step] = source[tap];
    }
}

// Panels of a group: [position][group][panel][depth][input channel][column].
static void pack_panel(void *context, long index, int worker) {
    (void)worker;
    const pack_job *j = context;
    const cml_conv_shape *s = j->shape;
    const long width = j->isa->panel, inputs = s->in_channels / s->groups, outputs = s->out_channels / s->groups;
    const long group = index / j->panels, panel = index % j->panels, terms = s->kernel[0] * inputs;
    const long columns = outputs - panel * width < width ? outputs - panel * width : width;
    const long taps = s->kernel[1] * s->kernel[2], position_step = s->groups * j->panels * terms * width;
    float block[BLOCK_TERMS * 9 * CML_MAX_PANEL];
    memset(block, 0, sizeof block);
    for (long depth = 0; depth < s->kernel[0]; depth++) {
        for (long first = 0; first < inputs; first += BLOCK_TERMS) {
            const long count = inputs - first < BLOCK_TERMS ? inputs - first : BLOCK_TERMS;
            const long at = group * j->g_stride + panel * width * j->o_stride + first * j->i_stride + depth * taps;
            for (long o = 0; o < columns; o++) read_taps(j, at + o * j->o_stride, count, taps, block + o, width);
            for (long i = 0; i < count; i++)
                j->isa->winograd_filter_panel(block + i * taps * width, s->method, s->kernel[1], s->kernel[2],
                                              j->packed + (index * terms + depth * inputs + first + i) * width, position_step);
        }
    }
}

void cml_winograd_pack(const cml_isa *isa, const cml_conv_shape *s, const void *source, cml_storage storage,
                       long g_stride, long o_stride, long i_stride, float *packed) {
    const long panels = (s->out_channels / s->groups + isa->panel - 1) / isa->panel;
    pack_job j = {isa, s, source, storage, g_stride, o_stride, i_stride, panels, packed};
    cml_parallel_for(s->groups * j.panels, pack_panel, &j);
}

typedef void (*input_kernel)(const float *const *pixels, long channels, float *v, long step);
typedef void (*output_kernel)(const float *positions, long step, float *const *pixels, const float *const *residuals,
                              long channels, const cml_epilogue *e);

typedef struct {
    const cml_isa *isa;
    const cml_conv_shape *shape;
    const float *x, *packed;
    long position_step;              // floats between the matrices of two positions
    float *y;
    const cml_epilogue *epilogue;
    side tall, wide;                 // a tile's sides
    tiling down, across;
    long slices, chunks;             // output slices that are computed together, and how many such an item has
    long tiles, each;                // in all, of a task
    input_kernel transform;
    output_kernel finish;
} job;

// The position of a tile: its item, its first output slice, and its first outputs along the other axes.
typedef struct {
    long item, depth, y, x;
} tile_location;

static long first_output(tiling t, long outputs, long tile) { return tile % t.planes + t.planes * outputs * (tile / t.planes); }

static tile_location locate(const job *j, long tile) {
    const long across = tile % j->across.tiles, down = tile / j->across.tiles % j->down.tiles;
    const long image = tile / j->across.tiles / j->down.tiles;
    return (tile_location){image / j->chunks, image % j->chunks * j->slices, first_output(j->down, j->tall.outputs, down),
                   first_output(j->across, j->wide.outputs, across)};
}

// The inputs of a tile in slice `z`, which may lie outside.
static void list_inputs(const job *j, const tile_location *p, long z, const float *blank, const float **pixels) {
    const cml_conv_shape *s = j->shape;
    const float *slice = j->x + (p->item * s->in[0] + z) * s->in[1] * s->in[2] * s->in_channels;
    for (long r = 0; r < j->tall.positions; r++) {
        const long y = p->y - s->pad[1] + r * j->down.planes;
        const int inside = z >= 0 && z < s->in[0] && y >= 0 && y < s->in[1];
        for (long q = 0; q < j->wide.positions; q++) {
            const long x = p->x - s->pad[2] + q * j->across.planes;
            *pixels++ = inside && x >= 0 && x < s->in[2] ? slice + (y * s->in[2] + x) * s->in_channels : blank;
        }
    }
}

// The outputs of a tile in slice `z`, and their residuals: null beyond the edges.
static void list_outputs(const job *j, const tile_location *p, long z, float **pixels, const float **residuals) {
    const cml_conv_shape *s = j->shape;
    const cml_epilogue *e = j->epilogue;
    for (long r = 0; r < j->tall.outputs; r++) {
        const long y = p->y + r * j->down.planes;
        for (long q = 0; q < j->wide.outputs; q++) {
            const long x = p->x + q * j->across.planes;
            const int inside = z < s->out[0] && y < s->out[1] && x < s->out[2];
            const long pixel = ((p->item * s->out[0] + z) * s->out[1] + y) * s->out[2] + x;
            *pixels++ = inside ? j->y + pixel * s->out_channels : NULL;
            *residuals++ = inside && e->residual ? e->residual + pixel * e->ldr : NULL;
        }
    }
}

static void convolve(void *context, long index, int worker) {
    (void)worker;
    const job *j = context;
    const cml_conv_shape *s = j->shape;
    const cml_isa *isa = j->isa;
    const long positions = j->tall.positions * j->wide.positions, width = isa->panel;
    const long inputs = s->in_channels / s->groups, outputs = s->out_channels / s->groups, depth = s->kernel[0];
    const long tile0 = index * j->each, left = j->tiles - tile0, count = left < j->each ? left : j->each;
    const long slice_step = count * s->in_channels, slices = j->slices + depth - 1;
    // One line more than needed between positions, so that they do not fall into one set of the L1 cache.
    const long v_step = slices * slice_step + 16, m_step = count * s->out_channels + 16;
    const size_t numbers = sizeof(float) * (size_t)(positions * (v_step + m_step) + s->in_channels);
    float *const v = cml_scratch(3, numbers + 2 * sizeof(long) * (size_t)depth);
    float *const m = v + positions * v_step, *const blank = m + positions * m_step;
    long *const tap_a = (long *)(void *)((char *)v + (numbers + 7) / 8 * 8), *const tap_b = tap_a + depth;
    memset(blank, 0, sizeof(float) * (size_t)s->in_channels);

    for (long slice = 0; slice < slices; slice++) {
        for (long tile = 0; tile < count; tile++) {
            const float *pixels[36];
            const tile_location p = locate(j, tile0 + tile);
            list_inputs(j, &p, p.depth - s->pad[0] + slice, blank, pixels);
            j->transform(pixels, s->in_channels, v + slice * slice_step + tile * s->in_channels, v_step);
        }
    }

    cml_tile t = {.lda = s->in_channels, .ldb = width, .ldc = s->out_channels, .tap_a = tap_a, .tap_b = tap_b,
                  .taps = depth, .k = inputs, .last = 1, .function = CML_IDENTITY};
    const long panels = (outputs + width - 1) / width, terms = depth * inputs;
    const long row_tiles = (count + isa->rows - 1) / isa->rows;
    t.prefetch_step = cml_prefetch_step(width * (long)sizeof(float), row_tiles);
    for (long slice = 0; slice < j->slices; slice++) {
        for (long tap = 0; tap < depth; tap++) {
            tap_a[tap] = (slice + tap) * slice_step;
            tap_b[tap] = tap * inputs * width;
        }
        for (long position = 0; position < positions; position++) {
            for (long part = 0; part < s->groups * panels; part++) {
                const long group = part / panels, column = part % panels * width;
                t.b = j->packed + position * j->position_step + part * terms * width;
                t.n = outputs - column < width ? outputs - column : width;
                const cml_tile_kernel *kernels = t.n <= isa->vector ? isa->tile_narrow : isa->tile_wide;
                for (long row = 0; row < row_tiles; row++) {
                    const long r0 = count * row / row_tiles, r1 = count * (row + 1) / row_tiles;
                    t.a = v + position * v_step + r0 * s->in_channels + group * inputs;
                    t.c = m + position * m_step + r0 * s->out_channels + group * outputs + column;
                    t.prefetch = (const char *)(t.b + terms * width) + row * terms * t.prefetch_step;
                    kernels[r1 - r0](&t);
                }
            }
        }
        for (long tile = 0; tile < count; tile++) {
            float *pixels[16];
            const float *residuals[16];
            const tile_location p = locate(j, tile0 + tile);
            list_outputs(j, &p, p.depth + slice, pixels, residuals);
            j->finish(m + tile * s->out_channels, m_step, pixels, residuals, s->out_channels, j->epilogue);
        }
    }
}

typedef void (*filter_kernel)(const float *taps, long count, float *u, long step);

typedef struct {
    const cml_isa *isa;
    const cml_conv_shape *shape;
    const cml_codes *codes;
    float *result;
    long position_step;
    filter_kernel transform;
} transform_job;

static void transform_panel(void *context, long panel, int worker) {
    (void)worker;
    const transform_job *j = context;
    const cml_conv_shape *s = j->shape;
    const long taps = cml_conv_taps(s), depth = s->kernel[0], count = s->in_channels * j->isa->panel;
    float *expanded = cml_scratch(3, sizeof(float) * (size_t)(taps * count));
    j->isa->expand_codes(j->codes, panel, 0, taps * s->in_channels, expanded);
    for (long slice = 0; slice < depth; slice++)
        j->transform(expanded + slice * (taps / depth) * count, count, j->result + (panel * depth + slice) * count,
                     j->position_step);
}

// The transformed weights in the calling thread's scratch.
static const float *transformed(const cml_isa *isa, const cml_conv_shape *s, const cml_codes *codes, long position_step) {
    float *result = cml_scratch(2, sizeof(float) * (size_t)(cml_winograd_positions(s) * position_step));
    const int lines = s->kernel[1] == 1 || s->kernel[2] == 1;
    const filter_kernel transform = s->method == CML_CONV_WINOGRAD_2 ? isa->winograd_filter_2
        : lines ? isa->winograd_filter_line : isa->winograd_filter_4;
    transform_job j = {isa, s, codes, result, position_step, transform};
    cml_parallel_for((s->out_channels + isa->panel - 1) / isa->panel, transform_panel, &j);
    return result;
}

void cml_winograd(const cml_isa *isa, const cml_conv_shape *s, const float *x, const float *packed,
                  const cml_codes *codes, float *y, const cml_epilogue *epilogue) {
    job j = {.isa = isa, .shape = s, .x = x, .packed = packed, .y = y, .epilogue = epilogue, .tall = side_of(s, 1),
             .wide = side_of(s, 2), .down = tiles_of(s, 1), .across = tiles_of(s, 2)};
    const int lines = s->kernel[1] == 1 || s->kernel[2] == 1, by_four = s->method == CML_CONV_WINOGRAD_4;
    j.transform = lines ? isa->winograd_input_line : by_four ? isa->winograd_input_4 : isa->winograd_input_2;
    j.finish = lines ? isa->winograd_output_line : by_four ? isa->winograd_output_4 : isa->winograd_output_2;
    j.slices = s->kernel[0] == 1 ? 1 : s->out[0] < MOST_SLICES ? s->out[0] : MOST_SLICES;
    j.chunks = j.slices > 0 ? (s->out[0] + j.slices - 1) / j.slices : 0;
    j.tiles = s->batch * j.chunks * j.down.tiles * j.across.tiles;
    if (j.tiles <= 0) return;
    const long panels = (s->out_channels / s->groups + isa->panel - 1) / isa->panel;
    j.position_step = s->groups * panels * s->kernel[0] * (s->in_channels / s->groups) * isa->panel;
    if (codes) {
        // Positions that do not fall into one set of the L1 cache are written together.
        j.position_step += 16;
        j.packed = transformed(isa, s, codes, j.position_step);
    }
    const long workers = cml_worker_count(), positions = j.tall.positions * j.wide.positions;
    const long tile_bytes = 4 * positions * ((j.slices + s->kernel[0] - 1) * s->in_channels + s->out_channels);
    long most = TASK_BYTES / tile_bytes, more = MOST_TASK_BYTES / tile_bytes;
    if (most < 2 * isa->rows) most = more < 2 * isa->rows ? more : 2 * isa->rows;
    if (most < isa->rows) most = isa->rows;
    long tasks = (j.tiles + most - 1) / most;
    tasks = (tasks + workers - 1) / workers * workers;
    j.each = (j.tiles + tasks - 1) / tasks;
    cml_parallel_for((j.tiles + j.each - 1) / j.each, convolve, &j);
}

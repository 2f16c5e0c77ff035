// The gradient of a convolution's weights by Winograd's method.
//
// In the transformed domain a tile's outputs are sums over input channels of products, position by position, of its
// transformed inputs and the transformed weights. So the gradient of the transformed weights at a position is a matrix
// product over tiles, of the gradient of the outputs transformed like that, [outputs, tiles], and of the transformed
// inputs, [tiles, inputs]; what is left is the transposed transform of the weights. Tiles are computed in rounds, whose
// operands stay in the caches and whose gradients are added up.
#include "conv.h"
#include <stdlib.h>
#include <string.h>

// Inputs, outputs of a tile's side, the positions of a tile and the taps of the window.
enum { POSITIONS = 6, OUTPUTS = 4, ALL = POSITIONS * POSITIONS, TAPS = 9 };

// Bytes of transformed operands in a round, and the least tiles of it: adding up the gradients takes as long as some tiles.
#define ROUND_BYTES (16 << 20)
#define LEAST_TILES 128
// Columns of a task's gradients, and about how many rows.
#define TASK_COLUMNS 64
#define TASK_ROWS 36

int cml_winograd_gradient_suits(const cml_conv_shape *s) {
    if (s->transposed || s->groups != 1 || s->kernel[0] != 1 || s->in[0] != 1 || s->out[0] != 1) return 0;
    for (int axis = 1; axis < 3; axis++)
        if (s->kernel[axis] != 3 || s->stride[axis] != 1 || s->dilation[axis] != 1) return 0;
    const char *allowed = getenv("COREML_WINOGRAD");
    if (allowed && allowed[0] == '0') return 0;
    const long tiles = s->batch * ((s->out[1] + OUTPUTS - 1) / OUTPUTS) * ((s->out[2] + OUTPUTS - 1) / OUTPUTS);
    // Few channels do not pay for the transforms, few tiles not for the gradients at all positions, and nor do tiles that
    // lie mostly beyond the edges.
    return s->in_channels >= 32 && s->out_channels >= 32 && tiles >= 32
        && 2 * s->batch * s->out[1] * s->out[2] >= tiles * OUTPUTS * OUTPUTS;
}

typedef struct {
    const cml_isa *isa;
    const cml_conv_shape *shape;
    const float *x, *dy;
    float *dw;
    long down, across, tiles;         // tiles of an image, and of all
    long most;                        // tiles of a round, whole panels
    long panels, row_blocks, column_blocks, block_rows;
    float *pixels;                    // x channels-last
    float *v, *m;                     // transformed inputs [position][panel][tile][column], gradients [position][row][tile]
    long panel_step, v_step, m_row, m_step;
    long first, count;                // tiles of the round
} job;

static long aligned(long count, long unit) { return (count + unit - 1) / unit * unit; }

static job plan(const cml_isa *isa, const cml_conv_shape *s) {
    job j = {.isa = isa, .shape = s, .down = (s->out[1] + OUTPUTS - 1) / OUTPUTS,
             .across = (s->out[2] + OUTPUTS - 1) / OUTPUTS};
    j.tiles = s->batch * j.down * j.across;
    j.panels = (s->in_channels + isa->panel - 1) / isa->panel;
    const long bytes = (long)sizeof(float) * ALL * (j.panels * isa->panel + s->out_channels);
    const long most = ROUND_BYTES / bytes > LEAST_TILES ? ROUND_BYTES / bytes : LEAST_TILES;
    const long rounds = (j.tiles + most - 1) / most;
    j.most = aligned((j.tiles + rounds - 1) / rounds, isa->panel);
    // One line more than needed, so that rows and positions do not fall into one set of the L1 cache.
    j.panel_step = j.most * isa->panel;
    j.v_step = j.panels * j.panel_step + 16;
    j.m_row = j.most + 16;
    j.m_step = s->out_channels * j.m_row;
    j.block_rows = TASK_ROWS / isa->rows * isa->rows;
    j.row_blocks = (s->out_channels + j.block_rows - 1) / j.block_rows;
    j.column_blocks = (s->in_channels + TASK_COLUMNS - 1) / TASK_COLUMNS;
    return j;
}

static long pixel_count(const cml_conv_shape *s) { return aligned(s->batch * s->in[1] * s->in[2] * s->in_channels, 16); }

size_t cml_winograd_gradient_bytes(const cml_isa *isa, const cml_conv_shape *s) {
    const job j = plan(isa, s);
    return sizeof(float) * (size_t)(pixel_count(s) + ALL * (j.v_step + j.m_step));
}

static void turn_image(void *context, long image, int worker) {
    (void)worker;
    const job *j = context;
    const cml_conv_shape *s = j->shape;
    const long plane = s->in[1] * s->in[2], offset = image * plane * s->in_channels;
    j->isa->transpose_plane(j->x + offset, plane, s->in_channels, plane, j->pixels + offset, s->in_channels);
}

// The inputs of a panel's tiles, transformed.
static void transform_inputs(void *context, long index, int worker) {
    (void)worker;
    const job *j = context;
    const cml_conv_shape *s = j->shape;
    const long width = j->isa->panel, batch = index * width;
    const long end = j->count - batch < width ? j->count : batch + width;
    float *const blank = cml_scratch(3, sizeof(float) * (size_t)s->in_channels);
    memset(blank, 0, sizeof(float) * (size_t)s->in_channels);
    for (long tile = batch; tile < end; tile++) {
        const long number = j->first + tile, image = number / (j->down * j->across);
        const long y0 = number / j->across % j->down * OUTPUTS - s->pad[1], x0 = number % j->across * OUTPUTS - s->pad[2];
        const float *pixels[ALL], *const plane = j->pixels + image * s->in[1] * s->in[2] * s->in_channels;
        for (long r = 0; r < POSITIONS; r++)
            for (long q = 0; q < POSITIONS; q++) {
                const long y = y0 + r, x = x0 + q;
                const int inside = y >= 0 && y < s->in[1] && x >= 0 && x < s->in[2];
                pixels[r * POSITIONS + q] = inside ? plane + (y * s->in[2] + x) * s->in_channels : blank;
            }
        for (long panel = 0; panel < j->panels; panel++) {
            const long left = s->in_channels - panel * width;
            float *const target = j->v + panel * j->panel_step + tile * width;
            // The columns of an incomplete panel are not stored by any task, but read.
            if (left < width) for (long p = 0; p < ALL; p++) memset(target + p * j->v_step, 0, sizeof(float) * (size_t)width);
            j->isa->winograd_input_4(pixels, left < width ? left : width, target, j->v_step);
            for (long p = 0; p < ALL; p++) pixels[p] += width;
        }
    }
}

// The gradients of a channel's outputs, tile by tile, transformed.
static void transform_gradients(void *context, long row, int worker) {
    (void)worker;
    const job *j = context;
    const cml_conv_shape *s = j->shape;
    const long padded = aligned(j->count, j->isa->panel), plane = s->out[1] * s->out[2];
    float *const tiles = cml_scratch(3, sizeof(float) * (size_t)(OUTPUTS * OUTPUTS * padded));
    memset(tiles, 0, sizeof(float) * (size_t)(OUTPUTS * OUTPUTS * padded));
    for (long tile = 0; tile < j->count; tile++) {
        const long number = j->first + tile, image = number / (j->down * j->across);
        const long y0 = number / j->across % j->down * OUTPUTS, x0 = number % j->across * OUTPUTS;
        const long rows = s->out[1] - y0 < OUTPUTS ? s->out[1] - y0 : OUTPUTS;
        const long columns = s->out[2] - x0 < OUTPUTS ? s->out[2] - x0 : OUTPUTS;
        const float *source = j->dy + (image * s->out_channels + row) * plane + y0 * s->out[2] + x0;
        float *target = tiles + tile;
        for (long r = 0; r < rows; r++, source += s->out[2])
            for (long q = 0; q < columns; q++) target[(r * OUTPUTS + q) * padded] = source[q];
    }
    j->isa->winograd_gradient_4(tiles, padded, j->m + row * j->m_row, j->m_step);
}

// The gradients of some rows of outputs and columns of inputs.
static void multiply(void *context, long index, int worker) {
    (void)worker;
    const job *j = context;
    const cml_conv_shape *s = j->shape;
    const cml_isa *isa = j->isa;
    const long width = isa->panel;
    const long row0 = index / j->column_blocks * j->block_rows, column0 = index % j->column_blocks * TASK_COLUMNS;
    const long rows = s->out_channels - row0 < j->block_rows ? s->out_channels - row0 : j->block_rows;
    const long columns = s->in_channels - column0 < TASK_COLUMNS ? s->in_channels - column0 : TASK_COLUMNS;
    const long step = rows * TASK_COLUMNS + 16, zero = 0, row_tiles = (rows + isa->rows - 1) / isa->rows;
    float *const sums = cml_scratch(3, sizeof(float) * (size_t)(ALL * step + TAPS * TASK_COLUMNS));
    cml_tile t = {.lda = j->m_row, .ldb = width, .ldc = TASK_COLUMNS, .tap_a = &zero, .tap_b = &zero, .taps = 1,
                  .k = j->count, .last = 1, .function = CML_IDENTITY};
    for (long position = 0; position < ALL; position++) {
        for (long column = 0; column < columns; column += width) {
            t.b = j->v + position * j->v_step + (column0 + column) / width * j->panel_step;
            t.n = columns - column < width ? columns - column : width;
            const cml_tile_kernel *kernels = t.n <= isa->vector ? isa->tile_narrow : isa->tile_wide;
            for (long tile = 0; tile < row_tiles; tile++) {
                const long r0 = rows * tile / row_tiles, r1 = rows * (tile + 1) / row_tiles;
                t.a = j->m + position * j->m_step + (row0 + r0) * j->m_row;
                t.c = sums + position * step + r0 * TASK_COLUMNS + column;
                kernels[r1 - r0](&t);
            }
        }
    }
    float *const taps = sums + ALL * step;
    for (long row = 0; row < rows; row++) {
        isa->winograd_weights_4(sums + row * TASK_COLUMNS, columns, step, taps, TASK_COLUMNS);
        float *target = j->dw + ((row0 + row) * s->in_channels + column0) * TAPS;
        for (long column = 0; column < columns; column++, target += TAPS)
            for (long tap = 0; tap < TAPS; tap++) {
                const float value = taps[tap * TASK_COLUMNS + column];
                target[tap] = j->first == 0 ? value : target[tap] + value;
            }
    }
}

void cml_winograd_gradient(const cml_isa *isa, const cml_conv_shape *s, const float *x, const float *dy, float *dw,
                           void *scratch) {
    job j = plan(isa, s);
    j.x = x;
    j.dy = dy;
    j.dw = dw;
    j.pixels = scratch;
    j.v = j.pixels + pixel_count(s);
    j.m = j.v + ALL * j.v_step;
    cml_parallel_for(s->batch, turn_image, &j);
    for (j.first = 0; j.first < j.tiles; j.first += j.most) {
        j.count = j.tiles - j.first < j.most ? j.tiles - j.first : j.most;
        cml_parallel_for((j.count + isa->panel - 1) / isa->panel, transform_inputs, &j);
        cml_parallel_for(s->out_channels, transform_gradients, &j);
        cml_parallel_for(j.row_blocks * j.column_blocks, multiply, &j);
    }
}

// Convolution of row-major tensors.  With strides of 1 the elements that one tap meets for neighbouring outputs are
// neighbours in a plane, so that stretches of a plane are the panels that weights multiply: stretches continue over the
// ends of rows, where results are not stored.  Planes are copied first, with their borders, to distances that do not
// fall into one set of the caches.  For other strides, and windows of one element, panels are gathered.
#include "conv.h"
#include "../threads/division.h"
#include <math.h>
#include <string.h>

// Panels a task works on at a time: they stay in the L2 cache while the weights pass.
#define GROUP 4
// Terms of a gathered group.
#define BLOCK_TERMS 256

typedef struct {
    const cml_isa *isa;
    const cml_conv_shape *shape;
    const float *x, *weights;
    float *y;
    const cml_epilogue *epilogue;
    int gathers;
    long in[3];                     // extents of x's planes, borders included
    long plane;                     // elements from one plane to the next
    long inputs, outputs, taps;     // of one group
    long pixels;                    // elements of an output plane
    long slices, positions, parts;  // stretches of an output plane, positions of one, and groups of panels of those
    long step;                      // from one row of a group of panels to the next: not a multiple of a page
    const long *tap_offsets, *tap_weights;
    const long *offsets;            // of the terms of a gathered output, from its first tap in its first channel
    cml_division division;
} job;

// The positions from `position` on that are outputs of one row, at most `count`: their number, and the index of the
// first one's output.  None when the position is after the end of a row; then `*skip` positions are.
static long outputs_at(const job *j, long slice, long position, long count, long *target, long *skip) {
    const cml_conv_shape *s = j->shape;
    if (j->gathers) {
        *target = position;
        return count;
    }
    const long column = position % j->in[2], row = position / j->in[2], left = s->out[2] - column;
    if (left <= 0) {
        *skip = j->in[2] - column;
        return 0;
    }
    *target = (slice * s->out[1] + row) * s->out[2] + column;
    return left < count ? left : count;
}

// Stores finished sums in the result: bias, residual and function are applied on the way.
static void finish(const job *j, long channel, long item, long slice, long position, long count, float *sums, long rows) {
    const cml_epilogue *e = j->epilogue;
    const int clamped = e->function == CML_RELU || e->function == CML_CLIP;
    const float low = e->function == CML_RELU ? 0 : clamped ? e->alpha : -INFINITY;
    const float high = e->function == CML_CLIP ? e->beta : INFINITY;
    static const float one = 1, zero = 0;
    for (long done = 0, target = 0, skip = 0; done < count;) {
        const long n = outputs_at(j, slice, position + done, count - done, &target, &skip);
        for (long r = 0; r < rows && n > 0; r++) {
            const long at = (item * j->shape->out_channels + channel + r) * j->pixels + target;
            float *y = j->y + at, *sum = sums + r * j->step + done;
            if (e->residual) j->isa->binary_row(CML_ADD, sum, 1, e->residual + at, 1, sum, n);
            j->isa->affine_row(sum, &one, 0, e->bias ? e->bias + channel + r : &zero, 0, low, high, y, n);
            if (clamped || e->function == CML_IDENTITY) continue;
            if (e->function == CML_PRELU) j->isa->unary(CML_LEAKY_RELU, e->slope[channel + r], 0, y, y, n);
            else j->isa->unary(e->function, e->alpha, e->beta, y, y, n);
        }
        done += n > 0 ? n : skip;
    }
}

// Terms k0 ..< k1 of the `count` outputs from `pixel` on, row by row.
static void gather(const job *j, const float *x, long pixel, long count, long k0, long k1, float *panels) {
    const cml_conv_shape *s = j->shape;
    for (long done = 0; done < count;) {
        const long at = pixel + done, w = at % s->out[2], h = at / s->out[2] % s->out[1], d = at / s->out[2] / s->out[1];
        const long left = s->out[2] - w, n = left < count - done ? left : count - done;
        const float *from = x + (d * s->stride[0] * j->in[1] + h * s->stride[1]) * j->in[2] + w * s->stride[2];
        j->isa->gather_terms(from, j->offsets + k0, k1 - k0, s->stride[2], panels + done, j->step, n);
        done += n;
    }
}

static void convolve(void *context, long task, int worker) {
    (void)worker;
    const job *j = context;
    const cml_conv_shape *s = j->shape;
    const cml_isa *isa = j->isa;
    const long width = isa->panel, tiles = (j->outputs + isa->rows - 1) / isa->rows, terms = j->inputs * j->taps;
    const long block_terms = !j->gathers ? 0 : terms < BLOCK_TERMS ? terms : BLOCK_TERMS;
    const long blocks = j->gathers ? (terms + BLOCK_TERMS - 1) / BLOCK_TERMS : 1;
    const size_t count_of_sums = (size_t)(j->step * j->outputs), count_of_terms = (size_t)(j->step * block_terms);
    float *const sums = cml_scratch(3, sizeof(float) * (count_of_sums + count_of_terms));
    float *const gathered = sums + count_of_sums;
    memset(gathered, 0, sizeof(float) * count_of_terms);
    static const long zero = 0;
    cml_tile t = {.lda = terms, .ldb = j->gathers ? j->step : j->plane, .ldc = j->step,
                  .tap_a = j->gathers ? &zero : j->tap_weights, .tap_b = j->gathers ? &zero : j->tap_offsets,
                  .taps = j->gathers ? 1 : j->taps, .k = j->inputs, .function = CML_IDENTITY};
    for (long index = task * j->division.each, end = cml_division_end(&j->division, task); index < end; index++) {
        const long part = index % j->parts, slice = index / j->parts % j->slices, unit = index / j->parts / j->slices;
        const long group = unit % s->groups, item = unit / s->groups, channel = group * j->outputs;
        const long start = part * GROUP * width, left = j->positions - start;
        const long count = left < GROUP * width ? left : GROUP * width;
        const float *x = j->x + (item * s->in_channels + group * j->inputs) * j->plane;
        const float *weights = j->weights + channel * terms;
        for (long block = 0; block < blocks; block++) {
            const long k0 = terms * block / blocks, k1 = terms * (block + 1) / blocks;
            if (j->gathers) {
                gather(j, x, start, count, k0, k1, gathered);
                t.k = k1 - k0;
            }
            t.accumulate = block > 0;
            const float *b = j->gathers ? gathered : x + slice * j->in[1] * j->in[2] + start;
            for (long tile = 0; tile < tiles; tile++) {
                const long r0 = j->outputs * tile / tiles, r1 = j->outputs * (tile + 1) / tiles;
                t.a = weights + r0 * terms + k0;
                for (long first = 0; first < count; first += width) {
                    t.n = count - first < width ? count - first : width;
                    t.b = b + first;
                    t.c = sums + r0 * j->step + first;
                    (t.n <= isa->vector ? isa->tile_narrow : isa->tile_wide)[r1 - r0](&t);
                }
            }
        }
        finish(j, channel, item, slice, start, count, sums, j->outputs);
    }
}

// One output row of one channel that has one input.
static void convolve_single(void *context, long task, int worker) {
    (void)worker;
    const job *j = context;
    const cml_conv_shape *s = j->shape;
    const cml_epilogue *e = j->epilogue;
    const long rows = s->out[0] * s->out[1], width = s->out[2];
    for (long index = task * j->division.each, end = cml_division_end(&j->division, task); index < end; index++) {
        const long channel = index / rows % s->out_channels, item = index / rows / s->out_channels;
        const long h = index % s->out[1], d = index / s->out[1] % s->out[0];
        const long input = item * s->in_channels + channel / j->outputs;
        const float *x = j->x + input * j->plane + (d * s->stride[0] * j->in[1] + h * s->stride[1]) * j->in[2];
        // The residual may lie where the result goes.
        float *y = j->y + index * width, *row = e->residual ? cml_scratch(3, sizeof(float) * (size_t)width) : y;
        j->isa->depthwise_plane_row(x, j->tap_offsets, j->weights + channel * j->taps, j->taps,
                                    e->bias ? e->bias[channel] : 0, row, width);
        if (e->residual) j->isa->binary_row(CML_ADD, row, 1, e->residual + index * width, 1, y, width);
        if (e->function == CML_PRELU) j->isa->unary(CML_LEAKY_RELU, e->slope[channel], 0, y, y, width);
        else if (e->function != CML_IDENTITY) j->isa->unary(e->function, e->alpha, e->beta, y, y, width);
    }
}

typedef struct {
    const job *conv;
    const float *x;
    float *y;
    cml_division division;
} copy_job;

// Rows of planes between zeros.
static void copy_rows(void *context, long task, int worker) {
    (void)worker;
    const copy_job *c = context;
    const job *j = c->conv;
    const cml_conv_shape *s = j->shape;
    const long width = j->in[2], lead = s->pad[2] < width ? s->pad[2] : width;
    const long inside = s->in[2] < width - lead ? s->in[2] : width - lead;
    for (long index = task * c->division.each, end = cml_division_end(&c->division, task); index < end; index++) {
        const long row = index % j->in[1], slice = index / j->in[1] % j->in[0], plane = index / j->in[1] / j->in[0];
        const long h = row - s->pad[1], d = slice - s->pad[0];
        float *y = c->y + plane * j->plane + (slice * j->in[1] + row) * width;
        if (h < 0 || h >= s->in[1] || d < 0 || d >= s->in[0]) {
            memset(y, 0, sizeof(float) * (size_t)width);
            continue;
        }
        memset(y, 0, sizeof(float) * (size_t)lead);
        memcpy(y + lead, c->x + ((plane * s->in[0] + d) * s->in[1] + h) * s->in[2], sizeof(float) * (size_t)inside);
        memset(y + lead + inside, 0, sizeof(float) * (size_t)(width - lead - inside));
    }
}

// Copies the input between its borders, planes at distances that share no set of the caches, with room for a panel
// after the last.
static void copy_planes(job *j) {
    const cml_conv_shape *s = j->shape;
    const long planes = s->batch * s->in_channels, panel = j->isa->panel, used = j->in[0] * j->in[1] * j->in[2];
    j->plane = (used + 15) / 16 * 16;
    if (j->plane % 1024 < 64 || j->plane % 1024 > 960) j->plane += 80;
    float *copy = cml_scratch(0, sizeof(float) * (size_t)(planes * j->plane + GROUP * panel));
    for (long plane = 0; plane < planes; plane++)
        memset(copy + plane * j->plane + used, 0, sizeof(float) * (size_t)(j->plane - used));
    memset(copy + planes * j->plane, 0, sizeof(float) * (size_t)(GROUP * panel));
    copy_job c = {j, j->x, copy, cml_divide(planes * j->in[0] * j->in[1], j->in[2])};
    cml_parallel_for(c.division.tasks, copy_rows, &c);
    j->x = copy;
}

void cml_conv_planes_pack(const cml_isa *isa, const cml_conv_shape *s, const void *source, cml_storage storage,
                          float *packed) {
    const long taps = cml_conv_taps(s), inputs = s->in_channels / s->groups, count = inputs * taps;
    float *row = cml_scratch(3, sizeof(float) * (size_t)count);
    for (long o = 0; o < s->out_channels; o++, packed += count) {
        if (storage == CML_F16) isa->widen((const uint16_t *)source + o * count, row, count);
        else memcpy(row, (const float *)source + o * count, sizeof(float) * (size_t)count);
        for (long t = 0; t < taps; t++)
            for (long i = 0; i < inputs; i++) packed[t * inputs + i] = row[i * taps + t];
    }
}

void cml_conv_planes(const cml_isa *isa, const cml_conv_shape *s, const float *x, const float *weights, float *y,
                     const cml_epilogue *epilogue) {
    job j = {.isa = isa, .shape = s, .x = x, .weights = weights, .y = y, .epilogue = epilogue};
    j.inputs = s->in_channels / s->groups;
    j.outputs = s->out_channels / s->groups;
    j.taps = cml_conv_taps(s);
    j.pixels = s->out[0] * s->out[1] * s->out[2];
    if (s->batch <= 0 || j.pixels <= 0 || j.outputs <= 0) return;
    const int straight = s->stride[0] == 1 && s->stride[1] == 1 && s->stride[2] == 1;
    const int single = j.inputs == 1 && j.outputs < 4 && s->stride[2] == 1;
    j.gathers = !straight || j.taps == 1;
    int bordered = 0;
    for (int axis = 0; axis < 3; axis++) {
        const long reach = (s->out[axis] - 1) * s->stride[axis] + (s->kernel[axis] - 1) * s->dilation[axis] + 1;
        j.in[axis] = s->in[axis];
        if (s->pad[axis] == 0 && reach <= s->in[axis]) continue;
        j.in[axis] = reach;
        bordered = 1;
    }
    j.plane = j.in[0] * j.in[1] * j.in[2];
    if (bordered || (!j.gathers && !single)) copy_planes(&j);
    const long terms = j.inputs * j.taps;
    long *offsets = cml_scratch(1, sizeof(long) * (size_t)(terms + 2 * j.taps + 1));
    long *tap_offsets = offsets + terms, *tap_weights = tap_offsets + j.taps, tap = 0;
    for (long a = 0; a < s->kernel[0]; a++)
        for (long b = 0; b < s->kernel[1]; b++)
            for (long k = 0; k < s->kernel[2]; k++, tap++) {
                tap_offsets[tap] = (a * s->dilation[0] * j.in[1] + b * s->dilation[1]) * j.in[2] + k * s->dilation[2];
                tap_weights[tap] = tap * j.inputs;
                for (long c = 0; c < j.inputs; c++) offsets[tap * j.inputs + c] = c * j.plane + tap_offsets[tap];
            }
    j.offsets = offsets;
    j.tap_offsets = tap_offsets;
    j.tap_weights = tap_weights;
    if (single) {
        j.division = cml_divide(s->batch * s->out_channels * s->out[0] * s->out[1], s->out[2] * j.taps);
        cml_parallel_for(j.division.tasks, convolve_single, &j);
        return;
    }
    j.step = GROUP * isa->panel + 16;
    j.slices = j.gathers ? 1 : s->out[0];
    j.positions = j.gathers ? j.pixels : (s->out[1] - 1) * j.in[2] + s->out[2];
    j.parts = (j.positions + GROUP * isa->panel - 1) / (GROUP * isa->panel);
    j.division = cml_divide(s->batch * s->groups * j.slices * j.parts, GROUP * isa->panel * terms);
    cml_parallel_for(j.division.tasks, convolve, &j);
}

// A depthwise convolution between two products, some rows at a time: the rows that the product before it makes lie in a ring
// of the L2 cache, and the product after it reads its rows there, so that the wide tensors between them, several times
// the L2 cache in the first blocks of a network, never travel to memory and back.
#include "conv.h"

// The part of the L2 cache for the rows of one step, besides the weights.
#define STEP_BYTES (192 << 10)
// Pixels of a product that fill its tiles well.
#define LEAST_PIXELS 48

typedef struct {
    const cml_isa *isa;
    const cml_conv_separable *c;
    const cml_axis *height, *width;
    const float *x;
    float *y;
    long rows_each, parts;   // output rows of a task, and tasks of a picture
    long step;               // output rows computed at a time
    long ring;               // input rows that are kept
} job;

// c = epilogue(a · b) for the pixels of some rows, of `whole` of all rows.
static void product(const job *j, long pixels, long whole, long channels, const float *a, const void *packed,
                    cml_storage storage, long columns, float *result, const cml_epilogue *epilogue, const float *residual) {
    cml_gemm_call call = {.m = pixels, .n = columns, .k = channels, .whole = whole, .a = a, .lda = channels, .b = packed,
                          .storage = storage, .c = result, .ldc = columns, .epilogue = *epilogue, .batch = 1};
    call.epilogue.residual = residual;
    cml_gemm(j->isa, &call);
}

static void convolve_rows(void *context, long index, int worker) {
    (void)worker;
    const job *j = context;
    const cml_conv_separable *c = j->c;
    const cml_conv_shape *s = &c->depthwise;
    const cml_axis *h = j->height, *w = j->width;
    const long item = index / j->parts, row0 = index % j->parts * j->rows_each;
    const long row1 = row0 + j->rows_each < h->count ? row0 + j->rows_each : h->count;
    const long in_row = w->in_size * s->in_channels, out_row = w->count * s->in_channels;
    const long x_row = w->in_size * c->in_channels, y_row = w->count * c->out_channels;
    const float *const x = j->x + item * h->in_size * x_row;
    float *const y = j->y + item * h->count * y_row;
    const cml_epilogue *e = &c->project_epilogue;
    float *const ring = cml_scratch(0, sizeof(float) * (size_t)(j->ring * in_row + (c->project ? j->step * out_row : 0)));
    float *const between = ring + j->ring * in_row;
    long made = -1;          // input rows below it are in the ring, if they are still needed
    for (long row = row0; row < row1; row += j->step) {
        const long count = row + j->step < row1 ? j->step : row1 - row;
        if (c->expand) {
            long first = row * h->in_stride + h->offset[0], end = (row + count - 1) * h->in_stride + h->offset[h->taps - 1] + 1;
            if (first < 0) first = 0;
            if (first < made) first = made;
            if (end > h->in_size) end = h->in_size;
            while (first < end) {
                const long at = first % j->ring, room = j->ring - at;
                const long rows = end - first < room ? end - first : room;
                product(j, rows * w->in_size, s->batch * h->in_size * w->in_size, c->in_channels, x + first * x_row,
                        c->expand, c->expand_storage, s->in_channels, ring + at * in_row, &c->expand_epilogue, NULL);
                first += rows;
            }
            made = end;
        }
        for (long r = row; r < row + count; r++) {
            cml_depthwise_rows rows = {0};
            for (long b = 0; b < h->taps; b++) {
                const long in = r * h->in_stride + h->offset[b];
                if (in < 0 || in >= h->in_size) continue;
                rows.inputs[rows.count] = c->expand ? ring + in % j->ring * in_row : x + in * in_row;
                rows.weights[rows.count++] = c->weights + b * s->kernel[2] * s->in_channels;
            }
            cml_depthwise_line(j->isa, s, w, &rows, 0, s->in_channels,
                               c->project ? between + (r - row) * out_row : y + r * out_row, NULL, &c->epilogue);
        }
        if (c->project) {
            const long pixel = (item * h->count + row) * w->count;
            product(j, count * w->count, s->batch * h->count * w->count, s->in_channels, between, c->project,
                    c->project_storage, c->out_channels, y + row * y_row, e, e->residual ? e->residual + pixel * e->ldr : NULL);
        }
    }
}

void cml_conv_separable_run(const cml_isa *isa, const cml_conv_separable *c, const float *x, float *y) {
    const cml_conv_shape *s = &c->depthwise;
    if (s->batch <= 0 || s->in_channels <= 0 || s->out[1] <= 0 || s->out[2] <= 0) return;
    long tap[2][CML_DEPTHWISE_ROWS], offset[2][CML_DEPTHWISE_ROWS];
    cml_axis axes[2];
    for (int a = 0; a < 2; a++) {
        for (long k = 0; k < s->kernel[a + 1]; k++) {
            tap[a][k] = k;
            offset[a][k] = k * s->dilation[a + 1] - s->pad[a + 1];
        }
        axes[a] = (cml_axis){s->out[a + 1], s->in[a + 1], s->stride[a + 1], 0, 1, s->kernel[a + 1], tap[a], offset[a]};
    }
    job j = {.isa = isa, .c = c, .height = &axes[0], .width = &axes[1], .x = x, .y = y};
    const long in_bytes = s->in[2] * s->in_channels * 4, out_bytes = s->out[2] * s->in_channels * 4;
    const long reach = (s->kernel[1] - 1) * s->dilation[1] + 1, rows = s->out[1];
    // More rows a step until they fill their part of the cache; at least as many as fill the tiles of the products.
    for (j.step = 1; j.step < rows; j.step++) {
        const long next = j.step + 1, bytes = ((next - 1) * s->stride[1] + reach) * in_bytes + next * out_bytes;
        if (bytes > STEP_BYTES && j.step * s->out[2] >= LEAST_PIXELS) break;
    }
    j.ring = c->expand ? (j.step - 1) * s->stride[1] + reach : 0;
    // A few tasks for each worker leave something to steal.  Neighbouring ones compute the rows between them twice, so that
    // there are no more than workers where that is more than an eighth of the work.
    const long workers = cml_free_worker_count(), overlap = c->expand && reach > s->stride[1] ? reach - s->stride[1] : 0;
    const long cheap = overlap > 0 ? rows * s->stride[1] / (8 * overlap) : rows;
    const long needed = (workers + s->batch - 1) / s->batch, wanted = (4 * workers + s->batch - 1) / s->batch;
    j.parts = workers == 1 ? 1 : cheap < needed ? needed : cheap < wanted ? cheap : wanted;
    if (j.parts > rows) j.parts = rows;
    j.rows_each = (rows + j.parts - 1) / j.parts;
    j.parts = (rows + j.rows_each - 1) / j.rows_each;
    cml_parallel_for(s->batch * j.parts, convolve_rows, &j);
}

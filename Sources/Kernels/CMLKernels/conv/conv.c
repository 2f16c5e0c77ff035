// Convolution as sums of tile products straight from the input: no copy of the input is made, and taps that fall
// outside it are skipped, not multiplied by zero.  A tile is a stretch of output pixels of one row by one panel.
#include "conv.h"
#include <string.h>

// Panels longer than this are worked through in blocks, so that a block stays in the L1 cache for many tiles.
#define PANEL_BYTES (96 << 10)
#define BLOCK_TERMS 256
#define MOST_CACHED 256

// A set of neighbouring horizontal taps that are valid for the same pixels lo..<hi of a tile.
typedef struct {
    long lo, hi;
    long first, taps;  // taps of the width axis
    long terms;        // per call: all taps together when they are contiguous in the input, else one tap's channels
} run;

// The number of runs at a position of a row, and how many of them, the last ones, are valid for all its pixels.
typedef struct {
    long count, full;
} found;

typedef struct {
    const cml_isa *isa;
    const cml_conv_shape *shape;
    const cml_axis *axes;
    const float *x;
    const void *packed;
    const cml_codes *codes;             // for CML_CODES
    cml_storage storage;
    float *y;
    const cml_epilogue *epilogue;
    long tiles_per_row, tiles;          // tiles of all rows of the batch
    long tile_tasks, tiles_each, panels, panel_tasks, panels_each;
    long in_channels, out_channels;     // of one group
} job;

// The runs of the pixels q0..<q1 of a row: partial ones first, full ones last; returns their number.  `runs` has room
// for twice the taps.
static long find_runs(const job *j, long q0, long q1, run *runs, long *full) {
    run *whole = runs + j->axes[2].taps;
    const cml_axis *w = &j->axes[2];
    long partial_count = 0, whole_count = 0;
    for (long i = 0; i < w->taps; i++) {
        long lo, hi;
        cml_axis_range(w, i, &lo, &hi);
        lo = (lo > q0 ? lo : q0) - q0;
        hi = (hi < q1 ? hi : q1) - q0;
        if (hi <= lo) continue;
        const int complete = lo == 0 && hi == q1 - q0;
        run *list = complete ? whole : runs;
        long *count = complete ? &whole_count : &partial_count;
        run *last = *count > 0 ? &list[*count - 1] : NULL;
        const long previous = last ? last->first + last->taps - 1 : -1;
        if (last && previous == i - 1 && last->lo == lo && last->hi == hi && j->shape->groups == 1
                && w->tap[i] == w->tap[i - 1] + 1 && w->offset[i] == w->offset[i - 1] + 1) {
            last->taps++;
            last->terms += j->in_channels;
        } else {
            list[(*count)++] = (run){lo, hi, i, 1, j->in_channels};
        }
    }
    memmove(runs + partial_count, whole, sizeof(run) * (size_t)whole_count);
    *full = whole_count;
    return partial_count + whole_count;
}

typedef struct {
    long rows[3];            // batch item, output depth, output height
    long q0, q1;             // pixels
    const float *x;          // the batch item's input of this group
    float *y;                // the tile's first pixel, first channel of the group
    const float *residual;
} tile_location;

static tile_location locate(const job *j, long group, long tile) {
    const cml_conv_shape *s = j->shape;
    const cml_axis *d = &j->axes[0], *h = &j->axes[1], *w = &j->axes[2];
    tile_location p;
    long row = tile / j->tiles_per_row, part = tile % j->tiles_per_row;
    p.rows[2] = row % h->count;
    p.rows[1] = row / h->count % d->count;
    p.rows[0] = row / h->count / d->count;
    p.q0 = w->count * part / j->tiles_per_row;
    p.q1 = w->count * (part + 1) / j->tiles_per_row;
    p.x = j->x + p.rows[0] * s->in[0] * s->in[1] * s->in[2] * s->in_channels + group * j->in_channels;
    const long depth = d->out_start + p.rows[1] * d->out_step, height = h->out_start + p.rows[2] * h->out_step;
    const long pixel = ((p.rows[0] * s->out[0] + depth) * s->out[1] + height) * s->out[2]
        + w->out_start + p.q0 * w->out_step;
    p.y = j->y + pixel * s->out_channels + group * j->out_channels;
    const cml_epilogue *e = j->epilogue;
    p.residual = e->residual ? e->residual + pixel * e->ldr + group * j->out_channels : NULL;
    return p;
}

// Input row of tap (a, b) of the depth and height axes, or null when outside.
static const float *input_row(const job *j, const tile_location *p, long a, long b) {
    const cml_axis *d = &j->axes[0], *h = &j->axes[1];
    const long z = p->rows[1] * d->in_stride + d->offset[a], y = p->rows[2] * h->in_stride + h->offset[b];
    if (z < 0 || z >= d->in_size || y < 0 || y >= h->in_size) return NULL;
    return p->x + (z * h->in_size + y) * j->axes[2].in_size * j->shape->in_channels;
}

static int alike(const run *one, const run *other) {
    return one->lo == other->lo && one->hi == other->hi && one->terms == other->terms;
}

// The offsets of the taps of a tile's runs: in the input from the tile's first pixel, and in the panel.
typedef struct {
    long *a, *b;
    long count;
    int whole;               // no tap of the depth and height axes lies outside the input
    long lo, taps, runs;     // of the runs listed: first pixel, taps of each, number
    long *first;             // and their first taps
} tap_list;

// True when every tap of the depth and height axes lies inside the input.
static int is_inside(const job *j, const tile_location *p) {
    for (int axis = 0; axis < 2; axis++) {
        const cml_axis *x = &j->axes[axis];
        const long at = p->rows[axis + 1] * x->in_stride;
        for (long tap = 0; tap < x->taps; tap++)
            if (at + x->offset[tap] < 0 || at + x->offset[tap] >= x->in_size) return 0;
    }
    return 1;
}

// True when `list` is that of these runs: tiles inside the input share it.
static int holds(const tap_list *list, const run *runs, long count, int inside) {
    if (!inside || !list->whole || list->runs != count || list->lo != runs->lo || list->taps != runs->taps) return 0;
    for (long r = 0; r < count; r++)
        if (list->first[r] != runs[r].first) return 0;
    return 1;
}

static void list_taps(const job *j, tap_list *list, const run *runs, long count, const tile_location *p, int inside) {
    const cml_conv_shape *s = j->shape;
    const cml_axis *d = &j->axes[0], *h = &j->axes[1], *w = &j->axes[2];
    *list = (tap_list){list->a, list->b, 0, inside, runs->lo, runs->taps, count, list->first};
    for (long r = 0; r < count; r++) {
        const run *u = &runs[r];
        list->first[r] = u->first;
        for (long a = 0; a < d->taps; a++) {
            for (long b = 0; b < h->taps; b++) {
                if (!inside && !input_row(j, p, a, b)) continue;
                list->a[list->count] = ((d->offset[a] * h->in_size + h->offset[b]) * w->in_size
                    + u->lo * w->in_stride + w->offset[u->first]) * s->in_channels;
                list->b[list->count++] = ((d->tap[a] * s->kernel[1] + h->tap[b]) * s->kernel[2] + w->tap[u->first])
                    * j->in_channels * j->isa->panel;
            }
        }
    }
}

// The first of `terms` of a block; for bytes an even one.
static long block_start(const job *j, long terms, long block, long blocks) {
    const long start = terms * block / blocks;
    return j->storage == CML_BYTES ? start & ~1L : start;
}

static void convolve(void *context, long index, int worker) {
    (void)worker;
    const job *j = context;
    const cml_conv_shape *s = j->shape;
    const cml_isa *isa = j->isa;
    const cml_axis *d = &j->axes[0], *h = &j->axes[1], *w = &j->axes[2];
    const cml_epilogue *e = j->epilogue;
    const int integers = cml_is_integer(j->storage);
    const long width = isa->panel, taps = cml_conv_taps(s), terms = taps * j->in_channels;
    const long per_group = j->tile_tasks * j->panel_tasks;
    const long group = index / per_group, tile_task = index % per_group / j->panel_tasks;
    const long panel_task = index % j->panel_tasks;
    const long tile0 = tile_task * j->tiles_each;
    const long tile1 = tile0 + j->tiles_each < j->tiles ? tile0 + j->tiles_each : j->tiles;
    const long panel0 = panel_task * j->panels_each;
    const long panel1 = panel0 + j->panels_each < j->panels ? panel0 + j->panels_each : j->panels;

    const size_t panel_bytes = (size_t)(terms * width) * sizeof(float);
    const int blocked = panel_bytes > PANEL_BYTES && tile1 - tile0 > 2;
    // Tiles at the same position of different rows have the same runs, and so has a tile that another panel comes back
    // to: they are found once, in rows that are not too long to keep them.
    const long most = tile1 - tile0 < j->tiles_per_row ? tile1 - tile0 : j->tiles_per_row;
    const int keeps = !blocked && most <= MOST_CACHED;
    const long cached = keeps ? most : 1;
    const size_t table = (size_t)taps * sizeof(long), list = 2 * (size_t)w->taps * sizeof(run);
    const size_t lists = (size_t)cached * (list + sizeof(found));
    const size_t firsts = (size_t)w->taps * sizeof(long);
    char *scratch = cml_scratch(3, lists + 2 * table + firsts + 64 + (j->storage == CML_F32 || integers ? 0 : panel_bytes));
    run *runs = (run *)scratch;
    found *known = (found *)(scratch + (size_t)cached * list);
    for (long part = 0; part < cached; part++) known[part].count = -1;
    long *tap_a = (long *)(scratch + lists), *tap_b = tap_a + taps;
    tap_list listed = {.a = tap_a, .b = tap_b, .first = tap_b + taps};
    float *widened = (float *)(scratch + ((lists + 2 * table + firsts + 63) & ~(size_t)63));
    static const long zero = 0;
    // The first partial sum starts from a residual in the result's memory.
    const int in_place = e->residual == j->y && e->ldr == s->out_channels && !integers;

    cml_tile t = {.lda = w->in_stride * s->in_channels, .ldb = width, .ldc = w->out_step * s->out_channels,
                  .ldr = w->out_step * e->ldr, 
                  .function = cml_tile_applies(e->function) ? e->function : CML_IDENTITY, .alpha = e->alpha, .beta = e->beta,
                  .tap_a = tap_a, .tap_b = tap_b};
    for (long panel = panel0; panel < panel1; panel++) {
        const long column = panel * width, channel = group * j->out_channels + column;
        const size_t at = (size_t)(group * j->panels + panel) * (size_t)(terms * width);
        const float *weights = (const float *)j->packed + at;
        if (j->codes) {
            isa->expand_codes(j->codes, panel, 0, terms, widened);
            weights = widened;
        } else if (j->storage == CML_F16) {
            isa->widen((const uint16_t *)j->packed + at, widened, terms * width);
            weights = widened;
        }
        t.n = j->out_channels - column < width ? j->out_channels - column : width;
        t.bias = e->bias ? e->bias + channel : NULL;
        t.slope = e->slope ? e->slope + channel : NULL;
        const cml_tile_kernel *kernels = cml_tiles(isa, j->storage, t.n);
        cml_tile_integers(&t, e, channel, j->y);
        if (j->storage == CML_BYTES) {
            t.panel = weights;
            t.large = (const uint8_t *)((const float *)j->packed + j->panels * terms * width) + panel * (terms / 2);
        }

        // The next panel is prefetched evenly while the tiles of this one are computed.
        const size_t bits = j->codes ? (size_t)j->codes->bits : j->storage == CML_F16 ? 16 : 32;
        const char *source = j->codes ? j->codes->packed : j->packed;
        const char *prefetch = panel + 1 < panel1 ? source + (at + (size_t)(terms * width)) * bits / 8 : NULL;
        t.prefetch_step = cml_prefetch_step(width * (long)bits / 8, tile1 - tile0);

        if (!blocked) {
            for (long tile = tile0; tile < tile1; tile++) {
                t.prefetch = prefetch ? prefetch + (tile - tile0) * terms * t.prefetch_step : NULL;
                const tile_location p = locate(j, group, tile);
                const long part = (tile - tile0) % cached;
                run *const tile_runs = runs + part * 2 * w->taps;
                if (!keeps || known[part].count < 0)
                    known[part].count = find_runs(j, p.q0, p.q1, tile_runs, &known[part].full);
                const long count = known[part].count, full = known[part].full;
                t.last = 0;
                t.accumulate = in_place;
                if (count > full && !in_place) {
                    t.taps = 0;
                    t.c = p.y + column;
                    kernels[p.q1 - p.q0](&t);
                    t.accumulate = 1;
                }
                int finished = 0;
                const int inside = is_inside(j, &p);
                const float *const base = p.x + (p.rows[1] * d->in_stride * h->in_size + p.rows[2] * h->in_stride)
                    * w->in_size * s->in_channels + p.q0 * w->in_stride * s->in_channels;
                for (long r = 0, next; r < count; r = next) {
                    const run *u = &tile_runs[r];
                    for (next = r + 1; next < count && alike(u, &tile_runs[next]); next++) continue;
                    if (!holds(&listed, u, next - r, inside)) list_taps(j, &listed, u, next - r, &p, inside);
                    t.taps = listed.count;
                    t.k = u->terms;
                    t.a = base;
                    t.b = weights;
                    t.c = p.y + column + u->lo * t.ldc;
                    t.last = next == count && full > 0;
                    t.residual = p.residual && !in_place ? p.residual + column : NULL;
                    kernels[u->hi - u->lo](&t);
                    t.accumulate = 1;
                    finished |= t.last;
                }
                if (!finished) {
                    t.taps = 0;
                    t.last = 1;
                    t.c = p.y + column;
                    t.residual = p.residual && !in_place ? p.residual + column : NULL;
                    kernels[p.q1 - p.q0](&t);
                }
            }
            continue;
        }

        // Blocked: clear the tiles, add block after block to all of them, then apply the epilogue.
        for (int phase = in_place; phase < 2; phase++) {
            if (phase == 1) {
                t.tap_a = t.tap_b = &zero;
                t.taps = 1;
                t.accumulate = 1;
                t.last = 0;
                // Tiles at the same position of different rows have the same runs.
                for (long part = 0; part < j->tiles_per_row; part++) {
                    const tile_location model = locate(j, group, part);
                    long full;
                    const long count = find_runs(j, model.q0, model.q1, runs, &full);
                    const long first = tile0 + (part - tile0 % j->tiles_per_row + j->tiles_per_row) % j->tiles_per_row;
                    for (long a = 0; a < d->taps; a++) for (long b = 0; b < h->taps; b++) for (long r = 0; r < count; r++) {
                        const run *u = &runs[r];
                        const float *base = weights
                            + ((d->tap[a] * s->kernel[1] + h->tap[b]) * s->kernel[2] + w->tap[u->first])
                            * j->in_channels * width;
                        const long blocks = (u->terms + BLOCK_TERMS - 1) / BLOCK_TERMS;
                        for (long block = 0; block < blocks; block++) {
                            const long k0 = block_start(j, u->terms, block, blocks);
                            t.k = block_start(j, u->terms, block + 1, blocks) - k0;
                            t.b = base + k0 * width;
                            const long rows = (tile1 - first + j->tiles_per_row - 1) / j->tiles_per_row;
                            t.prefetch_step = cml_prefetch_step(width * (long)sizeof(float), rows);
                            t.prefetch = (const char *)(t.b + t.k * width);
                            for (long tile = first; tile < tile1; tile += j->tiles_per_row) {
                                const tile_location p = locate(j, group, tile);
                                const float *row = input_row(j, &p, a, b);
                                if (!row) continue;
                                t.a = row + ((p.q0 + u->lo) * w->in_stride + w->offset[u->first]) * s->in_channels + k0;
                                t.c = p.y + column + u->lo * t.ldc;
                                kernels[u->hi - u->lo](&t);
                                t.prefetch += t.k * t.prefetch_step;
                            }
                        }
                    }
                }
            }
            t.prefetch = NULL;
            t.taps = 0;
            t.last = phase;
            t.accumulate = phase;
            for (long tile = tile0; tile < tile1; tile++) {
                const tile_location p = locate(j, group, tile);
                t.c = p.y + column;
                t.residual = p.residual && !in_place ? p.residual + column : NULL;
                kernels[p.q1 - p.q0](&t);
            }
        }
        t.tap_a = tap_a;
        t.tap_b = tap_b;
    }
    if (cml_tile_applies(e->function)) return;
    const long column0 = panel0 * width, column1 = panel1 * width < j->out_channels ? panel1 * width : j->out_channels;
    for (long tile = tile0; tile < tile1; tile++) {
        const tile_location p = locate(j, group, tile);
        cml_finish(isa, e, p.y + column0, t.ldc, p.q1 - p.q0, column1 - column0, j->y);
    }
}

static void run_axes(const cml_isa *isa, const cml_conv_shape *s, const cml_axis axes[3], const float *x,
                     const void *packed, cml_storage storage, float *y, const cml_epilogue *epilogue) {
    job j = {.isa = isa, .shape = s, .axes = axes, .x = x, .packed = packed, .storage = storage, .y = y,
             .epilogue = epilogue, .codes = storage == CML_CODES ? packed : NULL};
    j.in_channels = s->in_channels / s->groups;
    j.out_channels = s->out_channels / s->groups;
    j.panels = (j.out_channels + isa->panel - 1) / isa->panel;
    const long pixels = axes[2].count, rows = s->batch * axes[0].count * axes[1].count;
    if (rows <= 0 || pixels <= 0) return;
    j.tiles_per_row = (pixels + isa->rows - 1) / isa->rows;
    j.tiles = rows * j.tiles_per_row;
    const long workers = cml_worker_count();
    const size_t weight_bytes = (size_t)(cml_conv_taps(s) * j.in_channels * s->out_channels) * 4;
    const size_t input_bytes = (size_t)(s->batch * s->in[0] * s->in[1] * s->in[2] * s->in_channels) * 4;
    j.tile_tasks = j.panel_tasks = 1;
    j.tiles_each = j.tiles;
    j.panels_each = j.panels;
    if (s->groups >= 4 * workers) {
        // Groups are the tasks.
    } else if (weight_bytes > input_bytes && j.panels >= workers) {
        long tasks = j.panels < 8 * workers ? j.panels : 8 * workers;
        j.panels_each = (j.panels + tasks - 1) / tasks;
        j.panel_tasks = (j.panels + j.panels_each - 1) / j.panels_each;
    } else {
        // A task's input rows stay in the L2 cache while the panels pass over them.
        const size_t row_bytes = (size_t)(s->in[2] * s->in_channels * axes[1].in_stride) * 4;
        long rows_each = (long)((256 << 10) / (row_bytes > 0 ? row_bytes : 1));
        long share = rows / (2 * workers);
        if (rows_each > share) rows_each = share;
        if (rows_each < 1) rows_each = 1;
        long tasks = (rows + rows_each - 1) / rows_each;
        if (rows < 2 * workers) tasks = j.tiles < 8 * workers ? j.tiles : 8 * workers;
        tasks = (tasks + workers - 1) / workers * workers;
        if (tasks > j.tiles) tasks = j.tiles;
        j.tiles_each = (j.tiles + tasks - 1) / tasks;
        if (rows >= 2 * workers) j.tiles_each = (j.tiles_each + j.tiles_per_row - 1) / j.tiles_per_row * j.tiles_per_row;
        j.tile_tasks = (j.tiles + j.tiles_each - 1) / j.tiles_each;
    }
    cml_parallel_for(s->groups * j.tile_tasks * j.panel_tasks, convolve, &j);
}

typedef struct {
    const cml_conv_shape *shape;
    const float *x;
    float *gathered;
} gather_job;

// The pixels a strided 1×1 kernel reads, one output row.
static void gather_row(void *context, long index, int worker) {
    (void)worker;
    const gather_job *g = context;
    const cml_conv_shape *s = g->shape;
    const long oh = index % s->out[1], od = index / s->out[1] % s->out[0], item = index / s->out[1] / s->out[0];
    const long row = (item * s->in[0] + od * s->stride[0]) * s->in[1] + oh * s->stride[1];
    const float *source = g->x + row * s->in[2] * s->in_channels;
    float *result = g->gathered + index * s->out[2] * s->in_channels;
    for (long q = 0; q < s->out[2]; q++)
        memcpy(result + q * s->in_channels, source + q * s->stride[2] * s->in_channels,
               (size_t)s->in_channels * sizeof(float));
}

// A 1×1 kernel without padding is a matrix product; true when it was.
static int pointwise(const cml_isa *isa, const cml_conv_shape *s, const float *x, const void *packed,
                     cml_storage storage, float *y, const cml_epilogue *e) {
    if (s->transposed || s->groups != 1 || cml_conv_taps(s) != 1) return 0;
    long stride = 1;
    for (int axis = 0; axis < 3; axis++) {
        if (s->pad[axis] != 0 || (s->out[axis] - 1) * s->stride[axis] >= s->in[axis]) return 0;
        if (s->out[axis] != s->in[axis]) stride = 2;
    }
    const long pixels = s->batch * s->out[0] * s->out[1] * s->out[2];
    if (pixels == 0) return 1;
    if (stride > 1) {
        float *gathered = cml_scratch(2, (size_t)(pixels * s->in_channels) * sizeof(float));
        gather_job g = {s, x, gathered};
        cml_parallel_for(s->batch * s->out[0] * s->out[1], gather_row, &g);
        x = gathered;
    }
    cml_gemm_call call = {.m = pixels, .n = s->out_channels, .k = s->in_channels, .a = x, .lda = s->in_channels,
                          .b = packed, .storage = storage, .codes = storage == CML_CODES ? packed : NULL, .c = y, .ldc = s->out_channels, .epilogue = *e, .batch = 1};
    cml_gemm(isa, &call);
    return 1;
}

void cml_conv(const cml_isa *isa, const cml_conv_shape *s, const float *x, const void *packed, cml_storage storage,
              float *y, const cml_epilogue *epilogue) {
    if (s->batch <= 0 || s->out_channels <= 0) return;
    if (cml_amx_convolves(isa, s, storage)) {
        if (!pointwise(isa, s, x, packed, storage, y, epilogue)) cml_amx_conv(isa, s, x, packed, storage, y, epilogue);
        return;
    }
    // The other weights of half-floats are packed for exact products.
    isa = cml_isa_exact(isa);
    if (s->method != CML_CONV_DIRECT) {
        const cml_codes *codes = storage == CML_CODES ? packed : NULL;
        cml_winograd(isa, s, x, codes ? NULL : packed, codes, y, epilogue);
        return;
    }
    if (pointwise(isa, s, x, packed, storage, y, epilogue)) return;
    long counts = s->kernel[0] + s->kernel[1] + s->kernel[2];
    long *tables = cml_scratch(2, (size_t)(2 * counts) * sizeof(long));
    cml_axis axes[3];
    if (!s->transposed) {
        for (int a = 0; a < 3; a++) {
            long *tap = tables, *offset = tables + s->kernel[a];
            tables += 2 * s->kernel[a];
            for (long k = 0; k < s->kernel[a]; k++) {
                tap[k] = k;
                offset[k] = k * s->dilation[a] - s->pad[a];
            }
            axes[a] = (cml_axis){s->out[a], s->in[a], s->stride[a], 0, 1, s->kernel[a], tap, offset};
        }
        if (cml_conv_is_depthwise(s)) cml_depthwise(isa, s, axes, x, packed, y, epilogue);
        else run_axes(isa, s, axes, x, packed, storage, y, epilogue);
        return;
    }
    // Outputs o = phase + stride q take the taps k with (phase + pad - dilation k) divisible by the stride.
    long phase[3];
    for (phase[0] = 0; phase[0] < s->stride[0]; phase[0]++)
        for (phase[1] = 0; phase[1] < s->stride[1]; phase[1]++)
            for (phase[2] = 0; phase[2] < s->stride[2]; phase[2]++) {
                long *cursor = tables;
                for (int a = 0; a < 3; a++) {
                    long *tap = cursor, *offset = cursor + s->kernel[a], taps = 0;
                    cursor += 2 * s->kernel[a];
                    for (long k = 0; k < s->kernel[a]; k++) {
                        const long distance = phase[a] + s->pad[a] - k * s->dilation[a];
                        if (distance % s->stride[a] != 0) continue;
                        tap[taps] = k;
                        offset[taps++] = distance / s->stride[a];
                    }
                    const long count = phase[a] < s->out[a] ? (s->out[a] - phase[a] + s->stride[a] - 1) / s->stride[a] : 0;
                    axes[a] = (cml_axis){count, s->in[a], 1, phase[a], s->stride[a], taps, tap, offset};
                }
                run_axes(isa, s, axes, x, packed, storage, y, epilogue);
            }
}

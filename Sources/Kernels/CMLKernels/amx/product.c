// Blocking and division of work for products and convolutions with matrix tiles; the arithmetic is in tiles.c.
#include "tiles.h"
#include <stdatomic.h>
#include <string.h>

// Rows of a task, whose operands stay in the L2 cache, and the bytes that these may take.
#define TASK_ROWS 256
#define TASK_BYTES (1 << 20)
// For fewer rows of integers, and fewer words of them to multiply, the other kernels are as fast.
#define LEAST_ROWS 8
#define LEAST_WORDS (1 << 16)

// How a product is divided into tasks.
typedef struct {
    long rows_each, row_tasks;
    long panels, panels_each, panel_tasks;
} division;

// Divides `rows` rows of the first factor by `columns` columns, where other tasks beside are `others`. The weights are the
// second factor's bytes.
static division divide(long rows, long row_bytes, long columns, long weights, long others) {
    const long workers = cml_worker_count();
    long most = row_bytes > 0 ? TASK_BYTES / row_bytes / AMX_ROWS * AMX_ROWS : TASK_ROWS;
    if (most > TASK_ROWS) most = TASK_ROWS;
    if (most < AMX_ROWS) most = AMX_ROWS;
    division d = {.panels = (columns + AMX_COLUMNS - 1) / AMX_COLUMNS};
    // Weights that outweigh the rows are read by one worker each; else a worker has rows of its own.
    const int by_panels = weights > rows * row_bytes && d.panels >= workers && others < workers;
    const long share = amx_round(by_panels ? rows : (rows + workers - 1) / workers, AMX_ROWS);
    d.rows_each = share < most ? share : most;
    d.row_tasks = (rows + d.rows_each - 1) / d.rows_each;
    long tasks = by_panels || others * d.row_tasks < workers ? 2 * workers : 1;
    if (tasks > d.panels) tasks = d.panels;
    d.panels_each = (d.panels + tasks - 1) / tasks;
    d.panel_tasks = (d.panels + d.panels_each - 1) / d.panels_each;
    return d;
}

// Bytes of a term as tiles read it: of a number in bfloat16, of four bytes, which count as one, or of a pair of them.
static long term_bytes(cml_storage storage) { return storage == CML_BYTES ? 4 : 2; }

// Copies `count` terms of bfloat16 or of bytes as tiles read them, and adds zeros up to `bytes`.
static void copy_terms(cml_storage storage, const float *source, long count, long bytes, char *target) {
    if (storage == CML_F16) {
        cml_amx_round(source, count, bytes / 2, (uint16_t *)(void *)target);
        return;
    }
    memcpy(target, source, (size_t)(count * 4));
    memset(target + count * 4, 0, (size_t)(bytes - count * 4));
}

// MARK: Matrix products

typedef struct {
    const cml_isa *isa;
    const cml_gemm_call *call;
    division parts;
    long bytes, stride;                   // of a row of `rows`, padded, and from one to the next
    char *rows;                           // the first factor as tiles read it, but for rows of bytes before `copied`
    long copied;
    atomic_int is_large;                  // integers that do not fit bytes
} gemm_job;

// The form of signed bytes that follows packed pairs.
static const char *signed_form(const cml_isa *isa, const cml_gemm_call *call) {
    return (const char *)call->b + cml_amx_signed_start(cml_packed_count(isa, call->k, call->n) * sizeof(float));
}

int cml_amx_multiplies(const cml_isa *isa, const cml_gemm_call *call) {
    if (cml_is_low(isa, call->storage)) return 1;
    if (!isa->byte_tiles || call->m < LEAST_ROWS || call->batch != 1 || call->m * call->n * call->k < LEAST_WORDS) return 0;
    return call->storage == CML_BYTES || (call->storage == CML_PAIRS && *signed_form(isa, call));
}

// Copies a block of rows.
static void copy_rows(void *context, long index, int worker) {
    (void)worker;
    gemm_job *const j = context;
    const cml_gemm_call *call = j->call;
    const long first = j->copied + index * AMX_ROWS, end = first + AMX_ROWS < call->m ? first + AMX_ROWS : call->m;
    for (long row = first; row < end; row++) {
        const float *const a = call->a + row * call->lda;
        char *const target = j->rows + (row - j->copied) * j->stride;
        if (call->storage != CML_PAIRS) copy_terms(call->storage, a, call->k, j->bytes, target);
        else if (!cml_amx_narrow((const int16_t *)(const void *)a, 2 * call->k, j->bytes, (int8_t *)target))
            atomic_store_explicit(&j->is_large, 1, memory_order_relaxed);
    }
}

static void multiply(void *context, long index, int worker) {
    (void)worker;
    const gemm_job *j = context;
    const cml_gemm_call *call = j->call;
    const cml_epilogue *e = &call->epilogue;
    const division *d = &j->parts;
    const long row0 = index / d->panel_tasks * d->rows_each, panel0 = index % d->panel_tasks * d->panels_each;
    const long rows = call->m - row0 < d->rows_each ? call->m - row0 : d->rows_each, offset = 0;
    float *c[TASK_ROWS];
    const float *residual[TASK_ROWS];
    for (long row = 0; row < rows; row++) {
        c[row] = call->c + (row0 + row) * call->ldc;
        residual[row] = e->residual ? e->residual + (row0 + row) * e->ldr : NULL;
    }
    amx_block block = {.storage = call->storage, .offsets = &offset, .taps = 1, .steps = j->bytes / AMX_STEP,
                       .b = call->storage == CML_PAIRS ? (char *)cml_amx_signed_panel((void *)signed_form(j->isa, call), 2 * call->k, 0) : call->b,
                       .panel_step = (call->storage == CML_BYTES ? call->k * 4 : j->bytes) * AMX_COLUMNS,
                       .first_panel = panel0, .panels = d->panels - panel0 < d->panels_each ? d->panels - panel0 : d->panels_each,
                       .columns = call->n, .epilogue = e, .y = call->c, .ldc = call->ldc, .ldr = e->ldr};
    cml_amx_begin(rows);
    const long direct = j->copied <= row0 ? 0 : j->copied - row0 < rows ? j->copied - row0 : rows;
    if (direct > 0) {
        block.a = (const char *)(call->a + row0 * call->lda);
        block.stride = call->lda * (long)sizeof(float);
        block.c = c;
        block.residual = residual;
        block.rows = direct;
        cml_amx_multiply(j->isa, &block);
    }
    if (rows > direct) {
        block.a = j->rows + (row0 + direct - j->copied) * j->stride;
        block.stride = j->stride;
        block.c = c + direct;
        block.residual = residual + direct;
        block.rows = rows - direct;
        cml_amx_multiply(j->isa, &block);
    }
    cml_amx_end();
}

int cml_amx_gemm(const cml_isa *isa, const cml_gemm_call *call) {
    const long terms = call->k * term_bytes(call->storage);
    gemm_job j = {.isa = isa, .call = call, .bytes = amx_round(terms, AMX_STEP)};
    j.parts = divide(call->m, j.bytes, call->n, j.bytes * call->n, 1);
    // A line more, so that rows do not fall into one set of the L1 cache.
    j.stride = j.bytes + 64;
    // Whole blocks of bytes are read in place.
    j.copied = call->storage == CML_BYTES && terms == j.bytes ? call->m / AMX_ROWS * AMX_ROWS : 0;
    const long left = call->m - j.copied;
    j.rows = cml_scratch(1, (size_t)(amx_round(left, AMX_ROWS) * j.stride));
    cml_parallel_for((left + AMX_ROWS - 1) / AMX_ROWS, copy_rows, &j);
    if (atomic_load_explicit(&j.is_large, memory_order_relaxed)) return 0;
    cml_parallel_for(j.parts.row_tasks * j.parts.panel_tasks, multiply, &j);
    return 1;
}

// MARK: Convolutions

// The operand is copied, in bfloat16 or as bytes.  A window's rows and columns with the same remainder by the stride are a
// plane of their own, padded, so that under each tap successive outputs read successive pixels, also from one row to the
// next: some of the pixels between the rows are outputs that nobody wants.
typedef struct {
    const cml_isa *isa;
    const cml_conv_shape *shape;
    const float *x;
    const void *packed;
    cml_storage storage;
    float *y;
    const cml_epilogue *epilogue;
    long images;                          // of the result: slices of all items
    long pixel;                           // bytes of a pixel, or of those of all taps, which tasks gather; padded
    long height, width;                   // of a plane
    long planes, image;                   // of an image; bytes of an image
    char *pixels;
    const long *offsets;                  // of the taps
    long taps, tap_step, rows;            // bytes of the weights from tap to tap
    int gathered;
    division parts;
} conv_job;

int cml_amx_convolves(const cml_isa *isa, const cml_conv_shape *s, cml_storage storage) {
    if (cml_low_convolves(isa, s, storage)) return 1;
    return isa->byte_tiles && storage == CML_BYTES && !s->transposed && s->groups == 1 && s->kernel[0] == 1;
}

// The operand's slice that an image of the result reads; null beyond the edges.
static const float *slice_of(const conv_job *j, long image) {
    const cml_conv_shape *s = j->shape;
    const long item = image / s->out[0], z = image % s->out[0] * s->stride[0] - s->pad[0];
    if (z < 0 || z >= s->in[0]) return NULL;
    return j->x + (item * s->in[0] + z) * s->in[1] * s->in[2] * s->in_channels;
}

// A row of the operand as it is.
static void copy_image_line(void *context, long index, int worker) {
    (void)worker;
    const conv_job *j = context;
    const cml_conv_shape *s = j->shape;
    const long image = index / s->in[1], y = index % s->in[1], count = s->in[2] * s->in_channels;
    const long bytes = count * term_bytes(j->storage);
    const float *const slice = slice_of(j, image);
    // Rounding stores whole vectors, the last of which may reach into the next row: this comes from a buffer of its own.
    char *const buffer = cml_scratch(3, (size_t)amx_round(bytes, 64));
    char *const target = j->pixels + image * j->image + y * bytes;
    if (slice) {
        copy_terms(j->storage, slice + y * count, count, amx_round(bytes, 64), buffer);
        memcpy(target, buffer, (size_t)bytes);
    } else {
        memset(target, 0, (size_t)bytes);
    }
}

// A row of a plane.
static void copy_line(void *context, long index, int worker) {
    (void)worker;
    const conv_job *j = context;
    const cml_conv_shape *s = j->shape;
    const long image = index / (j->planes * j->height), plane = index / j->height % j->planes, row = index % j->height;
    const long y = row * s->stride[1] + plane / s->stride[2] - s->pad[1];
    const float *const slice = slice_of(j, image);
    char *target = j->pixels + image * j->image + (plane * j->height + row) * j->width * j->pixel;
    if (!slice || y < 0 || y >= s->in[1]) {
        memset(target, 0, (size_t)(j->width * j->pixel));
        return;
    }
    for (long column = 0; column < j->width; column++, target += j->pixel) {
        const long x = column * s->stride[2] + plane % s->stride[2] - s->pad[2];
        if (x >= 0 && x < s->in[2]) copy_terms(j->storage, slice + (y * s->in[2] + x) * s->in_channels, s->in_channels, j->pixel, target);
        else memset(target, 0, (size_t)j->pixel);
    }
}

// The inputs under the window for some successive outputs, padded.
static void gather(const conv_job *j, long image, long first, long rows, char *target) {
    const cml_conv_shape *s = j->shape;
    const long unit = term_bytes(j->storage) * s->in_channels, across = s->kernel[2] * unit, line = s->in[2] * unit;
    const char *const slice = j->pixels + image * j->image;
    const long left = j->pixel - s->kernel[1] * across;
    for (long row = first; row < first + rows; row++, target += j->pixel) {
        const long x0 = row % s->out[2] * s->stride[2] - s->pad[2], y0 = row / s->out[2] * s->stride[1] - s->pad[1];
        const int is_whole = s->dilation[2] == 1 && x0 >= 0 && x0 + s->kernel[2] <= s->in[2];
        char *to = target;
        if (is_whole && y0 >= 0 && y0 + (s->kernel[1] - 1) * s->dilation[1] < s->in[1]) {
            cml_amx_copy_lines(slice + y0 * line + x0 * unit, s->dilation[1] * line, s->kernel[1], across, to);
            memset(to + s->kernel[1] * across, 0, (size_t)left);
            continue;
        }
        for (long a = 0; a < s->kernel[1]; a++, to += across) {
            const long y = y0 + a * s->dilation[1];
            const char *const from = slice + y * line;
            if (y >= 0 && y < s->in[1] && is_whole) {
                memcpy(to, from + x0 * unit, (size_t)across);
                continue;
            }
            memset(to, 0, (size_t)across);
            for (long b = 0; y >= 0 && y < s->in[1] && b < s->kernel[2]; b++) {
                const long x = x0 + b * s->dilation[2];
                if (x >= 0 && x < s->in[2]) memcpy(to + b * unit, from + x * unit, (size_t)unit);
            }
        }
        memset(to, 0, (size_t)left);
    }
}

static void convolve(void *context, long index, int worker) {
    (void)worker;
    const conv_job *j = context;
    const cml_conv_shape *s = j->shape;
    const cml_epilogue *e = j->epilogue;
    const division *d = &j->parts;
    const long per_image = d->row_tasks * d->panel_tasks, image = index / per_image, task = index % per_image;
    const long row0 = task / d->panel_tasks * d->rows_each, panel0 = task % d->panel_tasks * d->panels_each;
    const long rows = j->rows - row0 < d->rows_each ? j->rows - row0 : d->rows_each;
    float *c[TASK_ROWS];
    const float *residual[TASK_ROWS];
    for (long row = 0; row < rows; row++) {
        const long y = (row0 + row) / j->width, x = (row0 + row) % j->width;
        const long pixel = (image * s->out[1] + y) * s->out[2] + x;
        c[row] = x < s->out[2] ? j->y + pixel * s->out_channels : NULL;
        residual[row] = c[row] && e->residual ? e->residual + pixel * e->ldr : NULL;
    }
    const char *a = j->pixels + image * j->image + row0 * j->pixel;
    if (j->gathered) {
        char *const windows = cml_scratch(3, (size_t)(amx_round(rows, AMX_ROWS) * j->pixel));
        gather(j, image, row0, rows, windows);
        a = windows;
    }
    const amx_block block = {.storage = j->storage, .a = a, .stride = j->pixel,
                             .offsets = j->offsets, .taps = j->taps, .steps = j->pixel / AMX_STEP, .b = j->packed,
                             .panel_step = j->taps * j->tap_step, .tap_step = j->tap_step, .first_panel = panel0,
                             .panels = d->panels - panel0 < d->panels_each ? d->panels - panel0 : d->panels_each,
                             .columns = s->out_channels, .epilogue = e, .y = j->y, .c = c, .residual = residual,
                             .ldc = s->out_channels, .ldr = e->ldr, .rows = rows};
    cml_amx_begin(AMX_ROWS);
    cml_amx_multiply(j->isa, &block);
    cml_amx_end();
}

void cml_amx_conv(const cml_isa *isa, const cml_conv_shape *s, const float *x, const void *packed, cml_storage storage,
                  float *y, const cml_epilogue *epilogue) {
    const int gathered = amx_is_gathered(s, storage);
    conv_job j = {.isa = isa, .shape = s, .x = x, .packed = packed, .storage = storage, .y = y, .epilogue = epilogue,
                  .images = s->batch * s->out[0], .taps = gathered ? 1 : s->kernel[1] * s->kernel[2], .gathered = gathered};
    if (j.images <= 0 || s->out[1] <= 0 || s->out[2] <= 0) return;
    const long terms = gathered ? s->kernel[1] * s->kernel[2] * s->in_channels : s->in_channels;
    j.pixel = amx_round(terms * term_bytes(storage), AMX_STEP);
    j.tap_step = (storage == CML_BYTES ? terms * 4 : j.pixel) * AMX_COLUMNS;
    j.height = gathered ? s->out[1] : s->out[1] + (s->kernel[1] - 1) * s->dilation[1] / s->stride[1];
    j.width = gathered ? s->out[2] : s->out[2] + (s->kernel[2] - 1) * s->dilation[2] / s->stride[2];
    j.planes = gathered ? 1 : s->stride[1] * s->stride[2];
    j.image = gathered ? s->in[1] * s->in[2] * s->in_channels * term_bytes(storage) : j.planes * j.height * j.width * j.pixel;
    j.rows = (s->out[1] - 1) * j.width + s->out[2];
    long *const offsets = cml_scratch(1, sizeof(long) * (size_t)j.taps);
    for (long tap = 0; tap < j.taps; tap++) {
        const long a = tap / s->kernel[2] * s->dilation[1], b = tap % s->kernel[2] * s->dilation[2];
        const long plane = a % s->stride[1] * s->stride[2] + b % s->stride[2];
        offsets[tap] = gathered ? 0 : ((plane * j.height + a / s->stride[1]) * j.width + b / s->stride[2]) * j.pixel;
    }
    j.offsets = offsets;
    // The last tiles read whole blocks of rows.
    j.pixels = cml_scratch(2, (size_t)(j.images * j.image + AMX_ROWS * j.pixel));
    if (gathered) cml_parallel_for(j.images * s->in[1], copy_image_line, &j);
    else cml_parallel_for(j.images * j.planes * j.height, copy_line, &j);
    j.parts = divide(j.rows, j.pixel, s->out_channels, j.taps * j.pixel * s->out_channels, j.images);
    cml_parallel_for(j.images * j.parts.row_tasks * j.parts.panel_tasks, convolve, &j);
}

// Blocking and division of work for matrix products; the arithmetic is in the tile and stream kernels.
#include "../codes/codes.h"
#include "../isa/isa.h"
#include "../amx/amx.h"
#include <string.h>

// Terms summed before the partial sums go back to memory.  A panel's block streams from the L2 cache; for few tiles,
// and for half floats, which are widened first, it stays in the first.
#define BLOCK_TERMS 512
#define BLOCK_TERMS_FEW 256
// Rows one task works on: their block of `a` stays in the L2 cache.
#define TASK_BYTES (256 << 10)

// Rows that are worth a pass over the weights of their own, and panels that are worth prefetching a block of `a`.
#define LEAST_ROWS 32
#define LEAST_PANELS 12

// The distance at which streamed weights are prefetched.  The second, for AVX-512, is a page: a processor's own prefetching
// ends with each.
#define PREFETCH_BYTES 2048
#define PREFETCH_BYTES_WIDE 4096

typedef struct {
    const cml_isa *isa;
    const cml_gemm_call *call;
    long row_tasks, rows_each;        // rows of a task; 0: as many whole tiles each as divide evenly
    long panel_tasks, panels_each;    // panels of a task
    long panels;
} job;

size_t cml_packed_count(const cml_isa *isa, long k, long n) {
    return (size_t)((n + isa->panel - 1) / isa->panel * isa->panel) * (size_t)k;
}

size_t cml_packed_bytes(const cml_isa *isa, cml_storage storage, long k, long n) {
    if (cml_is_low(isa, storage)) return cml_low_packed_bytes(k, n);
    return cml_packed_count(isa, k, n) * (storage == CML_F16 ? sizeof(uint16_t) : sizeof(float));
}

typedef struct {
    const cml_isa *isa;
    const char *source;
    cml_storage storage;
    long k, n, k_stride, n_stride;
    char *packed;
    const long *source_offsets;  // per batch item, for runtime operands
    long panels;
    size_t batch_count;
} pack_job;

static void pack_panel(void *context, long index, int worker) {
    (void)worker;
    const pack_job *job = context;
    const long width = job->isa->panel, item = index / job->panels, panel = index % job->panels;
    const long n = job->n - panel * width < width ? job->n - panel * width : width;
    const long start = panel * width * job->n_stride + (job->source_offsets ? job->source_offsets[item] : 0);
    const size_t target = (size_t)item * job->batch_count + (size_t)(panel * width) * (size_t)job->k;
    if (job->storage == CML_F32) {
        const float *source = (const float *)job->source + start;
        float *packed = (float *)job->packed + target;
        if (job->n_stride == 1) {
            job->isa->pack_rows(source, job->k_stride, job->k, n, packed);
        } else if (job->k_stride == 1) {
            job->isa->pack_columns(source, job->n_stride, job->k, n, packed);
        } else {
            for (long p = 0; p < job->k; p++)
                for (long j = 0; j < width; j++)
                    packed[p * width + j] = j < n ? source[p * job->k_stride + j * job->n_stride] : 0;
        }
    } else {
        const uint16_t *source = (const uint16_t *)job->source + start;
        uint16_t *packed = (uint16_t *)job->packed + target;
        // In blocks of rows, so that transposing reads whole cache lines.
        for (long p0 = 0; p0 < job->k; p0 += 32) {
            long end = p0 + 32 < job->k ? p0 + 32 : job->k;
            for (long j = 0; j < width; j++)
                for (long p = p0; p < end; p++)
                    packed[p * width + j] = j < n ? source[p * job->k_stride + j * job->n_stride] : 0;
        }
    }
}

void cml_pack(const cml_isa *isa, const void *source, cml_storage storage, long k, long n, long k_stride,
              long n_stride, void *packed) {
    if (cml_is_low(isa, storage)) {
        cml_low_pack(isa, source, k, n, k_stride, n_stride, packed);
        return;
    }
    pack_job job = {isa, source, storage, k, n, k_stride, n_stride, packed, NULL, (n + isa->panel - 1) / isa->panel, 0};
    cml_parallel_for(job.panels, pack_panel, &job);
}

static long first_row(const job *j, long row_task) {
    if (j->rows_each > 0) return row_task * j->rows_each;
    const long tiles = (j->call->m + j->isa->rows - 1) / j->isa->rows;
    return tiles * row_task / j->row_tasks * j->isa->rows;
}

// Rows that one pass over a panel serves: two where the sums of more and those of their blocks do not fit 16 registers.
static long streamed_rows(const cml_isa *isa, const cml_codes *codes) {
    return codes && !codes->is_table && codes->bits == 4 && isa->vector == 8 ? 2 : 4;
}

// The stream kernels of a product's weights, by rows.
static const cml_stream_kernel *streams(const cml_isa *isa, const cml_gemm_call *call) {
    if (call->storage != CML_CODES) return call->storage == CML_F32 ? isa->stream_f32 : isa->stream_f16;
    const cml_codes *c = call->codes;
    if (!c->is_table) {
        if (c->bits == 4) return c->has_offsets ? isa->stream_offset_4 : isa->stream_linear_4;
        return c->has_offsets ? isa->stream_offset_8 : isa->stream_linear_8;
    }
    switch (c->bits) {
    case 1: return isa->stream_table_1;
    case 2: return isa->stream_table_2;
    case 3: return isa->stream_table_3;
    case 4: return isa->stream_table_4;
    case 6: return isa->stream_table_6;
    default: return isa->stream_table_8;
    }
}

// The first term of a block; for bytes an even one.
static long block_start(const cml_gemm_call *call, long block, long blocks) {
    const long start = call->k * block / blocks;
    return call->storage == CML_BYTES ? start & ~1L : start;
}

static void multiply(void *context, long index, int worker) {
    (void)worker;
    const job *j = context;
    const cml_gemm_call *call = j->call;
    const cml_isa *isa = j->isa;
    const long width = isa->panel, per_item = j->row_tasks * j->panel_tasks;
    const long item = index / per_item, task = index % per_item;
    const long row_task = task / j->panel_tasks, panel_task = task % j->panel_tasks;
    const long row0 = first_row(j, row_task), row1 = first_row(j, row_task + 1);
    const long rows = (row1 < call->m ? row1 : call->m) - row0;
    const long panel0 = panel_task * j->panels_each;
    const long panel1 = panel0 + j->panels_each < j->panels ? panel0 + j->panels_each : j->panels;
    const long a_offset = call->a_offsets ? call->a_offsets[item] : 0;
    const long b_offset = call->b_offsets ? call->b_offsets[item] : 0;
    const long c_offset = call->c_offsets ? call->c_offsets[item] : 0;
    const cml_codes *codes = call->storage == CML_CODES ? call->codes : NULL;
    const size_t element = call->storage == CML_F16 ? sizeof(uint16_t) : sizeof(float);
    const int integers = cml_is_integer(call->storage), bytes = call->storage == CML_BYTES;
    const char *b = codes ? NULL : (const char *)call->b + (size_t)b_offset * element;
    const cml_epilogue *e = &call->epilogue;
    static const long zero = 0;

    cml_stream stream = {.prefetch_bytes = isa->vector == 16 ? PREFETCH_BYTES_WIDE : PREFETCH_BYTES, .codes = codes};
    cml_tile *t = &stream.tile;
    t->lda = call->lda;
    t->ldc = call->ldc;
    t->ldr = e->ldr;
    t->ldb = width;
    t->tap_a = t->tap_b = &zero;
    t->taps = 1;
    t->function = cml_tile_applies(e->function) ? e->function : CML_IDENTITY;
    t->alpha = e->alpha;
    t->beta = e->beta;

    const long column0 = panel0 * width, column1 = panel1 * width < call->n ? panel1 * width : call->n;
    float *const result = call->c + c_offset + row0 * call->ldc + column0;
    // The order of an element's sums follows from the whole product, not from this task's share of its rows: results
    // do not depend on the number of workers.
    const long whole = call->whole > 0 ? call->whole : call->m;
    float *scaled = NULL;
    int finite = 1;
    if (whole <= 4 && codes && cml_scales_rows(isa, codes)) {
        stream.scaled_row = cml_scaled_row(codes);
        scaled = cml_scratch(3, sizeof(float) * (size_t)(rows * stream.scaled_row));
        for (long row = 0; row < rows; row++)
            finite &= cml_scale_row(codes, call->a + a_offset + (row0 + row) * call->lda,
                                    scaled + row * stream.scaled_row);
    }
    if (whole <= 4 && !integers && finite) {
        const cml_stream_kernel *const kernels = streams(isa, call);
        const long step = streamed_rows(isa, codes);
        for (long panel = panel0; panel < panel1; panel++) {
            const long column = panel * width;
            t->k = call->k;
            t->n = call->n - column < width ? call->n - column : width;
            t->last = 1;
            t->bias = e->bias ? e->bias + column : NULL;
            t->slope = e->slope ? e->slope + column : NULL;
            stream.panel = panel;
            stream.packed = codes ? (const char *)codes->packed + (size_t)panel * cml_codes_panel(codes, width)
                                  : b + (size_t)column * (size_t)call->k * element;
            for (long row = row0; row < row0 + rows; row += step) {
                const long left = row0 + rows - row;
                t->a = call->a + a_offset + row * call->lda;
                stream.scaled = scaled ? scaled + (row - row0) * stream.scaled_row : NULL;
                t->c = call->c + c_offset + row * call->ldc + column;
                t->residual = e->residual ? e->residual + c_offset + row * e->ldr + column : NULL;
                kernels[left < step ? left : step](&stream);
            }
        }
        cml_finish(isa, e, result, call->ldc, rows, column1 - column0, NULL);
        return;
    }

    const long tiles = (rows + isa->rows - 1) / isa->rows;
    const long all_tiles = (whole + isa->rows - 1) / isa->rows;
    const int is_read_directly = call->storage == CML_F32 || integers;
    const long block_terms = is_read_directly && all_tiles > 4 ? BLOCK_TERMS : BLOCK_TERMS_FEW;
    const long blocks = is_read_directly && all_tiles == 1 ? 1 : (call->k + block_terms - 1) / block_terms;
    // Codes are packed in chunks, where blocks of them must begin.
    const long block_step = codes ? block_terms : 0;
    // The first partial sum starts from a residual in the result's memory.
    const int in_place = e->residual == call->c && e->ldr == call->ldc && !integers;
    // Rows a multiple of the page apart fall into one set of the L1 cache: copy the block to rows that do not.
    const int aliased = call->lda % 1024 == 0 && tiles > 1 && panel1 - panel0 >= 4;
    float *const spread = aliased ? cml_scratch(3, sizeof(float) * (size_t)(rows * (BLOCK_TERMS + 16))) : NULL;
    float widened[CML_MAX_PANEL * BLOCK_TERMS_FEW] __attribute__((aligned(64)));
    for (long block = 0; block < (blocks > 0 ? blocks : 1); block++) {
        const long k0 = block_step ? block * block_step : blocks > 0 ? block_start(call, block, blocks) : 0;
        const long block_end = block_step ? k0 + block_step : blocks > 0 ? block_start(call, block + 1, blocks) : 0;
        const long k1 = block_end < call->k ? block_end : call->k;
        const float *a = call->a + a_offset + row0 * call->lda + k0;
        if (aliased) {
            for (long row = 0; row < rows; row++)
                memcpy(spread + row * (BLOCK_TERMS + 16), a + row * call->lda, sizeof(float) * (size_t)(k1 - k0));
            a = spread;
            t->lda = BLOCK_TERMS + 16;
        }
        for (long panel = panel0; panel < panel1; panel++) {
            const long column = panel * width;
            const size_t at = (size_t)column * (size_t)call->k + (size_t)(k0 * width);
            if (is_read_directly) {
                t->b = (const float *)b + at;
            } else {
                if (codes) isa->expand_codes(codes, panel, k0, k1, widened);
                else isa->widen((const uint16_t *)b + at, widened, (k1 - k0) * width);
                t->b = widened;
            }
            t->k = k1 - k0;
            t->n = call->n - column < width ? call->n - column : width;
            t->accumulate = block > 0 || in_place;
            t->last = block + 1 >= blocks;
            t->bias = e->bias ? e->bias + column : NULL;
            t->slope = e->slope ? e->slope + column : NULL;
            // The next block is prefetched evenly while this one is computed: a burst would fill the
            // queue of misses and hold up the loads of this one.
            const size_t next = panel + 1 < panel1 ? at + (size_t)(call->k * width)
                : (size_t)(panel0 * width) * (size_t)call->k + (size_t)(k1 * width);
            const int has_next = panel + 1 < panel1 || block + 1 < blocks;
            const char *prefetch = has_next ? codes ? (const char *)codes->packed + next * (size_t)codes->bits / 8
                                                 : b + next * element : NULL;
            const cml_tile_kernel *kernels = cml_tiles(isa, call->storage, t->n);
            cml_tile_integers(t, e, column, call->c);
            if (bytes) {
                t->panel = (const float *)b + (size_t)column * (size_t)call->k;
                t->large = (const uint8_t *)((const float *)b + cml_packed_count(isa, call->k, call->n)) + panel * (call->k / 2);
            }
            t->prefetch_step = cml_prefetch_step(codes ? width * codes->bits / 8 : width * (long)element, tiles);
            for (long tile = 0; tile < tiles; tile++) {
                const long r0 = rows * tile / tiles, r1 = rows * (tile + 1) / tiles;
                t->a = a + r0 * t->lda;
                t->c = call->c + c_offset + (row0 + r0) * call->ldc + column;
                t->residual = e->residual && !in_place ? e->residual + c_offset + (row0 + r0) * e->ldr + column : NULL;
                t->prefetch = prefetch ? prefetch + tile * (k1 - k0) * t->prefetch_step : NULL;
                kernels[r1 - r0](t);
            }
        }
    }
    cml_finish(isa, e, result, call->ldc, rows, column1 - column0, call->c);
}

void cml_gemm(const cml_isa *isa, const cml_gemm_call *call) {
    if (call->m <= 0 || call->n <= 0 || call->batch <= 0) return;
    if (cml_amx_multiplies(isa, call) && cml_amx_gemm(isa, call)) return;
    job j = {.isa = isa, .call = call};
    j.panels = (call->n + isa->panel - 1) / isa->panel;
    const long workers = cml_worker_count();
    const size_t b_bytes = (size_t)(call->n * call->k) * (call->storage == CML_F16 ? 2 : 4);
    const size_t a_bytes = (size_t)(call->m * call->k) * 4;
    const size_t operations = (size_t)(2 * call->m * call->n) * (size_t)call->k;
    j.rows_each = call->m;
    j.row_tasks = 1;
    j.panels_each = j.panels;
    j.panel_tasks = 1;
    if (call->batch >= 2 * workers || operations < 40000) {
        // Whole products are the tasks.
    } else if (b_bytes > a_bytes && call->m >= 2 * LEAST_ROWS && j.panels >= workers) {
        // A worker keeps its rows from one product to the next, so that what one core wrote is not read by another; the
        // weights, which all read at about the same time, are shared by the last-level cache.  Ranges of panels for
        // stealing.
        j.row_tasks = call->m / LEAST_ROWS < workers ? call->m / LEAST_ROWS : workers;
        j.rows_each = (call->m + j.row_tasks - 1) / j.row_tasks;
        long tasks = 4 * workers / j.row_tasks;
        if (tasks > j.panels / LEAST_PANELS) tasks = j.panels / LEAST_PANELS;
        if (tasks * j.row_tasks < workers) tasks = (workers + j.row_tasks - 1) / j.row_tasks;
        j.panels_each = (j.panels + tasks - 1) / tasks;
        j.panel_tasks = (j.panels + j.panels_each - 1) / j.panels_each;
    } else if (b_bytes > a_bytes && j.panels >= workers) {
        // Every weight is read by one core only; a few tasks per worker leave room for stealing.
        long tasks = j.panels < 4 * workers ? j.panels : 4 * workers;
        if (j.panels % workers == 0 && j.panels < 4 * workers) tasks = j.panels;
        j.panels_each = (j.panels + tasks - 1) / tasks;
        j.panel_tasks = (j.panels + j.panels_each - 1) / j.panels_each;
    } else {
        long rows = TASK_BYTES / 4 / (call->k > 0 ? call->k : 1) / isa->rows * isa->rows;
        if (rows < isa->rows) rows = isa->rows;
        // Several for each worker, so that a slow one hands over what is left.
        long share = (call->m + 4 * workers - 1) / (4 * workers);
        if (rows > share) rows = (share + isa->rows - 1) / isa->rows * isa->rows;
        long tasks = (call->m + rows - 1) / rows;
        if (tasks > 1) tasks = (tasks + workers - 1) / workers * workers;
        const long tiles = (call->m + isa->rows - 1) / isa->rows;
        j.rows_each = 0;
        j.row_tasks = tasks < tiles ? tasks : tiles;
    }
    cml_parallel_for(j.row_tasks * j.panel_tasks * call->batch, multiply, &j);
}

void cml_gemm_unpacked(const cml_isa *isa, const cml_gemm_call *call, long k_stride, long n_stride) {
    if (call->m <= 0 || call->n <= 0 || call->batch <= 0) return;
    const size_t count = cml_packed_count(isa, call->k, call->n);
    const size_t element = call->storage == CML_F32 ? sizeof(float) : sizeof(uint16_t);
    // Batch items that share an operand share its packed form.
    long *packed_offsets = cml_scratch(1, sizeof(long) * 2 * (size_t)call->batch);
    long *source_offsets = packed_offsets + call->batch;
    long distinct = 0;
    for (long item = 0; item < call->batch; item++) {
        long offset = call->b_offsets ? call->b_offsets[item] : 0;
        if (distinct == 0 || source_offsets[distinct - 1] != offset) source_offsets[distinct++] = offset;
        packed_offsets[item] = (distinct - 1) * (long)count;
    }
    void *packed = cml_scratch(0, count * element * (size_t)distinct);
    pack_job pack = {isa, call->b, call->storage, call->k, call->n, k_stride, n_stride, packed, source_offsets,
                     (call->n + isa->panel - 1) / isa->panel, count};
    cml_parallel_for(pack.panels * distinct, pack_panel, &pack);
    cml_gemm_call packed_call = *call;
    packed_call.b = packed;
    packed_call.b_offsets = packed_offsets;
    cml_gemm(isa, &packed_call);
}

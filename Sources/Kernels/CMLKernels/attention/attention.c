// Attention: keys and values of a head are packed once, then blocks of queries multiply, normalise and multiply
// again without leaving the L2 cache.
#include "../isa/isa.h"

#define SCORE_FLOATS 65536
#define FEW_QUERIES 4

typedef struct {
    const cml_isa *isa;
    const cml_attention_call *call;
    float *packed;                 // per key head: panels of keys, then panels of values
    long key_panels, value_panels, head_floats, blocks, block_rows, score_stride;
} job;

// The keys or values of a head.
static const void *at_head(const cml_attention_call *c, const void *all, const long *strides, long batch, long head) {
    return (const char *)all + (batch * strides[0] + head * strides[1]) * (c->key_storage == CML_F16 ? 2 : 4);
}

// The rows of a head as floats: where they are, or widened, from one to the next `*stride` elements.
static const float *widened(const job *j, const void *rows, long count, long *stride) {
    const cml_attention_call *c = j->call;
    if (c->key_storage != CML_F16) return rows;
    float *result = cml_scratch(1, (size_t)(c->keys * count) * sizeof(float));
    for (long i = 0; i < c->keys; i++)
        j->isa->widen((const uint16_t *)rows + i * *stride, result + i * count, count);
    *stride = count;
    return result;
}

static void pack(const job *j, long index, float *packed) {
    const cml_attention_call *c = j->call;
    const long width = j->isa->panel, batch = index / c->key_heads, head = index % c->key_heads;
    long k_stride = c->k_strides[2], v_stride = c->v_strides[2];
    const float *k = widened(j, at_head(c, c->k, c->k_strides, batch, head), c->size, &k_stride);
    for (long panel = 0; panel < j->key_panels; panel++, packed += width * c->size) {
        const long left = c->keys - panel * width;
        j->isa->pack_columns(k + panel * width * k_stride, k_stride, c->size, left < width ? left : width, packed);
    }
    const float *v = widened(j, at_head(c, c->v, c->v_strides, batch, head), c->value_size, &v_stride);
    for (long panel = 0; panel < j->value_panels; panel++, packed += width * c->keys) {
        const long left = c->value_size - panel * width;
        j->isa->pack_rows(v + panel * width, v_stride, c->keys, left < width ? left : width, packed);
    }
}

static void pack_head(void *context, long index, int worker) {
    (void)worker;
    const job *j = context;
    pack(j, index, j->packed + index * j->head_floats);
}

static long visible_keys(const cml_attention_call *c, long query) {
    if (!c->causal) return c->keys;
    const long last = query + c->keys - c->queries + 1;
    return last < 0 ? 0 : last < c->keys ? last : c->keys;
}

static void mask_row(const cml_attention_call *c, long batch, long head, long query, const float **mask,
                     const uint8_t **keep) {
    const long at = batch * c->mask_strides[0] + head * c->mask_strides[1] + query * c->mask_strides[2];
    *mask = c->mask ? c->mask + at : NULL;
    *keep = c->keep ? c->keep + at : NULL;
}

// One block of queries of a head, given its packed keys and values.
static void attend(const job *j, long index, const float *keys) {
    const cml_attention_call *c = j->call;
    const cml_isa *isa = j->isa;
    const long width = isa->panel, block = index % j->blocks, head = index / j->blocks % c->heads;
    const long batch = index / j->blocks / c->heads;
    const long row0 = c->queries * block / j->blocks, row1 = c->queries * (block + 1) / j->blocks, rows = row1 - row0;
    const float *values = keys + j->key_panels * width * c->size;
    const float *q = c->q + batch * c->q_strides[0] + head * c->q_strides[1] + row0 * c->q_strides[2];
    float *out = c->out + batch * c->out_strides[0] + head * c->out_strides[1] + row0 * c->out_strides[2];
    float *scores = cml_scratch(3, (size_t)(rows * (j->score_stride + 1)) * sizeof(float));
    float *inverses = scores + rows * j->score_stride;
    const long tiles = (rows + isa->rows - 1) / isa->rows, visible = visible_keys(c, row1 - 1);
    static const long zero = 0;
    cml_tile t = {.tap_a = &zero, .tap_b = &zero, .taps = 1, .ldb = width, .last = 1, .function = CML_IDENTITY};

    t.lda = c->q_strides[2];
    t.ldc = j->score_stride;
    t.k = c->size;
    for (long column = 0; column < visible; column += width) {
        t.b = keys + column * c->size;
        t.n = visible - column < width ? visible - column : width;
        const cml_tile_kernel *kernels = t.n <= isa->vector ? isa->tile_narrow : isa->tile_wide;
        for (long tile = 0; tile < tiles; tile++) {
            const long r0 = rows * tile / tiles, r1 = rows * (tile + 1) / tiles;
            t.a = q + r0 * t.lda;
            t.c = scores + r0 * t.ldc + column;
            kernels[r1 - r0](&t);
        }
    }
    for (long row = 0; row < rows; row++) {
        float *score = scores + row * j->score_stride;
        const float *mask;
        const uint8_t *keep;
        mask_row(c, batch, head, row0 + row, &mask, &keep);
        const long row_keys = visible_keys(c, row0 + row);
        inverses[row] = isa->softmax_scores(score, score, row_keys, c->scale, mask, c->mask_strides[3], keep,
                                            c->mask_strides[3]);
        for (long i = row_keys; i < visible; i++) score[i] = 0;
    }
    t.lda = j->score_stride;
    t.ldc = c->out_strides[2];
    t.k = visible;
    for (long column = 0; column < c->value_size; column += width) {
        t.b = values + column * c->keys;
        t.n = c->value_size - column < width ? c->value_size - column : width;
        const cml_tile_kernel *kernels = t.n <= isa->vector ? isa->tile_narrow : isa->tile_wide;
        for (long tile = 0; tile < tiles; tile++) {
            const long r0 = rows * tile / tiles, r1 = rows * (tile + 1) / tiles;
            t.a = scores + r0 * t.lda;
            t.c = out + r0 * t.ldc + column;
            kernels[r1 - r0](&t);
        }
    }
    for (long row = 0; row < rows; row++) isa->scale_row(inverses[row], out + row * t.ldc, c->value_size);
}

static void attend_block(void *context, long index, int worker) {
    (void)worker;
    const job *j = context;
    const cml_attention_call *c = j->call;
    const long head = index / j->blocks % c->heads, batch = index / j->blocks / c->heads;
    attend(j, index, j->packed + (batch * c->key_heads + head * c->key_heads / c->heads) * j->head_floats);
}

// A whole head: its packed keys and values stay in the L2 cache of one core.
static void attend_head(void *context, long index, int worker) {
    (void)worker;
    const job *j = context;
    float *packed = cml_scratch(2, (size_t)j->head_floats * sizeof(float));
    pack(j, index, packed);
    for (long block = 0; block < j->blocks; block++) attend(j, index * j->blocks + block, packed);
}

static void attend_few(void *context, long index, int worker) {
    (void)worker;
    const job *j = context;
    const cml_attention_call *c = j->call;
    const long head = index % c->heads, batch = index / c->heads, key_head = head * c->key_heads / c->heads;
    float *scores = cml_scratch(3, (size_t)(c->keys + 1) * sizeof(float));
    for (long i = 0; i < c->queries; i++) {
        const float *mask;
        const uint8_t *keep;
        mask_row(c, batch, head, i, &mask, &keep);
        j->isa->attend_few(c->q + batch * c->q_strides[0] + head * c->q_strides[1] + i * c->q_strides[2],
                           at_head(c, c->k, c->k_strides, batch, key_head), c->k_strides[2], c->size,
                           at_head(c, c->v, c->v_strides, batch, key_head), c->v_strides[2], c->value_size,
                           visible_keys(c, i), c->scale, mask, c->mask_strides[3], keep, c->mask_strides[3], scores,
                           c->out + batch * c->out_strides[0] + head * c->out_strides[1] + i * c->out_strides[2],
                           c->key_storage);
    }
}

// The end of the keys that any query sees, as of a cache that holds fewer tokens than it has space for.
static long end_of_visible_keys(const cml_attention_call *c) {
    if (c->causal || !(c->mask || c->keep) || c->mask_strides[3] == 0) return c->keys;
    const long batch = c->mask_strides[0] ? c->batch : 1, heads = c->mask_strides[1] ? c->heads : 1;
    const long queries = c->mask_strides[2] ? c->queries : 1;
    long end = 0;
    for (long row = batch * heads * queries - 1; row >= 0 && end < c->keys; row--) {
        const float *mask;
        const uint8_t *keep;
        mask_row(c, row / (heads * queries), row / queries % heads, row % queries, &mask, &keep);
        long last = c->keys;
        while (last > end && ((mask && mask[last - 1] == -__builtin_inff()) || (keep && !keep[last - 1]))) last--;
        end = last;
    }
    return end;
}

void cml_attention(const cml_isa *isa, const cml_attention_call *all) {
    if (all->batch <= 0 || all->heads <= 0 || all->queries <= 0) return;
    // Keys and values behind the last visible one are not read, but for the rest of its panel, which keeps the order of sums.
    cml_attention_call visible = *all;
    const long end = (end_of_visible_keys(all) + isa->panel - 1) / isa->panel * isa->panel;
    if (end < all->keys) visible.keys = end;
    const cml_attention_call *c = &visible;
    job j = {.isa = isa, .call = c};
    if (c->queries <= FEW_QUERIES || c->keys <= 0) {
        cml_parallel_for(c->batch * c->heads, attend_few, &j);
        return;
    }
    j.key_panels = (c->keys + isa->panel - 1) / isa->panel;
    j.value_panels = (c->value_size + isa->panel - 1) / isa->panel;
    j.head_floats = isa->panel * (j.key_panels * c->size + j.value_panels * c->keys);
    // Rows that differ by one line, so that a column of them does not fall into one cache set.
    j.score_stride = j.key_panels * isa->panel + 16;
    long rows = SCORE_FLOATS / j.score_stride;
    if (rows < isa->rows) rows = isa->rows;
    j.blocks = (c->queries + rows - 1) / rows;
    const long workers = cml_worker_count(), heads = c->batch * c->heads;
    if (c->key_heads == c->heads && (heads % workers == 0 || heads >= 4 * workers)) {
        cml_parallel_for(heads, attend_head, &j);
        return;
    }
    j.packed = cml_scratch(0, (size_t)(j.head_floats * c->batch * c->key_heads) * sizeof(float));
    while (heads * j.blocks < 2 * workers && c->queries / (j.blocks * 2) >= isa->rows) j.blocks *= 2;
    cml_parallel_for(c->batch * c->key_heads, pack_head, &j);
    cml_parallel_for(heads * j.blocks, attend_block, &j);
}

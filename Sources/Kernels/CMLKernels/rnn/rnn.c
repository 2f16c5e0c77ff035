// Recurrent layers: per step one product with the state, then the gates.  A task owns a block of hidden units: all
// its gates lie in neighbouring panels, so that products and gates are one pass.
#include "../isa/isa.h"
#include <string.h>

// Products smaller than this are not worth waking the other workers for.
#define SERIAL_PRODUCTS 32768
// Recurrent weights beyond this leave the caches of one worker.
#define SHARED_BYTES (1 << 20)

long cml_rnn_columns(const cml_isa *isa, long hidden, int gates) {
    return (hidden + isa->panel - 1) / isa->panel * isa->panel * gates;
}

long cml_rnn_column(const cml_isa *isa, long unit, int gate, int gates) {
    return unit / isa->panel * isa->panel * gates + gate * isa->panel + unit % isa->panel;
}

typedef struct {
    const cml_isa *isa;
    const cml_rnn_call *call;
    long columns, blocks, step;
    float *h, *next;      // [batch][hidden] before and after the step
    float *reset;         // GRU: reset gate times state; [batch][hidden]
    float *update;        // GRU: update gate; [batch][hidden]
    int phase;
} state;

// gates[row][panel] = residual + source[row] * recurrent weights, for the panels first..<first + count of a block.
static void multiply(const state *s, long block, const float *source, const float *added, float *result, long first,
                     long count) {
    const cml_rnn_call *c = s->call;
    const cml_isa *isa = s->isa;
    const long width = isa->panel, size = c->storage == CML_F32 ? sizeof(float) : sizeof(uint16_t);
    for (long panel = first; panel < first + count; panel++) {
        const long column = (block * c->gates + panel) * width;
        cml_stream stream = {.packed = (const char *)c->recurrent + column * c->hidden * size, .prefetch_bytes = 1024};
        cml_tile *t = &stream.tile;
        t->lda = c->hidden;
        t->k = c->hidden;
        t->n = width;
        t->ldc = c->gates * width;
        t->ldr = s->columns;
        t->last = 1;
        for (long row = 0; row < c->batch; row += 4) {
            const long rows = c->batch - row < 4 ? c->batch - row : 4;
            t->a = source + row * c->hidden;
            t->c = result + row * t->ldc + panel * width;
            t->residual = added ? added + row * s->columns + column : NULL;
            (c->storage == CML_F32 ? isa->stream_f32 : isa->stream_f16)[rows](&stream);
        }
    }
}

static void apply(const state *s, cml_rnn_function f, float *x, long count) {
    s->isa->unary(f.function, f.alpha, f.beta, x, x, count);
}

static void add_peephole(const float *weights, const float *c, float *gate, long count) {
    for (long i = 0; weights && i < count; i++) gate[i] += weights[i] * c[i];
}

static void lstm_block(void *context, long block, int worker) {
    (void)worker;
    const state *s = context;
    const cml_rnn_call *c = s->call;
    const long width = s->isa->panel, unit = block * width;
    const long units = c->hidden - unit < width ? c->hidden - unit : width;
    const float *added = c->projected + s->step * c->batch * s->columns;
    float *gates = cml_scratch(3, sizeof(float) * (size_t)(c->batch * 4 * width));
    multiply(s, block, s->h, added, gates, 0, 4);
    for (long row = 0; row < c->batch; row++) {
        float *g = gates + row * 4 * width, *cell = c->c + row * c->hidden + unit;
        float *h = s->next + row * c->hidden + unit;
        add_peephole(c->peephole[0] ? c->peephole[0] + unit : NULL, cell, g, units);
        add_peephole(c->peephole[1] ? c->peephole[1] + unit : NULL, cell, g + width, units);
        if (!c->peephole[2]) apply(s, c->gate, g, 3 * width);
        else apply(s, c->gate, g, 2 * width);
        apply(s, c->cell, g + 3 * width, width);
        s->isa->lstm_cell(g, width, cell, h, units, c->cell_clip);
        if (c->peephole[2]) {
            add_peephole(c->peephole[2] + unit, cell, g + 2 * width, units);
            apply(s, c->gate, g + 2 * width, width);
        }
        apply(s, c->output, h, units);
        if (c->record) {
            float *record = c->record + (s->step * c->batch + row) * CML_LSTM_RECORD * c->hidden + unit;
            const size_t bytes = sizeof(float) * (size_t)units;
            for (int gate = 0; gate < 4; gate++) memcpy(record + gate * c->hidden, g + gate * width, bytes);
            memcpy(record + 4 * c->hidden, h, bytes);
            memcpy(record + 5 * c->hidden, cell, bytes);
        }
        s->isa->multiply_row(g + 2 * width, h, h, units);
        if (c->y) memcpy(c->y + (s->step * c->batch + row) * c->y_stride + unit, h, sizeof(float) * (size_t)units);
    }
}

static void gru_block(void *context, long block, int worker) {
    (void)worker;
    const state *s = context;
    const cml_rnn_call *c = s->call;
    const long width = s->isa->panel, unit = block * width;
    const long units = c->hidden - unit < width ? c->hidden - unit : width;
    const float *added = c->projected + s->step * c->batch * s->columns;
    float *gates = cml_scratch(3, sizeof(float) * (size_t)(c->batch * 3 * width));
    if (s->phase == 0) {
        multiply(s, block, s->h, added, gates, 0, 2);
        if (c->reset_after) multiply(s, block, s->h, NULL, gates, 2, 1);
    } else {
        multiply(s, block, s->reset, added, gates, 2, 1);
    }
    for (long row = 0; row < c->batch; row++) {
        float *g = gates + row * 3 * width;
        const float *h = s->h + row * c->hidden + unit;
        float *update = s->update + row * c->hidden + unit, *next = s->next + row * c->hidden + unit;
        if (s->phase == 0) {
            apply(s, c->gate, g, 2 * width);
            memcpy(update, g, sizeof(float) * (size_t)units);
            if (!c->reset_after) {
                s->isa->multiply_row(g + width, h, s->reset + row * c->hidden + unit, units);
                continue;
            }
            const float *bias = c->recurrent_bias ? c->recurrent_bias + block * 3 * width + 2 * width : NULL;
            const float *input = added + row * s->columns + block * 3 * width + 2 * width;
            for (long i = 0; i < units; i++)
                g[2 * width + i] = input[i] + g[width + i] * (g[2 * width + i] + (bias ? bias[i] : 0));
        }
        float *candidate = g + 2 * width;
        apply(s, c->cell, candidate, units);
        for (long i = 0; i < units; i++) next[i] = candidate[i] + update[i] * (h[i] - candidate[i]);
        if (c->y) memcpy(c->y + (s->step * c->batch + row) * c->y_stride + unit, next, sizeof(float) * (size_t)units);
    }
}

typedef struct {
    const cml_isa *isa;
    const cml_rnn_call *calls;
    float **memory;
} layers;

static void run_layer(void *context, long index, int worker) {
    (void)worker;
    const layers *all = context;
    const cml_rnn_call *c = &all->calls[index];
    const long size = c->batch * c->hidden;
    float *memory = all->memory[index];
    state s = {.isa = all->isa, .call = c, .columns = cml_rnn_columns(all->isa, c->hidden, c->gates),
               .h = memory, .next = memory + size, .reset = memory + 2 * size, .update = memory + 3 * size};
    s.blocks = (c->hidden + all->isa->panel - 1) / all->isa->panel;
    memcpy(s.h, c->h, sizeof(float) * (size_t)size);
    const int alone = size * c->hidden * c->gates < SERIAL_PRODUCTS;
    const cml_task task = c->gates == 4 ? lstm_block : gru_block;
    for (long i = 0; i < c->steps; i++) {
        s.step = c->reverse ? c->steps - 1 - i : i;
        for (s.phase = 0; s.phase < (c->gates == 3 && !c->reset_after ? 2 : 1); s.phase++) {
            if (alone) for (long block = 0; block < s.blocks; block++) task(&s, block, 0);
            else cml_parallel_for(s.blocks, task, &s);
        }
        float *h = s.h;
        s.h = s.next;
        s.next = h;
    }
    memcpy(c->h, s.h, sizeof(float) * (size_t)size);
}

void cml_rnn(const cml_isa *isa, const cml_rnn_call *calls, int count) {
    if (count <= 0) return;
    size_t total = 0;
    for (int i = 0; i < count; i++) total += (size_t)(4 * calls[i].batch * calls[i].hidden) * sizeof(float);
    float *memory[count];
    char *block = cml_scratch(0, total + 64);
    for (int i = 0; i < count; i++) {
        memory[i] = (float *)block;
        block += (size_t)(4 * calls[i].batch * calls[i].hidden) * sizeof(float);
    }
    layers all = {isa, calls, memory};
    // Weights that fit the L2 caches only when all workers share them: one layer after the other.
    const cml_rnn_call *c = calls;
    const size_t bytes = (size_t)(c->hidden * c->hidden * c->gates) * (c->storage == CML_F32 ? sizeof(float) : sizeof(uint16_t));
    if (count == 1 || bytes > SHARED_BYTES) for (int i = 0; i < count; i++) run_layer(&all, i, 0);
    else cml_parallel_for(count, run_layer, &all);
}

void cml_lstm_back(const cml_isa *isa, const cml_lstm_step *step) {
    for (long row = 0; row < step->rows; row++) isa->lstm_row_back(step, row);
}

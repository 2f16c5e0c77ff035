// Runs every family of C kernels on seeded numbers and writes the results, for comparing instruction sets that no one
// machine has: battery write FILE runs the set in force, battery compare FILE FILE judges two such runs.
#include "CMLKernels.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *results;
static uint32_t state = 1;

static float number(void) {
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / 16777216.0f - 0.5f;
}

static float *numbers(long count) {
    float *memory = cml_allocate((size_t)count * sizeof(float));
    for (long i = 0; i < count; i++) memory[i] = number();
    return memory;
}

static uint16_t *halves(const cml_isa *isa, long count) {
    float *source = numbers(count);
    uint16_t *memory = cml_allocate((size_t)count * sizeof(uint16_t));
    cml_convert(isa, CML_TYPE_F32, source, CML_TYPE_F16, memory, count);
    cml_free(source, 0);
    return memory;
}

// One result: its name, its length, its numbers.
static void record(const char *family, long case_number, const float *values, long count) {
    char name[64] = {0};
    snprintf(name, sizeof name, "%s %ld", family, case_number);
    fwrite(name, sizeof name, 1, results);
    fwrite(&count, sizeof count, 1, results);
    fwrite(values, sizeof(float), (size_t)count, results);
}

static void products(const cml_isa *isa) {
    static const long sizes[][3] = {{1, 7, 5}, {3, 64, 33}, {4, 130, 96}, {14, 65, 31}, {29, 600, 100}, {130, 70, 515}};
    static const cml_unary functions[] = {CML_IDENTITY, CML_RELU, CML_CLIP, CML_GELU_ERF, CML_PRELU};
    long index = 0;
    for (int s = 0; s < 6; s++) for (int f = 0; f < 5; f++) for (int half = 0; half < 2; half++) {
        const long m = sizes[s][0], k = sizes[s][1], n = sizes[s][2];
        float *a = numbers(m * k), *c = numbers(m * n), *bias = numbers(n), *residual = numbers(m * n), *slope = numbers(n);
        void *b = half ? (void *)halves(isa, k * n) : (void *)numbers(k * n);
        const cml_storage storage = half ? CML_F16 : CML_F32;
        void *packed = cml_allocate(cml_packed_count(isa, k, n) * sizeof(float));
        cml_pack(isa, b, storage, k, n, f % 2 ? n : 1, f % 2 ? 1 : k, packed);
        cml_gemm_call call = {.m = m, .n = n, .k = k, .a = a, .lda = k, .b = packed, .storage = storage, .c = c, .ldc = n,
                              .batch = 1, .epilogue = {bias, f == 2 ? residual : NULL, n, functions[f], -0.5f, 0.75f, slope}};
        cml_gemm(isa, &call);
        record(half ? "product fp16" : "product", index++, c, m * n);
    }
}

static void convolutions(const cml_isa *isa) {
    // in, kernel, stride, dilation, pad, inputs, outputs, groups, transposed
    static const long cases[][9] = {
        {15, 3, 1, 1, 1, 16, 33, 1, 0}, {14, 3, 2, 1, 1, 8, 40, 1, 0}, {11, 5, 1, 2, 4, 6, 9, 3, 0}, {9, 3, 1, 1, 1, 33, 33, 33, 0},
        {13, 5, 2, 1, 2, 20, 20, 20, 0}, {14, 3, 2, 1, 0, 17, 17, 17, 0}, {7, 1, 1, 1, 0, 70, 34, 1, 0}, {8, 3, 2, 1, 1, 5, 7, 1, 1},
        {28, 3, 1, 1, 1, 64, 64, 1, 0}, {56, 3, 1, 1, 1, 64, 64, 1, 0},
    };
    for (long index = 0; index < 10; index++) {
        const long *d = cases[index], reach = d[3] * (d[1] - 1) + 1;
        const long out = d[8] ? (d[0] - 1) * d[2] - 2 * d[4] + reach : (d[0] + 2 * d[4] - reach) / d[2] + 1;
        cml_conv_shape s = {.batch = 2, .in = {1, d[0], d[0]}, .out = {1, out, out}, .kernel = {1, d[1], d[1]},
                            .stride = {1, d[2], d[2]}, .dilation = {1, d[3], d[3]}, .pad = {0, d[4], d[4]},
                            .in_channels = d[5], .out_channels = d[6], .groups = d[7], .transposed = (int)d[8]};
        s.method = cml_conv_choose(&s);
        const long taps = d[1] * d[1], each = d[5] / d[7], outputs = d[6] / d[7];
        float *x = numbers(2 * d[0] * d[0] * d[5]), *y = numbers(2 * out * out * d[6]), *bias = numbers(d[6]);
        float *weights = numbers(taps * each * d[6]);
        void *packed = cml_allocate(cml_conv_packed_bytes(isa, &s, CML_F32));
        cml_conv_pack(isa, &s, weights, CML_F32, outputs * each * taps, each * taps, taps, packed);
        cml_epilogue e = {.bias = bias, .function = index % 2 ? CML_RELU : CML_SILU};
        cml_conv(isa, &s, x, packed, CML_F32, y, &e);
        record("convolution", index, y, 2 * out * out * d[6]);
        if (s.transposed) continue;
        cml_conv_planes_pack(isa, &s, weights, CML_F32, packed);
        cml_conv_planes(isa, &s, x, packed, y, &e);
        record("convolution of planes", index, y, 2 * out * out * d[6]);
    }
}

// Products of integers and the same of bytes, with a residual, as numbers and on a grid.
static void whole_products(const cml_isa *isa) {
    // in, kernel, stride, terms, columns
    static const long cases[][5] = {{1, 1, 1, 8, 5}, {9, 1, 1, 72, 33}, {14, 3, 1, 64, 40}, {13, 3, 2, 24, 17}, {40, 1, 1, 520, 64}};
    long number_of_case = 0;
    for (long index = 0; index < 5; index++) for (int bytes = 0; bytes < 2; bytes++) for (int extreme = 0; extreme < 2; extreme++) {
        const long *d = cases[index], pad = d[1] / 2, taps = d[1] * d[1], terms = d[3], columns = d[4];
        const long side = (d[0] + 2 * pad - d[1]) / d[2] + 1, in = d[0] * d[0] * terms, out = side * side * columns;
        cml_conv_shape s = {.batch = 1, .in = {1, d[0], d[0]}, .out = {1, side, side}, .kernel = {1, d[1], d[1]},
                            .stride = {1, d[2], d[2]}, .dilation = {1, 1, 1}, .pad = {0, pad, pad},
                            .in_channels = terms / (bytes ? 4 : 2), .out_channels = columns, .groups = 1};
        int8_t *codes = cml_allocate((size_t)(taps * terms * columns));
        for (long i = 0; i < taps * terms * columns; i++)
            codes[i] = (int8_t)(extreme ? number() < 0 ? -128 : 127 : (long)(number() * 200));
        uint8_t *x = cml_allocate((size_t)in), *more = cml_allocate((size_t)out), *small = cml_allocate((size_t)out);
        int16_t *wide = cml_allocate((size_t)in * 2), *wide_more = cml_allocate((size_t)out * 2);
        int16_t *whole = cml_allocate((size_t)out * 2);
        for (long i = 0; i < in; i++) wide[i] = x[i] = (uint8_t)((number() + 0.5f) * 127);
        for (long i = 0; i < out; i++) wide_more[i] = more[i] = (uint8_t)((number() + 0.5f) * 127);
        float *scale = numbers(columns), *bias = numbers(columns), *y = numbers(out);
        for (long i = 0; i < columns; i++) scale[i] *= 0.001f;
        void *packed = cml_allocate(bytes ? cml_bytes_size(isa, taps, terms, columns) : cml_pairs_bytes(isa, taps, terms, columns));
        if (bytes) cml_bytes_pack(isa, codes, 1, NULL, taps, terms, columns, 1, taps, taps * terms, packed);
        else cml_pairs_pack(isa, codes, 1, NULL, taps, terms, columns, 1, taps, taps * terms, packed);
        cml_integers q = {.scale = scale, .residual = bytes ? NULL : wide_more, .residual_bytes = bytes ? more : NULL,
                          .residual_step = 0.01f, .grid = {.inverse = 20, .step = 0.05f, .low = 0, .high = 127}};
        const cml_epilogue e = {.bias = bias, .function = CML_RELU, .integers = &q};
        cml_conv(isa, &s, bytes ? (const float *)x : (const float *)wide, packed, bytes ? CML_BYTES : CML_PAIRS, y, &e);
        record(bytes ? "product of bytes" : "product of pairs", number_of_case++, y, out);
        float *kept = numbers(out);
        memcpy(kept, y, (size_t)out * sizeof(float));
        q.codes = bytes ? NULL : whole;
        q.bytes = bytes ? small : NULL;
        cml_conv(isa, &s, bytes ? (const float *)x : (const float *)wide, packed, bytes ? CML_BYTES : CML_PAIRS, y, &e);
        // How far the numbers on the grid are from those that were not rounded: a number in the middle goes to either side.
        for (long i = 0; i < out; i++) {
            const float value = kept[i] < 6.35f ? kept[i] : 6.35f;
            y[i] = fabsf((bytes ? (float)small[i] : (float)whole[i]) * 0.05f - value) <= 0.0251f;
        }
        record("results on a grid", number_of_case++, y, out);
    }
}

// Winograd convolution of lines, slices, groups and interleaved planes.
static void filters(const cml_isa *isa) {
    // extents, kernel, dilation of the last two axes, pad of those, inputs, outputs, groups
    static const long cases[][11] = {
        {1, 1, 601, 1, 1, 3, 1, 1, 33, 40, 1}, {1, 27, 26, 1, 3, 1, 1, 1, 40, 35, 1}, {6, 12, 11, 3, 3, 3, 1, 1, 17, 18, 1},
        {1, 29, 31, 1, 3, 3, 2, 2, 40, 36, 1}, {1, 25, 26, 1, 3, 3, 1, 1, 51, 54, 3},
    };
    for (long index = 0; index < 5; index++) {
        const long *d = cases[index];
        cml_conv_shape s = {.batch = 1, .in = {d[0], d[1], d[2]}, .kernel = {d[3], d[4], d[5]}, .stride = {1, 1, 1},
                            .dilation = {1, d[6], d[6]}, .pad = {d[3] / 2, d[4] > 1 ? d[7] : 0, d[5] > 1 ? d[7] : 0},
                            .in_channels = d[8], .out_channels = d[9], .groups = d[10]};
        for (int axis = 0; axis < 3; axis++) s.out[axis] = s.in[axis];
        s.method = cml_conv_choose(&s);
        if (s.method == CML_CONV_DIRECT) fprintf(stderr, "Winograd convolution was not chosen for case %ld\n", index), abort();
        const long taps = d[3] * d[4] * d[5], each = d[8] / d[10], outputs = d[9] / d[10], pixels = d[0] * d[1] * d[2];
        float *x = numbers(pixels * d[8]), *y = numbers(pixels * d[9]), *bias = numbers(d[9]);
        float *weights = numbers(taps * each * d[9]);
        void *packed = cml_allocate(cml_conv_packed_bytes(isa, &s, CML_F32));
        cml_conv_pack(isa, &s, weights, CML_F32, outputs * each * taps, each * taps, taps, packed);
        cml_epilogue e = {.bias = bias, .function = index % 2 ? CML_RELU : CML_IDENTITY};
        cml_conv(isa, &s, x, packed, CML_F32, y, &e);
        record("Winograd convolution", index, y, pixels * d[9]);
    }
}

static void functions(const cml_isa *isa) {
    float *x = numbers(1003), *y = numbers(1003);
    for (int f = CML_IDENTITY; f <= CML_ATANH; f++) {
        if (f == CML_PRELU) continue;
        const int positive = f == CML_LOG || f == CML_SQRT || f == CML_RSQRT || f == CML_ACOSH;
        for (long i = 0; i < 1003; i++) y[i] = positive ? 1.01f + fabsf(x[i]) : x[i] * (f >= CML_TAN ? 1.9f : 12);
        cml_unary_map(isa, f, 0.5f, 0.25f, y, y, 1003);
        record("function", f, y, 1003);
    }
    for (int op = CML_ADD; op <= CML_SQUARED_DIFFERENCE; op++) {
        cml_broadcast shape = {.rank = 3, .extent = {5, 7, 19}, .a = {133, 19, 1}, .b = {19, 0, 1}};
        float *a = numbers(665), *b = numbers(95), *z = numbers(665);
        for (long i = 0; i < 665; i++) a[i] = fabsf(a[i]) + 0.1f;
        cml_binary_apply(isa, op, CML_ELEMENT_F32, &shape, a, b, z, CML_IDENTITY, 0, 0);
        record("combination", op, z, 665);
    }
}

static void reductions(const cml_isa *isa) {
    static const long shapes[][3] = {{3, 37, 1}, {2, 19, 21}, {1, 1000, 1}, {5, 3, 64}};
    long index = 0;
    for (int s = 0; s < 4; s++) {
        const long o = shapes[s][0], a = shapes[s][1], n = shapes[s][2];
        float *x = numbers(o * a * n), *y = numbers(o * a * n);
        for (long i = 0; i < o * a * n; i++) x[i] = fabsf(x[i]) + 0.7f;
        for (int op = CML_SUM; op <= CML_LOG_SUM_EXP; op++) {
            cml_reduce(isa, op, x, y, o, a, n);
            record("reduction", index++, y, o * n);
        }
        cml_softmax(isa, x, y, o, a, n);
        record("softmax", s, y, o * a * n);
        int32_t *at = cml_allocate((size_t)(o * n) * sizeof *at);
        cml_arg_extreme(isa, CML_ELEMENT_F32, x, at, o, a, n, s % 2);
        for (long i = 0; i < o * n; i++) y[i] = (float)at[i];
        record("position", s, y, o * n);
        float *gamma = numbers(a), *beta = numbers(a);
        cml_normalize_rows(isa, x, y, o, a, 1e-5f, 0, gamma, beta, 1, 1);
        record("norm", s, y, o * a);
    }
}

static void attention(const cml_isa *isa) {
    for (long index = 0; index < 3; index++) {
        const long queries = index == 0 ? 2 : 40, keys = 45, heads = 3, size = 24, width = heads * size;
        float *q = numbers(queries * width), *k = numbers(keys * width), *v = numbers(keys * width), *out = numbers(queries * width);
        float *mask = numbers(queries * keys);
        cml_attention_call call = {
            .batch = 1, .heads = heads, .key_heads = heads, .queries = queries, .keys = keys, .size = size, .value_size = size,
            .q = q, .k = k, .v = v, .q_strides = {0, size, width}, .k_strides = {0, size, width}, .v_strides = {0, size, width},
            .out = out, .out_strides = {0, size, width}, .scale = 0.3f, .mask = index == 1 ? mask : NULL,
            .mask_strides = {0, 0, keys, 1}, .causal = index == 2};
        cml_attention(isa, &call);
        record("attention", index, out, queries * width);
    }
}

static void layouts(const cml_isa *isa) {
    float *x = numbers(3 * 17 * 21), *y = numbers(3 * 17 * 21);
    cml_copy_shape turn = {.rank = 3, .extent = {3, 21, 17}, .source = {357, 1, 21}, .target = {357, 17, 1}};
    cml_copy(isa, &turn, 4, x, y);
    record("transpose", 0, y, 3 * 17 * 21);
    cml_pool_shape pool = {.batch = 3, .inner = 1, .in = {1, 17, 21}, .out = {1, 9, 11}, .kernel = {1, 3, 3}, .stride = {1, 2, 2},
                           .dilation = {1, 1, 1}, .pad = {0, 1, 1}, .pad_after = {0, 1, 1}};
    for (int kind = CML_POOL_MAX; kind <= CML_POOL_L2; kind++) {
        cml_pool(isa, kind, &pool, x, y);
        record("pool", kind, y, 3 * 9 * 11);
    }
    const cml_pool_shape line = {.batch = 3, .inner = 1, .in = {1, 1, 357}, .out = {1, 1, 178}, .kernel = {1, 1, 2}, .stride = {1, 1, 2},
                                 .dilation = {1, 1, 1}};
    for (int kind = CML_POOL_MAX; kind <= CML_POOL_L2; kind++) {
        cml_pool(isa, kind, &line, x, y);
        record("pool of lines", kind, y, 3 * 178);
    }
    int32_t low[200], high[200];
    float share[200];
    for (int i = 0; i < 200; i++) low[i] = i * 16 / 200, high[i] = low[i] < 16 ? low[i] + 1 : 16, share[i] = (float)(i % 5) / 5;
    const cml_resize_axis across = {21, 200, low, high, share}, down = {17, 4, low, high, share};
    float *wide = numbers(3 * 4 * 200);
    cml_resize(isa, x, wide, 3, 1, &down, &across);
    record("resize", 0, wide, 3 * 4 * 200);
    float *row = numbers(40000), *normal = numbers(40000);
    cml_normalize_rows(isa, row, normal, 1, 40000, 1e-5f, 0, NULL, NULL, 1, 1);
    record("norm of a long row", 0, normal, 40000);
    uint16_t *half = halves(isa, 515);
    cml_convert(isa, CML_TYPE_F16, half, CML_TYPE_F32, y, 515);
    record("half", 0, y, 515);
}

static void recurrences(const cml_isa *isa) {
    for (int gates = 3; gates <= 4; gates++) {
        const long hidden = 21, steps = 6, batch = 5, columns = cml_rnn_columns(isa, hidden, gates);
        float *source = calloc((size_t)(hidden * columns), sizeof(float));
        float *projected = calloc((size_t)(steps * batch * columns), sizeof(float));
        // The same numbers whatever the order of columns is.
        for (long k = 0; k < hidden; k++) for (long u = 0; u < hidden; u++) for (int g = 0; g < gates; g++)
            source[k * columns + cml_rnn_column(isa, u, g, gates)] = number();
        for (long r = 0; r < steps * batch; r++) for (long u = 0; u < hidden; u++) for (int g = 0; g < gates; g++)
            projected[r * columns + cml_rnn_column(isa, u, g, gates)] = number();
        void *packed = cml_allocate(cml_packed_count(isa, hidden, columns) * sizeof(float));
        cml_pack(isa, source, CML_F32, hidden, columns, columns, 1, packed);
        float *h = numbers(batch * hidden), *c = numbers(batch * hidden), *y = numbers(steps * batch * hidden);
        cml_rnn_call call = {.steps = steps, .batch = batch, .hidden = hidden, .gates = gates, .projected = projected,
                             .recurrent = packed, .storage = CML_F32, .gate = {CML_SIGMOID, 0, 0}, .cell = {CML_TANH, 0, 0},
                             .output = {CML_TANH, 0, 0}, .h = h, .c = c, .y = y, .y_stride = hidden};
        cml_rnn(isa, &call, 1);
        record("recurrence", gates, y, steps * batch * hidden);
    }
}

static int compare(const char *first, const char *second) {
    FILE *files[2] = {fopen(first, "rb"), fopen(second, "rb")};
    if (!files[0] || !files[1]) return fprintf(stderr, "cannot read %s or %s\n", first, second), 2;
    long cases = 0, bad = 0;
    char name[2][64];
    while (fread(name[0], 64, 1, files[0]) == 1) {
        long count[2];
        if (fread(name[1], 64, 1, files[1]) != 1 || strcmp(name[0], name[1]) != 0
            || fread(&count[0], sizeof(long), 1, files[0]) != 1 || fread(&count[1], sizeof(long), 1, files[1]) != 1
            || count[0] != count[1])
            return fprintf(stderr, "the runs part at '%s'\n", name[0]), 1;
        double worst = 0, range = 0;
        for (long i = 0; i < count[0]; i++) {
            float a, b;
            if (fread(&a, 4, 1, files[0]) != 1 || fread(&b, 4, 1, files[1]) != 1) return fprintf(stderr, "cut short\n"), 1;
            if (isnan(a) && isnan(b)) continue;
            if (isinf(a) && a == b) continue;
            const double error = fabs((double)a - b);
            if (!(error <= worst)) worst = error;
            if (fabs(a) > range) range = fabs(a);
        }
        cases++;
        if (!(worst <= 3e-5 * (1 + range))) bad++, printf("%s: differs by %g of %g\n", name[0], worst, range);
    }
    if (fread(name[1], 1, 1, files[1]) == 1) return fprintf(stderr, "the second run has more cases\n"), 1;
    printf("%ld cases, %ld differ\n", cases, bad);
    return bad || cases == 0;
}

int main(int count, char **arguments) {
    if (count == 4 && strcmp(arguments[1], "compare") == 0) return compare(arguments[2], arguments[3]);
    if (count != 3 || strcmp(arguments[1], "write") != 0)
        return fprintf(stderr, "usage: battery write FILE | battery compare FILE FILE\n"), 2;
    results = fopen(arguments[2], "wb");
    if (!results) return fprintf(stderr, "cannot write %s\n", arguments[2]), 2;
    const cml_isa *isa = cml_isa_current();
    products(isa);
    convolutions(isa);
    filters(isa);
    whole_products(isa);
    functions(isa);
    reductions(isa);
    attention(isa);
    layouts(isa);
    recurrences(isa);
    printf("%s\n", cml_isa_name(isa));
    return fclose(results) != 0;
}

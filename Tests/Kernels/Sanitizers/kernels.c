// Calls most kernels with random legal shapes on memory of exactly the needed size, for every instruction set of the
// processor, and checks the simple ones against plain loops.  `scripts/checks/sanitize` builds it with AddressSanitizer and
// UndefinedBehaviorSanitizer.  Arguments: rounds, seed.
#include "CMLKernels.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;
static long failures;
static const cml_isa *isa;

static uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}
static long draw(long low, long high) { return low + (long)(next() % (uint64_t)(high - low + 1)); }
static float number(void) {
    switch (next() % 40) {
    case 0: return 0;
    case 1: return -0.0f;
    case 2: return INFINITY;
    case 3: return -INFINITY;
    case 4: return NAN;
    case 5: return 3e38f;
    default: return (float)(int32_t)next() / 2147483648.0f * 4;
    }
}
static float unit(void) { return (float)(int32_t)next() / 2147483648.0f; }

// Memory of exactly this size, so that every access outside it is found.
static void *memory(size_t bytes) {
    void *result = malloc(bytes ? bytes : 1);
    if (!result) exit(2);
    memset(result, 0x5a, bytes);
    return result;
}
static float *floats(long count, int special) {
    float *x = memory((size_t)count * 4);
    for (long i = 0; i < count; i++) x[i] = special ? number() : unit();
    return x;
}
static int32_t *integers(long count, long low, long high) {
    int32_t *x = memory((size_t)count * 4);
    for (long i = 0; i < count; i++) x[i] = (int32_t)draw(low, high);
    return x;
}
static uint8_t *bytes(long count) {
    uint8_t *x = memory((size_t)count);
    for (long i = 0; i < count; i++) x[i] = (uint8_t)next();
    return x;
}

static void check(int holds, const char *what, long a, long b, long c) {
    if (holds) return;
    if (failures++ < 20) printf("%s: %s differs (%ld, %ld, %ld)\n", cml_isa_name(isa), what, a, b, c);
}
static int near(double a, double b, double tolerance) {
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= tolerance * fmax(1, fabs(b));
}

// A number as the messages show it; LONG_MAX for what has no such form.
static long thousandths(float x) { return fabsf(x) < 1e15f ? (long)(x * 1000) : LONG_MAX; }

static void elementwise(void) {
    const long n = draw(0, 90);
    float *x = floats(n, 1), *z = floats(n, 1), *y = memory((size_t)n * 4);
    for (int function = CML_IDENTITY; function <= CML_CLAMPED_RELU; function++)
        if (function != CML_PRELU) cml_unary_map(isa, function, 0.25f, 0.75f, x, y, n);
    cml_broadcast shape = {.rank = 1, .extent = {n}, .a = {1}, .b = {1}, .mask = {1}};
    for (int function = CML_ADD; function <= CML_SQUARED_DIFFERENCE; function++)
        cml_binary_apply(isa, function, CML_ELEMENT_F32, &shape, x, z, y, CML_IDENTITY, 0, 0);
    cml_binary_apply(isa, CML_POWER, CML_ELEMENT_F32, &shape, x, z, y, CML_IDENTITY, 0, 0);
    for (long i = 0; i < n; i++) {
        const double wanted = powf(x[i], z[i]);
        check(near(y[i], wanted, 1e-6), "power", i, thousandths(x[i]), thousandths(z[i]));
    }
    uint8_t *truth = memory((size_t)n), *mask = bytes(n);
    for (int function = CML_EQUAL; function <= CML_GREATER_EQUAL; function++)
        cml_binary_apply(isa, function, CML_ELEMENT_F32, &shape, x, z, truth, CML_IDENTITY, 0, 0);
    int32_t *p = integers(n, INT32_MIN, INT32_MAX), *q = integers(n, -3, 3), *r = memory((size_t)n * 4);
    if (n > 1) p[0] = INT32_MIN, q[0] = -1, p[1] = 7, q[1] = 0;
    for (int function = CML_ADD; function <= CML_SQUARED_DIFFERENCE; function++)
        cml_binary_apply(isa, function, CML_ELEMENT_I32, &shape, p, q, r, CML_IDENTITY, 0, 0);
    cml_binary_apply(isa, CML_FLOOR_DIVIDE, CML_ELEMENT_I32, &shape, p, q, r, CML_IDENTITY, 0, 0);
    for (long i = 1; i < n; i++) check(q[i] == -1 || r[i] == (q[i] ? (int32_t)floor((double)p[i] / q[i]) : 0), "floor divide", p[i], q[i], r[i]);
    cml_binary_apply(isa, CML_MODULO, CML_ELEMENT_I32, &shape, p, q, r, CML_IDENTITY, 0, 0);
    for (long i = 0; i < n; i++) {
        const int64_t wanted = q[i] ? (int64_t)p[i] - (int64_t)floor((double)p[i] / q[i]) * q[i] : 0;
        check(r[i] == wanted, "modulo", p[i], q[i], r[i]);
    }
    int32_t *exponents = integers(n, -3, 40);
    cml_binary_apply(isa, CML_POWER, CML_ELEMENT_I32, &shape, q, exponents, r, CML_IDENTITY, 0, 0);
    for (long i = 0; i < n; i++) {
        const double power = exponents[i] < 0 && q[i] == 0 ? 0 : trunc(pow(q[i], exponents[i]));
        check(r[i] == (power > INT32_MAX ? INT32_MAX : power < INT32_MIN ? INT32_MIN : power), "integer power", q[i],
              exponents[i], r[i]);
    }
    free(exponents);
    const int32_t bound = (int32_t)draw(-5, 5);
    for (int function = CML_INTEGER_ABSOLUTE; function <= CML_INTEGER_THRESHOLD; function++) {
        cml_integer_map(isa, function, bound, p, r, n);
        for (long i = 0; i < n; i++) {
            const double value = p[i], wanted = function == CML_INTEGER_ABSOLUTE ? fabs(value)
                : function == CML_INTEGER_SIGN ? (value > 0) - (value < 0)
                : function == CML_INTEGER_SQUARE ? value * value : value > bound ? value : bound;
            check(r[i] == (wanted > INT32_MAX ? INT32_MAX : wanted), "integer function", function, p[i], r[i]);
        }
    }
    for (int function = CML_EQUAL; function <= CML_GREATER_EQUAL; function++)
        cml_binary_apply(isa, function, CML_ELEMENT_I32, &shape, p, q, truth, CML_IDENTITY, 0, 0);
    for (int function = CML_AND; function <= CML_XOR; function++)
        cml_binary_apply(isa, function, CML_ELEMENT_BYTE, &shape, mask, mask, truth, CML_IDENTITY, 0, 0);
    for (long width = 1; width <= 8; width *= 2) {
        uint8_t *a = bytes(n * width), *b = bytes(n * width), *c = bytes(n * width);
        cml_select(isa, &shape, width, mask, a, b, c);
        for (long i = 0; i < n; i++)
            check(!memcmp(c + i * width, (mask[i] ? a : b) + i * width, (size_t)width), "select", width, i, n);
        free(a), free(b), free(c);
    }
    free(x), free(y), free(z), free(truth), free(mask), free(p), free(q), free(r);
}

static long width_of(cml_type type) {
    return type == CML_TYPE_F32 || type == CML_TYPE_I32 ? 4 : type == CML_TYPE_F16 || type == CML_TYPE_I16 || type == CML_TYPE_U16 ? 2 : 1;
}

static void conversions(void) {
    const long n = draw(0, 90);
    for (int from = CML_TYPE_F32; from <= CML_TYPE_BOOL; from++) {
        for (int to = CML_TYPE_F32; to <= CML_TYPE_BOOL; to++) {
            uint8_t *x = from == CML_TYPE_F32 ? (uint8_t *)floats(n, 1) : bytes(n * width_of(from));
            uint8_t *y = memory((size_t)(n * width_of(to)));
            cml_convert(isa, from, x, to, y, n);
            free(x), free(y);
        }
    }
}

static void reductions(void) {
    const long outer = draw(1, 4), axis = draw(1, 90), inner = draw(0, 2) ? draw(1, 200) : 1, n = outer * axis * inner;
    float *x = floats(n, draw(0, 1) == 0), *y = memory((size_t)n * 4);
    int32_t *p = integers(n, -1000, 1000), *q = memory((size_t)n * 4);
    for (int op = CML_SUM; op <= CML_LOG_SUM_EXP; op++) cml_reduce(isa, op, x, y, outer, axis, inner);
    for (int op = CML_SUM; op <= CML_L1; op++) cml_reduce_i32(isa, op, p, q, outer, axis, inner);
    cml_reduce_i32(isa, CML_SUM, p, q, outer, axis, inner);
    for (long o = 0; o < outer; o++) {
        for (long i = 0; i < inner; i++) {
            int32_t sum = 0;
            for (long a = 0; a < axis; a++) sum += p[(o * axis + a) * inner + i];
            check(q[o * inner + i] == sum, "integer sum", outer, axis, inner);
        }
    }
    for (int smallest = 0; smallest < 2; smallest++) {
        cml_arg_extreme(isa, CML_ELEMENT_F32, x, q, outer, axis, inner, smallest);
        cml_arg_extreme(isa, CML_ELEMENT_I32, p, q, outer, axis, inner, smallest);
        for (int reverse = 0; reverse < 2; reverse++) {
            cml_cumulative_sum(isa, CML_ELEMENT_F32, x, y, outer, axis, inner, smallest, reverse);
            cml_cumulative_sum(isa, CML_ELEMENT_I32, p, q, outer, axis, inner, smallest, reverse);
            for (long line = 0; line < outer * inner; line++) {
                int32_t sum = 0;
                for (long step = 0; step < axis; step++) {
                    const long a = reverse ? axis - 1 - step : step, at = (line / inner * axis + a) * inner + line % inner;
                    if (!smallest) sum += p[at];
                    check(q[at] == sum, "running sum", outer, axis, inner);
                    if (smallest) sum += p[at];
                }
            }
        }
    }
    cml_softmax(isa, x, y, outer, axis, inner);
    float *gamma = floats(axis * inner, 0);
    cml_normalize_rows(isa, x, y, outer, axis * inner, 1e-5f, 0, gamma, gamma, 1, 1);
    cml_normalize_columns(isa, x, y, outer, axis, inner, 1e-5f, gamma, NULL);
    cml_instance_norm_inner(isa, x, y, outer, axis, inner, 1e-5f, gamma, gamma, CML_RELU, 0, 0);
    for (int plain = 0; plain < 2; plain++) {
        const cml_local_response around = {draw(0, 4), draw(0, 4), 1e-3f, 1, plain ? 0.75f : 0.6f};
        cml_local_response_norm(isa, x, y, outer, axis, inner, &around);
    }
    const cml_affine affine = {.outer = outer, .channels = axis, .inner = inner, .scale = gamma, .shift = gamma};
    cml_affine_apply(isa, &affine, x, y);
    free(x), free(y), free(p), free(q), free(gamma);
}

static void movement(void) {
    const long width = 1l << draw(0, 3), outer = draw(1, 4), axis = draw(1, 30), inner = draw(0, 1) ? 1 : draw(1, 40);
    const long count = draw(1, 40), n = outer * axis * inner, m = outer * count * inner;
    uint8_t *x = bytes(n * width), *u = bytes(m * width), *y = memory((size_t)(n * width)), *g = memory((size_t)(m * width));
    int32_t *all = integers(m, -40, 40), *few = integers(count, INT32_MIN, INT32_MAX);
    for (long i = 0; i < count; i++) if (draw(0, 3)) few[i] = (int32_t)draw(-axis, axis - 1);
    cml_gather(isa, width, x, 1, outer, axis, inner, few, count, g);
    cml_gather(isa, width, x, outer, 1, axis, inner, all, count, g);
    for (long i = 0; i < m * width; i++) {
        const long item = i / width / inner, each = all[item / count * count + item % count];
        const long place = each < 0 ? each + axis : each, inside = place < 0 ? 0 : place >= axis ? axis - 1 : place;
        const long at = ((item / count * axis + inside) * inner + i / width % inner) * width + i % width;
        check(g[i] == x[at], "gather", width, axis, inner);
    }
    cml_gather_elements(width, x, outer, axis, inner, all, count, g);
    for (long i = 0; i < m; i++) {
        long place = all[i] < 0 ? all[i] + axis : all[i];
        place = place < 0 ? 0 : place >= axis ? axis - 1 : place;
        const long at = (i / inner / count * axis + place) * inner + i % inner;
        check(!memcmp(g + i * width, x + at * width, (size_t)width), "gather elements", width, axis, inner);
    }
    memcpy(y, x, (size_t)(n * width));
    cml_scatter_elements(CML_SCATTER_UPDATE, 0, width, outer, axis, inner, all, count, u, y);
    cml_scatter_slices(CML_SCATTER_UPDATE, 0, width, outer, axis, inner, few, count, u, y);
    memcpy(y, x, (size_t)(n * width));
    cml_scatter_slices(CML_SCATTER_UPDATE, 0, width, outer, axis, inner, few, count, u, y);
    int32_t *owner = integers(axis, -1, -1);
    for (long i = 0; i < count; i++) {
        const long place = few[i] < 0 ? few[i] + axis : few[i];
        owner[place < 0 ? 0 : place >= axis ? axis - 1 : place] = (int32_t)i;
    }
    uint8_t *replaced = memory((size_t)(n * width));
    cml_replace_slices(width, outer, axis, inner, owner, count, x, u, replaced);
    check(!memcmp(replaced, y, (size_t)(n * width)), "replaced slices", width, axis, inner);
    free(owner), free(replaced);
    float *f = floats(n, 1), *v = floats(m, 1);
    int32_t *i32 = integers(n, INT32_MIN, INT32_MAX), *j32 = integers(m, INT32_MIN, INT32_MAX);
    for (int mode = CML_SCATTER_UPDATE; mode <= CML_SCATTER_MINIMUM; mode++) {
        cml_scatter_elements(mode, 0, 4, outer, axis, inner, all, count, v, f);
        cml_scatter_slices(mode, 0, 4, outer, axis, inner, few, count, v, f);
        cml_scatter_elements(mode, 1, 4, outer, axis, inner, all, count, j32, i32);
        cml_scatter_slices(mode, 1, 4, outer, axis, inner, few, count, j32, i32);
        const long extents[2] = {outer, axis};
        const long items = draw(1, 20);
        int32_t *places = integers(items * 2, -40, 40);
        float *updates = floats(items * inner, 1);
        cml_scatter_nd(mode, 0, 4, extents, 2, inner, places, items, updates, f);
        cml_scatter_nd(mode, 1, 4, extents, 2, inner, places, items, updates, i32);
        cml_gather_nd(4, f, 1, n, extents, 2, inner, places, items, updates);
        free(places), free(updates);
    }
    const long best = draw(1, axis);
    int32_t *order = memory((size_t)(outer * best * inner) * 4);
    float *values = memory((size_t)(outer * best * inner) * 4), *sorted = floats(n, 0);
    for (long i = 0; i < n; i++) sorted[i] = rintf(sorted[i] * 8);
    for (int ascending = 0; ascending < 2; ascending++) {
        cml_sort(CML_ELEMENT_I32, i32, outer, axis, inner, best, ascending, values, order);
        cml_sort(CML_ELEMENT_F32, sorted, outer, axis, inner, best, ascending, values, order);
        for (long line = 0; line < outer * inner; line++) {
            for (long k = 1; k < best; k++) {
                const long at = (line / inner * best + k) * inner + line % inner;
                const float a = values[at - inner], b = values[at];
                check(a == b ? order[at - inner] < order[at] : (a < b) == ascending, "sort", axis, inner, best);
            }
        }
    }
    cml_copy_shape shape = {.rank = 3, .extent = {outer, axis, inner}, .source = {axis * inner, inner, 1},
                            .target = {1, outer, outer * axis}};
    cml_copy(isa, &shape, width, x, y);
    cml_fill(y, width, x, n);
    uint16_t *half = memory((size_t)n * 2);
    memset(half, 0, (size_t)n * 2);
    cml_gather_half(isa, half, 1, outer, axis, inner, few, count, v);
    free(x), free(u), free(y), free(g), free(all), free(few), free(f), free(v), free(i32), free(j32), free(order);
    free(values), free(sorted), free(half);
}

static void windows(void) {
    cml_pool_shape s = {.batch = draw(1, 3), .inner = draw(0, 1) ? 1 : draw(1, 40)};
    long elements = s.batch * s.inner, results = s.batch * s.inner;
    for (int axis = 0; axis < 3; axis++) {
        s.in[axis] = axis == 0 ? draw(1, 2) : draw(1, 30);
        s.kernel[axis] = draw(1, 4);
        s.stride[axis] = draw(1, 3);
        s.dilation[axis] = draw(1, 2);
        const long reach = (s.kernel[axis] - 1) * s.dilation[axis] + 1;
        s.pad[axis] = draw(0, reach - 1);
        s.pad_after[axis] = draw(0, reach - 1);
        if (s.in[axis] + s.pad[axis] + s.pad_after[axis] < reach) s.pad_after[axis] = reach;
        s.out[axis] = (s.in[axis] + s.pad[axis] + s.pad_after[axis] - reach) / s.stride[axis] + 1;
        elements *= s.in[axis];
        results *= s.out[axis];
    }
    float *x = floats(elements, 0), *y = memory((size_t)results * 4);
    for (int kind = CML_POOL_MAX; kind <= CML_POOL_L2; kind++) {
        cml_pool(isa, kind, &s, x, y);
        for (long o = 0; o < results; o++) {
            const long c = o % s.inner, w = o / s.inner % s.out[2], h = o / s.inner / s.out[2] % s.out[1];
            const long d = o / s.inner / s.out[2] / s.out[1] % s.out[0], item = o / s.inner / s.out[2] / s.out[1] / s.out[0];
            double sum = 0, best = -INFINITY;
            long inside = 0, padded = 0;
            for (long t = 0; t < s.kernel[0] * s.kernel[1] * s.kernel[2]; t++) {
                const long place[3] = {
                    d * s.stride[0] - s.pad[0] + t / s.kernel[2] / s.kernel[1] * s.dilation[0],
                    h * s.stride[1] - s.pad[1] + t / s.kernel[2] % s.kernel[1] * s.dilation[1],
                    w * s.stride[2] - s.pad[2] + t % s.kernel[2] * s.dilation[2]};
                int in = 1, near_by = 1;
                for (int axis = 0; axis < 3; axis++) {
                    in &= place[axis] >= 0 && place[axis] < s.in[axis];
                    near_by &= place[axis] < s.in[axis] + s.pad_after[axis];
                }
                padded += near_by;
                if (!in) continue;
                inside++;
                const double v = x[(((item * s.in[0] + place[0]) * s.in[1] + place[1]) * s.in[2] + place[2]) * s.inner + c];
                best = v > best ? v : best;
                sum += kind == CML_POOL_L2 ? v * v : v;
            }
            const double divisor = kind == CML_POOL_MEAN ? inside : padded;
            const double wanted = kind == CML_POOL_MAX ? best : kind == CML_POOL_L2 ? sqrt(sum) : sum / (divisor ? divisor : 1);
            check(near(y[o], wanted, 1e-5), "pool", kind, s.inner, o);
        }
    }
    free(x), free(y);

    const long h = draw(1, 20), w = draw(1, 20), oh = draw(1, 30), ow = draw(1, 40), batch = draw(1, 3);
    const long inner = draw(0, 1) ? 1 : draw(1, 20);
    int32_t *rows[2] = {integers(oh, 0, h - 1), integers(oh, 0, h - 1)};
    int32_t *columns[2] = {integers(ow, 0, w - 1), integers(ow, 0, w - 1)};
    float *down = floats(oh, 0), *across = floats(ow, 0);
    if (draw(0, 1)) memset(across, 0, (size_t)ow * 4);
    x = floats(batch * h * w * inner, 0);
    y = memory((size_t)(batch * oh * ow * inner) * 4);
    const cml_resize_axis height = {h, oh, rows[0], rows[1], down}, width = {w, ow, columns[0], columns[1], across};
    cml_resize(isa, x, y, batch, inner, &height, &width);
    for (long o = 0; o < batch * oh * ow * inner; o++) {
        const long c = o % inner, j = o / inner % ow, i = o / inner / ow % oh, b = o / inner / ow / oh;
#define AT(row, column) (double)x[((b * h + row) * w + column) * inner + c]
        const double top = AT(rows[0][i], columns[0][j]) * (1 - across[j]) + AT(rows[0][i], columns[1][j]) * across[j];
        const double low = AT(rows[1][i], columns[0][j]) * (1 - across[j]) + AT(rows[1][i], columns[1][j]) * across[j];
        check(near(y[o], top * (1 - down[i]) + low * down[i], 1e-5), "resize", inner, i, j);
    }
    free(y);
    const long points = draw(1, 5000), taps = draw(1, 4), planes = batch;
    const int32_t *places[4];
    const float *shares[4];
    float *added = floats(points, 0);
    y = memory((size_t)(planes * points) * 4);
    for (long t = 0; t < taps; t++) {
        int32_t *place = integers(points, 0, h * w - 1);
        float *share = floats(points, 0);
        for (long i = 0; i < points; i++) if (draw(0, 3) == 0) share[i] = 0;
        places[t] = place;
        shares[t] = share;
    }
    cml_sample(isa, x, planes, h * w, taps, places, shares, added, y, points);
    for (long o = 0; o < planes * points; o++) {
        double sum = added[o % points];
        for (long t = 0; t < taps; t++)
            if (shares[t][o % points] != 0) sum += shares[t][o % points] * x[o / points * h * w + places[t][o % points]];
        check(near(y[o], sum, 1e-5), "blend", planes, points, taps);
    }
    for (long t = 0; t < taps; t++) free((void *)places[t]), free((void *)shares[t]);
    for (int k = 0; k < 2; k++) free(rows[k]), free(columns[k]);
    free(x), free(y), free(added), free(down), free(across);
}

static void histograms(void) {
    const long rows = draw(1, 300), columns = draw(1, 9), count = draw(0, 400);
    uint8_t *bins = bytes(rows * columns);
    int32_t *order = integers(count, 0, rows - 1);
    float *examples = floats(count * 4, 0);
    double *cells = memory((size_t)columns * 256 * 4 * sizeof(double)), *wanted = memory((size_t)columns * 256 * 4 * sizeof(double));
    memset(cells, 0, (size_t)columns * 256 * 4 * sizeof(double));
    memset(wanted, 0, (size_t)columns * 256 * 4 * sizeof(double));
    cml_histogram_add(isa, order, count, examples, bins, columns, cells);
    for (long i = 0; i < count; i++)
        for (long column = 0; column < columns; column++)
            for (long k = 0; k < 4; k++)
                wanted[(column << 8 | bins[order[i] * columns + column]) * 4 + k] += examples[i * 4 + k];
    for (long i = 0; i < columns * 1024; i++) check(cells[i] == wanted[i], "sum of a cell", rows, columns, i);
    free(bins), free(order), free(examples), free(cells), free(wanted);
}

// Products with codes, and rows of them looked up; the code and the element of (term, column) by plain arithmetic.
static void codes(void) {
    static const int widths[] = {1, 2, 3, 4, 6, 8};
    const int is_table = (int)draw(0, 1), bits = is_table ? widths[draw(0, 5)] : draw(0, 1) ? 4 : 8;
    const long m = draw(1, 20), segments = draw(0, 1) ? draw(2, 5) : 1, each = draw(1, 3);
    const long k = segments > 1 ? segments * each * cml_codes_chunk(bits) : draw(1, 90);
    const long groups = is_table ? draw(1, 3) : 1, n = groups > 1 ? groups * cml_isa_panel_width(isa) : draw(1, 90);
    const long blocks = is_table ? groups * segments << bits : n * segments;
    const int is_signed = (int)draw(0, 1), has_offsets = !is_table && draw(0, 1), by_columns = (int)draw(0, 1);
    cml_codes c = {.bits = bits, .is_table = is_table, .has_offsets = has_offsets || (!is_table && !is_signed),
                   .parameter = CML_F32, .k = k, .n = n, .segment = k / segments, .group = n / groups};
    uint8_t *packed_bits = bytes((k * n * bits + 7) / 8);
    float *parameters = floats(blocks, 0), *a = floats(m * k, 0), *y = memory((size_t)(m * n) * 4);
    float *dense = memory((size_t)(k * n) * 4);
    int8_t *offsets = memory((size_t)blocks);
    for (long i = 0; i < blocks; i++) offsets[i] = (int8_t)(bits == 4 ? draw(-8, 7) : draw(-128, 127));
    for (long t = 0; t < k; t++) for (long j = 0; j < n; j++) {
        const long number = by_columns ? j * k + t : t * n + j, segment = t / c.segment;
        long code = 0;
        for (int bit = 0; bit < bits; bit++)
            code |= (long)(packed_bits[(number * bits + bit) / 8] >> (number * bits + bit) % 8 & 1) << bit;
        if (is_table) {
            dense[t * n + j] = parameters[((j / c.group * segments + segment) << bits) + code];
        } else {
            if (is_signed && code >> (bits - 1)) code -= 1L << bits;
            if (has_offsets) code -= offsets[j * segments + segment] + (is_signed ? 0 : 1L << (bits - 1));
            dense[t * n + j] = (float)code * parameters[j * segments + segment];
        }
    }
    const size_t size = cml_codes_bytes(isa, &c);
    // The kernels bring memory near that they do not use; what they read lies inside.
    void *packed = cml_allocate(size);
    const cml_code_source source = {.codes = packed_bits, .code_bytes = (size_t)((k * n * bits + 7) / 8),
                                    .k_stride = by_columns ? 1 : n, .n_stride = by_columns ? k : 1, .is_signed = is_signed,
                                    .parameters = parameters, .offsets = has_offsets ? offsets : NULL, .scale_k = 1,
                                    .scale_n = segments, .scale_columns = 1};
    cml_codes_pack(isa, &c, &source, 0, (n + cml_isa_panel_width(isa) - 1) / cml_isa_panel_width(isa), packed);
    c.packed = packed;
    cml_gemm_call call = {.m = m, .n = n, .k = k, .a = a, .lda = k, .storage = CML_CODES, .codes = &c, .c = y, .ldc = n,
                          .batch = 1};
    cml_gemm(isa, &call);
    for (long i = 0; i < m * n; i++) {
        double sum = 0, size_of_terms = 1;
        for (long t = 0; t < k; t++) {
            sum += (double)a[i / n * k + t] * dense[t * n + i % n];
            size_of_terms += fabs((double)a[i / n * k + t] * dense[t * n + i % n]);
        }
        check(fabs(y[i] - sum) < 1e-5 * size_of_terms, "product with codes", bits, n, k);
    }
    if (by_columns) {
        int16_t *wide = memory((size_t)blocks * 2);
        for (long i = 0; i < blocks; i++) wide[i] = (int16_t)(offsets[i] + (is_signed ? 0 : 1 << (bits - 1)));
        const cml_code_rows rows = {packed_bits, bits, is_table, is_signed, CML_F32, parameters,
                                    has_offsets ? wide : NULL, NULL, n, k, is_table ? c.group : 1, c.segment};
        int32_t places[3] = {0, (int32_t)draw(-n, n - 1), (int32_t)n - 1};
        float *found = memory((size_t)(3 * k) * 4);
        cml_gather_codes(isa, &rows, places, 3, found);
        for (long i = 0; i < 3 * k; i++) {
            const long row = places[i / k] < 0 ? places[i / k] + n : places[i / k];
            check(found[i] == dense[i % k * n + row], "row of codes", bits, n, k);
        }
        free(wide), free(found);
    }
    cml_free(packed, size);
    free(packed_bits), free(parameters), free(a), free(y), free(dense), free(offsets);
}

static void products(void) {
    const long m = draw(1, 40), n = draw(1, 90), k = draw(1, 70);
    float *a = floats(m * k, 0), *b = floats(k * n, 0), *c = memory((size_t)(m * n) * 4), *bias = floats(n, 0);
    void *packed = cml_allocate(cml_packed_count(isa, k, n) * 4);
    cml_pack(isa, b, CML_F32, k, n, n, 1, packed);
    cml_gemm_call call = {.m = m, .n = n, .k = k, .a = a, .lda = k, .b = packed, .storage = CML_F32, .c = c, .ldc = n,
                          .epilogue = {.bias = bias, .function = draw(0, 1) ? CML_RELU : CML_SIGMOID}, .batch = 1};
    cml_gemm(isa, &call);
    call.epilogue.function = CML_IDENTITY;
    call.b = b;
    cml_gemm_unpacked(isa, &call, n, 1);
    for (long i = 0; i < m * n; i++) {
        double sum = bias[i % n];
        for (long t = 0; t < k; t++) sum += (double)a[i / n * k + t] * b[t * n + i % n];
        check(near(c[i], sum, 1e-4), "product", m, n, k);
    }
    cml_free(packed, cml_packed_count(isa, k, n) * 4);
    free(a), free(b), free(c), free(bias);

    cml_conv_shape s = {.batch = draw(1, 2), .in_channels = draw(1, 20), .groups = 1};
    s.out_channels = draw(1, 40);
    if (draw(0, 2) == 0) s.groups = s.out_channels = s.in_channels;
    long in = s.batch * s.in_channels, out = s.batch * s.out_channels, taps = 1;
    for (int axis = 0; axis < 3; axis++) {
        s.in[axis] = axis == 0 ? 1 : draw(1, 20);
        s.kernel[axis] = axis == 0 ? 1 : draw(1, 3);
        s.stride[axis] = axis == 0 ? 1 : draw(1, 2);
        s.dilation[axis] = axis == 0 ? 1 : draw(1, 2);
        s.pad[axis] = axis == 0 ? 0 : draw(0, 2);
        const long reach = (s.kernel[axis] - 1) * s.dilation[axis] + 1;
        const long room = s.in[axis] + 2 * s.pad[axis] - reach;
        if (room < 0) s.in[axis] += -room;
        s.out[axis] = (s.in[axis] + 2 * s.pad[axis] - reach) / s.stride[axis] + 1;
        in *= s.in[axis];
        out *= s.out[axis];
        taps *= s.kernel[axis];
    }
    s.method = cml_conv_choose(&s);
    const long per_group = s.in_channels / s.groups, outputs = s.out_channels / s.groups;
    float *weights = floats(s.out_channels * per_group * taps, 0);
    const size_t size = cml_conv_packed_bytes(isa, &s, CML_F32);
    packed = cml_allocate(size);
    cml_conv_pack(isa, &s, weights, CML_F32, outputs * per_group * taps, per_group * taps, taps, packed);
    float *x = floats(in, 0), *y = memory((size_t)out * 4);
    const cml_epilogue none = {.function = CML_IDENTITY};
    cml_conv(isa, &s, x, packed, CML_F32, y, &none);
    float *turned = memory((size_t)(s.out_channels * per_group * taps) * 4), *other = memory((size_t)out * 4);
    cml_conv_planes_pack(isa, &s, weights, CML_F32, turned);
    cml_conv_planes(isa, &s, x, turned, other, &none);
    // With one channel on both sides the layouts are one.
    for (long i = 0; i < out && s.in_channels == 1 && s.out_channels == 1; i++)
        check(near(other[i], y[i], 1e-4), "convolution of planes", s.kernel[1], s.kernel[2], s.pad[2]);
    const cml_epilogue more = {.residual = y, .function = draw(0, 1) ? CML_CLIP : CML_SIGMOID, .beta = 1};
    cml_conv_planes(isa, &s, x, turned, y, &more);
    cml_free(packed, size);
    free(weights), free(x), free(y), free(turned), free(other);

    cml_suppression suppression = {.boxes = draw(1, 60), .classes = draw(0, 4), .overlap = 0.3, .has_threshold = (int)draw(0, 1),
                                   .threshold = -0.5, .per_class = (int)draw(0, 1)};
    const int last = draw(0, 1) == 0;
    suppression.box_step = suppression.score_step = 1;
    suppression.part_step = suppression.class_step = suppression.boxes;
    if (!last) suppression.box_step = 4, suppression.part_step = 1;
    if (!last) suppression.score_step = suppression.classes, suppression.class_step = 1;
    float *boxes = floats(suppression.boxes * 4, 1), *scores = floats(suppression.boxes * suppression.classes, 1);
    const long most = draw(1, 70);
    int32_t *picked = memory((size_t)most * 4);
    const long found = cml_suppress(isa, &suppression, boxes, scores, most, picked);
    check(found >= 1 && found <= most && found <= suppression.boxes, "suppression", found, most, suppression.boxes);
    free(boxes), free(scores), free(picked);

    const long heads = draw(1, 4), queries = draw(1, 20), keys = draw(queries, 40), length = draw(1, 40);
    float *q = floats(heads * queries * length, 0), *key = floats(heads * keys * length, 0);
    float *value = floats(heads * keys * length, 0), *result = memory((size_t)(heads * queries * length) * 4);
    const cml_attention_call attention = {
        .batch = 1, .heads = heads, .key_heads = heads, .queries = queries, .keys = keys, .size = length,
        .value_size = length, .q = q, .k = key, .v = value, .out = result, .scale = 0.3f, .causal = draw(0, 1),
        .q_strides = {heads * queries * length, queries * length, length},
        .k_strides = {heads * keys * length, keys * length, length},
        .v_strides = {heads * keys * length, keys * length, length},
        .out_strides = {heads * queries * length, queries * length, length}};
    cml_attention(isa, &attention);
    free(q), free(key), free(value), free(result);

    const int gates = draw(0, 1) ? 4 : 3;
    const long hidden = draw(1, 40), steps = draw(1, 6), items = draw(1, 3), width = cml_rnn_columns(isa, hidden, gates);
    float *projected = floats(steps * items * width, 0), *recurrent = floats(hidden * width, 0);
    float *hs = floats(items * hidden, 0), *cs = floats(items * hidden, 0), *ys = memory((size_t)(steps * items * hidden) * 4);
    packed = cml_allocate(cml_packed_count(isa, hidden, width) * 4);
    cml_pack(isa, recurrent, CML_F32, hidden, width, width, 1, packed);
    const cml_rnn_call rnn = {.steps = steps, .batch = items, .hidden = hidden, .gates = gates, .reverse = (int)draw(0, 1),
                              .reset_after = (int)draw(0, 1), .projected = projected, .recurrent = packed,
                              .storage = CML_F32, .gate = {CML_SIGMOID, 0, 0}, .cell = {CML_TANH, 0, 0},
                              .output = {CML_TANH, 0, 0}, .h = hs, .c = cs, .y = ys, .y_stride = hidden};
    cml_rnn(isa, &rnn, 1);
    cml_free(packed, cml_packed_count(isa, hidden, width) * 4);
    free(projected), free(recurrent), free(hs), free(cs), free(ys);
}

// Winograd convolution where it would not pay, too, compared with sums of products.
static void filters(void) {
    cml_conv_shape s = {.batch = draw(1, 2), .groups = draw(1, 2), .stride = {1, 1, 1}, .dilation = {1, 1, 1}};
    s.in_channels = s.groups * draw(1, 20);
    s.out_channels = s.groups * draw(1, 40);
    long in = s.batch * s.in_channels, out = s.batch * s.out_channels, taps = 1;
    const int lines = (int)draw(0, 2);  // the axis that has one tap, or none
    for (int axis = 0; axis < 3; axis++) {
        s.kernel[axis] = axis == 0 ? draw(1, 3) : axis == lines ? 1 : 3;
        s.dilation[axis] = axis == 0 ? 1 : draw(1, 3);
        s.pad[axis] = draw(0, 3);
        const long reach = (s.kernel[axis] - 1) * s.dilation[axis] + 1;
        s.in[axis] = draw(1, 12);
        if (s.in[axis] + 2 * s.pad[axis] < reach) s.in[axis] = reach;
        s.out[axis] = s.in[axis] + 2 * s.pad[axis] - reach + 1;
        in *= s.in[axis];
        out *= s.out[axis];
        taps *= s.kernel[axis];
    }
    const long per_group = s.in_channels / s.groups, outputs = s.out_channels / s.groups;
    float *weights = floats(s.out_channels * per_group * taps, 0), *x = floats(in, 0), *bias = floats(s.out_channels, 0);
    float *results[2];
    for (int method = 0; method < 2; method++) {
        const int small = lines == 0 && draw(0, 1);
        s.method = method == 0 ? CML_CONV_DIRECT : small ? CML_CONV_WINOGRAD_2 : CML_CONV_WINOGRAD_4;
        const size_t size = cml_conv_packed_bytes(isa, &s, CML_F32);
        void *packed = cml_allocate(size);
        cml_conv_pack(isa, &s, weights, CML_F32, outputs * per_group * taps, per_group * taps, taps, packed);
        results[method] = memory((size_t)out * 4);
        const cml_epilogue e = {.bias = bias, .function = CML_RELU};
        cml_conv(isa, &s, x, packed, CML_F32, results[method], &e);
        cml_free(packed, size);
    }
    for (long i = 0; i < out; i++)
        check(near(results[1][i], results[0][i], 2e-3), "Winograd convolution", s.kernel[0], s.kernel[1], s.kernel[2]);
    free(weights), free(x), free(bias), free(results[0]), free(results[1]);
}

// Products of integers of both kinds, as matrices and under windows, and grids, compared with plain sums.
static void whole_products(void) {
    const int is_bytes = (int)draw(0, 1), is_residual = (int)draw(0, 1), is_whole = (int)draw(0, 1);
    const long per_place = is_bytes ? 4 : 2, terms = draw(1, 12) * (is_bytes ? 8 : 2), columns = draw(1, 70);
    cml_conv_shape s = {.batch = draw(1, 2), .kernel = {1, draw(1, 3), draw(1, 3)}, .stride = {1, draw(1, 2), draw(1, 2)},
                        .dilation = {1, 1, 1}, .pad = {0, draw(0, 1), draw(0, 1)}, .in = {1, draw(3, 12), draw(3, 12)},
                        .out = {1}, .in_channels = terms / per_place, .out_channels = columns, .groups = 1};
    for (int axis = 1; axis < 3; axis++)
        s.out[axis] = (s.in[axis] + 2 * s.pad[axis] - s.kernel[axis]) / s.stride[axis] + 1;
    const long taps = s.kernel[1] * s.kernel[2], in = s.batch * s.in[1] * s.in[2] * terms;
    const long out = s.batch * s.out[1] * s.out[2] * columns;
    uint8_t *codes = bytes(columns * terms * taps), *x_bytes = bytes(in), *residual_bytes = bytes(out);
    int16_t *x = memory((size_t)in * 2), *residual = memory((size_t)out * 2), *whole = memory((size_t)out * 2);
    uint8_t *whole_bytes = memory((size_t)out);
    if (draw(0, 1)) for (long i = 0; i < columns * terms * taps; i++) codes[i] = codes[i] & 128 ? 128 : 127;
    for (long i = 0; i < in; i++) x[i] = x_bytes[i] &= 127;
    for (long i = 0; i < out; i++) residual[i] = residual_bytes[i];
    float *scale = floats(columns, 0), *bias = floats(columns, 0), *y = memory((size_t)out * 4), *back = memory((size_t)out * 4);
    const size_t size = is_bytes ? cml_bytes_size(isa, taps, terms, columns) : cml_pairs_bytes(isa, taps, terms, columns);
    // The kernels bring memory near that they do not use; what they read lies inside.
    void *packed = cml_allocate(size);
    if (is_bytes) cml_bytes_pack(isa, codes, 1, NULL, taps, terms, columns, 1, taps, terms * taps, packed);
    else cml_pairs_pack(isa, codes, 1, NULL, taps, terms, columns, 1, taps, terms * taps, packed);
    const cml_quantizer grid = {.inverse = 0.01f, .step = 100, .low = 0, .high = 200};
    const cml_integers q = {.scale = scale, .grid = grid, .residual_step = 3, .rounded = draw(0, 1) ? &grid : NULL,
                            .residual = is_residual && !is_bytes ? residual : NULL,
                            .residual_bytes = is_residual && is_bytes ? residual_bytes : NULL,
                            .codes = is_whole && !is_bytes ? whole : NULL,
                            .bytes = is_whole && is_bytes ? whole_bytes : NULL};
    const cml_epilogue e = {.bias = bias, .function = draw(0, 2) ? CML_RELU : CML_LEAKY_RELU, .alpha = 0.5f, .integers = &q};
    cml_conv(isa, &s, is_bytes ? (const float *)x_bytes : (const float *)x, packed, is_bytes ? CML_BYTES : CML_PAIRS, y, &e);
    for (long i = 0; i < out; i++) {
        const long n = i % columns, pixel = i / columns, w = pixel % s.out[2], h = pixel / s.out[2] % s.out[1];
        const long item = pixel / s.out[2] / s.out[1];
        long sum = 0;
        for (long t = 0; t < taps; t++) {
            const long row = h * s.stride[1] + t / s.kernel[2] - s.pad[1], place = w * s.stride[2] + t % s.kernel[2] - s.pad[2];
            if (row < 0 || row >= s.in[1] || place < 0 || place >= s.in[2]) continue;
            const int16_t *from = x + ((item * s.in[1] + row) * s.in[2] + place) * terms;
            for (long k = 0; k < terms; k++) sum += from[k] * (int8_t)codes[(n * terms + k) * taps + t];
        }
        double value = (double)sum * scale[n] + bias[n];
        if (q.rounded) value = fmin(fmax(nearbyint(value / 100), 0), 200) * 100;
        if (is_residual) value += 3 * residual[i];
        if (value < 0) value *= e.function == CML_RELU ? 0 : 0.5;
        const double found = !is_whole ? y[i] : 100.0 * (is_bytes ? whole_bytes[i] : whole[i]);
        const double bound = q.rounded || is_whole ? 151 : 1e-5 * (fabs((double)sum) + 1000);
        if (is_whole) value = fmin(fmax(value, 0), 20000);
        check(fabs(found - value) <= bound, "product of integers", is_bytes, terms, columns);
    }
    cml_quantize(isa, y, &grid, whole, out);
    cml_quantize_bytes(isa, y, &grid, whole_bytes, out);
    cml_dequantize_bytes(isa, whole_bytes, 100, back, out);
    cml_dequantize(isa, whole, 100, y, out);
    for (long i = 0; i < out; i++) check(back[i] == y[i] && back[i] == 100 * whole[i], "grid", i, whole[i], whole_bytes[i]);
    cml_fake_quantize(isa, back, &grid, y, out);
    for (long i = 0; i < out; i++) check(back[i] == y[i], "on a grid", i, whole[i], 0);
    cml_free(packed, size);
    free(codes), free(x_bytes), free(residual_bytes), free(x), free(residual), free(whole), free(whole_bytes), free(scale);
    free(bias), free(y), free(back);
}

int main(int count, char **arguments) {
    const long rounds = count > 1 ? atol(arguments[1]) : 200;
    for (int set = CML_ISA_SSE2; set <= CML_ISA_NEON; set++) {
        isa = cml_isa_find(set);
        if (!isa) continue;
        state = (count > 2 ? (uint64_t)atol(arguments[2]) : 1) * 0x9e3779b97f4a7c15u + 1;
        for (long round = 0; round < rounds; round++) {
            elementwise();
            conversions();
            reductions();
            movement();
            windows();
            codes();
            products();
            filters();
            whole_products();
            histograms();
        }
        printf("%s: %ld rounds, %ld differences so far\n", cml_isa_name(isa), rounds, failures);
    }
    return failures > 0;
}

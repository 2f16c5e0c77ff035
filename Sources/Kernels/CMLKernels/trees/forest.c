#include "../isa/isa.h"
#include <math.h>

// Rows that descend one tree side by side: their loads overlap.
#define LANES 16
// Rows for which a tree stays in the L1 cache while it serves them.
#define BLOCK 256
// Trees deeper than this stop as soon as every row has arrived.
#define EVEN_DEPTH 8

static void add(const cml_forest *f, long tree, int32_t leaf, double *sums) {
    const int32_t column = f->columns[tree];
    if (column >= 0) {
        sums[column] += f->values[leaf];
        return;
    }
    for (int32_t entry = f->starts[leaf]; entry < f->starts[leaf + 1]; entry++)
        sums[f->entry_columns[entry]] += f->entry_values[entry];
}

// One row at a time, with every kind of node.
static int32_t descend_checked(const cml_forest *f, int32_t node, const double *x) {
    for (;;) {
        const cml_tree_node *n = f->nodes + node;
        if (n->left == node) return node;
        const double value = x[n->feature];
        const uint8_t flags = f->flags[node];
        int left = flags & CML_TREE_EQUAL ? value == n->threshold : value <= n->threshold;
        if (isnan(value)) left = flags & CML_TREE_MISSING_LEFT;
        node = n->left + !left;
    }
}

static inline int32_t next(const cml_tree_node *nodes, int32_t node, const double *x) {
    const cml_tree_node *n = nodes + node;
    return n->left + !(x[n->feature] <= n->threshold);
}

static void descend(const cml_forest *f, long tree, const double *x, int32_t *at) {
    const cml_tree_node *nodes = f->nodes;
    const long width = f->width, depth = f->depths[tree];
    for (int lane = 0; lane < LANES; lane++) at[lane] = f->roots[tree];
    if (depth <= EVEN_DEPTH) {
        for (long level = 0; level < depth; level++)
            for (int lane = 0; lane < LANES; lane++) at[lane] = next(nodes, at[lane], x + lane * width);
        return;
    }
    for (int32_t moved = 1; moved;) {
        moved = 0;
        for (int lane = 0; lane < LANES; lane++) {
            const int32_t node = next(nodes, at[lane], x + lane * width);
            moved |= node ^ at[lane];
            at[lane] = node;
        }
    }
}

// A single row descends several trees side by side.
static void sum_row(const cml_forest *f, const double *x, double *sums) {
    int32_t at[LANES];
    for (long tree = 0; tree < f->trees; tree += LANES) {
        const int count = f->trees - tree < LANES ? (int)(f->trees - tree) : LANES;
        for (int lane = 0; lane < count; lane++) at[lane] = f->roots[tree + lane];
        for (int32_t moved = 1; moved;) {
            moved = 0;
            for (int lane = 0; lane < count; lane++) {
                const int32_t node = next(f->nodes, at[lane], x);
                moved |= node ^ at[lane];
                at[lane] = node;
            }
        }
        for (int lane = 0; lane < count; lane++) add(f, tree + lane, at[lane], sums);
    }
}

static int has_missing(const double *x, long count) {
    int missing = 0;
    for (long index = 0; index < count; index++) missing |= x[index] != x[index];
    return missing;
}

void cml_forest_sum(const cml_forest *f, const double *x, long rows, double *sums) {
    for (long start = 0; start < rows; start += BLOCK) {
        const long count = rows - start < BLOCK ? rows - start : BLOCK;
        const double *block = x + start * f->width;
        double *result = sums + start * f->outputs;
        for (long row = 0; row < count; row++)
            for (long column = 0; column < f->outputs; column++) result[row * f->outputs + column] = f->base[column];
        if (f->special || has_missing(block, count * f->width)) {
            for (long tree = 0; tree < f->trees; tree++)
                for (long row = 0; row < count; row++)
                    add(f, tree, descend_checked(f, f->roots[tree], block + row * f->width), result + row * f->outputs);
            continue;
        }
        const long even = count / LANES * LANES;
        for (long tree = 0; tree < f->trees; tree++) {
            int32_t at[LANES];
            for (long row = 0; row < even; row += LANES) {
                descend(f, tree, block + row * f->width, at);
                const int32_t column = f->columns[tree];
                double *target = result + row * f->outputs;
                if (column >= 0) {
                    for (int lane = 0; lane < LANES; lane++)
                        target[lane * f->outputs + column] += f->values[at[lane]];
                } else {
                    for (int lane = 0; lane < LANES; lane++) add(f, tree, at[lane], target + lane * f->outputs);
                }
            }
        }
        for (long row = even; row < count; row++) sum_row(f, block + row * f->width, result + row * f->outputs);
    }
}

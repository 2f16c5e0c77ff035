// Sums of decision trees.
#pragma once
#include "cml_runtime.h"

// A row whose value of `feature` is at most `threshold` goes to node `left`, another to `left` + 1.  A leaf is its own
// `left`, with threshold infinity and feature 0.
typedef struct {
    double threshold;
    int32_t feature;
    int32_t left;
} cml_tree_node;

typedef struct {
    const cml_tree_node *nodes;
    const uint8_t *flags;           // per node, CML_TREE_...
    const int32_t *roots;           // per tree
    const int32_t *depths;          // per tree: the longest path from the root to a leaf
    const int32_t *columns;         // per tree: the sum that all its leaves add to, or -1: see `starts`
    const double *values;           // per node: the value of a leaf, in trees with one column
    const int32_t *starts;          // per node, and one more: the range of a leaf's entries, in the other trees
    const int32_t *entry_columns;
    const double *entry_values;
    const double *base;             // per column
    long trees, width, outputs;     // width: features of a row
    int special;                    // some node compares for equality
} cml_forest;

enum {
    CML_TREE_MISSING_LEFT = 1,      // not-a-number goes left
    CML_TREE_EQUAL = 2,             // goes left when equal, instead of less or equal
};

// sums[row][column] = base[column] + the values of the leaves that the rows of x reach, tree by tree.
void cml_forest_sum(const cml_forest *forest, const double *x, long rows, double *sums);

// cells[column][bins[rows[i]][column]][0 ..< 4] += examples[i][0 ..< 4] for i in 0 ..< count, one after another, for
// bins [...][columns] and cells [columns][256][4].  Runs on the calling thread.
void cml_histogram_add(const cml_isa *isa, const int32_t *rows, long count, const float *examples, const uint8_t *bins,
                       long columns, double *cells);

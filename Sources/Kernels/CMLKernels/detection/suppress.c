// Non-maximum suppression.  Coordinates are compared in double precision, as the plain evaluation does it.
#include "cml_detection.h"
#include "cml_move.h"
#include <math.h>
#include <string.h>

// Boxes compared at a time.
#define GROUP 8

typedef struct {
    double *low_x, *low_y, *high_x, *high_y, *area;
    int32_t *label;
} corners;

// The best score of each box and its class.
static void best_scores(const cml_suppression *s, const float *scores, float *best, int32_t *label) {
    for (long b = 0; b < s->boxes; b++) {
        best[b] = s->classes > 0 ? scores[b * s->score_step] : -INFINITY;
        label[b] = 0;
    }
    if (s->score_step == 1) {
        for (long k = 1; k < s->classes; k++) {
            const float *row = scores + k * s->class_step;
            for (long b = 0; b < s->boxes; b++) {
                label[b] = row[b] > best[b] ? (int32_t)k : label[b];
                best[b] = row[b] > best[b] ? row[b] : best[b];
            }
        }
    } else {
        for (long b = 0; b < s->boxes; b++) {
            for (long k = 1; k < s->classes; k++) {
                const float v = scores[b * s->score_step + k * s->class_step];
                if (v > best[b]) best[b] = v, label[b] = (int32_t)k;
            }
        }
    }
    for (long b = 0; b < s->boxes; b++) best[b] = best[b] == best[b] ? best[b] : -INFINITY;
}

// True when one of the `count` selected boxes covers the box at `at`.  Selected boxes fill whole groups, padded with
// empty ones.
static int is_suppressed(const cml_suppression *s, const corners *p, long count, const corners *all, long at) {
    const double low_x = all->low_x[at], low_y = all->low_y[at], high_x = all->high_x[at], high_y = all->high_y[at];
    const double area = all->area[at];
    const int32_t label = all->label[at];
    for (long start = 0; start < count; start += GROUP) {
        int hit = 0;
        for (long i = start; i < start + GROUP; i++) {
            const double right = high_x < p->high_x[i] ? high_x : p->high_x[i];
            const double left = low_x > p->low_x[i] ? low_x : p->low_x[i];
            const double top = high_y < p->high_y[i] ? high_y : p->high_y[i];
            const double bottom = low_y > p->low_y[i] ? low_y : p->low_y[i];
            const double width = right - left > 0 ? right - left : 0, height = top - bottom > 0 ? top - bottom : 0;
            const double common = width * height, whole = area + p->area[i] - common;
            const double part = whole > 0 ? common / whole : 0;
            hit |= (i < count) & (part > s->overlap) & (!s->per_class | (label == p->label[i]));
        }
        if (hit) return 1;
    }
    return 0;
}

static corners corners_in(double *memory, long count, int32_t *label) {
    return (corners){memory, memory + count, memory + 2 * count, memory + 3 * count, memory + 4 * count, label};
}

long cml_suppress(const cml_isa *isa, const cml_suppression *s, const float *boxes, const float *scores, long count,
                  int32_t *selected) {
    (void)isa;
    if (s->boxes <= 0 || count <= 0) return 0;
    const long n = s->boxes, limit = ((count < n ? count : n) + GROUP - 1) / GROUP * GROUP;
    double *memory = cml_scratch(2, sizeof(double) * (size_t)(5 * (n + limit)) + sizeof(int32_t) * (size_t)(3 * n + limit));
    int32_t *label = (int32_t *)(memory + 5 * (n + limit)), *order = label + n;
    float *best = (float *)(order + n);
    const corners all = corners_in(memory, n, label), p = corners_in(memory + 5 * n, limit, (int32_t *)(best + n));
    memset(memory + 5 * n, 0, sizeof(double) * (size_t)(5 * limit));
    memset(p.label, 0, sizeof(int32_t) * (size_t)limit);
    best_scores(s, scores, best, label);
    for (long b = 0; b < n; b++) {
        const float *box = boxes + b * s->box_step;
        const double x = box[0], y = box[s->part_step], w = (double)box[2 * s->part_step] / 2, h = (double)box[3 * s->part_step] / 2;
        all.low_x[b] = x - w;
        all.low_y[b] = y - h;
        all.high_x[b] = x + w;
        all.high_y[b] = y + h;
        all.area[b] = (all.high_x[b] - all.low_x[b]) * (all.high_y[b] - all.low_y[b]);
    }
    cml_sort(CML_ELEMENT_F32, best, 1, n, 1, n, 0, NULL, order);
    long have = 0;
    for (long rank = 0; rank < n && have < count; rank++) {
        const long b = order[rank];
        if (s->has_threshold && !((double)best[b] > s->threshold)) break;
        if (is_suppressed(s, &p, have, &all, b)) continue;
        p.low_x[have] = all.low_x[b];
        p.low_y[have] = all.low_y[b];
        p.high_x[have] = all.high_x[b];
        p.high_y[have] = all.high_y[b];
        p.area[have] = all.area[b];
        p.label[have] = label[b];
        selected[have++] = (int32_t)b;
    }
    if (have == 0) selected[have++] = order[0];
    return have;
}

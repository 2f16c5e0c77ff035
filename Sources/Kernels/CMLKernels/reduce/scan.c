// Running sums along one axis of [outer][axis][inner].
#include "../isa/isa.h"
#include "../threads/division.h"

#define COLUMNS 256   // at most SCAN_COLUMNS of scan.inc
#define BLOCK 16384   // elements of one part of a long line

typedef struct {
    const cml_isa *isa;
    int is_integer, exclusive, reverse;
    const void *x;
    void *y;
    long axis, inner, parts;
    cml_division division;
} job;

static void columns(void *context, long task, int worker) {
    (void)worker;
    const job *j = context;
    for (long item = task * j->division.each, end = cml_division_end(&j->division, task); item < end; item++) {
        const long start = item / j->parts * j->axis * j->inner + item % j->parts * COLUMNS;
        const long left = j->inner - item % j->parts * COLUMNS, count = left < COLUMNS ? left : COLUMNS;
        if (j->is_integer) {
            j->isa->scan_columns_i32((const int32_t *)j->x + start, (int32_t *)j->y + start, j->axis, j->inner, count,
                                     j->exclusive, j->reverse);
        } else {
            j->isa->scan_columns((const float *)j->x + start, (float *)j->y + start, j->axis, j->inner, count,
                                 j->exclusive, j->reverse);
        }
    }
}

static inline int32_t saturated(int64_t x) { return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x; }

// One line or part of it, from `first` on in the direction of the sum.
static void line(const job *j, long first, long count, double sum) {
    const long step = j->reverse ? -1 : 1;
    long at = j->reverse ? first + count - 1 : first;
    if (j->is_integer) {
        // 2³¹ numbers of 32 bits fit into 64, and a term waits for one addition of integers only.
        const int32_t *x = j->x;
        int32_t *y = j->y;
        int64_t whole = (int64_t)sum;
        if (j->exclusive) {
            for (long i = 0; i < count; i++, at += step) {
                const int32_t element = x[at];  // x and y may be the same
                y[at] = saturated(whole);
                whole += element;
            }
        } else {
            for (long i = 0; i < count; i++, at += step) y[at] = saturated(whole += x[at]);
        }
    } else {
        const float *x = j->x;
        float *y = j->y;
        for (long i = 0; i < count; i++, at += step) {
            const double before = sum;
            sum += x[at];
            y[at] = (float)(j->exclusive ? before : sum);
        }
    }
}

static void lines(void *context, long task, int worker) {
    (void)worker;
    const job *j = context;
    for (long item = task * j->division.each, end = cml_division_end(&j->division, task); item < end; item++)
        line(j, item * j->axis, j->axis, 0);
}

typedef struct {
    const job *job;
    double *sums;
    long first, count;
} part_job;

static void sum_part(void *context, long part, int worker) {
    (void)worker;
    const part_job *p = context;
    const long start = p->first + part * BLOCK, left = p->first + p->count - start, count = left < BLOCK ? left : BLOCK;
    if (p->job->is_integer) {
        p->sums[part] = p->job->isa->reduce_row_i32(CML_SUM, (const int32_t *)p->job->x + start, count);
        return;
    }
    const float *x = (const float *)p->job->x + start;
    double sums[4] = {0};
    long i = 0;
    for (; i + 4 <= count; i += 4)
        for (int q = 0; q < 4; q++) sums[q] += x[i + q];
    for (; i < count; i++) sums[0] += x[i];
    p->sums[part] = sums[0] + sums[1] + sums[2] + sums[3];
}

static void scan_part(void *context, long part, int worker) {
    (void)worker;
    const part_job *p = context;
    const long start = p->first + part * BLOCK, left = p->first + p->count - start;
    line(p->job, start, left < BLOCK ? left : BLOCK, p->sums[part]);
}

// A long line in parts: their sums, the sums before each, then the parts.
static void long_line(job *j, long first, long count) {
    const long parts = (count + BLOCK - 1) / BLOCK;
    part_job p = {j, cml_scratch(0, sizeof(double) * (size_t)parts), first, count};
    cml_parallel_for(parts, sum_part, &p);
    double sum = 0;
    for (long n = 0; n < parts; n++) {
        const long part = j->reverse ? parts - 1 - n : n;
        const double part_sum = p.sums[part];
        p.sums[part] = sum;
        sum += part_sum;
    }
    cml_parallel_for(parts, scan_part, &p);
}

void cml_cumulative_sum(const cml_isa *isa, cml_element element, const void *x, void *y, long outer, long axis,
                        long inner, int exclusive, int reverse) {
    if (outer <= 0 || axis <= 0 || inner <= 0) return;
    job j = {isa, element == CML_ELEMENT_I32, exclusive, reverse, x, y, axis, inner, (inner + COLUMNS - 1) / COLUMNS,
             {0, 0, 0}};
    if (inner == 1) {
        if (axis > 4 * BLOCK && outer < cml_worker_count() && cml_worker_count() > 1) {
            for (long item = 0; item < outer; item++) long_line(&j, item * axis, axis);
            return;
        }
        j.division = cml_divide(outer, axis);
        cml_parallel_for(j.division.tasks, lines, &j);
        return;
    }
    j.division = cml_divide(outer * j.parts, axis * (inner < COLUMNS ? inner : COLUMNS));
    cml_parallel_for(j.division.tasks, columns, &j);
}

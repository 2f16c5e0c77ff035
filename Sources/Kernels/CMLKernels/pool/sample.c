// Points of planes as weighted sums of elements.
#include "../isa/isa.h"
#include "../threads/division.h"

#define BLOCK 2048
#define MOST 8

typedef struct {
    const cml_isa *isa;
    const float *x, *bias;
    float *y;
    long plane, taps, count, blocks;
    const int32_t *const *positions;
    const float *const *weights;
    cml_division division;
} job;

static void sample(void *context, long task, int worker) {
    (void)worker;
    const job *j = context;
    for (long item = task * j->division.each, end = cml_division_end(&j->division, task); item < end; item++) {
        const long plane = item / j->blocks, start = item % j->blocks * BLOCK, left = j->count - start;
        const int32_t *positions[MOST];
        const float *weights[MOST];
        for (long t = 0; t < j->taps; t++) {
            positions[t] = j->positions[t] + start;
            weights[t] = j->weights[t] + start;
        }
        j->isa->sample_taps(j->x + plane * j->plane, j->taps, positions, weights, j->bias + start,
                            j->y + plane * j->count + start, left < BLOCK ? left : BLOCK);
    }
}

void cml_sample(const cml_isa *isa, const float *x, long planes, long plane, long taps, const int32_t *const *positions,
                const float *const *weights, const float *bias, float *y, long count) {
    if (planes <= 0 || count <= 0 || taps > MOST) return;
    job j = {isa, x, bias, y, plane, taps, count, (count + BLOCK - 1) / BLOCK, positions, weights, {0, 0, 0}};
    j.division = cml_divide(planes * j.blocks, 4 * (count < BLOCK ? count : BLOCK));
    cml_parallel_for(j.division.tasks, sample, &j);
}

#include "isa.h"
#include <time.h>

typedef struct {
    const cml_isa *isa;
    double operations[64];
} job;

static void run(void *context, long index, int worker) {
    (void)worker;
    job *j = context;
    float values[3] = {0.999f, 0.001f};
    j->operations[index] = j->isa->peak(values);
}

double cml_peak(const cml_isa *isa, int threads) {
    job j = {.isa = isa};
    double best = 0;
    const int tasks = threads < 64 ? threads : 64;
    for (int round = 0; round < 20; round++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        cml_parallel_for(tasks, run, &j);
        clock_gettime(CLOCK_MONOTONIC, &end);
        double total = 0;
        for (int i = 0; i < tasks; i++) total += j.operations[i];
        const double speed = total / ((double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
        if (speed > best) best = speed;
    }
    return best;
}

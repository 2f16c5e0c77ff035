// The arithmetic peak of this machine: fused multiply-adds on registers, on so many threads at once.
//
//     cc -O3 -march=native -ffp-contract=fast -pthread peak.c -o peak ; ./peak THREADS
//
// Speaks the protocol of the two sides: prints "ready", then for each line "run N" one JSON line with N numbers, here
// GFLOP/s of a burst of tens of milliseconds.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif
#define ACCUMULATORS 12

typedef float vector __attribute__((vector_size(LANES * 4)));

static const long steps = 10 * 1000 * 1000;
static volatile float sink;

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

// Twelve independent chains hide the latency of the two multiply-add units.
static void *burst(void *unused) {
    (void)unused;
    vector zero = {0}, scale = zero + 0.999f, offset = zero + 0.001f, sum[ACCUMULATORS];
#pragma GCC unroll 12
    for (int i = 0; i < ACCUMULATORS; i++) sum[i] = zero + 1e-3f * (float)i;
    for (long step = 0; step < steps; step++) {
#pragma GCC unroll 12
        for (int i = 0; i < ACCUMULATORS; i++) sum[i] = sum[i] * scale + offset;
    }
    float total = 0;
    for (int i = 0; i < ACCUMULATORS; i++) total += sum[i][0];
    sink = total;
    return NULL;
}

int main(int count, char **arguments) {
    int threads = count > 1 ? atoi(arguments[1]) : 1;
    if (threads < 1 || threads > 256) return 1;
    pthread_t others[256];
    puts("ready");
    fflush(stdout);
    for (int runs; scanf(" run %d", &runs) == 1;) {
        putchar('[');
        for (int run = 0; run < runs; run++) {
            double start = seconds();
            for (int i = 1; i < threads; i++) pthread_create(&others[i], NULL, burst, NULL);
            burst(NULL);
            for (int i = 1; i < threads; i++) pthread_join(others[i], NULL);
            double work = 2.0 * LANES * ACCUMULATORS * (double)steps * threads;
            printf("%s%.2f", run ? ", " : "", work / (seconds() - start) / 1e9);
        }
        puts("]");
        fflush(stdout);
    }
    return 0;
}

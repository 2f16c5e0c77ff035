// A plain reading loop: `read THREADS BYTES` answers each line "run N" with N times in milliseconds, one for each pass over
// BYTES bytes by THREADS threads.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef uint64_t words __attribute__((vector_size(64)));
enum { MOST = 64 };
static const char *memory;
static long bytes, threads;
static uint64_t sums[MOST];
static _Atomic long turn, done;

static void read_part(long part) {
    const long each = bytes / threads / 256 * 256;
    const words *p = (const words *)(memory + part * each);
    words a = {0}, b = {0}, c = {0}, d = {0};
    for (long i = 0; i < each / 64; i += 4) {
        __builtin_prefetch(p + i + 32), __builtin_prefetch(p + i + 33);
        __builtin_prefetch(p + i + 34), __builtin_prefetch(p + i + 35);
        a += p[i], b += p[i + 1], c += p[i + 2], d += p[i + 3];
    }
    a += b + c + d;
    sums[part] = a[0] + a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7];
}

static void *work(void *part) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (long seen = 0;; seen++) {
        while (atomic_load(&turn) == seen) {}
        read_part((long)part);
        atomic_fetch_add(&done, 1);
    }
    return NULL;
}

int main(int count, char **arguments) {
    threads = count > 1 ? atol(arguments[1]) : 2;
    bytes = count > 2 ? atol(arguments[2]) : 45088768;
    if (threads < 1 || threads > MOST) return 2;
    char *filled = aligned_alloc(2 << 20, (size_t)(bytes + (2 << 20)) / (2 << 20) * (2 << 20));
    memset(filled, 1, (size_t)bytes);
    memory = filled;
    printf("ready\n"), fflush(stdout);
    for (long wanted; scanf(" run %ld", &wanted) == 1;) {
        // Threads spin between turns only while there are turns.
        pthread_t others[MOST];
        atomic_store(&turn, 0), atomic_store(&done, 0);
        for (long part = 1; part < threads; part++) pthread_create(&others[part], NULL, work, (void *)part);
        printf("[");
        for (long i = 0; i < wanted; i++) {
            struct timespec begin, end;
            clock_gettime(CLOCK_MONOTONIC, &begin);
            atomic_fetch_add(&turn, 1);
            read_part(0);
            while (atomic_load(&done) < (i + 1) * (threads - 1)) {}
            clock_gettime(CLOCK_MONOTONIC, &end);
            printf("%s%.6f", i ? ", " : "", (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6);
        }
        for (long part = 1; part < threads; part++) pthread_cancel(others[part]);
        printf("]\n"), fflush(stdout);
    }
    return sums[0] == 42;
}

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cml_runtime.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define SLOTS 4

#define PAGE ((uintptr_t)4096)

static atomic_bool secret;

/// Excludes future allocations from core dumps, in whole pages: a confidential model is in memory, and
/// with it its weights as kernels read them.  CSecrets calls it.
void cml_exclude_from_core_dumps(void) { atomic_store_explicit(&secret, 1, memory_order_relaxed); }

static void exclude_from_core_dumps(void *memory, size_t bytes) {
    uintptr_t start = ((uintptr_t)memory + PAGE - 1) & ~(PAGE - 1);
    uintptr_t end = ((uintptr_t)memory + bytes) & ~(PAGE - 1);
    // Advice: a kernel that keeps no core dumps declines it.
    if (end > start) madvise((void *)start, end - start, MADV_DONTDUMP);
}

void *cml_allocate(size_t bytes) {
    // A tail that does not fill a huge page stays in small ones, so that no memory is wasted.
    int huge = bytes >= HUGE_PAGE;
    void *memory = NULL;
    if (posix_memalign(&memory, huge ? HUGE_PAGE : 64, bytes + (bytes == 0)) != 0) return NULL;
    if (huge) madvise(memory, bytes, MADV_HUGEPAGE);
    if (atomic_load_explicit(&secret, memory_order_relaxed)) exclude_from_core_dumps(memory, bytes);
    return memory;
}

void cml_free(void *memory, size_t bytes) {
    (void)bytes;
    free(memory);
}

typedef struct {
    void *memory[SLOTS];
    size_t bytes[SLOTS];
} buffers;

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local buffers *mine;

static void release(void *pointer) {
    buffers *all = pointer;
    for (int slot = 0; slot < SLOTS; slot++) free(all->memory[slot]);
    free(all);
}

static void create_key(void) { pthread_key_create(&key, release); }

void *cml_scratch(int slot, size_t bytes) {
    if (!mine) {
        pthread_once(&once, create_key);
        mine = calloc(1, sizeof *mine);
        if (!mine) abort();
        pthread_setspecific(key, mine);
    }
    if (mine->bytes[slot] < bytes) {
        free(mine->memory[slot]);
        mine->memory[slot] = cml_allocate(bytes + bytes / 4);
        if (!mine->memory[slot]) abort();
        mine->bytes[slot] = bytes + bytes / 4;
    }
    return mine->memory[slot];
}

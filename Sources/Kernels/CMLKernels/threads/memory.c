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

// Blocks of a huge page and more are mapped here and not taken from the heap, where what is freed between two of them stays
// with the process: loading a model frees many.  A few freed ones are kept, because new pages cost as much as reading them.
#define KEPT_BLOCKS 16
#define KEPT_BYTES ((size_t)16 << 20)

typedef struct {
    void *memory;
    size_t bytes;
} block;

// Taken without waiting: where it is busy, which it stays in a child of a process that forked then, blocks are not kept.
static atomic_flag kept_is_busy = ATOMIC_FLAG_INIT;
// The oldest first.
static block kept[KEPT_BLOCKS];
static int kept_count;
static size_t kept_bytes;

// Whole pages of any size that Linux uses.
static size_t mapped_bytes(size_t bytes) { return (bytes + 65535) & ~(size_t)65535; }

static block remove_kept(int index) {
    const block removed = kept[index];
    kept_count--;
    kept_bytes -= removed.bytes;
    for (int i = index; i < kept_count; i++) kept[i] = kept[i + 1];
    return removed;
}

// The newest kept block of exactly this size; null when there is none.
static void *reuse(size_t bytes) {
    void *memory = NULL;
    if (atomic_flag_test_and_set_explicit(&kept_is_busy, memory_order_acquire)) return NULL;
    for (int i = kept_count - 1; i >= 0 && !memory; i--)
        if (kept[i].bytes == bytes) memory = remove_kept(i).memory;
    atomic_flag_clear_explicit(&kept_is_busy, memory_order_release);
    return memory;
}

static void keep_or_unmap(void *memory, size_t bytes) {
    block ended[KEPT_BLOCKS + 1];
    int count = 0;
    if (bytes > KEPT_BYTES || atomic_flag_test_and_set_explicit(&kept_is_busy, memory_order_acquire)) {
        munmap(memory, bytes);
        return;
    }
    while (kept_count == KEPT_BLOCKS || (kept_count > 0 && kept_bytes + bytes > KEPT_BYTES)) ended[count++] = remove_kept(0);
    kept[kept_count++] = (block){memory, bytes};
    kept_bytes += bytes;
    atomic_flag_clear_explicit(&kept_is_busy, memory_order_release);
    for (int i = 0; i < count; i++) munmap(ended[i].memory, ended[i].bytes);
}

static void *map(size_t bytes) {
    char *start = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return NULL;
    char *memory = (char *)(((uintptr_t)start + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
    if (memory > start) munmap(start, (size_t)(memory - start));
    const size_t rest = HUGE_PAGE - (size_t)(memory - start);
    if (rest > 0) munmap(memory + bytes, rest);
    // A tail that does not fill a huge page stays in small ones, so that no memory is wasted.
    madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

// Whether blocks of this size are mapped; an address sanitizer surrounds those of the heap.
static int is_mapped(size_t bytes) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
    return 0;
#endif
#endif
    return bytes >= HUGE_PAGE;
}

void *cml_allocate(size_t bytes) {
    void *memory = NULL;
    if (bytes > SIZE_MAX - 2 * HUGE_PAGE) return NULL;
    if (is_mapped(bytes)) {
        memory = reuse(mapped_bytes(bytes));
        if (!memory) memory = map(mapped_bytes(bytes));
        if (!memory) return NULL;
    } else if (posix_memalign(&memory, 64, bytes + (bytes == 0)) != 0) {
        return NULL;
    }
    if (atomic_load_explicit(&secret, memory_order_relaxed)) exclude_from_core_dumps(memory, bytes);
    return memory;
}

void cml_free(void *memory, size_t bytes) {
    if (memory && is_mapped(bytes)) keep_or_unmap(memory, mapped_bytes(bytes));
    else free(memory);
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
    for (int slot = 0; slot < SLOTS; slot++) cml_free(all->memory[slot], all->bytes[slot]);
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
        cml_free(mine->memory[slot], mine->bytes[slot]);
        mine->memory[slot] = cml_allocate(bytes + bytes / 4);
        if (!mine->memory[slot]) abort();
        mine->bytes[slot] = bytes + bytes / 4;
    }
    return mine->memory[slot];
}

#include "CMappedFiles.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LIMIT = 4096 };

// An entry whose end is 0 is free. The handler reads entries while others are written: `start` is valid once `end` is.
static struct {
    _Atomic uintptr_t start, end;
    atomic_int is_damaged;
} entries[LIMIT];

static _Atomic int used;  // entries beyond this were never written
static atomic_size_t damages;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t installed = PTHREAD_ONCE_INIT;
static struct sigaction previous;
static uintptr_t page;

// Only what may be called within a handler: atomic loads and stores, and system calls.
static int replace(uintptr_t address) {
    int count = atomic_load(&used);
    for (int number = 0; number < count; number++) {
        uintptr_t end = atomic_load(&entries[number].end), start = atomic_load(&entries[number].start);
        if (address < start || address >= end) continue;
        // All that follows is missing, too: a file has one end.
        uintptr_t from = address / page * page;
        void *pages = mmap((void *)from, end - from, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
                           -1, 0);
        if (pages == MAP_FAILED) return 0;
        atomic_store(&entries[number].is_damaged, 1);
        atomic_fetch_add(&damages, 1);
        return 1;
    }
    return 0;
}

static void handle(int signal_number, siginfo_t *info, void *context) {
    if (info->si_code == BUS_ADRERR && replace((uintptr_t)info->si_addr)) return;
    if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(signal_number, info, context);
    } else if (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) {
        // The access faults again, and ends the process as it would have.
        signal(signal_number, SIG_DFL);
    } else {
        previous.sa_handler(signal_number);
    }
}

static void install(void) {
    page = (uintptr_t)sysconf(_SC_PAGESIZE);
    struct sigaction action = {0};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &previous);
}

int cmf_watch(const void *address, size_t length) {
    pthread_once(&installed, install);
    pthread_mutex_lock(&lock);
    int count = atomic_load(&used), number = 0;
    while (number < count && atomic_load(&entries[number].end)) number++;
    if (number < LIMIT) {
        atomic_store(&entries[number].is_damaged, 0);
        atomic_store(&entries[number].start, (uintptr_t)address);
        // Whole pages: what lies behind the file's last byte on its page belongs to the mapping.
        atomic_store(&entries[number].end, ((uintptr_t)address + length + page - 1) / page * page);
        if (number == count) atomic_store(&used, count + 1);
    }
    pthread_mutex_unlock(&lock);
    return number < LIMIT ? number : -1;
}

void cmf_unwatch(int number) {
    if (number >= 0) atomic_store(&entries[number].end, 0);
}

int cmf_is_damaged(int number) { return number >= 0 && atomic_load(&entries[number].is_damaged); }

size_t cmf_damages(void) { return atomic_load(&damages); }

// The worker pool: contiguous slices first (the same rows stay on the same core from operator to operator), then
// stealing of single items, so that a descheduled worker delays a job by one item at most.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cml_runtime.h"
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_WORKERS 64
#define SPIN_NANOSECONDS 60000

typedef struct {
    _Alignas(64) _Atomic long next;
    long end;
} slice;

#define AWAKE -1

// A worker as its callers see it.
typedef struct {
    _Alignas(64) _Atomic int processor;  // where it sleeps, or AWAKE
    _Atomic int moved;                   // its caller keeps it off that processor until it has woken
    int thread;
    cpu_set_t allowed;                   // where it may run then
} sleeper;

static struct {
    slice slices[MAX_WORKERS];
    sleeper workers[MAX_WORKERS];
    _Alignas(64) _Atomic int epoch;     // increases with every job; workers sleep on it
    _Alignas(64) _Atomic int active;    // participants of the open job, 0 when none is open
    _Alignas(64) _Atomic int sleepers;
    _Alignas(64) atomic_flag busy;
    cml_task task;
    void *context;
    const cml_isa *isa;     // the caller's
    int participants;
    _Atomic int processor;  // where the caller of the newest job was when it opened it
    int threads;
    _Atomic int limit;
    _Alignas(64) _Atomic int predictions;  // that run now
    int spins;
} pool = {.busy = ATOMIC_FLAG_INIT};

static pthread_once_t once = PTHREAD_ONCE_INIT;

// Keeps a thread (0: this one) off a processor; true when it may run elsewhere.  `allowed` is where it might before.
static int restrict_thread(int thread, int processor, cpu_set_t *allowed) {
    if (sched_getaffinity(thread, sizeof *allowed, allowed) != 0) return 0;
    cpu_set_t others = *allowed;
    CPU_CLR(processor, &others);
    return CPU_COUNT(&others) > 0 && sched_setaffinity(thread, sizeof others, &others) == 0;
}

static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

static long futex(_Atomic int *word, int operation, int value) {
    return syscall(SYS_futex, (int *)word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void drain(int worker, int participants) {
    for (int turn = 0; turn < participants; turn++) {
        slice *own = &pool.slices[(worker + turn) % participants];
        while (atomic_load_explicit(&own->next, memory_order_relaxed) < own->end) {
            long index = atomic_fetch_add_explicit(&own->next, 1, memory_order_relaxed);
            if (index >= own->end) break;
            pool.task(pool.context, index, worker);
        }
    }
}

// The kernel wakes a worker where it last ran, and of few processors it may not look for an idle one: a worker that is woken
// on its caller's processor waits there for a slice of time, and may stay, so that the job runs on one processor alone.
// So a worker that sleeps there is sent elsewhere before it is woken, and one that was put there all the same leaves.  It
// may run anywhere it might before as soon as it has moved.
static void keep_apart(int participants, int here) {
    for (int worker = 1; worker < participants; worker++) {
        sleeper *s = &pool.workers[worker];
        if (atomic_load_explicit(&s->processor, memory_order_acquire) != here) continue;
        if (atomic_load_explicit(&s->moved, memory_order_acquire)) continue;
        if (!restrict_thread(s->thread, here, &s->allowed)) continue;
        atomic_store_explicit(&s->moved, 1, memory_order_release);
    }
}

static void part_from_caller(sleeper *own) {
    if (atomic_exchange_explicit(&own->moved, 0, memory_order_acquire)) {
        sched_setaffinity(0, sizeof own->allowed, &own->allowed);
        return;
    }
    const int caller = atomic_load_explicit(&pool.processor, memory_order_relaxed);
    cpu_set_t allowed;
    if (sched_getcpu() == caller && restrict_thread(0, caller, &allowed)) sched_setaffinity(0, sizeof allowed, &allowed);
}

static void *work(void *argument) {
    int worker = (int)(long)argument;
    int seen = 0;
    sleeper *own = &pool.workers[worker];
    own->thread = (int)syscall(SYS_gettid);
    for (;;) {
        int epoch;
        for (int spins = 0; (epoch = atomic_load_explicit(&pool.epoch, memory_order_acquire)) == seen;) {
            if (spins < pool.spins) {
                spins++;
                relax();
            } else {
                atomic_store_explicit(&own->processor, sched_getcpu(), memory_order_release);
                atomic_fetch_add(&pool.sleepers, 1);
                if (atomic_load(&pool.epoch) == seen) futex(&pool.epoch, FUTEX_WAIT, seen);
                atomic_fetch_sub(&pool.sleepers, 1);
                atomic_store_explicit(&own->processor, AWAKE, memory_order_release);
            }
        }
        seen = epoch;
        part_from_caller(own);
        // Join only while the job is open: `active` is positive as long as its caller has not closed it.
        int active = atomic_load(&pool.active), joined = 0;
        while (active > 0 && !joined) joined = atomic_compare_exchange_weak(&pool.active, &active, active + 1);
        if (!joined) continue;
        if (worker < pool.participants) {
            cml_isa_enter(pool.isa);
            drain(worker, pool.participants);
        }
        atomic_fetch_sub_explicit(&pool.active, 1, memory_order_release);
    }
    return NULL;
}

static long read_number(FILE *file) {
    long value = -1;
    if (!file) return -1;
    if (fscanf(file, "%ld", &value) != 1) value = -1;
    fclose(file);
    return value;
}

// Processors the control group's quota pays for, rounded up; 0 when unlimited.
static long quota(void) {
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "r");
    if (file) {
        long limit = 0, period = 0;
        int fields = fscanf(file, "%ld %ld", &limit, &period);
        fclose(file);
        return fields == 2 && period > 0 ? (limit + period - 1) / period : 0;
    }
    long limit = read_number(fopen("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "r"));
    long period = read_number(fopen("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "r"));
    return limit > 0 && period > 0 ? (limit + period - 1) / period : 0;
}

static int thread_count(void) {
    const char *asked = getenv("COREML_THREADS");
    long count = asked ? strtol(asked, NULL, 10) : 0;
    if (count <= 0) {
        cpu_set_t set;
        count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
        long paid = quota();
        if (paid > 0 && paid < count) count = paid;
    }
    return count < 1 ? 1 : count > MAX_WORKERS ? MAX_WORKERS : (int)count;
}

static long nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void start(void) {
    // The shortest of several measurements: a thread that loses its processor in between would measure that.
    long each = SPIN_NANOSECONDS;
    for (int round = 0; round < 8; round++) {
        const long begin = nanoseconds();
        for (int i = 0; i < 50; i++) relax();
        const long time = (nanoseconds() - begin) / 50;
        if (time < each) each = time;
    }
    pool.spins = (int)(SPIN_NANOSECONDS / (each > 2 ? each : 2));
    int wanted = thread_count();
    pool.threads = 1;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 2 << 20);
    for (int worker = 1; worker < wanted; worker++) {
        pthread_t thread;
        atomic_store(&pool.workers[worker].processor, AWAKE);
        if (pthread_create(&thread, &attributes, work, (void *)(long)worker) != 0) break;
        pool.threads++;
    }
    pthread_attr_destroy(&attributes);
}

int cml_worker_count(void) {
    pthread_once(&once, start);
    int limit = atomic_load_explicit(&pool.limit, memory_order_relaxed);
    return limit > 0 && limit < pool.threads ? limit : pool.threads;
}

void cml_worker_limit(int count) { atomic_store(&pool.limit, count); }

void cml_prediction_begins(void) { atomic_fetch_add_explicit(&pool.predictions, 1, memory_order_relaxed); }
void cml_prediction_ends(void) { atomic_fetch_sub_explicit(&pool.predictions, 1, memory_order_relaxed); }

// As many predictions as processors keep these busy by themselves: workers would take the processors from the other
// callers, and each caller would wait for a worker at every step.
static int is_crowded(int participants) {
    return atomic_load_explicit(&pool.predictions, memory_order_relaxed) >= participants;
}

int cml_free_worker_count(void) {
    const int participants = cml_worker_count();
    return is_crowded(participants) ? 1 : participants;
}

void cml_parallel_for(long count, cml_task task, void *context) {
    int participants = cml_worker_count();
    if (count < 2 || participants < 2 || is_crowded(participants)
            || atomic_flag_test_and_set_explicit(&pool.busy, memory_order_acquire)) {
        for (long index = 0; index < count; index++) task(context, index, 0);
        return;
    }
    pool.task = task;
    pool.context = context;
    pool.isa = cml_isa_current();
    pool.participants = participants;
    for (int worker = 0; worker < participants; worker++) {
        pool.slices[worker].end = count * (worker + 1) / participants;
        atomic_store_explicit(&pool.slices[worker].next, count * worker / participants, memory_order_relaxed);
    }
    const int here = sched_getcpu();
    atomic_store_explicit(&pool.processor, here, memory_order_relaxed);
    if (atomic_load(&pool.sleepers) > 0) keep_apart(participants, here);
    atomic_store(&pool.active, 1);
    atomic_fetch_add(&pool.epoch, 1);
    if (atomic_load(&pool.sleepers) > 0) futex(&pool.epoch, FUTEX_WAKE, MAX_WORKERS);
    drain(0, participants);
    // Close the job: only when the caller is the last participant, so that nobody works on a finished job.
    for (int spins = 0;; spins++) {
        int alone = 1;
        if (atomic_compare_exchange_weak(&pool.active, &alone, 0)) break;
        if (spins < pool.spins) relax();
        else sched_yield();
    }
    atomic_flag_clear_explicit(&pool.busy, memory_order_release);
}

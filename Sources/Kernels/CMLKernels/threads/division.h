// Division of equal items into tasks.
#pragma once
#include "cml_runtime.h"

typedef struct {
    long count, each, tasks;
} cml_division;

// `work` is the number of elements one item touches, weighted by what an element costs beyond a copy.
static inline cml_division cml_divide(long count, long work) {
    const long workers = cml_worker_count();
    cml_division d = {count, count > 0 ? count : 1, count > 0};
    if (workers < 2 || count * work < (24 << 10)) return d;
    d.each = (count + 4 * workers - 1) / (4 * workers);
    d.tasks = (count + d.each - 1) / d.each;
    return d;
}

static inline long cml_division_end(const cml_division *d, long task) {
    return (task + 1) * d->each < d->count ? (task + 1) * d->each : d->count;
}

// Mapped files that are truncated by others while they are mapped.
//
// Touching a page that lies beyond a file's new end raises SIGBUS, which ends a process. Pages of watched mappings are
// replaced by zeros instead, and the mapping counts as damaged, which the reader of the bytes checks afterwards.
#pragma once

#include <stddef.h>

// Watches the mapping of `length` bytes from a page's start. Its number, or -1 when too many are watched: such a mapping
// behaves as any other. The first call installs a handler of SIGBUS that leaves faults elsewhere to the one before it.
int cmf_watch(const void *address, size_t length);

// Ends the watch, before the mapping is removed.
void cmf_unwatch(int number);

int cmf_is_damaged(int number);

// The number of page faults on missing pages of watched mappings since the process started.
size_t cmf_damages(void);

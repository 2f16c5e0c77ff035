#ifndef CSECRETS_H
#define CSECRETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Memory for keys, and the kernel's keyring: what the C library and Swift have no face for.

/// The maximum length of a secret in bytes.
enum { CSECRETS_SLOT = 64 };

/// Zeroed memory for one secret of up to `CSECRETS_SLOT` bytes, which no core dump, debugger or swap file shows where the
/// system offers that (`memfd_secret`), else memory that is locked and left out of core dumps. NULL when there is none.
void *_Nullable csecrets_allocate(void);

/// Overwrites a secret and gives its memory up.
void csecrets_release(void *_Nonnull secret);

/// Whether secrets lie in memory that not even the superuser's debugger can read.
bool csecrets_are_hidden(void);

/// Overwrites bytes, whatever the optimiser thinks of it.
void csecrets_erase(void *_Nonnull bytes, size_t count);

/// Takes from the process the right to be dumped and to be watched by other processes of its user.
void csecrets_forbid_dumps(void);

/// Leaves what kernels allocate from now on, packed weights above all, out of core dumps.
void csecrets_exclude_kernels_from_core_dumps(void);

/// Keeps `count` bytes under `name` in the user's keyring, until the machine stops or `seconds` have passed (0: no limit).
/// Returns 0, or an error number.
int csecrets_keyring_store(const char *_Nonnull name, const void *_Nonnull bytes, size_t count, uint32_t seconds);

/// Reads what is kept under `name`: the number of its bytes; at most `capacity` of them are written to `bytes`, or -1.
long csecrets_keyring_read(const char *_Nonnull name, void *_Nonnull bytes, size_t capacity);

/// Removes what is kept under `name`, if anything is.
void csecrets_keyring_remove(const char *_Nonnull name);

/// Runs the program with the name and arguments in `arguments` (ended by NULL) with `count` bytes as its standard input,
/// at most 64 KiB.  Returns how many bytes it wrote, which lie in `output`; -1 when it is not there, fails, or writes more
/// than `capacity`.
long csecrets_run(
    const char *_Nullable const *_Nonnull arguments, const void *_Nullable input, size_t count, void *_Nullable output,
    size_t capacity);

#endif

// Lets the calls that change files under a folder fail, or ends the process at one of them.  To be preloaded:
//   FAULT_ROOT=/folder FAULT=count    prints on standard error at the end how many there were
//   FAULT=N:kill                      ends the process before the Nth
//   FAULT=N:half                      the same, after the first half of the Nth has been written when it is a write
//   FAULT=N:ENOSPC, N:EIO, N:EROFS    lets the Nth and all that follow fail so
//   FAULT=N:once                      lets the Nth fail with EIO, and no other

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum Kind { NONE, COUNT, KILL, HALF, FAIL, ONCE };

static enum Kind kind;
static long chosen;
static int error_number;
static const char *root;
static atomic_long count;
static _Atomic unsigned char watched[65536];

__attribute__((constructor)) static void read_plan(void) {
  const char *plan = getenv("FAULT");
  root = getenv("FAULT_ROOT");
  if (plan == NULL || root == NULL) return;
  if (strcmp(plan, "count") == 0) {
    kind = COUNT;
    return;
  }
  char *end;
  chosen = strtol(plan, &end, 10);
  if (*end != ':') return;
  const char *what = end + 1;
  if (strcmp(what, "kill") == 0) kind = KILL;
  if (strcmp(what, "half") == 0) kind = HALF;
  if (strcmp(what, "once") == 0) kind = ONCE, error_number = EIO;
  if (strcmp(what, "ENOSPC") == 0) kind = FAIL, error_number = ENOSPC;
  if (strcmp(what, "EIO") == 0) kind = FAIL, error_number = EIO;
  if (strcmp(what, "EROFS") == 0) kind = FAIL, error_number = EROFS;
}

__attribute__((destructor)) static void print_count(void) {
  if (kind == COUNT) dprintf(2, "points %ld\n", atomic_load(&count));
}

static int is_inside(const char *path) { return root != NULL && path != NULL && strncmp(path, root, strlen(root)) == 0; }

// Whether the call fails here.  `file` and `bytes` are those of a write.
static int reach(int file, const void *bytes, size_t length) {
  if (kind == NONE) return 0;
  long number = atomic_fetch_add(&count, 1) + 1;
  if (kind == HALF && number == chosen) {
    ssize_t (*next)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    if (file >= 0) (void)!next(file, bytes, length / 2);
    kill(getpid(), SIGKILL);
  }
  if (kind == KILL && number == chosen) kill(getpid(), SIGKILL);
  if ((kind == FAIL && number >= chosen) || (kind == ONCE && number == chosen)) {
    errno = error_number;
    return 1;
  }
  return 0;
}

static int is_watched(int file) { return file >= 0 && file < 65536 && watched[file]; }

static int opened(int file, const char *path) {
  if (file >= 0 && file < 65536) watched[file] = is_inside(path);
  return file;
}

#define OPEN(name)                                                                          \
  int name(const char *path, int flags, ...) {                                              \
    int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, #name);                          \
    va_list list;                                                                           \
    va_start(list, flags);                                                                  \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;                 \
    va_end(list);                                                                           \
    if ((flags & O_CREAT) && is_inside(path) && reach(-1, NULL, 0)) return -1;              \
    return opened(next(path, flags, mode), path);                                           \
  }
OPEN(open)
OPEN(open64)

#define ONE_PATH(name, type, ...)                                     \
  int name type {                                                     \
    int(*next) type = dlsym(RTLD_NEXT, #name);                        \
    if (is_inside(path) && reach(-1, NULL, 0)) return -1;             \
    return next(__VA_ARGS__);                                         \
  }
ONE_PATH(mkdir, (const char *path, mode_t mode), path, mode)
ONE_PATH(unlink, (const char *path), path)
ONE_PATH(rmdir, (const char *path), path)
ONE_PATH(rename, (const char *path, const char *target), path, target)
ONE_PATH(link, (const char *path, const char *target), path, target)

#define ONE_FILE(name, type, ...)                                     \
  int name type {                                                     \
    int(*next) type = dlsym(RTLD_NEXT, #name);                        \
    if (is_watched(file) && reach(-1, NULL, 0)) return -1;            \
    return next(__VA_ARGS__);                                         \
  }
ONE_FILE(fsync, (int file), file)
ONE_FILE(fdatasync, (int file), file)
ONE_FILE(ftruncate, (int file, off_t length), file, length)
ONE_FILE(ftruncate64, (int file, off64_t length), file, length)

int posix_fallocate(int file, off_t offset, off_t length) {
  int (*next)(int, off_t, off_t) = dlsym(RTLD_NEXT, "posix_fallocate");
  if (is_watched(file) && reach(-1, NULL, 0)) return errno;
  return next(file, offset, length);
}

int posix_fallocate64(int file, off64_t offset, off64_t length) {
  int (*next)(int, off64_t, off64_t) = dlsym(RTLD_NEXT, "posix_fallocate64");
  if (is_watched(file) && reach(-1, NULL, 0)) return errno;
  return next(file, offset, length);
}

ssize_t write(int file, const void *bytes, size_t length) {
  ssize_t (*next)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
  if (is_watched(file) && reach(file, bytes, length)) return -1;
  return next(file, bytes, length);
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t offset) {
  ssize_t (*next)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
  if (is_watched(file) && reach(-1, NULL, 0)) return -1;
  return next(file, bytes, length, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t offset) {
  ssize_t (*next)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
  if (is_watched(file) && reach(-1, NULL, 0)) return -1;
  return next(file, bytes, length, offset);
}

#define _GNU_SOURCE
#include "CSecrets.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Numbers of system calls and of the keyring's commands are those of the kernel's interface, the same for every program.
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif
enum {
  USER_KEYRING = -4,
  KEYCTL_UNLINK = 9,
  KEYCTL_SEARCH = 10,
  KEYCTL_READ = 11,
  KEYCTL_SET_TIMEOUT = 15,
};

enum { BLOCK = 1 << 14, SLOTS = BLOCK / CSECRETS_SLOT };

struct block {
  struct block *next;
  unsigned char *bytes;
  bool used[SLOTS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks;
static bool hidden;

static unsigned char *map_hidden(void) {
  int file = (int)syscall(SYS_memfd_secret, 0x80000 /* close on exec */);
  if (file < 0) return NULL;
  void *bytes = MAP_FAILED;
  if (ftruncate(file, BLOCK) == 0) bytes = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return bytes == MAP_FAILED ? NULL : bytes;
}

static unsigned char *map_locked(void) {
  void *bytes = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (bytes == MAP_FAILED) return NULL;
  // If the limit of locked memory is used up, the keys may be swapped out: better than none.
  (void)mlock(bytes, BLOCK);
  (void)madvise(bytes, BLOCK, MADV_DONTDUMP);
  return bytes;
}

static struct block *add_block(void) {
  static struct block first;
  struct block *block = blocks == NULL ? &first : NULL;
  if (block == NULL) {
    block = mmap(NULL, sizeof *block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return NULL;
  }
  unsigned char *bytes = map_hidden();
  if (blocks == NULL) hidden = bytes != NULL;
  if (bytes == NULL) {
    hidden = false;
    bytes = map_locked();
  }
  if (bytes == NULL) return NULL;
  block->bytes = bytes;
  block->next = blocks;
  blocks = block;
  return block;
}

void *csecrets_allocate(void) {
  void *result = NULL;
  pthread_mutex_lock(&lock);
  for (struct block *block = blocks; block != NULL && result == NULL; block = block->next)
    for (int slot = 0; slot < SLOTS && result == NULL; slot++)
      if (!block->used[slot]) {
        block->used[slot] = true;
        result = block->bytes + (size_t)slot * CSECRETS_SLOT;
      }
  if (result == NULL) {
    struct block *block = add_block();
    if (block != NULL) {
      block->used[0] = true;
      result = block->bytes;
    }
  }
  pthread_mutex_unlock(&lock);
  return result;
}

void csecrets_release(void *secret) {
  csecrets_erase(secret, CSECRETS_SLOT);
  pthread_mutex_lock(&lock);
  for (struct block *block = blocks; block != NULL; block = block->next) {
    unsigned char *place = secret;
    if (place >= block->bytes && place < block->bytes + BLOCK)
      block->used[(place - block->bytes) / CSECRETS_SLOT] = false;
  }
  pthread_mutex_unlock(&lock);
}

bool csecrets_are_hidden(void) {
  void *secret = csecrets_allocate();
  if (secret == NULL) return false;
  csecrets_release(secret);
  return hidden;
}

void csecrets_erase(void *bytes, size_t count) { explicit_bzero(bytes, count); }

void csecrets_forbid_dumps(void) { (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

// Of CMLKernels, beside its allocator; no part of the kernels' face.
extern void cml_exclude_from_core_dumps(void);

void csecrets_exclude_kernels_from_core_dumps(void) { cml_exclude_from_core_dumps(); }

static long find(const char *name) { return syscall(SYS_keyctl, KEYCTL_SEARCH, USER_KEYRING, "user", name, 0); }

int csecrets_keyring_store(const char *name, const void *bytes, size_t count, uint32_t seconds) {
  long key = syscall(SYS_add_key, "user", name, bytes, count, USER_KEYRING);
  if (key < 0) return errno;
  if (seconds > 0 && syscall(SYS_keyctl, KEYCTL_SET_TIMEOUT, key, seconds) < 0) {
    int number = errno;
    (void)syscall(SYS_keyctl, KEYCTL_UNLINK, key, USER_KEYRING);
    return number;
  }
  return 0;
}

long csecrets_keyring_read(const char *name, void *bytes, size_t capacity) {
  long key = find(name);
  return key < 0 ? -1 : syscall(SYS_keyctl, KEYCTL_READ, key, bytes, capacity);
}

void csecrets_keyring_remove(const char *name) {
  long key = find(name);
  if (key >= 0) (void)syscall(SYS_keyctl, KEYCTL_UNLINK, key, USER_KEYRING);
}

static bool write_all(int file, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = write(file, bytes, count);
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) {
      bytes += written;
      count -= (size_t)written;
    }
  }
  return true;
}

/// Starts a program between two pipes; -1 when it cannot be started.
static pid_t start(const char *const *arguments, int input, int output) {
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return -1;
  extern char **environ;
  pid_t process = -1;
  int failed = posix_spawn_file_actions_adddup2(&actions, input, 0);
  failed |= posix_spawn_file_actions_adddup2(&actions, output, 1);
  failed |= posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  if (failed == 0) failed = posix_spawnp(&process, arguments[0], &actions, NULL, (char *const *)arguments, environ);
  (void)posix_spawn_file_actions_destroy(&actions);
  return failed == 0 ? process : -1;
}

long csecrets_run(
    const char *const *arguments, const void *input, size_t count, void *output, size_t capacity) {
  int in[2], out[2];
  // A pipe holds 64 KiB: what goes in is written before anything is read.
  if (count > 1 << 16 || pipe2(in, O_CLOEXEC) != 0) return -1;
  if (pipe2(out, O_CLOEXEC) != 0) {
    close(in[0]);
    close(in[1]);
    return -1;
  }
  pid_t process = start(arguments, in[0], out[1]);
  close(in[0]);
  close(out[1]);
  long length = -1;
  if (process >= 0) {
    sigset_t broken, before;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    bool complete = write_all(in[1], input, count);
    struct timespec none = {0, 0};
    if (!complete) (void)sigtimedwait(&broken, NULL, &none);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(in[1]);
    in[1] = -1;
    size_t filled = 0;
    ssize_t got = 1;
    while (got != 0 && filled < capacity) {
      got = read(out[0], (char *)output + filled, capacity - filled);
      if (got < 0 && errno != EINTR) break;
      if (got > 0) filled += (size_t)got;
    }
    if (got == 0 && complete) length = (long)filled;
  }
  if (in[1] >= 0) close(in[1]);
  close(out[0]);
  if (process >= 0) {
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {}
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) length = -1;
  }
  return length;
}

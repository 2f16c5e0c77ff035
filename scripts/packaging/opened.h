// Functions of a library of the system that is opened when the first of them is called, for portable programs (scripts/packaging/link).
// A file that includes this defines LIBRARY_NAME, LIBRARY_PURPOSE, LIBRARY_PACKAGE and LIBRARY_FILES before.
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static void *library;

static void open_library(void) {
    static const char *const names[] = {LIBRARY_FILES};
    for (size_t index = 0; index < sizeof names / sizeof *names && !library; index++)
        library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
    if (library) return;
    fprintf(
        stderr, "error: %s; install " LIBRARY_NAME " (Debian's package " LIBRARY_PACKAGE "), which " LIBRARY_PURPOSE " need\n",
        dlerror());
    exit(1);
}

static void *function(const char *name) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_library);
    void *address = dlsym(library, name);
    if (address) return address;
    fprintf(stderr, "error: the system's " LIBRARY_NAME " has no %s; a newer one is needed\n", name);
    exit(1);
}

// Arguments and results of the functions are integers of at most a register and pointers, which are passed alike.
typedef void *any;

#define FORWARD(name, parameters, arguments) \
    __attribute__((visibility("hidden"))) any name parameters { \
        static any(*address) parameters; \
        if (!address) address = (any(*) parameters)function(#name); \
        return address arguments; \
    }

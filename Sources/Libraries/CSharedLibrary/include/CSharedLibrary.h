// Libraries of the system that are opened when they are first needed, so that a program which never draws a report or
// reads a HEIF file neither loads them nor waits for them.
#pragma once

#include <pthread.h>
#include <stddef.h>

#define CSL_MESSAGE 200

// Opens the shared library `name` and stores the addresses of `count` functions in `functions`, a struct of as many
// function pointers in the order of `names`.  0, or 1 with a message that names the library, the cause and `package`, which
// Debian has it in. The library stays open.
int csl_open(const char *name, const char *package, const char *const *names, size_t count, void *functions,
             char message[CSL_MESSAGE]);

// Defines `library`, a struct of function pointers, and `library_problem()`, which opens `name` when it is first called and
// gives NULL, or why the functions cannot be used. FUNCTIONS(X) lists the functions as X(function); CSL_FIELD(function) is
// the field of one, CSL_NAME(function) its name in the library and a comma; both are defined by who uses this. `start` is
// an expression that is evaluated once after opening.
#define CSL_LIBRARY(library, name, package, FUNCTIONS, start) \
    static struct { \
        FUNCTIONS(CSL_FIELD) \
    } library; \
    static char library##_message[CSL_MESSAGE]; \
    static pthread_once_t library##_once = PTHREAD_ONCE_INIT; \
    static void library##_open(void) { \
        static const char *const names[] = {FUNCTIONS(CSL_NAME)}; \
        if (!csl_open(name, package, names, sizeof names / sizeof *names, &library, library##_message)) (void)(start); \
    } \
    static const char *library##_problem(void) { \
        pthread_once(&library##_once, library##_open); \
        return library##_message[0] ? library##_message : NULL; \
    }

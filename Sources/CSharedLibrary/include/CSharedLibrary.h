// Libraries of the system that are opened when they are first needed, so that a program which never draws a report or
// reads a HEIF file neither loads them nor waits for them.
#pragma once

#include <stddef.h>

#define CSL_MESSAGE 200

// Opens the shared library `name` and stores the addresses of `count` functions in `functions`, a struct of as many
// function pointers in the order of `names`.  0, or 1 with a message that names the library, the cause and `package`, which
// Debian has it in.  The library stays open.
int csl_open(const char *name, const char *package, const char *const *names, size_t count, void *functions,
             char message[CSL_MESSAGE]);

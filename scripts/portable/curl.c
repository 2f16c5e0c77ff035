// The functions of libcurl that Foundation's URLSession calls, from the system's library, which is opened when the first
// of them is called: a program whose user never asks a server needs no libcurl.  The system's library, not one of our
// own, so that TLS and its trusted certificates are those of the system.
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static void *library;

static void open_library(void) {
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
    for (size_t index = 0; index < sizeof names / sizeof *names && !library; index++)
        library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
    if (library) return;
    fprintf(stderr, "error: %s; install the package libcurl4, which requests to servers need\n", dlerror());
    exit(1);
}

static void *function(const char *name) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_library);
    void *address = dlsym(library, name);
    if (address) return address;
    fprintf(stderr, "error: libcurl has no %s; a newer package libcurl4 is needed\n", name);
    exit(1);
}

// Arguments and results of these are integers of at most a register and pointers, which are passed alike.
typedef void *any;

#define FORWARD(name, parameters, arguments) \
    __attribute__((visibility("hidden"))) any name parameters { \
        static any(*address) parameters; \
        if (!address) address = (any(*) parameters)function(#name); \
        return address arguments; \
    }

FORWARD(curl_easy_cleanup, (any a), (a))
FORWARD(curl_easy_init, (void), ())
FORWARD(curl_easy_pause, (any a, any b), (a, b))
FORWARD(curl_easy_strerror, (any a), (a))
FORWARD(curl_free, (any a), (a))
FORWARD(curl_global_init, (any a), (a))
FORWARD(curl_multi_add_handle, (any a, any b), (a, b))
FORWARD(curl_multi_assign, (any a, any b, any c), (a, b, c))
FORWARD(curl_multi_cleanup, (any a), (a))
FORWARD(curl_multi_info_read, (any a, any b), (a, b))
FORWARD(curl_multi_init, (void), ())
FORWARD(curl_multi_remove_handle, (any a, any b), (a, b))
FORWARD(curl_multi_socket_action, (any a, any b, any c, any d), (a, b, c, d))
FORWARD(curl_slist_append, (any a, any b), (a, b))
FORWARD(curl_slist_free_all, (any a), (a))
FORWARD(curl_url, (void), ())
FORWARD(curl_url_get, (any a, any b, any c, any d), (a, b, c, d))
FORWARD(curl_url_set, (any a, any b, any c, any d), (a, b, c, d))
FORWARD(curl_version, (void), ())
FORWARD(curl_version_info, (any a), (a))

// The ones with a variable argument, of which they take one.
#define FORWARD_OPTION(name) \
    __attribute__((visibility("hidden"))) int name(any handle, int option, ...) { \
        static int (*address)(any, int, ...); \
        if (!address) address = (int (*)(any, int, ...))function(#name); \
        va_list arguments; \
        va_start(arguments, option); \
        any value = va_arg(arguments, any); \
        va_end(arguments); \
        return address(handle, option, value); \
    }

FORWARD_OPTION(curl_easy_getinfo)
FORWARD_OPTION(curl_easy_setopt)
FORWARD_OPTION(curl_multi_setopt)

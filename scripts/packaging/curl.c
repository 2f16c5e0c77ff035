// The functions of libcurl that Foundation's URLSession calls, from the system's library, which is opened when the first
// of them is called: a program whose user never asks a server needs no libcurl. The system's library, not one of our
// own, so that TLS and its trusted certificates are those of the system.
#define LIBRARY_NAME "libcurl"
#define LIBRARY_PURPOSE "requests to servers"
#define LIBRARY_PACKAGE "libcurl4"
#define LIBRARY_FILES "libcurl.so.4", "libcurl-gnutls.so.4"
#include "opened.h"

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

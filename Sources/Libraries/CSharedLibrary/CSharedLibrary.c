#include "CSharedLibrary.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int csl_open(const char *name, const char *package, const char *const *names, size_t count, void *functions,
             char message[CSL_MESSAGE]) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        snprintf(message, CSL_MESSAGE, "%s; install the package %s", reason ? reason : name, package);
        return 1;
    }
    for (size_t index = 0; index < count; index++) {
        void *address = dlsym(library, names[index]);
        if (!address) {
            snprintf(message, CSL_MESSAGE, "%s has no %s; another version of the package %s is needed", name,
                     names[index], package);
            return 1;
        }
        memcpy((char *)functions + index * sizeof address, &address, sizeof address);
    }
    return 0;
}

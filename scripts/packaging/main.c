// The start of a portable program (scripts/packaging/link).
#include <stdint.h>

// Swift's runtime reads the arguments from /proc, which a system may lack (a chroot, an early boot); here it is told them.

int COREML_MAIN(int count, char **arguments);
void _swift_stdlib_overrideUnsafeArgvArgc(char **arguments, int32_t count);

int main(int count, char **arguments) {
    _swift_stdlib_overrideUnsafeArgvArgc(arguments, count);
    return COREML_MAIN(count, arguments);
}

// glibc before 2.34 leaves it to the program to call its constructors, and takes the function that does from the program's
// start (old_glibc.py).
typedef void constructor(int, char **, char **);
extern constructor *const __init_array_start[] __attribute__((visibility("hidden")));
extern constructor *const __init_array_end[] __attribute__((visibility("hidden")));
void _init(void);

__attribute__((visibility("hidden"))) void coreml_construct(int count, char **arguments, char **environment) {
    _init();
    for (constructor *const *next = __init_array_start; next != __init_array_end; next++)
        (*next)(count, arguments, environment);
}

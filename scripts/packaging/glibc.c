// What a portable program defines itself instead of asking glibc for it (scripts/packaging/link links this file).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <sys/stat.h>

#define HIDDEN __attribute__((visibility("hidden")))

// Debian's static libraries are compiled for programs: their code reaches variables only inside the file that it is
// linked into.  scripts/packaging/link renames the variables of glibc that they use to these.
HIDDEN FILE *coreml_stderr;
HIDDEN char *coreml_tzname[2] = {"UTC", "UTC"};  // ICU's time zones, which text segmentation does not ask for
HIDDEN long coreml_timezone;

__attribute__((constructor(101))) static void start(void) { coreml_stderr = stderr; }

// GLIBC_2.32: libstdc++ then skips atomic operations.  0 means that there may be other threads, which is always safe.
HIDDEN char __libc_single_threaded = 0;

// GLIBC_2.33. Older releases have them inside functions of a numbered layout.
#ifdef __x86_64__
#define LAYOUT 1
#else
#define LAYOUT 0
#endif
int __xstat(int layout, const char *path, struct stat *status);
int __lxstat(int layout, const char *path, struct stat *status);
int __fxstat(int layout, int file, struct stat *status);
int __fxstatat(int layout, int folder, const char *path, struct stat *status, int flags);
HIDDEN int stat(const char *path, struct stat *status) { return __xstat(LAYOUT, path, status); }
HIDDEN int lstat(const char *path, struct stat *status) { return __lxstat(LAYOUT, path, status); }
HIDDEN int fstat(int file, struct stat *status) { return __fxstat(LAYOUT, file, status); }
HIDDEN int fstatat(int folder, const char *path, struct stat *status, int flags) {
    return __fxstatat(LAYOUT, folder, path, status, flags);
}

// Their other names, for which SQLite asks; the structure is the same where addresses have 64 bits.
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "struct stat64 is another structure");
HIDDEN int stat64(const char *path, struct stat64 *status) { return __xstat(LAYOUT, path, (struct stat *)status); }
HIDDEN int lstat64(const char *path, struct stat64 *status) { return __lxstat(LAYOUT, path, (struct stat *)status); }
HIDDEN int fstat64(int file, struct stat64 *status) { return __fxstat(LAYOUT, file, (struct stat *)status); }

#if __GLIBC_PREREQ(2, 35)
// GLIBC_2.35: where a C++ exception finds the unwinding tables of the code at an address, which libgcc leaves to it.
// libgcc reads nothing but the fields that are set here.
struct search {
    char *address;
    struct dl_find_object *found;
};

static int examine(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    struct search *search = context;
    char *tables = NULL;
    int within = 0;
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[index];
        char *start = (char *)object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_GNU_EH_FRAME) tables = start;
        if (segment->p_type == PT_LOAD && search->address >= start && search->address < start + segment->p_memsz) {
            within = 1;
            search->found->dlfo_map_start = start;
            search->found->dlfo_map_end = start + segment->p_memsz;
        }
    }
    if (!within) return 0;
    search->found->dlfo_eh_frame = tables;
    return tables ? 1 : -1;
}

HIDDEN int _dl_find_object(void *address, struct dl_find_object *found) {
    struct search search = {address, found};
    return dl_iterate_phdr(examine, &search) == 1 ? 0 : -1;
}
#endif

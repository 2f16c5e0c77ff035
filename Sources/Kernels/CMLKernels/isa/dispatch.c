#include "../amx/amx.h"
#include "../integer/dots.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>

// Linux's flag of Arm's dot products (HWCAP_ASIMDDP).
static int has_dot_products(void) { return getauxval(AT_HWCAP) >> 20 & 1; }
#elif defined(__aarch64__)
// Every 64-bit processor of Apple's systems that Swift 6 supports has them.
static int has_dot_products(void) { return 1; }
#endif

const cml_isa *cml_isa_find(int identifier) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    switch (identifier) {
    case CML_ISA_AVX512:
        if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl")
            || !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq")) return NULL;
        return cml_avx512_table();
    case CML_ISA_AVX2:
        if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("f16c")) return NULL;
        return __builtin_cpu_supports("avxvnni") ? cml_avx2_dots_table() : &cml_isa_avx2;
    case CML_ISA_SSE2: return &cml_isa_sse2;
    default: return NULL;
    }
#elif defined(__aarch64__)
    if (identifier != CML_ISA_NEON) return NULL;
    return has_dot_products() ? cml_neon_dots_table() : &cml_isa_neon;
#endif
}

static _Atomic(const cml_isa *) standard;
// The table that this thread entered, or null.
static _Thread_local const cml_isa *entered;

static const cml_isa *choose(void) {
    static const char *const names[] = {"sse2", "avx2", "avx512", "neon"};
    const char *asked = getenv("COREML_ISA");
    for (int identifier = 0; asked && identifier < 4; identifier++) {
        const cml_isa *isa = strcmp(asked, names[identifier]) == 0 ? cml_isa_find(identifier) : NULL;
        if (isa) return isa;
    }
    for (int identifier = 3; identifier >= 0; identifier--) {
        const cml_isa *isa = cml_isa_find(identifier);
        if (isa) return isa;
    }
    abort();
}

const cml_isa *cml_isa_standard(void) {
    const cml_isa *isa = atomic_load_explicit(&standard, memory_order_acquire);
    if (!isa) {
        // Threads that race here all choose the same table.
        isa = choose();
        atomic_store_explicit(&standard, isa, memory_order_release);
    }
    return isa;
}

const cml_isa *cml_isa_current(void) {
    const cml_isa *isa = entered;
    return isa ? isa : cml_isa_standard();
}

const cml_isa *cml_isa_enter(const cml_isa *isa) {
    const cml_isa *before = entered;
    entered = isa;
    return before;
}

int cml_isa_identifier(const cml_isa *isa) { return isa->identifier; }
const char *cml_isa_name(const cml_isa *isa) { return isa->name; }
long cml_isa_panel_width(const cml_isa *isa) { return isa->panel; }
bool cml_isa_looks_up_bytes(const cml_isa *isa) { return isa->looks_up_bytes != 0; }

const cml_isa *cml_isa_low(const cml_isa *isa) {
    return isa->identifier == CML_ISA_AVX512 ? cml_avx512_low_table() : NULL;
}
bool cml_isa_is_low(const cml_isa *isa) { return isa->low != 0; }
const cml_isa *cml_isa_exact(const cml_isa *isa) { return isa->low ? cml_isa_find(isa->identifier) : isa; }

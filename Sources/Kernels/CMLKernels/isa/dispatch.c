#include "isa.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const cml_isa *available(int identifier) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    switch (identifier) {
    case CML_ISA_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")
                && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
            ? &cml_isa_avx512 : NULL;
    case CML_ISA_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c")
            ? &cml_isa_avx2 : NULL;
    case CML_ISA_SSE2: return &cml_isa_sse2;
    default: return NULL;
    }
#elif defined(__aarch64__)
    return identifier == CML_ISA_NEON ? &cml_isa_neon : NULL;
#endif
}

static _Atomic(const cml_isa *) current;

static const cml_isa *choose(void) {
    static const char *const names[] = {"sse2", "avx2", "avx512", "neon"};
    const char *asked = getenv("COREML_ISA");
    for (int identifier = 0; asked && identifier < 4; identifier++) {
        const cml_isa *isa = strcmp(asked, names[identifier]) == 0 ? available(identifier) : NULL;
        if (isa) return isa;
    }
    for (int identifier = 3; identifier >= 0; identifier--) {
        const cml_isa *isa = available(identifier);
        if (isa) return isa;
    }
    abort();
}

const cml_isa *cml_isa_current(void) {
    const cml_isa *isa = atomic_load_explicit(&current, memory_order_acquire);
    if (!isa) {
        isa = choose();
        atomic_store_explicit(&current, isa, memory_order_release);
    }
    return isa;
}

bool cml_isa_select(int identifier) {
    const cml_isa *isa = available(identifier);
    if (isa) atomic_store_explicit(&current, cml_isa_watched(isa), memory_order_release);
    return isa != NULL;
}

int cml_isa_identifier(const cml_isa *isa) { return isa->identifier; }
const char *cml_isa_name(const cml_isa *isa) { return isa->name; }
long cml_isa_panel_width(const cml_isa *isa) { return isa->panel; }

// Tables that count the calls of their rows, so that a test can show that every kernel is called.
//
// Each function pointer of such a table is a thunk that increments a counter and jumps to the function: registers and
// stack are those of the call, so that one kind of thunk serves functions of every type.
#include "isa.h"

#include <pthread.h>
#include <string.h>

typedef struct {
    const char *name;
    size_t offset;
    int is_array;
} row;

static const row all_rows[] = {
#define CML_KERNELS(kernel, row, functions) {#row, offsetof(cml_isa, row), 1},
#define CML_KERNEL(result, row, parameters) {#row, offsetof(cml_isa, row), 0},
#include "templates.inc"
};

enum { ROWS = sizeof all_rows / sizeof *all_rows, SETS = 4, KERNELS = CML_MAX_ROWS + 1, THUNKS = 1024 };

#define TEXT(x) #x
#define THUNK_COUNT TEXT(1024)
_Static_assert(THUNKS == 1024, "as many thunks as the assembly below");

// By thunk: the calls so far, and the function.
__attribute__((visibility("hidden"))) long cml_thunk_calls[THUNKS];
__attribute__((visibility("hidden"))) void *cml_thunk_targets[THUNKS];
extern const char cml_thunks[] __attribute__((visibility("hidden")));

#if defined(__x86_64__)
#define THUNK_BYTES 16
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".hidden cml_thunks\n"
    ".globl cml_thunks\n"
    "cml_thunks:\n"
    ".set cml_thunk, 0\n"
    ".rept " THUNK_COUNT "\n"
    ".p2align 4\n"
    "lock incq cml_thunk_calls+8*cml_thunk(%rip)\n"
    "jmpq *cml_thunk_targets+8*cml_thunk(%rip)\n"
    ".set cml_thunk, cml_thunk+1\n"
    ".endr\n"
    ".p2align 4\n");
#elif defined(__aarch64__)
#define THUNK_BYTES 32
__asm__(
    ".text\n"
    ".p2align 5\n"
    ".hidden cml_thunks\n"
    ".globl cml_thunks\n"
    "cml_thunks:\n"
    ".set cml_thunk, 0\n"
    ".rept " THUNK_COUNT "\n"
    ".p2align 5\n"
    "adrp x16, cml_thunk_calls+8*cml_thunk\n"
    "ldr x17, [x16, :lo12:cml_thunk_calls+8*cml_thunk]\n"
    "add x17, x17, #1\n"
    "str x17, [x16, :lo12:cml_thunk_calls+8*cml_thunk]\n"
    "adrp x16, cml_thunk_targets+8*cml_thunk\n"
    "ldr x16, [x16, :lo12:cml_thunk_targets+8*cml_thunk]\n"
    "br x16\n"
    ".set cml_thunk, cml_thunk+1\n"
    ".endr\n"
    ".p2align 5\n");
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int used;
static int thunk_rows[THUNKS], thunk_sets[THUNKS];
static cml_isa tables[SETS];
static void *arrays[SETS][ROWS][KERNELS];

static void *thunk(void *target, int set, int row) {
    if (!target || used == THUNKS) return target;
    thunk_rows[used] = row;
    thunk_sets[used] = set;
    cml_thunk_targets[used] = target;
    return (void *)(cml_thunks + THUNK_BYTES * used++);
}

static void make_table(const cml_isa *isa) {
    const int set = isa->identifier;
    tables[set] = *isa;
    // Tiles would take the place of most calls of the kernels of bytes.
    if (isa->byte_tiles) {
        tables[set].byte_tiles = 0;
        tables[set].name = "avx512";
    }
    for (int number = 0; number < ROWS; number++) {
        void **member = (void **)((char *)&tables[set] + all_rows[number].offset);
        if (!all_rows[number].is_array) {
            *member = thunk(*member, set, number);
            continue;
        }
        // Tiles by rows, streams by 1...4 rows.
        void *const *functions = *member;
        const int is_tile = strncmp(all_rows[number].name, "tile_", 5) == 0;
        const long count = is_tile ? isa->rows + 1 : 5;
        for (long index = 0; index < count; index++)
            arrays[set][number][index] = thunk(functions[index], set, number);
        *member = arrays[set][number];
    }
}

static void make_tables(void) {
    for (int set = 0; set < SETS; set++) {
        const cml_isa *isa = cml_isa_find(set);
        if (isa) make_table(isa);
    }
}

const cml_isa *cml_isa_counting(int identifier) {
    pthread_once(&once, make_tables);
    return cml_isa_find(identifier) ? &tables[identifier] : NULL;
}
int cml_isa_row_count(void) { return ROWS; }
const char *cml_isa_row_name(int row) { return all_rows[row].name; }

long cml_isa_row_calls(int isa, int row) {
    long calls = 0;
    for (int number = 0; number < used; number++)
        if (thunk_sets[number] == isa && thunk_rows[number] == row) calls += cml_thunk_calls[number];
    return calls;
}

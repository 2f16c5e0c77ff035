// Counts the calls of a table's rows, so that a test can show that every kernel is tried.
//
// A watched table holds, in the place of each function, an entry that counts and jumps on: registers and stack are those
// of the call, so that an entry serves functions of every type.
#include "isa.h"

#include <string.h>

typedef struct {
    const char *name;
    size_t offset;
    int is_array;
} row;

static const row all_rows[] = {
#define CML_KERNELS(kernel, row, functions) {#row, offsetof(cml_isa, row), 1},
#define CML_KERNEL(result, row, parameters) {#row, offsetof(cml_isa, row), 0},
#include "rows.inc"
};

enum { ROWS = sizeof all_rows / sizeof *all_rows, SETS = 4, KERNELS = CML_MAX_ROWS + 1, ENTRIES = 1024 };

#define TEXT(x) #x
#define ENTRY_COUNT TEXT(1024)
_Static_assert(ENTRIES == 1024, "as many entries as the assembly below");

// By entry: calls so far, and where they go.
__attribute__((visibility("hidden"))) long cml_watch_calls[ENTRIES];
__attribute__((visibility("hidden"))) void *cml_watch_targets[ENTRIES];
extern const char cml_watch_entries[] __attribute__((visibility("hidden")));

#if defined(__x86_64__)
#define ENTRY_BYTES 16
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".hidden cml_watch_entries\n"
    ".globl cml_watch_entries\n"
    "cml_watch_entries:\n"
    ".set cml_watch_entry, 0\n"
    ".rept " ENTRY_COUNT "\n"
    ".p2align 4\n"
    "lock incq cml_watch_calls+8*cml_watch_entry(%rip)\n"
    "jmpq *cml_watch_targets+8*cml_watch_entry(%rip)\n"
    ".set cml_watch_entry, cml_watch_entry+1\n"
    ".endr\n"
    ".p2align 4\n");
#elif defined(__aarch64__)
#define ENTRY_BYTES 32
__asm__(
    ".text\n"
    ".p2align 5\n"
    ".hidden cml_watch_entries\n"
    ".globl cml_watch_entries\n"
    "cml_watch_entries:\n"
    ".set cml_watch_entry, 0\n"
    ".rept " ENTRY_COUNT "\n"
    ".p2align 5\n"
    "adrp x16, cml_watch_calls+8*cml_watch_entry\n"
    "ldr x17, [x16, :lo12:cml_watch_calls+8*cml_watch_entry]\n"
    "add x17, x17, #1\n"
    "str x17, [x16, :lo12:cml_watch_calls+8*cml_watch_entry]\n"
    "adrp x16, cml_watch_targets+8*cml_watch_entry\n"
    "ldr x16, [x16, :lo12:cml_watch_targets+8*cml_watch_entry]\n"
    "br x16\n"
    ".set cml_watch_entry, cml_watch_entry+1\n"
    ".endr\n"
    ".p2align 5\n");
#endif

static int is_watching, used;
static int entry_rows[ENTRIES], entry_sets[ENTRIES];
static cml_isa tables[SETS];
static void *arrays[SETS][ROWS][KERNELS];

static void *entry(void *target, int set, int row) {
    if (!target || used == ENTRIES) return target;
    entry_rows[used] = row;
    entry_sets[used] = set;
    cml_watch_targets[used] = target;
    return (void *)(cml_watch_entries + ENTRY_BYTES * used++);
}

static void watch(const cml_isa *isa) {
    const int set = isa->identifier;
    tables[set] = *isa;
    for (int number = 0; number < ROWS; number++) {
        void **member = (void **)((char *)&tables[set] + all_rows[number].offset);
        if (!all_rows[number].is_array) {
            *member = entry(*member, set, number);
            continue;
        }
        // Tiles by rows, streams by 1...4 rows.
        void *const *functions = *member;
        const int is_tile = strncmp(all_rows[number].name, "tile_", 5) == 0;
        const long count = is_tile ? isa->rows + 1 : 5;
        for (long place = 0; place < count; place++)
            arrays[set][number][place] = entry(functions[place], set, number);
        *member = arrays[set][number];
    }
}

const cml_isa *cml_isa_watched(const cml_isa *isa) { return is_watching ? &tables[isa->identifier] : isa; }

void cml_isa_watch(void) {
    if (is_watching) return;
    for (int set = 0; set < SETS; set++) {
        const cml_isa *isa = cml_isa_find(set);
        if (isa) watch(isa);
    }
    is_watching = 1;
}
int cml_isa_row_count(void) { return ROWS; }
const char *cml_isa_row_name(int row) { return all_rows[row].name; }

long cml_isa_row_calls(int isa, int row) {
    long calls = 0;
    for (int number = 0; number < used; number++)
        if (entry_sets[number] == isa && entry_rows[number] == row) calls += cml_watch_calls[number];
    return calls;
}

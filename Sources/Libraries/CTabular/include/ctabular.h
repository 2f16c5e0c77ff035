// Scanning and parsing of delimited text: what TabularData's CSV reader does for each byte.
//
// Nothing here reads outside the memory it is given, whatever the bytes are.

#ifndef CTABULAR_H
#define CTABULAR_H

#include <stddef.h>
#include <stdint.h>

#include "carrow.h"

#ifdef __cplusplus
extern "C" {
#endif

// The contents of a block of text. Newlines are counted by the parity of the quotes before them in the block.
typedef struct {
    uint64_t quotes;
    uint64_t newlines_even;
    uint64_t newlines_odd;
    // Not zero when a byte is above 127.
    uint64_t non_ascii;
} ctab_counts;

void ctab_count(const uint8_t *bytes, size_t count, int quoting, ctab_counts *result);

// Positions of the delimiters and newlines outside quotes, ascending; the text starts outside quotes.
// `positions` has room for `count` of them. `newlines` receives how many are newlines, `quotes` how many quotes there
// are; without `quoting` they are not looked for.
size_t ctab_separators(const uint8_t *bytes, size_t count, uint8_t delimiter, int quoting, uint32_t *positions,
                       size_t *newlines, uint64_t *quotes);

// Whether `quotes` quotes stand where they may in the cells that end at `positions`, `stride` in a line: around a cell,
// and doubled inside.
int ctab_quotes_are_placed(const uint8_t *bytes, const uint32_t *positions, size_t count, size_t stride,
                           uint64_t quotes);

// A column of a grid of cells. Cell `row` ends before positions[row * stride + column] and starts after the separator
// before it. `floor` is the first readable byte, `limit` is one past the last.
typedef struct {
    const uint8_t *bytes;
    const uint32_t *positions;
    size_t stride;
    size_t column;
    const uint8_t *floor;
    const uint8_t *limit;
    // Whether an empty cell is a missing value.
    int empty_is_missing;
    // Whether cells may be in quotes.
    int quoting;
} ctab_cells;

// Parse rows from `row` until `rows`; the first row that is not such a value is returned, or `rows`.
// Empty cells clear their bit of `validity` and count in `missing` when `empty_is_missing`; bits are numbered from
// `bit` + row. Values are written at `out`[row].
size_t ctab_parse_int64(const ctab_cells *cells, size_t row, size_t rows, int64_t *out, uint64_t *validity, size_t bit,
                        size_t *missing);
size_t ctab_parse_double(const ctab_cells *cells, size_t row, size_t rows, double *out, uint64_t *validity, size_t bit,
                         size_t *missing);
// Date and time of ISO 8601 with a zone, as seconds since the start of 2001 UTC; with `date_only`, dates alone as well.
size_t ctab_parse_iso8601(const ctab_cells *cells, size_t row, size_t rows, int date_only, double *out,
                          uint64_t *validity, size_t bit, size_t *missing);

// Parse one value: 1 and the value in `out` if the whole text is one that `out` can represent, otherwise 0.
int ctab_int64(const uint8_t *start, const uint8_t *end, int64_t *out);
int ctab_iso8601(const uint8_t *start, const uint8_t *end, int date_only, double *out);

// A string of at most 12 bytes: length | bytes 0..3 << 32, bytes 4..11.
// A longer one: length | bytes 0..3 << 32, offset | arena << 40.
typedef struct {
    uint64_t head;
    uint64_t tail;
} ctab_view;

// Bytes of the long strings of a column.
typedef struct {
    uint8_t *bytes;
    size_t count;
    size_t capacity;
} ctab_arena;

// Stores cells as views; quotes are taken off and doubled quotes halved. Stops at a cell whose quotes are malformed, or
// at memory's end. `quotes` counts the quotes that belong to cells.
size_t ctab_text(const ctab_cells *cells, size_t row, size_t rows, ctab_view *out, uint64_t *validity, size_t bit,
                 size_t *missing, ctab_arena *arena, uint64_t arena_index, uint64_t *quotes);

// Whether a byte is greater than `least`, which is at least 127.
int ctab_has_byte_above(const uint8_t *bytes, size_t count, uint8_t least);

// Whether the bytes are well-formed UTF-8 (no surrogates, no overlong forms).
int ctab_is_utf8(const uint8_t *bytes, size_t count);

// A hash of bytes for the tables of this library; equal for equal bytes in one process, and not safe against chosen keys.
uint64_t ctab_hash(const uint8_t *bytes, size_t count);

// Strings of a column: those of `rows`, or the `count` rows from `start` when there are none.
typedef struct {
    const ctab_view *views;
    const uint8_t *const *arenas;
    // A bit for each row that is not missing; none when nothing is.
    const uint64_t *validity;
    const uint32_t *rows;
    size_t start;
    size_t count;
} ctab_strings;

#define CTAB_NONE UINT32_MAX

typedef struct {
    uint64_t hash;
    ctab_view view;
} ctab_key;

// Numbers for different strings, from 0 in the order in which they first appear; a missing string is one like others.
// All zero to begin with.
typedef struct {
    uint32_t *slots;
    size_t size;
    // By number: the string, and the row where it first appeared.
    ctab_key *keys;
    uint32_t *first_rows;
    size_t count;
    size_t capacity;
    uint32_t missing;
} ctab_codes;

typedef enum {
    CTAB_ENCODED,
    // A string may equal one of other bytes: it has characters at or above U+0300.
    CTAB_NOT_BYTEWISE,
    CTAB_NO_MEMORY,
} ctab_result;

// Gives every string a number, and writes the numbers to `codes` unless that is null.
ctab_result ctab_encode(const ctab_strings *strings, ctab_codes *table, uint32_t *codes);
// The numbers of strings among those of `known`, which were encoded; CTAB_NONE for others and for missing ones.
void ctab_find(const ctab_strings *strings, const ctab_codes *table, const ctab_strings *known, uint32_t *codes);
void ctab_codes_free(ctab_codes *table);

typedef enum { CTAB_INT64, CTAB_DOUBLE, CTAB_BOOL, CTAB_TEXT } ctab_kind;

// A column of cells to be written. Cells are values by row of 8 bytes (whole numbers, numbers), of 1 byte (Booleans),
// or views; a cell without its bit in `validity` is missing.
typedef struct {
    ctab_kind kind;
    const void *values;
    const uint64_t *validity;
    const uint8_t *const *arenas;
    // Whether the cells are those of the rows to be written alone, one after the other.
    int by_place;
} ctab_column;

typedef struct {
    const uint8_t *bytes;
    size_t count;
} ctab_span;

typedef struct {
    ctab_span delimiter, newline, missing, trues, falses;
} ctab_dialect;

// Appends rows as lines, cells in quotes that hold quotes, ends of lines or the delimiter's first byte. Rows are those
// of `rows`, or `count` from `start`.  0 without memory.
int ctab_write(const ctab_column *columns, size_t width, const uint32_t *rows, size_t start, size_t count,
               const ctab_dialect *dialect, ctab_arena *out);

#ifdef __cplusplus
}
#endif

#endif

// Words and sentences of UTF-8 text, as ICU finds them (Unicode Standard Annex #29 and its dictionaries).
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum { CTS_WORDS = 0, CTS_SENTENCES = 1 } cts_unit;

// The kind of a segment between two boundaries. Sentences are CTS_LETTERS.
typedef enum {
    CTS_SPACE = 0,    // white space and control characters
    CTS_MARK = 1,     // punctuation and symbols
    CTS_EMOJI = 2,    // pictographs and flags
    CTS_NUMBER = 3,
    CTS_LETTERS = 4,  // words, also of kana and ideographs
} cts_kind;

typedef struct {
    uint32_t start;  // in bytes
    uint32_t end;
    uint32_t kind;
} cts_segment;

typedef struct cts_iterator cts_iterator;

// An iterator for a language (a BCP 47 tag; "" for none in particular). NULL on failure, with ICU's name for it in
// *error. One thread at a time may use an iterator.
cts_iterator *cts_open(cts_unit unit, const char *language, const char **error);
void cts_close(cts_iterator *iterator);

// Starts a text of less than 2³¹ bytes of UTF-8, which must live until its last segment was taken.  0 on failure.
int cts_begin(cts_iterator *iterator, const char *text, size_t length);

// The next at most `capacity` segments, which adjoin and cover the text; 0 at its end.
size_t cts_next(cts_iterator *iterator, cts_segment *segments, size_t capacity);

// Canonically composed UTF-8, in the lower case of the language when `lower` is not 0. Writes nothing when the result
// does not fit. Returns the length of the result in bytes, or -1 when ICU fails or memory lacks.
ptrdiff_t cts_compose(
    const char *text, size_t length, int lower, const char *language, char *result, size_t capacity);

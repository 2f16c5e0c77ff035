#include "CTextSegmentation.h"

#include <stdlib.h>
#include <string.h>

#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/uloc.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>

struct cts_iterator {
    UBreakIterator *breaks;
    UText text;
    const uint8_t *bytes;
    int32_t length;
    int32_t position;
    cts_unit unit;
};

// ICU's name of a language, which is empty for tags that it does not know.
static void locale_of(const char *language, char *name, int32_t capacity) {
    UErrorCode status = U_ZERO_ERROR;
    int32_t length = uloc_forLanguageTag(language, name, capacity, NULL, &status);
    if (U_FAILURE(status) || length >= capacity) name[0] = 0;
}

cts_iterator *cts_open(cts_unit unit, const char *language, const char **error) {
    char locale[ULOC_FULLNAME_CAPACITY];
    locale_of(language, locale, sizeof locale);
    UErrorCode status = U_ZERO_ERROR;
    UBreakIterator *breaks = ubrk_open(unit == CTS_WORDS ? UBRK_WORD : UBRK_SENTENCE, locale, NULL, 0, &status);
    if (U_FAILURE(status)) {
        *error = u_errorName(status);
        return NULL;
    }
    cts_iterator *iterator = calloc(1, sizeof *iterator);
    if (!iterator) {
        ubrk_close(breaks);
        *error = "out of memory";
        return NULL;
    }
    iterator->breaks = breaks;
    iterator->text = (UText)UTEXT_INITIALIZER;
    iterator->unit = unit;
    return iterator;
}

void cts_close(cts_iterator *iterator) {
    ubrk_close(iterator->breaks);
    utext_close(&iterator->text);
    free(iterator);
}

int cts_begin(cts_iterator *iterator, const char *text, size_t length) {
    if (length > INT32_MAX) return 0;
    UErrorCode status = U_ZERO_ERROR;
    utext_openUTF8(&iterator->text, text, (int64_t)length, &status);
    ubrk_setUText(iterator->breaks, &iterator->text, &status);
    if (U_FAILURE(status)) return 0;
    iterator->bytes = (const uint8_t *)text;
    iterator->length = (int32_t)length;
    iterator->position = ubrk_first(iterator->breaks);
    return 1;
}

// The kind of a segment without letters or digits, by its first character.
static cts_kind kind_of(const uint8_t *bytes, int32_t start, int32_t end) {
    UChar32 character;
    int32_t position = start;
    U8_NEXT(bytes, position, end, character);
    if (character < 0) return CTS_MARK;
    if (u_isUWhiteSpace(character) || u_iscntrl(character)) return CTS_SPACE;
    if (character >= 0x80
        && (u_hasBinaryProperty(character, UCHAR_EXTENDED_PICTOGRAPHIC)
            || u_hasBinaryProperty(character, UCHAR_REGIONAL_INDICATOR)))
        return CTS_EMOJI;
    return CTS_MARK;
}

size_t cts_next(cts_iterator *iterator, cts_segment *segments, size_t capacity) {
    size_t count = 0;
    while (count < capacity && iterator->position < iterator->length) {
        int32_t end = ubrk_next(iterator->breaks);
        if (end == UBRK_DONE || end <= iterator->position) end = iterator->length;
        cts_kind kind = CTS_LETTERS;
        if (iterator->unit == CTS_WORDS) {
            int32_t status = ubrk_getRuleStatus(iterator->breaks);
            if (status < UBRK_WORD_NONE_LIMIT)
                kind = kind_of(iterator->bytes, iterator->position, end);
            else if (status < UBRK_WORD_NUMBER_LIMIT)
                kind = CTS_NUMBER;
        }
        segments[count++] = (cts_segment){(uint32_t)iterator->position, (uint32_t)end, kind};
        iterator->position = end;
    }
    return count;
}

enum { INLINE = 256 };

// A buffer that lies on the stack while it is small.
typedef struct {
    UChar inlined[INLINE];
    UChar *units;
    int32_t capacity;
} buffer;

static int reserve(buffer *buffer, int64_t count) {
    buffer->units = buffer->inlined;
    buffer->capacity = INLINE;
    if (count <= INLINE) return 1;
    if (count > INT32_MAX / 2) return 0;
    buffer->units = malloc((size_t)count * sizeof(UChar));
    buffer->capacity = (int32_t)count;
    return buffer->units != NULL;
}

static void release(buffer *buffer) {
    if (buffer->units != buffer->inlined) free(buffer->units);
}

ptrdiff_t cts_compose(
    const char *text, size_t length, int lower, const char *language, char *result, size_t capacity) {
    if (length > INT32_MAX / 8) return -1;
    buffer first, second;
    ptrdiff_t answer = -1;
    // Lower case and composition make a text at most three times as long.
    if (!reserve(&first, (int64_t)length * 3 + 1)) return -1;
    if (!reserve(&second, (int64_t)length * 3 + 1)) {
        release(&first);
        return -1;
    }
    UErrorCode status = U_ZERO_ERROR;
    int32_t count = 0;
    u_strFromUTF8(first.units, first.capacity, &count, text, (int32_t)length, &status);
    UChar *from = first.units, *to = second.units;
    if (lower) {
        char locale[ULOC_FULLNAME_CAPACITY];
        locale_of(language, locale, sizeof locale);
        count = u_strToLower(to, second.capacity, from, count, locale, &status);
        UChar *other = from;
        from = to;
        to = other;
    }
    const UNormalizer2 *composition = unorm2_getNFCInstance(&status);
    count = unorm2_normalize(composition, from, count, to, first.capacity, &status);
    if (U_SUCCESS(status)) {
        int32_t size = 0;
        UErrorCode fit = U_ZERO_ERROR;
        u_strToUTF8(NULL, 0, &size, to, count, &fit);
        if (fit == U_BUFFER_OVERFLOW_ERROR || U_SUCCESS(fit)) {
            if ((size_t)size <= capacity) {
                fit = U_ZERO_ERROR;
                u_strToUTF8(result, (int32_t)(capacity > INT32_MAX ? INT32_MAX : capacity), &size, to, count, &fit);
            }
            if (fit == U_BUFFER_OVERFLOW_ERROR || U_SUCCESS(fit)) answer = size;
        }
    }
    release(&first);
    release(&second);
    return answer;
}

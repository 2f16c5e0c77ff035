// Numbers as text: read to the nearest double, written with the fewest digits that read back as the same double.
//
// Nothing here depends on the locale or reads outside the memory it is given, whatever the bytes are.

#ifndef CNUMBERTEXT_H
#define CNUMBERTEXT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Whether [start, end) is one decimal number: a sign or none, digits with a point or without, an exponent or none.
// `out` receives the nearest double, of two equally near the even one; beyond the greatest it is an infinity, below half
// the least a zero, both with the number's sign.
int cnum_double(const uint8_t *start, const uint8_t *end, double *out);

typedef enum { CNUM_NONE, CNUM_INTEGER, CNUM_DOUBLE } cnum_kind;

// The JSON number (RFC 8259) that [start, end) begins with: its kind, and its end in `after`. Numbers without point and
// exponent that an int64 holds go to `integer`, but for -0; all others to `number`, as cnum_double reads them.
// CNUM_NONE with `after` at the offending byte when there is none.
cnum_kind cnum_json(const uint8_t *start, const uint8_t *end, const uint8_t **after, int64_t *integer, double *number);

// w * 10^exponent for |exponent| <= 27, as the nearest double.
double cnum_scaled(uint64_t w, int exponent);

#define CNUM_MOST_BYTES 32

// The shortest digits that read back as the same number, written as Swift's description; at most CNUM_MOST_BYTES.
size_t cnum_write(double value, uint8_t *out);

// The same for JSON: whole numbers below 2^53 without ".0", but for -0.0. The value is finite.
size_t cnum_write_json(double value, uint8_t *out);

#ifdef __cplusplus
}
#endif

#endif

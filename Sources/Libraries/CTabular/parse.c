#include "ctabular.h"

#include "cnumbertext.h"

#include <string.h>

typedef struct {
    const uint8_t *start;
    const uint8_t *end;
} span;

// The contents of a cell; quotes around it are taken off. A cell with quotes inside stays as it is.
static inline span cell(const ctab_cells *c, size_t row) {
    size_t k = row * c->stride + c->column;
    const uint8_t *end = c->bytes + c->positions[k];
    const uint8_t *start = k == 0 ? c->bytes : c->bytes + c->positions[k - 1] + 1;
    if (c->column + 1 == c->stride && end > start && end[-1] == '\r') end--;
    if (c->quoting && end - start >= 2 && *start == '"' && end[-1] == '"') {
        start++;
        end--;
    }
    return (span){start, end};
}

static inline uint64_t load64(const uint8_t *p) {
    uint64_t x;
    memcpy(&x, p, 8);
    return x;
}

// Whether 8 bytes are decimal digits.
static inline int eight_digits(uint64_t x) {
    return ((x & 0xF0F0F0F0F0F0F0F0u) | (((x + 0x0606060606060606u) & 0xF0F0F0F0F0F0F0F0u) >> 4)) ==
           0x3333333333333333u;
}

// The number that 8 digits spell, the first byte first.
static inline uint64_t eight_value(uint64_t x) {
    x = (x & 0x0F0F0F0F0F0F0F0Fu) * 2561 >> 8;
    x = (x & 0x00FF00FF00FF00FFu) * 6553601 >> 16;
    return (x & 0x0000FFFF0000FFFFu) * 42949672960001u >> 32;
}

int ctab_int64(const uint8_t *s, const uint8_t *e, int64_t *out) {
    int negative = 0;
    if (s < e && (*s == '-' || *s == '+')) negative = *s++ == '-';
    if (s == e) return 0;
    uint64_t value = 0;
    const uint64_t most = (uint64_t)INT64_MAX + (uint64_t)negative;
    for (; s < e; s++) {
        unsigned digit = (unsigned)*s - '0';
        if (digit > 9) return 0;
        if (__builtin_mul_overflow(value, 10u, &value) || __builtin_add_overflow(value, digit, &value)) return 0;
        if (value > most) return 0;
    }
    *out = (int64_t)(negative ? 0 - value : value);
    return 1;
}

static inline void clear_bit(uint64_t *validity, size_t i) { validity[i >> 6] &= ~((uint64_t)1 << (i & 63)); }

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LITTLE_ENDIAN_TEXT 1
#else
#define LITTLE_ENDIAN_TEXT 0
#endif

size_t ctab_parse_int64(const ctab_cells *c, size_t row, size_t rows, int64_t *out, uint64_t *validity, size_t bit,
                        size_t *missing) {
    for (; row < rows; row++) {
        span t = cell(c, row);
        const uint8_t *s = t.start, *e = t.end;
        if (s == e) {
            if (!c->empty_is_missing) return row;
            out[row] = 0;
            clear_bit(validity, bit + row);
            *missing += 1;
            continue;
        }
        int negative = *s == '-';
        const uint8_t *digits = s + negative;
        size_t count = (size_t)(e - digits);
        if (LITTLE_ENDIAN_TEXT && count - 1 < 8 && e - c->floor >= 8) {
            uint64_t mask = ~(uint64_t)0 << (8 * (8 - count));
            uint64_t x = (load64(e - 8) & mask) | (0x3030303030303030u & ~mask);
            if (eight_digits(x)) {
                int64_t value = (int64_t)eight_value(x);
                out[row] = negative ? -value : value;
                continue;
            }
        }
        if (!ctab_int64(s, e, &out[row])) return row;
    }
    return rows;
}

size_t ctab_parse_double(const ctab_cells *c, size_t row, size_t rows, double *out, uint64_t *validity, size_t bit,
                         size_t *missing) {
    for (; row < rows; row++) {
        span t = cell(c, row);
        if (t.start == t.end) {
            if (!c->empty_is_missing) return row;
            out[row] = 0;
            clear_bit(validity, bit + row);
            *missing += 1;
            continue;
        }
        if (!cnum_double(t.start, t.end, &out[row])) return row;
    }
    return rows;
}

static inline int digits(const uint8_t *s, int count, int *out) {
    int value = 0;
    for (int i = 0; i < count; i++) {
        unsigned digit = (unsigned)s[i] - '0';
        if (digit > 9) return 0;
        value = value * 10 + (int)digit;
    }
    *out = value;
    return 1;
}

int ctab_iso8601(const uint8_t *s, const uint8_t *e, int date_only, double *out) {
    static const uint8_t lengths[13] = {0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day, hour, minute, second;
    if (e - s < 10 || !digits(s, 4, &year) || s[4] != '-' || !digits(s + 5, 2, &month) || s[7] != '-' ||
        !digits(s + 8, 2, &day)) {
        return 0;
    }
    if (month < 1 || month > 12 || day < 1 || day > lengths[month]) return 0;
    int leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (month == 2 && day == 29 && !leap) return 0;
    // Days since 2001-01-01, by years that start in March.
    int64_t y = year - (month <= 2);
    int64_t era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t days = era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 730791;
    s += 10;
    if (s == e) {
        if (!date_only) return 0;
        *out = (double)days * 86400;
        return 1;
    }
    if (e - s < 9 || (*s != 'T' && *s != 't' && *s != ' ') || !digits(s + 1, 2, &hour) || s[3] != ':' ||
        !digits(s + 4, 2, &minute) || s[6] != ':' || !digits(s + 7, 2, &second)) {
        return 0;
    }
    if (hour > 23 || minute > 59 || second > 60) return 0;
    s += 9;
    double fraction = 0;
    if (s < e && *s == '.') {
        uint64_t value = 0;
        int count = 0;
        for (s++; s < e && (unsigned)*s - '0' <= 9; s++) {
            if (count < 18) {
                value = value * 10 + ((unsigned)*s - '0');
                count++;
            }
        }
        if (count == 0) return 0;
        fraction = cnum_scaled(value, -count);
    }
    if (s == e) return 0;
    int offset = 0;
    if (*s == 'Z' || *s == 'z') {
        s++;
    } else if (*s == '+' || *s == '-') {
        int hours, minutes = 0, negative = *s == '-';
        if (e - s < 3 || !digits(s + 1, 2, &hours)) return 0;
        s += 3;
        if (s < e) {
            if (*s == ':') s++;
            if (e - s != 2 || !digits(s, 2, &minutes)) return 0;
            s += 2;
        }
        if (hours > 23 || minutes > 59) return 0;
        offset = (hours * 60 + minutes) * (negative ? -60 : 60);
    }
    if (s != e) return 0;
    *out = (double)(days * 86400 + hour * 3600 + minute * 60 + second - offset) + fraction;
    return 1;
}

size_t ctab_parse_iso8601(const ctab_cells *c, size_t row, size_t rows, int date_only, double *out,
                          uint64_t *validity, size_t bit, size_t *missing) {
    for (; row < rows; row++) {
        span t = cell(c, row);
        if (t.start == t.end) {
            if (!c->empty_is_missing) return row;
            out[row] = 0;
            clear_bit(validity, bit + row);
            *missing += 1;
            continue;
        }
        if (!ctab_iso8601(t.start, t.end, date_only, &out[row])) return row;
    }
    return rows;
}

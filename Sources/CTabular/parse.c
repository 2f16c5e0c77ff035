#include "ctabular.h"

#include <string.h>

typedef struct {
    const uint8_t *start;
    const uint8_t *end;
} span;

// The contents of a cell; quotes around it are taken off.  A cell with quotes inside stays as it is.
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

static const double exact_powers[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static uint64_t five_to(int k) {
    static const uint64_t powers[28] = {
        1u, 5u, 25u, 125u, 625u, 3125u, 15625u, 78125u, 390625u, 1953125u, 9765625u, 48828125u, 244140625u,
        1220703125u, 6103515625u, 30517578125u, 152587890625u, 762939453125u, 3814697265625u, 19073486328125u,
        95367431640625u, 476837158203125u, 2384185791015625u, 11920928955078125u, 59604644775390625u,
        298023223876953125u, 1490116119384765625u, 7450580596923828125u};
    return powers[k];
}

// bits * 2^exponent, correctly rounded; the top bit of `bits` is set, `sticky` says that something smaller was cut off.
static double rounded(uint64_t bits, int exponent, int sticky) {
    uint64_t cut = bits & 0x7FF, kept = bits >> 11;
    if (cut > 0x400 || (cut == 0x400 && (sticky || (kept & 1)))) kept++;
    // At most 2^53, which has an exact double; the exponent stays within those of normal numbers for the callers' range.
    uint64_t scale = (uint64_t)(exponent + 11 + 1023) << 52;
    double factor;
    memcpy(&factor, &scale, 8);
    return (double)kept * factor;
}

static inline uint64_t divide(uint64_t high, uint64_t low, uint64_t divisor, uint64_t *remainder) {
#if defined(__x86_64__)
    uint64_t quotient;
    __asm__("divq %4" : "=a"(quotient), "=d"(*remainder) : "a"(low), "d"(high), "r"(divisor) : "cc");
    return quotient;
#else
    unsigned __int128 whole = (unsigned __int128)high << 64 | low;
    *remainder = (uint64_t)(whole % divisor);
    return (uint64_t)(whole / divisor);
#endif
}

// w * 10^e for w below 2^64 and |e| <= 27, correctly rounded.
static double scaled(uint64_t w, int e) {
    if (w == 0) return 0;
    if (w <= (uint64_t)1 << 53 && e >= -22 && e <= 22) {
        return e < 0 ? (double)w / exact_powers[-e] : (double)w * exact_powers[e];
    }
    if (e < 0) {
        uint64_t divisor = five_to(-e);
        int lw = __builtin_clzll(w), ld = __builtin_clzll(divisor);
        w <<= lw;
        divisor <<= ld;
        uint64_t remainder, quotient = divide(w >> 1, w << 63, divisor, &remainder);
        int shift = __builtin_clzll(quotient);
        return rounded(quotient << shift, ld - lw + e - 63 - shift, remainder != 0);
    }
    unsigned __int128 product = (unsigned __int128)w * five_to(e);
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    if (high == 0) {
        int shift = __builtin_clzll(low);
        return rounded(low << shift, e - shift, 0);
    }
    int shift = __builtin_clzll(high);
    uint64_t top = shift == 0 ? high : high << shift | low >> (64 - shift);
    return rounded(top, e + 64 - shift, (low << shift) != 0);
}

int ctab_double(const uint8_t *s, const uint8_t *e, double *out) {
    int negative = 0;
    if (s < e && (*s == '-' || *s == '+')) negative = *s++ == '-';
    uint64_t w = 0;
    const uint8_t *first = s;
    while (s < e && (unsigned)*s - '0' <= 9) w = w * 10 + ((unsigned)*s++ - '0');
    int digits = (int)(s - first > 64 ? 64 : s - first), exponent = 0;
    if (s < e && *s == '.') {
        const uint8_t *point = ++s;
        if (LITTLE_ENDIAN_TEXT) {
            while (e - s >= 8 && eight_digits(load64(s))) {
                w = w * 100000000 + eight_value(load64(s));
                s += 8;
            }
        }
        while (s < e && (unsigned)*s - '0' <= 9) w = w * 10 + ((unsigned)*s++ - '0');
        if (s - point > 64) return 0;
        exponent = (int)(point - s);
        digits += (int)(s - point);
    }
    if (digits == 0) return 0;
    if (digits > 19) {
        // Zeros in front say nothing; what is left may still be short.
        const uint8_t *p = first;
        while (p < s && (*p == '0' || *p == '.')) {
            digits -= *p == '0';
            p++;
        }
        if (digits > 19) return 0;
    }
    if (s < e && (*s | 32) == 'e') {
        s++;
        int minus = 0, power = 0;
        if (s < e && (*s == '-' || *s == '+')) minus = *s++ == '-';
        if (s == e) return 0;
        for (; s < e && (unsigned)*s - '0' <= 9; s++) {
            if (power > 9999) return 0;
            power = power * 10 + (*s - '0');
        }
        exponent += minus ? -power : power;
    }
    if (s != e) return 0;
    if (w != 0 && (exponent < -27 || exponent > 27)) return 0;
    double value = scaled(w, w == 0 ? 0 : exponent);
    *out = negative ? -value : value;
    return 1;
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
        if (!ctab_double(t.start, t.end, &out[row])) return row;
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
        fraction = (double)value / exact_powers[count];
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

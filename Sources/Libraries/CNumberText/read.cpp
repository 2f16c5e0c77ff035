// Reading of numbers: those of at most 19 digits near one by integers of 128 bits, all others by the C++ library, whose
// reader is exact, too.
#include "cnumbertext.h"

#include <charconv>
#include <cstring>
#include <limits>

namespace {

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
constexpr bool little_endian = true;
#else
constexpr bool little_endian = false;
#endif

inline uint64_t load64(const uint8_t *p) {
    uint64_t x;
    std::memcpy(&x, p, 8);
    return x;
}

// Whether 8 bytes are decimal digits.
inline bool eight_digits(uint64_t x) {
    return ((x & 0xF0F0F0F0F0F0F0F0u) | (((x + 0x0606060606060606u) & 0xF0F0F0F0F0F0F0F0u) >> 4)) ==
           0x3333333333333333u;
}

// The number that 8 digits spell, the first byte first.
inline uint64_t eight_value(uint64_t x) {
    x = (x & 0x0F0F0F0F0F0F0F0Fu) * 2561 >> 8;
    x = (x & 0x00FF00FF00FF00FFu) * 6553601 >> 16;
    return (x & 0x0000FFFF0000FFFFu) * 42949672960001u >> 32;
}

constexpr double exact_powers[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

constexpr uint64_t powers_of_five[28] = {
    1u, 5u, 25u, 125u, 625u, 3125u, 15625u, 78125u, 390625u, 1953125u, 9765625u, 48828125u, 244140625u,
    1220703125u, 6103515625u, 30517578125u, 152587890625u, 762939453125u, 3814697265625u, 19073486328125u,
    95367431640625u, 476837158203125u, 2384185791015625u, 11920928955078125u, 59604644775390625u,
    298023223876953125u, 1490116119384765625u, 7450580596923828125u};

// bits * 2^exponent, correctly rounded; the top bit of `bits` is set, `sticky` says that something smaller was cut off.
double rounded(uint64_t bits, int exponent, bool sticky) {
    uint64_t cut = bits & 0x7FF, kept = bits >> 11;
    if (cut > 0x400 || (cut == 0x400 && (sticky || (kept & 1)))) kept++;
    // At most 2^53, which has an exact double; the exponent stays within those of normal numbers for the callers' range.
    uint64_t scale = static_cast<uint64_t>(exponent + 11 + 1023) << 52;
    double factor;
    std::memcpy(&factor, &scale, 8);
    return static_cast<double>(kept) * factor;
}

inline uint64_t divide(uint64_t high, uint64_t low, uint64_t divisor, uint64_t *remainder) {
#if defined(__x86_64__)
    uint64_t quotient;
    __asm__("divq %4" : "=a"(quotient), "=d"(*remainder) : "a"(low), "d"(high), "r"(divisor) : "cc");
    return quotient;
#else
    unsigned __int128 whole = static_cast<unsigned __int128>(high) << 64 | low;
    *remainder = static_cast<uint64_t>(whole % divisor);
    return static_cast<uint64_t>(whole / divisor);
#endif
}

// The greatest exponent that is told from greater ones; no text is long enough to make up for it.
constexpr int64_t most_power = 1000000000000000;

// A scan of a text up to the first byte that cannot belong to a number.
struct Scan {
    const uint8_t *after;
    // Sign or none, then the digits with the point among them.
    const uint8_t *digits_start;
    const uint8_t *point;
    const uint8_t *digits_end;
    // The digits' number, modulo 2^64.
    uint64_t w;
    int64_t whole_digits, decimals, power;
    bool has_sign, negative, has_exponent;

    // Whether there are digits, and digits in the exponent if it has begun; `after` is the offending byte if not.
    bool read(const uint8_t *s, const uint8_t *e) {
        has_sign = s < e && (*s == '-' || *s == '+');
        negative = has_sign && *s == '-';
        if (has_sign) s++;
        digits_start = s;
        uint64_t value = 0;
        while (s < e && *s - unsigned{'0'} <= 9) value = value * 10 + (*s++ - unsigned{'0'});
        whole_digits = s - digits_start;
        decimals = 0;
        point = nullptr;
        if (s < e && *s == '.') {
            point = s++;
            if (little_endian) {
                while (e - s >= 8 && eight_digits(load64(s))) {
                    value = value * 100000000 + eight_value(load64(s));
                    s += 8;
                }
            }
            while (s < e && *s - unsigned{'0'} <= 9) value = value * 10 + (*s++ - unsigned{'0'});
            decimals = s - point - 1;
        }
        w = value;
        digits_end = s;
        after = s;
        power = 0;
        has_exponent = false;
        if (whole_digits + decimals == 0) return false;
        if (s < e && (*s | 32) == 'e') {
            has_exponent = true;
            s++;
            bool minus = false;
            if (s < e && (*s == '-' || *s == '+')) minus = *s++ == '-';
            const uint8_t *first = s;
            for (; s < e && *s - unsigned{'0'} <= 9; s++) {
                if (power < most_power) power = power * 10 + (*s - unsigned{'0'});
            }
            if (minus) power = -power;
            after = s;
            if (s == first) return false;
        }
        return true;
    }

    double number() const {
        const double size = magnitude();
        return negative ? -size : size;
    }

private:
    double magnitude() const {
        int64_t digits = whole_digits + decimals;
        const uint8_t *first = digits_start;
        if (digits > 19) {
            // Zeros in front say nothing; what is left may still be short.
            while (first < digits_end && (*first == '0' || *first == '.')) {
                digits -= *first == '0';
                first++;
            }
        }
        if (digits <= 19) {
            if (w == 0) return 0;
            const int64_t exponent = power - decimals;
            if (exponent >= -27 && exponent <= 27) return cnum_scaled(w, static_cast<int>(exponent));
        }
        double value = 0;
        const auto text = reinterpret_cast<const char *>(digits_start), end = reinterpret_cast<const char *>(after);
        if (std::from_chars(text, end, value).ec == std::errc()) return value;
        // Out of range, by far more than the digits behind the first could change.
        while (*first == '0' || *first == '.') first++;
        const int64_t place = point == nullptr ? digits_end - first - 1
                              : first < point ? point - first - 1
                                              : point - first;
        return place + power > 0 ? std::numeric_limits<double>::infinity() : 0;
    }
};

}  // namespace

extern "C" double cnum_scaled(uint64_t w, int e) {
    if (w == 0) return 0;
    if (w <= uint64_t{1} << 53 && e >= -22 && e <= 22) {
        const double exact = static_cast<double>(w);
        return e < 0 ? exact / exact_powers[-e] : exact * exact_powers[e];
    }
    if (e < 0) {
        uint64_t divisor = powers_of_five[-e];
        int lw = __builtin_clzll(w), ld = __builtin_clzll(divisor);
        w <<= lw;
        divisor <<= ld;
        uint64_t remainder, quotient = divide(w >> 1, w << 63, divisor, &remainder);
        int shift = __builtin_clzll(quotient);
        return rounded(quotient << shift, ld - lw + e - 63 - shift, remainder != 0);
    }
    unsigned __int128 product = static_cast<unsigned __int128>(w) * powers_of_five[e];
    uint64_t high = static_cast<uint64_t>(product >> 64), low = static_cast<uint64_t>(product);
    if (high == 0) {
        int shift = __builtin_clzll(low);
        return rounded(low << shift, e - shift, false);
    }
    int shift = __builtin_clzll(high);
    uint64_t top = shift == 0 ? high : high << shift | low >> (64 - shift);
    return rounded(top, e + 64 - shift, (low << shift) != 0);
}

extern "C" int cnum_double(const uint8_t *s, const uint8_t *e, double *out) {
    Scan scan;
    if (!scan.read(s, e) || scan.after != e) return 0;
    *out = scan.number();
    return 1;
}

extern "C" cnum_kind cnum_json(const uint8_t *s, const uint8_t *e, const uint8_t **after, int64_t *integer,
                               double *number) {
    Scan scan;
    const bool is_number = scan.read(s, e);
    *after = scan.after;
    if (scan.has_sign && !scan.negative) {
        *after = s;
        return CNUM_NONE;
    }
    if (scan.whole_digits == 0 || (scan.whole_digits > 1 && *scan.digits_start == '0')) {
        *after = scan.digits_start;
        return CNUM_NONE;
    }
    if (scan.point && scan.decimals == 0) {
        *after = scan.digits_end;
        return CNUM_NONE;
    }
    if (!is_number) return CNUM_NONE;
    // Of 19 digits each number is below 2^64, and the int64 with the greatest digits has 19.
    if (!scan.point && !scan.has_exponent && scan.whole_digits <= 19 && !(scan.negative && scan.w == 0) &&
        scan.w <= static_cast<uint64_t>(INT64_MAX) + scan.negative) {
        *integer = static_cast<int64_t>(scan.negative ? 0 - scan.w : scan.w);
        return CNUM_INTEGER;
    }
    *number = scan.number();
    return CNUM_DOUBLE;
}

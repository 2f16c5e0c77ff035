// The shortest digits of a number, by the C++ library's Ryu (Adams, "Ryū: fast float-to-string conversion", 2018).
#include "cnumbertext.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

// Swift writes numbers from 10⁻⁴ to 2⁵³ with a point and at least one decimal, others with an exponent of two digits at
// least.
extern "C" size_t cnum_write(double value, uint8_t *out) {
    char *const start = reinterpret_cast<char *>(out);
    char *p = start;
    if (std::isnan(value)) {
        std::memcpy(p, "nan", 3);
        return 3;
    }
    if (std::signbit(value)) *p++ = '-';
    const double size = std::fabs(value);
    if (std::isinf(size)) {
        std::memcpy(p, "inf", 3);
        return static_cast<size_t>(p + 3 - start);
    }
    if (size == 0) {
        std::memcpy(p, "0.0", 3);
        return static_cast<size_t>(p + 3 - start);
    }
    // d.ddde±xx
    char text[32];
    const char *const end = std::to_chars(text, text + sizeof text, size, std::chars_format::scientific).ptr;
    const char *const mark = end[-4] == 'e' ? end - 4 : end - 5;
    int exponent = (end[-2] - '0') * 10 + (end[-1] - '0');
    if (end - mark == 5) exponent += (end[-3] - '0') * 100;
    if (mark[1] == '-') exponent = -exponent;
    // The digits behind the point.
    const char *const rest = text + 2;
    const int more = mark > rest ? static_cast<int>(mark - rest) : 0;
    if (exponent < -4 || size > 0x1p53) {
        *p++ = text[0];
        if (more > 0) {
            *p++ = '.';
            std::memcpy(p, rest, static_cast<size_t>(more));
            p += more;
        }
        *p++ = 'e';
        *p++ = exponent < 0 ? '-' : '+';
        const int magnitude = std::abs(exponent);
        if (magnitude >= 100) *p++ = static_cast<char>('0' + magnitude / 100);
        *p++ = static_cast<char>('0' + magnitude / 10 % 10);
        *p++ = static_cast<char>('0' + magnitude % 10);
    } else if (exponent < 0) {
        std::memcpy(p, "0.000", 5);
        p += 1 - exponent;
        *p++ = text[0];
        std::memcpy(p, rest, 16);
        p += more;
    } else if (more > exponent) {
        *p++ = text[0];
        std::memcpy(p, rest, 16);
        p += exponent;
        *p++ = '.';
        std::memcpy(p, rest + exponent, static_cast<size_t>(more - exponent));
        p += more - exponent;
    } else {
        *p++ = text[0];
        std::memcpy(p, rest, static_cast<size_t>(more));
        p += more;
        for (int zero = more; zero < exponent; zero++) *p++ = '0';
        *p++ = '.';
        *p++ = '0';
    }
    return static_cast<size_t>(p - start);
}

extern "C" size_t cnum_write_json(double value, uint8_t *out) {
    // Comparing comes first: it keeps what an int64 does not hold from being converted.
    if (std::fabs(value) < 0x1p53 && value == static_cast<double>(static_cast<int64_t>(value)) &&
        !(value == 0 && std::signbit(value))) {
        char *const start = reinterpret_cast<char *>(out);
        return static_cast<size_t>(std::to_chars(start, start + CNUM_MOST_BYTES, static_cast<int64_t>(value)).ptr - start);
    }
    return cnum_write(value, out);
}

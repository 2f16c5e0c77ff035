#ifndef CIC_COMMON_H
#define CIC_COMMON_H

#include "CImageCodecs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline int cic_fail(char *message, const char *text) {
    snprintf(message, 200, "%s", text);
    return 1;
}

/// Checks a size that a file claims; 0 when it is acceptable.
static inline int cic_check_size(uint64_t width, uint64_t height, uint64_t limit, char *message) {
    if (width == 0 || height == 0) return cic_fail(message, "the image has no pixels");
    if (width > limit / height) {
        snprintf(message, 200, "%llu x %llu pixels are more than the %llu that are read", (unsigned long long)width,
                 (unsigned long long)height, (unsigned long long)limit);
        return 1;
    }
    return 0;
}

#endif

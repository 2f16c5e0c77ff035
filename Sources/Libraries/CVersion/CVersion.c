#include "CVersion.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

const char *cversion(void) {
    static const char text[] = {
#embed "../../../VERSION"
        , 0};
    return text;
}

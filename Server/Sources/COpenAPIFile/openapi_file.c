#include "openapi_file.h"

/* #embed is C23, and the oldest compiler that builds this package has it. */
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char bytes[] = {
#embed "../../openapi.yaml"
};

const unsigned char *openapi_file(void) { return bytes; }
unsigned long openapi_file_length(void) { return sizeof bytes; }

// The model that tells languages apart, which Oracles/languages/train writes.
#pragma once

#include <stddef.h>

// The model in base64, of `*length` characters; it lives as long as the program.
const char *clm_model(size_t *length);

// The model that tells languages apart, which scripts/train-language-recognizer writes.
#pragma once

#include <stddef.h>

// The model in base64, of `*length` characters; it lives as long as the program.
const char *clm_model(size_t *length);

#include "../isa/isa.h"

void cml_histogram_add(const cml_isa *isa, const int32_t *rows, long count, const float *examples, const uint8_t *bins,
                       long columns, double *cells) {
    isa->histogram_add(rows, count, examples, bins, columns, cells);
}

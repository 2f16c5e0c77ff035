#include "../isa/isa.h"

void cml_sum_cells(const cml_isa *isa, const int32_t *rows, long count, const float *examples, const uint8_t *bins,
                   long columns, double *cells) {
    isa->sum_cells(rows, count, examples, bins, columns, cells);
}

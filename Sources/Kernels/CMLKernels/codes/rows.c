// Looks up rows of a matrix of codes, and prepares the rows that are multiplied by one.
#include "../isa/isa.h"
#include "codes.h"

// Elements that are decoded at a time.
#define CHUNK 512

typedef struct {
    const cml_isa *isa;
    const cml_code_rows *matrix;
    const int32_t *indices;
    float *target;
} job;

static inline int code_at(const cml_code_rows *m, size_t number) {
    const size_t position = number * (size_t)m->bits;
    unsigned word = m->codes[position >> 3];
    if ((position & 7) + (size_t)m->bits > 8) word |= (unsigned)m->codes[(position >> 3) + 1] << 8;
    return (int)(word >> (position & 7) & ((1u << m->bits) - 1));
}

static void gather_row(void *context, long index, int worker) {
    (void)worker;
    const job *j = context;
    const cml_code_rows *m = j->matrix;
    long row = j->indices[index];
    if (row < 0) row += m->rows;
    if (row < 0) row = 0;
    if (row >= m->rows) row = m->rows - 1;
    const long blocks = m->columns / m->column_block, entries = 1L << m->bits;
    float *y = j->target + index * m->columns;
    const int sign = m->is_signed && !m->is_table ? 1 << (m->bits - 1) : 0;
    for (long start = 0; start < m->columns;) {
        const long block = start / m->column_block, parameter = row / m->row_block * blocks + block;
        long end = (block + 1) * m->column_block;
        if (end > start + CHUNK) end = start + CHUNK;
        const size_t first = (size_t)row * (size_t)m->columns;
        if (m->is_table) {
            const size_t table = (size_t)(parameter * entries);
            if (m->parameter == CML_F32) {
                const float *values = (const float *)m->parameters + table;
                for (long c = start; c < end; c++) y[c] = values[code_at(m, first + (size_t)c)];
            } else {
                uint16_t halves[CHUNK];
                const uint16_t *values = (const uint16_t *)m->parameters + table;
                for (long c = start; c < end; c++) halves[c - start] = values[code_at(m, first + (size_t)c)];
                j->isa->widen(halves, y + start, end - start);
            }
        } else {
            float scale;
            if (m->parameter == CML_F32) scale = ((const float *)m->parameters)[parameter];
            else j->isa->widen((const uint16_t *)m->parameters + parameter, &scale, 1);
            const float offset = m->float_offsets ? m->float_offsets[parameter] : m->offsets ? m->offsets[parameter] : 0;
            for (long c = start; c < end; c++)
                y[c] = ((float)((code_at(m, first + (size_t)c) ^ sign) - sign) - offset) * scale;
            if (m->parameter == CML_F16) {
                uint16_t halves[CHUNK];
                j->isa->narrow(y + start, halves, end - start);
                j->isa->widen(halves, y + start, end - start);
            }
        }
        start = end;
    }
}

void cml_gather_codes(const cml_isa *isa, const cml_code_rows *matrix, const int32_t *indices, long count,
                      float *target) {
    job j = {isa, matrix, indices, target};
    cml_parallel_for(count, gather_row, &j);
}

int cml_scale_row(const cml_codes *c, const float *row, float *result) {
    static const float factors[8] = {1, 0x1p-4f, 0x1p-8f, 0x1p-12f, 0x1p-16f, 0x1p-20f, 0x1p-24f, 0x1p-24f};
    const long segments = cml_codes_segments(c), terms = segments > 1 ? c->segment : c->k;
    float *sums = result + c->k;
    int finite = 1;
    for (long segment = 0; segment < segments; segment++, row += terms, result += terms) {
        float parts[8] = {0}, sum = 0;
        long k = 0;
        for (; k + 8 <= terms; k += 8) {
            for (long i = 0; i < 8; i++) {
                result[k + i] = row[k + i] * factors[i];
                parts[i] += row[k + i];
            }
        }
        for (long i = 0; k < terms; i++, k++) {
            result[k] = row[k] * factors[i];
            parts[i] += row[k];
        }
        for (long i = 0; i < 8; i++) sum += parts[i];
        sums[segment] = sum;
        finite &= sum - sum == 0;
    }
    return finite;
}

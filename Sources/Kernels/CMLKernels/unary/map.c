#include "../isa/isa.h"

// Elements one task works on: enough to pay for handing it out.
#define CHUNK 8192

typedef struct {
    const cml_isa *isa;
    cml_unary function;
    float alpha, beta;
    const float *x;
    float *y;
    long count;
} job;

static void map(void *context, long index, int worker) {
    (void)worker;
    const job *j = context;
    const long start = index * CHUNK, left = j->count - start;
    j->isa->unary(j->function, j->alpha, j->beta, j->x + start, j->y + start, left < CHUNK ? left : CHUNK);
}

void cml_unary_map(const cml_isa *isa, cml_unary function, float alpha, float beta, const float *x, float *y,
                   long count) {
    job j = {isa, function, alpha, beta, x, y, count};
    cml_parallel_for((count + CHUNK - 1) / CHUNK, map, &j);
}

typedef struct {
    const cml_isa *isa;
    cml_integer_unary function;
    int32_t bound;
    const int32_t *x;
    int32_t *y;
    long count;
} integer_job;

static void map_integers(void *context, long index, int worker) {
    (void)worker;
    const integer_job *j = context;
    const long start = index * CHUNK, left = j->count - start;
    j->isa->integer_map(j->function, j->bound, j->x + start, j->y + start, left < CHUNK ? left : CHUNK);
}

void cml_integer_map(const cml_isa *isa, cml_integer_unary function, int32_t bound, const int32_t *x, int32_t *y,
                     long count) {
    integer_job j = {isa, function, bound, x, y, count};
    cml_parallel_for((count + CHUNK - 1) / CHUNK, map_integers, &j);
}

typedef struct {
    const cml_isa *isa;
    cml_derivative form;
    float low, high;
    const float *y, *dy;
    float *dx;
    long count;
} derivative_job;

static void map_derivatives(void *context, long index, int worker) {
    (void)worker;
    const derivative_job *j = context;
    const long start = index * CHUNK, left = j->count - start;
    j->isa->derivative(j->form, j->low, j->high, j->y + start, j->dy + start, j->dx + start,
                       left < CHUNK ? left : CHUNK);
}

void cml_derivative_map(const cml_isa *isa, cml_derivative form, float low, float high, const float *y, const float *dy,
                        float *dx, long count) {
    derivative_job j = {isa, form, low, high, y, dy, dx, count};
    cml_parallel_for((count + CHUNK - 1) / CHUNK, map_derivatives, &j);
}

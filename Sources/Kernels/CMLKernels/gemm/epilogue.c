#include "../isa/isa.h"

typedef struct {
    const cml_isa *isa;
    const cml_epilogue *epilogue;
    const float *x;
    float *y;
    long columns, ldy;
} job;

static void apply(void *context, long row, int worker) {
    (void)worker;
    const job *j = context;
    const cml_epilogue *e = j->epilogue;
    const float *x = j->x + row * j->columns, *residual = e->residual ? e->residual + row * e->ldr : NULL;
    float *y = j->y + row * j->ldy;
    for (long i = 0; i < j->columns; i++) y[i] = x[i] + (e->bias ? e->bias[i] : 0) + (residual ? residual[i] : 0);
    if (e->function == CML_PRELU) j->isa->prelu_row(e->slope, y, j->columns);
    else j->isa->unary(e->function, e->alpha, e->beta, y, y, j->columns);
}

void cml_epilogue_apply(const cml_isa *isa, const cml_epilogue *epilogue, const float *x, float *y, long rows,
                        long columns, long ldy) {
    job j = {isa, epilogue, x, y, columns, ldy};
    cml_parallel_for(rows, apply, &j);
}

#include "ctraining.h"
#include "vectors.h"

INLINE void adam(float *parameters, const float *gradient, float *first, float *second, long count,
                 const struct ctraining_adam by) {
    long i = 0;
    for (; i + VL <= count; i += VL) {
        const vf g = VECTOR(gradient + i);
        const vf m = by.beta1 * VECTOR(first + i) + by.share1 * g, v = by.beta2 * VECTOR(second + i) + by.share2 * g * g;
        STORE(first + i, m);
        STORE(second + i, v);
        STORE(parameters + i,
              VECTOR(parameters + i) - by.rate * m / (__builtin_elementwise_sqrt(v) / by.root + by.epsilon));
    }
    for (; i < count; i++) {
        const float g = gradient[i];
        first[i] = by.beta1 * first[i] + by.share1 * g;
        second[i] = by.beta2 * second[i] + by.share2 * g * g;
        parameters[i] -= by.rate * first[i] / (__builtin_elementwise_sqrt(second[i]) / by.root + by.epsilon);
    }
}

#ifdef WIDE
WIDE void wide_adam(float *parameters, const float *gradient, float *first, float *second, long count,
                    const struct ctraining_adam *by) {
    adam(parameters, gradient, first, second, count, *by);
}
#endif

void ctraining_adam(float *parameters, const float *gradient, float *first, float *second, long count,
                    const struct ctraining_adam *by, int wide) {
    IN_WIDE_IF(wide, adam(parameters, gradient, first, second, count, by))
    adam(parameters, gradient, first, second, count, *by);
}

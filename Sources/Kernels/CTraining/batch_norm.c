#include "ctraining.h"
#include "vectors.h"
#include <math.h>

// So many numbers are added in single precision before the sum is added in double precision.
#define CHUNK 1024

INLINE double lanes(const vf *sums) {
    double total = 0;
    for (int lane = 0; lane < VL; lane++) total += (*sums)[lane];
    return total;
}

// The sum of a plane's numbers, or of their squared distances from `mean`.
INLINE double plane_sum(const float *x, long count, float mean, int squared) {
    double total = 0;
    for (long first = 0; first < count; first += CHUNK) {
        const long end = first + CHUNK < count ? first + CHUNK : count;
        vf sums = {0};
        float rest = 0;
        long i = first;
        for (; i + VL <= end; i += VL) {
            const vf d = VECTOR(x + i) - mean;
            sums += squared ? d * d : d;
        }
        for (; i < end; i++) rest += squared ? (x[i] - mean) * (x[i] - mean) : x[i] - mean;
        total += lanes(&sums) + rest;
    }
    return total;
}

// The sums over a plane of dy, and of dy times the distances of x from `mean`.
INLINE void plane_products(const float *x, const float *dy, long count, float mean, double *sum, double *product) {
    for (long first = 0; first < count; first += CHUNK) {
        const long end = first + CHUNK < count ? first + CHUNK : count;
        vf sums = {0}, products = {0};
        float rest = 0, more = 0;
        long i = first;
        for (; i + VL <= end; i += VL) {
            const vf d = VECTOR(dy + i);
            sums += d;
            products += d * (VECTOR(x + i) - mean);
        }
        for (; i < end; i++) {
            rest += dy[i];
            more += dy[i] * (x[i] - mean);
        }
        *sum += lanes(&sums) + rest;
        *product += lanes(&products) + more;
    }
}

INLINE void batch_norm(const float *x, const struct ctraining_channel *by, float *y, float *mean, float *variance) {
    const double count = (double)(by->images * by->positions);
    double total = 0;
    for (long image = 0; image < by->images; image++) total += plane_sum(x + image * by->step, by->positions, 0, 0);
    const float middle = (float)(total / count);
    total = 0;
    for (long image = 0; image < by->images; image++)
        total += plane_sum(x + image * by->step, by->positions, middle, 1);
    *mean = middle;
    *variance = (float)(total / count);
    const float scale = (float)(by->gain / sqrt((double)*variance + by->epsilon));
    for (long image = 0; image < by->images; image++) {
        const float *from = x + image * by->step;
        float *to = y + image * by->step;
        long i = 0;
        for (; i + VL <= by->positions; i += VL) STORE(to + i, (VECTOR(from + i) - middle) * scale + by->bias);
        for (; i < by->positions; i++) to[i] = (from[i] - middle) * scale + by->bias;
    }
}

INLINE void batch_norm_gradient(const float *x, const float *dy, const struct ctraining_channel *by, float mean,
                                float variance, float *dx, float *gain, float *bias) {
    const double count = (double)(by->images * by->positions), inverse = 1 / sqrt((double)variance + by->epsilon);
    double sum = 0, product = 0;
    for (long image = 0; image < by->images; image++)
        plane_products(x + image * by->step, dy + image * by->step, by->positions, mean, &sum, &product);
    *gain = (float)(product * inverse);
    *bias = (float)sum;
    // dx = gain · inverse · (dy − mean of dy − (x − mean) · inverse² · mean of dy · (x − mean))
    const float scale = (float)(by->gain * inverse), shift = (float)(sum / count);
    const float slope = (float)(product / count * inverse * inverse);
    for (long image = 0; image < by->images; image++) {
        const long at = image * by->step;
        long i = 0;
        for (; i + VL <= by->positions; i += VL)
            STORE(dx + at + i, scale * (VECTOR(dy + at + i) - shift - slope * (VECTOR(x + at + i) - mean)));
        for (; i < by->positions; i++) dx[at + i] = scale * (dy[at + i] - shift - slope * (x[at + i] - mean));
    }
}

#ifdef WIDE
WIDE void wide_batch_norm(const float *x, const struct ctraining_channel *by, float *y, float *mean, float *variance) {
    batch_norm(x, by, y, mean, variance);
}

WIDE void wide_batch_norm_gradient(const float *x, const float *dy, const struct ctraining_channel *by, float mean,
                                   float variance, float *dx, float *gain, float *bias) {
    batch_norm_gradient(x, dy, by, mean, variance, dx, gain, bias);
}
#endif

void ctraining_batch_norm(const float *x, const struct ctraining_channel *by, float *y, float *mean, float *variance,
                          int wide) {
    IN_WIDE_IF(wide, batch_norm(x, by, y, mean, variance))
    batch_norm(x, by, y, mean, variance);
}

void ctraining_batch_norm_gradient(const float *x, const float *dy, const struct ctraining_channel *by, float mean,
                                   float variance, float *dx, float *gain, float *bias, int wide) {
    IN_WIDE_IF(wide, batch_norm_gradient(x, dy, by, mean, variance, dx, gain, bias))
    batch_norm_gradient(x, dy, by, mean, variance, dx, gain, bias);
}

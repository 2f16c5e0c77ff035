// Loops of training.  `wide` asks for vectors of 256 bits where the processor has them; results are the same.
#pragma once
#include <stdint.h>

// Vectors of eight may read and write so many numbers beyond the last one.
#define CTRAINING_PADDING 8

// result[t] = 0 - x[t] - x[t + distance] - … - x[t + 8 distance] for t in 0..<length.
void ctraining_negated_sums(const float *x, long distance, float *result, long length, int wide);
// result[t] = common[t] + 3 (a[t] + b[t] + c[t]) for t in 0..<length; with `adds` this is added to result[t].
void ctraining_kernel_sums(const float *common, const float *a, const float *b, const float *c, float *result, long length,
                           int adds, int wide);
// counts[i]: how many of values[0..<length] are greater than levels[i], for i in 0..<count.  Nothing beyond `length` is read.
void ctraining_count_above(const float *values, long length, const float *levels, long count, int32_t *counts, int wide);
// Sorts values[0..<count] in ascending order, -0 before 0, numbers that are not numbers at the ends; `scratch` has as many.
void ctraining_sort(float *values, float *scratch, long count);

// A step of Adam with numbers in single precision; products and sums are rounded one by one.
struct ctraining_adam {
    float beta1, beta2;   // of the means of gradients and of their squares
    float share1, share2; // 1 - beta1, 1 - beta2
    float rate;           // the learning rate over the first mean's correction
    float root;           // the square root of the second mean's correction
    float epsilon;
};
// Updates the means `first` and `second` of a gradient and of its squares, and the parameters with them:
// parameters -= rate first / (sqrt(second) / root + epsilon).
void ctraining_adam(float *parameters, const float *gradient, float *first, float *second, long count,
                    const struct ctraining_adam *by, int wide);

// A channel of [images][channels][positions], and its part of a batch normalisation.
struct ctraining_channel {
    long images, positions;
    long step;            // from the positions of an image to those of the next
    float epsilon, gain, bias;
};
// y = (x - mean) / sqrt(variance + epsilon) gain + bias, with the mean and the variance of all positions, which are returned.
void ctraining_batch_norm(const float *x, const struct ctraining_channel *by, float *y, float *mean, float *variance,
                          int wide);
// The gradients of x, the gain and the bias for the gradient dy of y.
void ctraining_batch_norm_gradient(const float *x, const float *dy, const struct ctraining_channel *by, float mean,
                                   float variance, float *dx, float *gain, float *bias, int wide);

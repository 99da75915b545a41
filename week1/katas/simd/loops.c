/* The loops of this kata. What is to be changed in them, a flag of the compiler can change. */
#include <stddef.h>

#ifndef RESTRICT
#define RESTRICT        /* -DRESTRICT=restrict: a promise that these pointers never meet */
#endif
#ifndef MAY_STOP
#define MAY_STOP 1      /* -DMAY_STOP=0: on to the end */
#endif
#ifndef STRIDE
#define STRIDE 17       /* -DSTRIDE=1: the column is a row now */
#endif

void scale(float *restrict out, const float *restrict x, float a, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = a * x[i];
}

float sum(const float *x, size_t n) {
    float total = 0;
    for (size_t i = 0; i < n; i++) total += x[i];
    return total;
}

void add_to(float *RESTRICT total, const float *RESTRICT x, size_t n) {
    for (size_t i = 0; i < n; i++) *total += x[i];
}

void until_negative(float *restrict out, const float *restrict x, float a, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (MAY_STOP && x[i] < 0) break;
        out[i] = a * x[i];
    }
}

void running(float *x, size_t n) {
    for (size_t i = 1; i < n; i++) x[i] += x[i - 1];
}

void column(float *restrict out, const float *restrict x, float a, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = a * x[STRIDE * i];
}

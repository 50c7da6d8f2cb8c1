/** The real type of a kernel and the functions a model may call.
 *
 *  The including file chooses the precision with -DGM_DOUBLE=0 or 1. On the GPU the functions are
 *  CUDA's own. On the CPU they are straight-line polynomials: a loop over points that calls them
 *  is vectorised, which a call into libm would stop. Their errors are bounded in
 *  tests/unit/test_math.c. */
#ifndef GM_KERNELS_MATH_H
#define GM_KERNELS_MATH_H

#ifndef __CUDACC_RTC__
#include <stdint.h>
#endif

#if GM_DOUBLE
typedef double gm_real;
#else
typedef float gm_real;
#endif

/* A constant in the kernel's precision: a bare 0.5 would drag float arithmetic into double. */
#define GM_C(constant) ((gm_real)(constant))

#ifdef __CUDACC__
#define GM_FN static __device__ __forceinline__
#include "kernels/cuda/math_cuda.h"
#else
#define GM_FN static inline __attribute__((always_inline, unused))
#include "kernels/cpu/math_cpu.h"
#endif

/* A sigmoid is quickest if its argument comes multiplied by GM_SIGMOID_SCALE: a model whose gain is
 * a parameter multiplies the two first, and no step pays for it. */
#ifndef GM_SIGMOID_SCALE
#define GM_SIGMOID_SCALE GM_C(1)
GM_FN gm_real gm_sigmoid_scaled(gm_real x)
{
    return 1 / (1 + gm_exp(-x));
}

/** Two of them for the price of one division; they fall no lower than 2e-19 (fp64: 1e-152). */
GM_FN void gm_sigmoids_scaled(gm_real x, gm_real y, gm_real *sigmoid_x, gm_real *sigmoid_y)
{
    const gm_real most = GM_DOUBLE ? 350 : GM_C(43.3); /* the product below stays finite */
    gm_real a = 1 + gm_exp(-x < most ? -x : x != x ? x : most);
    gm_real b = 1 + gm_exp(-y < most ? -y : y != y ? y : most);
    gm_real inverse = 1 / (a * b);
    *sigmoid_x = inverse * b;
    *sigmoid_y = inverse * a;
}
#endif

GM_FN gm_real gm_sigmoid(gm_real x)
{
    return gm_sigmoid_scaled(GM_SIGMOID_SCALE * x);
}

#endif

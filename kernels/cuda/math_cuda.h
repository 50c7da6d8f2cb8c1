/** Elementary functions on the GPU: CUDA's, by precision. Included by kernels/math.h. */
#ifndef GM_KERNELS_CUDA_MATH_CUDA_H
#define GM_KERNELS_CUDA_MATH_CUDA_H

#ifndef GM_FAST
#define GM_FAST 0 /* the precision "fast"; GM_DOUBLE is 0 with it */
#endif

#if GM_DOUBLE
GM_FN gm_real gm_exp(gm_real x)
{
    return exp(x);
}
GM_FN gm_real gm_log(gm_real x)
{
    return log(x);
}
GM_FN gm_real gm_sqrt(gm_real x)
{
    return sqrt(x);
}
GM_FN gm_real gm_sin(gm_real x)
{
    return sin(x);
}
GM_FN gm_real gm_cos(gm_real x)
{
    return cos(x);
}
GM_FN gm_real gm_tanh(gm_real x)
{
    return tanh(x);
}
GM_FN gm_real gm_floor(gm_real x)
{
    return floor(x);
}
GM_FN void gm_sincos_turn(gm_real turn, gm_real *sine, gm_real *cosine)
{
    sincospi(2 * turn, sine, cosine);
}
#else

/* 2^x to 2 units in the last place, and 1/x to 1; below 2^-126 both give or take 0. */
GM_FN gm_real gm_exp2_unit(gm_real x)
{
    asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
    return x;
}
GM_FN gm_real gm_reciprocal_unit(gm_real x)
{
    asm("rcp.approx.ftz.f32 %0, %0;" : "+f"(x));
    return x;
}

#if GM_FAST

/* The special-function unit as it is: relative errors of 5e-4 (tanh), else absolute ones of some
 * 1e-6. */
GM_FN gm_real gm_tanh(gm_real x)
{
    asm("tanh.approx.f32 %0, %0;" : "+f"(x));
    return x;
}
#define GM_SIGMOID_SCALE GM_C(0.5)
GM_FN gm_real gm_sigmoid_scaled(gm_real half)
{
    return GM_C(0.5) * gm_tanh(half) + GM_C(0.5);
}
GM_FN gm_real gm_exp(gm_real x)
{
    return gm_exp2_unit(GM_C(1.4426950408889634) * x);
}
GM_FN gm_real gm_log(gm_real x)
{
    return __logf(x);
}
GM_FN gm_real gm_sin(gm_real x)
{
    return __sinf(x);
}
GM_FN gm_real gm_cos(gm_real x)
{
    return __cosf(x);
}
GM_FN void gm_sincos_turn(gm_real turn, gm_real *sine, gm_real *cosine)
{
    const gm_real angle = GM_C(6.2831853071795864769) * (turn - GM_C(0.5));
    *sine = -__sinf(angle);
    *cosine = -__cosf(angle);
}

#else

/* Absolute error below 2e-7; the relative one below |x| / 2^24 + 4 units in the last place. */
#define GM_SIGMOID_SCALE GM_C(-1.4426950408889634) /* -log2 e */
GM_FN gm_real gm_sigmoid_scaled(gm_real x)
{
    return gm_reciprocal_unit(1 + gm_exp2_unit(x));
}
GM_FN gm_real gm_exp(gm_real x)
{
    return expf(x);
}
GM_FN gm_real gm_log(gm_real x)
{
    return logf(x);
}
GM_FN gm_real gm_sin(gm_real x)
{
    return sinf(x);
}
GM_FN gm_real gm_cos(gm_real x)
{
    return cosf(x);
}
GM_FN gm_real gm_tanh(gm_real x)
{
    return tanhf(x);
}
GM_FN void gm_sincos_turn(gm_real turn, gm_real *sine, gm_real *cosine)
{
    sincospif(2 * turn, sine, cosine);
}

#endif

GM_FN gm_real gm_sqrt(gm_real x)
{
    return sqrtf(x);
}
GM_FN gm_real gm_floor(gm_real x)
{
    return floorf(x);
}
#endif

#endif

/** Elementary functions on the GPU: CUDA's, by precision. Included by kernels/math.h. */
#ifndef GM_KERNELS_CUDA_MATH_CUDA_H
#define GM_KERNELS_CUDA_MATH_CUDA_H

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
GM_FN gm_real gm_exp(gm_real x)
{
    return expf(x);
}
GM_FN gm_real gm_log(gm_real x)
{
    return logf(x);
}
GM_FN gm_real gm_sqrt(gm_real x)
{
    return sqrtf(x);
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
GM_FN gm_real gm_floor(gm_real x)
{
    return floorf(x);
}
GM_FN void gm_sincos_turn(gm_real turn, gm_real *sine, gm_real *cosine)
{
    sincospif(2 * turn, sine, cosine);
}
#endif

#endif

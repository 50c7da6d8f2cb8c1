/** Elementary functions on the GPU: CUDA's, by precision. Included by kernels/math.h. */
#ifndef GM_KERNELS_CUDA_MATH_CUDA_H
#define GM_KERNELS_CUDA_MATH_CUDA_H

#ifndef GM_FAST
#define GM_FAST 0 /* the precision "fast"; GM_DOUBLE is 0 with it */
#endif

#if GM_DOUBLE

#define GM_SIGMOID_SCALE GM_C(-1)

/* Constants of gm_exp_unit, where an instruction can name them. e^r = 1 + r + r^2 (c0 + c1 r + ..)
 * to 2e-17 for |r| <= ln 2 / 2 (interpolated at Chebyshev nodes); here from c9 down. */
static __constant__ double gm_exp_term[] = {2.5100377619606372e-08, 2.7620078203806394e-07,
                                            2.7557268476553695e-06, 2.4801521317484083e-05,
                                            1.9841269863042963e-04, 1.3888888917199863e-03,
                                            8.3333333333300630e-03, 4.1666666666666240e-02,
                                            1.6666666666666669e-01, 0.5};
static __constant__ double gm_exp_reduce[] = {
    1.4426950408889634074, /* log2 e */
    6755399441055744.0,    /* 1.5 2^52: adding it rounds to a whole number */
    -6.93147180369123816490e-1, -1.90821492927058770002e-10 /* -ln 2, in two parts */};

/* e^x between -700 and 700, to 1 unit in the last place: no branch, so that many go on at once. */
GM_FN double gm_exp_unit(double x)
{
    const double *c = gm_exp_term, *k = gm_exp_reduce;
    const double shifted = fma(x, k[0], k[1]), whole = shifted - k[1];
    const double r = fma(whole, k[3], fma(whole, k[2], x)), square = r * r;
    double odd = c[0], even = c[1];
#pragma unroll
    for (int i = 2; i < 10; i += 2) {
        odd = fma(odd, square, c[i]);
        even = fma(even, square, c[i + 1]);
    }
    const double power = 1 + fma(fma(odd, r, even), square, r);
    return __hiloint2double(__double2hiint(power) + (__double2loint(shifted) << 20),
                            __double2loint(power));
}

/* 1/x for x from 1 to 1e304. */
GM_FN double gm_reciprocal_unit(double x)
{
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x)); /* 20 bits */
    y = fma(y, fma(-x, y, 1.0), y);
    return fma(y, fma(-x, y, 1.0), y);
}

/* From -60 to 350 and not beyond; what is no number stays so. By the upper word alone, on the
 * integer unit: arithmetic in double precision is what a step waits for. */
GM_FN double gm_within_exp(double x)
{
    const unsigned most = 0x4075e000u, least = 0xc04e0000u, no_number = 0x7ff80000u;
    unsigned high = (unsigned)__double2hiint(x);
    high = high - most < no_number - most ? most : high;
    high = high - least < (no_number | 0x80000000u) - least ? least : high;
    return __hiloint2double((int)high, __double2loint(x));
}

GM_FN double gm_one_and_exp(double x)
{
    return 1 + gm_exp_unit(gm_within_exp(x));
}
GM_FN gm_real gm_sigmoid_scaled(gm_real x)
{
    return gm_reciprocal_unit(gm_one_and_exp(x));
}
GM_FN void gm_sigmoids_scaled(gm_real x, gm_real y, gm_real *sigmoid_x, gm_real *sigmoid_y)
{
    const double a = gm_one_and_exp(x), b = gm_one_and_exp(y);
    const double inverse = gm_reciprocal_unit(a * b);
    *sigmoid_x = inverse * b;
    *sigmoid_y = inverse * a;
}
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
GM_FN void gm_sigmoids_scaled(gm_real x, gm_real y, gm_real *sigmoid_x, gm_real *sigmoid_y)
{
    *sigmoid_x = gm_sigmoid_scaled(x);
    *sigmoid_y = gm_sigmoid_scaled(y);
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
#else

/* Absolute error below 2e-7; the relative one below |x| / 2^24 + 4 units in the last place. */
#define GM_SIGMOID_SCALE GM_C(-1.4426950408889634) /* -log2 e */
GM_FN gm_real gm_sigmoid_scaled(gm_real x)
{
    return gm_reciprocal_unit(1 + gm_exp2_unit(x));
}

/* No more than 63; what is no number stays so. */
GM_FN gm_real gm_at_most_63(gm_real x)
{
    asm("min.NaN.ftz.f32 %0, %0, 0f427C0000;" : "+f"(x));
    return x;
}

/* Special functions are what a step waits for: three of them for two sigmoids instead of four. */
GM_FN void gm_sigmoids_scaled(gm_real x, gm_real y, gm_real *sigmoid_x, gm_real *sigmoid_y)
{
    const gm_real a = 1 + gm_exp2_unit(gm_at_most_63(x)), b = 1 + gm_exp2_unit(gm_at_most_63(y));
    const gm_real inverse = gm_reciprocal_unit(a * b);
    *sigmoid_x = inverse * b;
    *sigmoid_y = inverse * a;
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
#endif

/* For noise: by the special-function unit, to 5e-7. */
GM_FN void gm_sincos_turn(gm_real turn, gm_real *sine, gm_real *cosine)
{
    const gm_real angle = GM_C(6.2831853071795864769) * (turn - GM_C(0.5));
    *sine = -__sinf(angle);
    *cosine = -__cosf(angle);
}

#define GM_OWN_NOISE_RADIUS

/* sqrt(-2 ln u) for u from 2^-33 to 1, to 2e-6: -ln u as the mantissa's, a polynomial around 1
 * (where a logarithm of the special-function unit would have no digits left), and the exponent's.
 */
GM_FN gm_real gm_noise_radius(gm_real u)
{
    const int32_t exponent = (__float_as_int(u) - 0x3f3504f3) & (int32_t)0xff800000;
    const float f = __int_as_float(__float_as_int(u) - exponent) - 1; /* -0.29 .. 0.41 */
    float q = -0.170666263f, root;
    q = fmaf(q, f, 0.285385162f);
    q = fmaf(q, f, -0.29954803f);
    q = fmaf(q, f, 0.331559867f);
    q = fmaf(q, f, -0.399118662f);
    q = fmaf(q, f, 0.500027061f);
    q = fmaf(q, f, -0.666683853f);
    q = fmaf(q, f, 0.99999994f);
    q = fmaf(q, f, -2.0f); /* -2 ln(1 + f) = f q, to 6e-8 of itself */
    const float square = fmaf((float)exponent, -1.6525917e-7f, f * q); /* -2 ln 2 / 2^23 */
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(square));
    return root;
}

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

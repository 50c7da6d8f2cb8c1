/** Elementary functions on the CPU, free of branches and calls. Included by kernels/math.h.
 *
 *  Reduction and series are the textbook ones (Cody and Waite 1980): exp by splitting off powers of
 *  two, sin and cos by splitting off quarter turns, log by (m - 1)/(m + 1). Rounding to whole
 *  numbers adds and subtracts 1.5 * 2^(mantissa bits), which leaves the number in the low bits.
 *  A NaN stays a NaN everywhere: it is how a diverged point is noticed. Whole numbers are shifted
 *  without a sign, since those made from a NaN may be anything. */
#ifndef GM_KERNELS_CPU_MATH_CPU_H
#define GM_KERNELS_CPU_MATH_CPU_H

#include <string.h>

#if GM_DOUBLE
typedef int64_t gm_bits;
typedef uint64_t gm_word;
#define GM_MANTISSA_BITS 52
#define GM_EXPONENT_BIAS 1023
#define GM_ROUND_MAGIC   6755399441055744.0
#define GM_EXP_LOW       (-708.0)
#define GM_EXP_HIGH      710.0
#define GM_LEAST_NORMAL  2.2250738585072014e-308
#else
typedef int32_t gm_bits;
typedef uint32_t gm_word;
#define GM_MANTISSA_BITS 23
#define GM_EXPONENT_BIAS 127
#define GM_ROUND_MAGIC   12582912.0f
#define GM_EXP_LOW       (-86.5f)
#define GM_EXP_HIGH      89.0f
#define GM_LEAST_NORMAL  1.17549435e-38f
#endif
#define GM_INFINITY ((gm_real)__builtin_inf())
#define GM_NAN      ((gm_real)__builtin_nan(""))

GM_FN gm_bits gm_bits_of(gm_real x)
{
    gm_bits bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

GM_FN gm_real gm_real_of(gm_bits bits)
{
    gm_real x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2^n for a whole n in the range of normal numbers. */
GM_FN gm_real gm_power_of_two(gm_bits n)
{
    return gm_real_of((gm_bits)((gm_word)(n + GM_EXPONENT_BIAS) << GM_MANTISSA_BITS));
}

/* exp(r) - 1 for |r| <= ln(2)/2. */
GM_FN gm_real gm_expm1_reduced(gm_real r)
{
    gm_real p;
#if GM_DOUBLE
    p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
#else
    p = 1.0f / 5040.0f;
    p = p * r + 1.0f / 720.0f;
#endif
    p = p * r + GM_C(1.0 / 120.0);
    p = p * r + GM_C(1.0 / 24.0);
    p = p * r + GM_C(1.0 / 6.0);
    p = p * r + GM_C(0.5);
    return r + r * r * p;
}

/* Split x into n ln 2 + r; gives n and exp(r) - 1. x must lie in [GM_EXP_LOW, GM_EXP_HIGH]. */
GM_FN gm_real gm_exp_split(gm_real x, gm_bits *n)
{
    gm_real shifted = x * GM_C(1.4426950408889634) + GM_ROUND_MAGIC;
    gm_real whole = shifted - GM_ROUND_MAGIC;
    *n = gm_bits_of(shifted) - gm_bits_of(GM_ROUND_MAGIC);
#if GM_DOUBLE
    gm_real r = x - whole * 6.93147180369123816490e-01;
    r = r - whole * 1.90821492927058770002e-10;
#else
    gm_real r = x - whole * 0.693359375f;
    r = r - whole * -2.12194440e-4f;
#endif
    return gm_expm1_reduced(r);
}

/* 0 below GM_EXP_LOW, just before the numbers stop being normal. */
GM_FN gm_real gm_exp(gm_real x)
{
    gm_bits n;
    gm_real inside = x > GM_EXP_HIGH ? GM_EXP_HIGH : x; /* a NaN stays */
    inside = inside < GM_EXP_LOW ? GM_EXP_LOW : inside;
    gm_real p = gm_exp_split(inside, &n);
    gm_real y = (2 + 2 * p) * gm_power_of_two(n - 1);
    return x < GM_EXP_LOW ? 0 : y;
}

GM_FN gm_real gm_tanh(gm_real x)
{
    gm_bits n;
    gm_real twice = 2 * x;
    twice = twice > 40 ? 40 : twice;
    twice = twice < -40 ? -40 : twice;
    gm_real p = gm_exp_split(twice, &n);
    gm_real scale = gm_power_of_two(n);
    gm_real e = scale * p + (scale - 1); /* exp(2x) - 1 without cancellation near 0 */
    return e / (e + 2);
}

/* sin and cos of an angle |r| <= pi/4. */
GM_FN gm_real gm_sin_reduced(gm_real r)
{
    gm_real q = r * r;
#if GM_DOUBLE
    gm_real p = -1.0 / 1307674368000.0;
    p = p * q + 1.0 / 6227020800.0;
    p = p * q - 1.0 / 39916800.0;
    p = p * q + 1.0 / 362880.0;
    p = p * q - 1.0 / 5040.0;
#else
    gm_real p = 1.0f / 362880.0f;
    p = p * q - 1.0f / 5040.0f;
#endif
    p = p * q + GM_C(1.0 / 120.0);
    p = p * q - GM_C(1.0 / 6.0);
    return r + r * q * p;
}

GM_FN gm_real gm_cos_reduced(gm_real r)
{
    gm_real q = r * r;
#if GM_DOUBLE
    gm_real p = 1.0 / 20922789888000.0;
    p = p * q - 1.0 / 87178291200.0;
    p = p * q + 1.0 / 479001600.0;
    p = p * q - 1.0 / 3628800.0;
    p = p * q + 1.0 / 40320.0;
#else
    gm_real p = 1.0f / 40320.0f;
#endif
    p = p * q - GM_C(1.0 / 720.0);
    p = p * q + GM_C(1.0 / 24.0);
    p = p * q - GM_C(0.5);
    return 1 + q * p;
}

/* Sine of r plus a whole number of quarter turns. */
GM_FN gm_real gm_sin_quarter(gm_real r, gm_bits quarter)
{
    gm_real s = gm_sin_reduced(r);
    gm_real c = gm_cos_reduced(r);
    gm_real y = (quarter & 1) ? c : s;
    return (quarter & 2) ? -y : y;
}

/* Distance of x from the nearest whole number of quarter turns. Single precision reduces in
 * double, so that both are good to the last bits for |x| up to a million; beyond, the error grows
 * to the distance between neighbouring x in double, and at 1e15, where nothing is left of the
 * angle, the answer becomes NaN. */
GM_FN gm_real gm_reduce_quarter(gm_real x, gm_bits *quarter)
{
    const double magic = 6755399441055744.0;
    int64_t bits;
    double shifted = (double)x * 0.63661977236758134308 + magic;
    double whole = shifted - magic;
    double r = (double)x - whole * 1.57079632673412561417e+00;
    r = r - whole * 6.07710050630396597660e-11;
    r = r - whole * 2.02226624871116645580e-21;
    memcpy(&bits, &shifted, sizeof bits);
    *quarter = (gm_bits)(bits & 3); /* the magic number ends in zeros */
    return x * x < GM_C(1e30) ? (gm_real)r : GM_NAN;
}

GM_FN gm_real gm_sin(gm_real x)
{
    gm_bits quarter;
    gm_real r = gm_reduce_quarter(x, &quarter);
    return gm_sin_quarter(r, quarter);
}

GM_FN gm_real gm_cos(gm_real x)
{
    gm_bits quarter;
    gm_real r = gm_reduce_quarter(x, &quarter);
    return gm_sin_quarter(r, quarter + 1);
}

/* Sine and cosine of 2 pi turn, 0 <= turn <= 1. */
GM_FN void gm_sincos_turn(gm_real turn, gm_real *sine, gm_real *cosine)
{
    gm_real shifted = 4 * turn + GM_ROUND_MAGIC;
    gm_bits quarter = gm_bits_of(shifted) - gm_bits_of(GM_ROUND_MAGIC);
    gm_real r = (turn - GM_C(0.25) * (shifted - GM_ROUND_MAGIC)) * GM_C(6.2831853071795864769);
    *sine = gm_sin_quarter(r, quarter);
    *cosine = gm_sin_quarter(r, quarter + 1);
}

/* Numbers below the normal range count as 0, whose logarithm is minus infinity. */
GM_FN gm_real gm_log(gm_real x)
{
    const gm_word one = (gm_word)GM_EXPONENT_BIAS << GM_MANTISSA_BITS;
    const gm_word root_half = (gm_word)gm_bits_of(GM_C(0.70710678118654752440));
    const gm_word magic = (gm_word)gm_bits_of(GM_ROUND_MAGIC);
    gm_word bits = (gm_word)gm_bits_of(x);
    gm_word biased = (bits - root_half + one) >> GM_MANTISSA_BITS;
    gm_real n = gm_real_of((gm_bits)(biased + magic)) - (GM_ROUND_MAGIC + GM_EXPONENT_BIAS);
    gm_real m = gm_real_of((gm_bits)(bits - (biased << GM_MANTISSA_BITS) + one));
    gm_real s = (m - 1) / (m + 1);
    gm_real q = s * s;
#if GM_DOUBLE
    gm_real p = 1.0 / 21.0;
    p = p * q + 1.0 / 19.0;
    p = p * q + 1.0 / 17.0;
    p = p * q + 1.0 / 15.0;
    p = p * q + 1.0 / 13.0;
    p = p * q + 1.0 / 11.0;
#else
    gm_real p = 1.0f / 11.0f;
#endif
    p = p * q + GM_C(1.0 / 9.0);
    p = p * q + GM_C(1.0 / 7.0);
    p = p * q + GM_C(1.0 / 5.0);
    p = p * q + GM_C(1.0 / 3.0);
    gm_real y = 2 * s + 2 * s * q * p;
    y = n * GM_C(0.69314718055994530942) + y;
    y = x < GM_LEAST_NORMAL ? -GM_INFINITY : y;
    y = x < 0 ? GM_NAN : y;
    return x < GM_INFINITY ? y : x; /* infinity and NaN stay */
}

GM_FN gm_real gm_sqrt(gm_real x)
{
#if GM_DOUBLE
    return __builtin_sqrt(x);
#else
    return __builtin_sqrtf(x);
#endif
}

GM_FN gm_real gm_floor(gm_real x)
{
#if GM_DOUBLE
    return __builtin_floor(x);
#else
    return __builtin_floorf(x);
#endif
}

#endif

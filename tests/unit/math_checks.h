/** Accuracy and edge cases of kernels/math.h on the CPU, against long double libm.
 *
 *  The including file sets GM_DOUBLE, and GM_TEST_FMA to compile the functions as the kernels of
 *  recent processors are: with fused multiply-add, which rounds in other places. A bound is in ulp,
 *  the distance between neighbouring numbers at the exact result, a little above the largest error
 *  that was ever seen. */
#ifndef GM_TESTS_MATH_CHECKS_H
#define GM_TESTS_MATH_CHECKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#if GM_TEST_FMA && defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v3")
#pragma GCC optimize("fp-contract=fast")
#endif

#include "kernels/math.h"

/* The functions themselves are always inlined: these are what is called. */
static gm_real call_exp(gm_real x)
{
    return gm_exp(x);
}
static gm_real call_sigmoid(gm_real x)
{
    return gm_sigmoid(x);
}
static gm_real call_first_of_two(gm_real x)
{
    gm_real first, second;
    gm_sigmoids_scaled(GM_SIGMOID_SCALE * x, GM_SIGMOID_SCALE * (1 - x), &first, &second);
    return first;
}
static gm_real call_tanh(gm_real x)
{
    return gm_tanh(x);
}
static gm_real call_sin(gm_real x)
{
    return gm_sin(x);
}
static gm_real call_cos(gm_real x)
{
    return gm_cos(x);
}
static gm_real call_log(gm_real x)
{
    return gm_log(x);
}
static gm_real call_sqrt(gm_real x)
{
    return gm_sqrt(x);
}
static gm_real call_floor(gm_real x)
{
    return gm_floor(x);
}
static gm_real call_sine_of_turn(gm_real turn)
{
    gm_real sine, cosine;
    gm_sincos_turn(turn, &sine, &cosine);
    return sine;
}
static gm_real call_cosine_of_turn(gm_real turn)
{
    gm_real sine, cosine;
    gm_sincos_turn(turn, &sine, &cosine);
    return cosine;
}

#if GM_TEST_FMA && defined(__x86_64__)
#pragma GCC pop_options
#endif

#if GM_DOUBLE
enum { DIGITS = DBL_MANT_DIG, LEAST_EXPONENT = DBL_MIN_EXP - 1 };
#define BOUND(fp32, fp64) fp64
#define LARGEST           DBL_MAX
#else
enum { DIGITS = FLT_MANT_DIG, LEAST_EXPONENT = FLT_MIN_EXP - 1 };
#define BOUND(fp32, fp64) fp32
#define LARGEST           FLT_MAX
#endif

typedef gm_real (*real_function)(gm_real);

/* --- what is right ------------------------------------------------------------------------------
 */

static long double exact_sigmoid(long double x)
{
    return 1 / (1 + expl(-x));
}

/* Sine of 2 pi turn, plus quarter turns; the angle left is exact. */
static long double exact_turn(long double turn, long quarter)
{
    long whole = lrintl(4 * turn);
    long double angle = 6.283185307179586476925286766559L * (turn - (long double)whole / 4);
    long double y = (whole + quarter) & 1 ? cosl(angle) : sinl(angle);
    return (whole + quarter) & 2 ? -y : y;
}

static long double exact_sine_of_turn(long double turn)
{
    return exact_turn(turn, 0);
}

static long double exact_cosine_of_turn(long double turn)
{
    return exact_turn(turn, 1);
}

/* --- accuracy -----------------------------------------------------------------------------------
 */

typedef enum { EVEN, BY_RATIO, BOTH_SIGNS } spread; /* the last two: evenly in the logarithm */

typedef struct accuracy {
    const char *name;
    real_function function;
    long double (*exact)(long double);
    double low, high;
    spread spread;
    double bound; /* ulp */
} accuracy;

static const accuracy accuracies[] = {
    {"exp", call_exp, expl, BOUND(-86.5, -708), BOUND(88.72, 709.78), EVEN, BOUND(1.1, 1.1)},
    {"exp", call_exp, expl, -1, 1, EVEN, BOUND(1.0, 1.0)},
    {"exp", call_exp, expl, 1e-12, 1, BOTH_SIGNS, BOUND(1.0, 1.0)},
    {"sigmoid", call_sigmoid, exact_sigmoid, BOUND(-86, -700), BOUND(86, 700), EVEN, 2.7},
    {"sigmoid", call_sigmoid, exact_sigmoid, -3, 3, EVEN, 2.2},
    {"sigmoids", call_first_of_two, exact_sigmoid, BOUND(-42, -340), BOUND(42, 340), EVEN, 4.5},
    {"tanh", call_tanh, tanhl, -30, 30, EVEN, 2.7},
    {"tanh", call_tanh, tanhl, 1e-30, 1, BOTH_SIGNS, 2.7},
    {"sin", call_sin, sinl, -100, 100, EVEN, BOUND(1.9, 1.6)},
    {"sin", call_sin, sinl, 1e-30, 4, BOTH_SIGNS, BOUND(1.9, 1.6)},
    {"sin", call_sin, sinl, -1e6, 1e6, EVEN, BOUND(1.9, 3.0)},
    {"cos", call_cos, cosl, -100, 100, EVEN, BOUND(1.9, 1.6)},
    {"cos", call_cos, cosl, -1e6, 1e6, EVEN, BOUND(1.9, 3.0)},
    {"log", call_log, logl, BOUND(1.2e-38, 2.3e-308), BOUND(3e38, 1e308), BY_RATIO, 2.1},
    {"log", call_log, logl, 0.5, 2, EVEN, 2.1},
    {"log", call_log, logl, 0.999, 1.001, EVEN, 2.1},
    {"sqrt", call_sqrt, sqrtl, BOUND(1.2e-38, 2.3e-308), BOUND(3e38, 1e308), BY_RATIO, 0.5001},
    {"floor", call_floor, floorl, -1000, 1000, EVEN, 0},
    {"floor", call_floor, floorl, 1e-9, 1e12, BOTH_SIGNS, 0},
    {"sine of turn", call_sine_of_turn, exact_sine_of_turn, 0, 1, EVEN, 2.1},
    {"sine of turn", call_sine_of_turn, exact_sine_of_turn, 1e-10, 1, BY_RATIO, 2.1},
    {"cosine of turn", call_cosine_of_turn, exact_cosine_of_turn, 0, 1, EVEN, 2.1},
};

/* A fixed sequence in [0, 1) (splitmix64). */
static double next_uniform(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static gm_real argument(const accuracy *a, double u, bool negative)
{
    if (a->spread == EVEN) return (gm_real)(a->low + (a->high - a->low) * u);
    double x = exp(log(a->low) + (log(a->high) - log(a->low)) * u);
    return (gm_real)(negative && a->spread == BOTH_SIGNS ? -x : x);
}

static double error_in_ulp(gm_real got, long double exact)
{
    int exponent = exact == 0 ? LEAST_EXPONENT : ilogbl(exact);
    if (exponent < LEAST_EXPONENT) exponent = LEAST_EXPONENT;
    return (double)(fabsl((long double)got - exact) / ldexpl(1, exponent + 1 - DIGITS));
}

static void errors_stay_below_their_bounds(void **test_state)
{
    enum { N_DENSE = 100000, N_RANDOM = 100000 };
    (void)test_state;
    for (size_t i = 0; i < sizeof accuracies / sizeof *accuracies; i++) {
        const accuracy *a = &accuracies[i];
        uint64_t random = i;
        double worst = 0;
        gm_real worst_at = 0;
        for (int k = 0; k < N_DENSE + N_RANDOM; k++) {
            double u = k < N_DENSE ? (double)k / (N_DENSE - 1) : next_uniform(&random);
            gm_real x = argument(a, u, k % 2);
            double error = error_in_ulp(a->function(x), a->exact((long double)x));
            if (error <= worst) continue; /* a NaN is not */
            worst = error;
            worst_at = x;
        }
        if (!(worst <= a->bound))
            fail_msg("%s on [%g, %g]: off by %.3f ulp at %.17g, bound %.3f", a->name, a->low,
                     a->high, worst, (double)worst_at, a->bound);
    }
}

/* Above a million an angle is known no better than its own last bit in double. */
static void sines_of_huge_angles_are_off_by_the_last_bit_of_the_angle(void **test_state)
{
    (void)test_state;
    uint64_t random = 77;
    for (int k = 0; k < 200000; k++) {
        gm_real x = (gm_real)exp(log(1e6) + log(1e4) * next_uniform(&random));
        double bound = 4 * (double)ldexp(1, -DIGITS) + (double)x * 0x1p-52;
        assert_true(fabsl((long double)call_sin(x) - sinl((long double)x)) <= (long double)bound);
        assert_true(fabsl((long double)call_cos(-x) - cosl((long double)x)) <= (long double)bound);
    }
}

static void sines_never_leave_one_to_minus_one(void **test_state)
{
    (void)test_state;
    uint64_t random = 78;
    for (int k = 0; k < 200000; k++) {
        gm_real x = (gm_real)exp(log(1e6) + log(1e30) * next_uniform(&random));
        gm_real y = call_sin(x);
        gm_real z = call_cos(-x);
        assert_true(isnan(y) || (y >= -1 && y <= 1));
        assert_true(isnan(z) || (z >= -1 && z <= 1));
        if (x > GM_C(1.001e15)) assert_true(isnan(y) && isnan(z));
    }
}

/* --- edges --------------------------------------------------------------------------------------
 */

static const real_function functions[] = {
    call_exp, call_sigmoid, call_first_of_two, call_tanh,         call_sin,           call_cos,
    call_log, call_sqrt,    call_floor,        call_sine_of_turn, call_cosine_of_turn};

static void nan_stays_nan(void **test_state)
{
    (void)test_state;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        assert_true(isnan(functions[i]((gm_real)NAN)));
        assert_true(isnan(functions[i](-(gm_real)NAN)));
    }
}

static void exp_overflows_to_infinity_and_no_sooner(void **test_state)
{
    (void)test_state;
    const gm_real last = (gm_real)BOUND(88.722831, 709.78271289338397);
    assert_true(isfinite(call_exp(last)));
    assert_true(error_in_ulp(call_exp(last), expl((long double)last)) < 1.1);
    assert_true(isinf(call_exp((gm_real)BOUND(88.722846, 709.78271289338409))));
    const gm_real beyond[] = {90, 1000, LARGEST, (gm_real)INFINITY};
    for (int i = GM_DOUBLE; i < 4; i++) assert_true(call_exp(beyond[i]) == (gm_real)INFINITY);
    assert_true(fabsl((long double)call_exp((gm_real)88.7) / expl((gm_real)88.7L) - 1) < 1e-7L);
}

/* The flush comes a little before the end of the normal range. */
static void exp_underflows_to_zero(void **test_state)
{
    (void)test_state;
    const gm_real last = (gm_real)BOUND(-86.5, -708);
    assert_true(call_exp(last) > 0);
    assert_true(call_exp(last) < 4 * (gm_real)BOUND(FLT_MIN, DBL_MIN));
    const gm_real beyond[] = {last - 1, last - 20, -1000, -LARGEST, -(gm_real)INFINITY};
    for (int i = 0; i < 5; i++) assert_true(call_exp(beyond[i]) == 0);
}

static void zeros_give_exact_values(void **test_state)
{
    (void)test_state;
    for (int sign = -1; sign <= 1; sign += 2) {
        gm_real zero = (gm_real)copysign(0, sign);
        assert_true(call_exp(zero) == 1);
        assert_true(call_sigmoid(zero) == GM_C(0.5));
        assert_true(call_tanh(zero) == 0);
        assert_true(call_sin(zero) == 0);
        assert_true(call_cos(zero) == 1);
        assert_true(call_sqrt(zero) == 0);
        assert_true(call_floor(zero) == 0);
        assert_true(call_log(zero) == -(gm_real)INFINITY);
    }
}

static void infinities_give_limits(void **test_state)
{
    (void)test_state;
    const gm_real inf = (gm_real)INFINITY;
    assert_true(call_sigmoid(inf) == 1 && call_sigmoid(-inf) == 0);
    assert_true(call_sigmoid(LARGEST) == 1 && call_sigmoid(-LARGEST) == 0);
    assert_true(call_tanh(inf) == 1 && call_tanh(-inf) == -1);
    assert_true(call_tanh(LARGEST) == 1 && call_tanh(-LARGEST) == -1);
    assert_true(isnan(call_sin(inf)) && isnan(call_sin(-inf)));
    assert_true(isnan(call_cos(inf)) && isnan(call_cos(-inf)));
    assert_true(call_log(inf) == inf && isnan(call_log(-inf)));
    assert_true(call_sqrt(inf) == inf);
}

static void logarithms_and_roots_of_what_has_none_are_nan(void **test_state)
{
    (void)test_state;
    const gm_real least = (gm_real)BOUND(FLT_MIN, DBL_MIN);
    assert_true(isnan(call_log(-1)) && isnan(call_log(-LARGEST)) && isnan(call_log(-least)));
    assert_true(isnan(call_sqrt(-1)));
    assert_true(call_log(1) == 0);
    assert_true(isfinite(call_log(least)));
    assert_true(call_log(least / 4) == -(gm_real)INFINITY);
}

static void quarter_turns_are_exact(void **test_state)
{
    (void)test_state;
    const gm_real sine[] = {0, 1, 0, -1, 0};
    for (int q = 0; q <= 4; q++) {
        assert_true(call_sine_of_turn(GM_C(0.25) * (gm_real)q) == sine[q]);
        assert_true(call_cosine_of_turn(GM_C(0.25) * (gm_real)q) == (q % 2 ? 0 : q == 2 ? -1 : 1));
    }
}

static void tanh_stays_within_one(void **test_state)
{
    (void)test_state;
    for (int k = -40000; k <= 40000; k++) {
        gm_real y = call_tanh((gm_real)k / 1000);
        assert_true(y >= -1 && y <= 1);
        gm_real s = call_sigmoid((gm_real)k / 100);
        assert_true(s >= 0 && s <= 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_stay_below_their_bounds),
        cmocka_unit_test(sines_of_huge_angles_are_off_by_the_last_bit_of_the_angle),
        cmocka_unit_test(sines_never_leave_one_to_minus_one),
        cmocka_unit_test(nan_stays_nan),
        cmocka_unit_test(exp_overflows_to_infinity_and_no_sooner),
        cmocka_unit_test(exp_underflows_to_zero),
        cmocka_unit_test(zeros_give_exact_values),
        cmocka_unit_test(infinities_give_limits),
        cmocka_unit_test(logarithms_and_roots_of_what_has_none_are_nan),
        cmocka_unit_test(quarter_turns_are_exact),
        cmocka_unit_test(tanh_stays_within_one),
    };
#if GM_TEST_FMA && defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
        print_message("skipped: this processor has no fused multiply-add\n");
        return 0;
    }
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif

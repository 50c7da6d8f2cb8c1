/** Running statistics against two passes in long double, and angles wrapped for recording. The
 *  including file sets GM_DOUBLE. */
#ifndef GM_TESTS_STATISTICS_CHECKS_H
#define GM_TESTS_STATISTICS_CHECKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/observables/statistics.h"

#define EPSILON ((long double)(GM_DOUBLE ? DBL_EPSILON : FLT_EPSILON))

static const gm_real turn = GM_C(6.2831853071795864769);

typedef struct two_pass {
    long double mean, variance, low, high;
} two_pass;

/* Distances from the first number are exact in long double where the numbers are close. */
static two_pass pass_twice(const gm_real *x, int n)
{
    const long double first = (long double)x[0];
    two_pass r = {0, 0, first, first};
    long double mean = 0;
    for (int i = 0; i < n; i++) {
        mean += ((long double)x[i] - first) / n;
        r.low = fminl(r.low, (long double)x[i]);
        r.high = fmaxl(r.high, (long double)x[i]);
    }
    for (int i = 0; i < n; i++) {
        long double distance = (long double)x[i] - first - mean;
        r.variance += distance * distance / n;
    }
    r.mean = first + mean;
    return r;
}

/* Mean right to the last bit, variance to a few, whatever the mean. */
static void assert_statistics_of(const gm_real *x, int n)
{
    gm_statistic a;
    gm_statistic_start(&a, x[0]);
    for (int i = 1; i < n; i++) gm_statistic_add(&a, x[i]);
    two_pass r = pass_twice(x, n);
    long double mean = (long double)gm_statistic_mean(&a, n);
    long double variance = (long double)gm_statistic_variance(&a, n);
    long double sums = GM_DOUBLE ? 1e-11L : 4 * EPSILON; /* of a million terms in double */
    assert_true(fabsl(mean - r.mean) <= EPSILON * fabsl(r.mean) + sums * sqrtl(r.variance));
    assert_true(fabsl(variance - r.variance) <= sums * r.variance);
    assert_true((long double)a.low == r.low && (long double)a.high == r.high);
}

static gm_real *new_numbers(int n)
{
    gm_real *x = malloc((size_t)n * sizeof *x);
    assert_non_null(x);
    return x;
}

static gm_real pseudo_random(int i)
{
    return GM_C(((double)((uint32_t)i * 2654435761u) / 4294967296.0));
}

static void a_million_numbers_lose_nothing(void **state)
{
    (void)state;
    enum { N = 1000000 };
    gm_real *x = new_numbers(N);
    for (int i = 0; i < N; i++) x[i] = pseudo_random(i);
    assert_statistics_of(x, N);
    for (int i = 0; i < N; i++) x[i] = GM_C(0.3) + GM_C(0.1) * gm_sin(GM_C(0.01) * (gm_real)i);
    assert_statistics_of(x, N);
    free(x);
}

/* The numbers differ only in their last few bits. */
static void a_small_variance_survives_a_large_mean(void **state)
{
    (void)state;
    enum { N = 100000 };
    const gm_real mean = GM_DOUBLE ? GM_C(1e9) : GM_C(1000);
    gm_real *x = new_numbers(N);
    for (int i = 0; i < N; i++)
        x[i] = mean + (GM_DOUBLE ? GM_C(1e-5) : GM_C(1e-3)) * pseudo_random(i);
    assert_statistics_of(x, N);
    free(x);
}

static void numbers_of_both_signs_and_a_first_one_far_off(void **state)
{
    (void)state;
    enum { N = 10000 };
    gm_real *x = new_numbers(N);
    for (int i = 0; i < N; i++) x[i] = pseudo_random(i) - GM_C(0.5);
    assert_statistics_of(x, N);
    x[0] = -20;
    assert_statistics_of(x, N);
    free(x);
}

static void one_number_and_equal_numbers_have_no_variance(void **state)
{
    (void)state;
    gm_statistic a;
    gm_statistic_start(&a, GM_C(0.1));
    assert_true(gm_statistic_mean(&a, 1) == GM_C(0.1));
    assert_true(gm_statistic_variance(&a, 1) == 0);
    for (int i = 1; i < 1000; i++) gm_statistic_add(&a, GM_C(0.1));
    assert_true(gm_statistic_mean(&a, 1000) == GM_C(0.1));
    assert_true(gm_statistic_variance(&a, 1000) == 0);
    assert_true(a.low == GM_C(0.1) && a.high == GM_C(0.1));
}

static void variance_is_never_negative(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        gm_statistic a;
        gm_real x = 1 + pseudo_random(i);
        gm_statistic_start(&a, -x);
        for (int k = 1; k < 7; k++) gm_statistic_add(&a, x / 3);
        assert_true(gm_statistic_variance(&a, 7) >= 0);
        gm_statistic b = {-0.3 * (double)x, 0.03 * (double)(x * x) / 3, x, x, x};
        assert_true(gm_statistic_variance(&b, 1) >= 0);
    }
}

static void a_nan_shows_in_mean_and_variance(void **state)
{
    (void)state;
    gm_statistic a;
    gm_statistic_start(&a, 1);
    gm_statistic_add(&a, (gm_real)NAN);
    gm_statistic_add(&a, 2);
    assert_true(isnan(gm_statistic_mean(&a, 3)));
    assert_true(isnan(gm_statistic_variance(&a, 3)));
}

/* --- angles -------------------------------------------------------------------------------------
 */

static void a_nan_is_left_out_of_min_and_max_unless_it_is_the_first(void **state)
{
    (void)state;
    gm_statistic later, first;
    gm_statistic_start(&later, 3);
    gm_statistic_start(&first, (gm_real)NAN);
    for (int i = 0; i < 3; i++) {
        const gm_real x = (gm_real[]){(gm_real)NAN, 1, 5}[i];
        gm_statistic_add(&later, x);
        gm_statistic_add(&first, x);
    }
    assert_true(later.low == 1 && later.high == 5);
    assert_true(isnan(first.low) && isnan(first.high));
}

static void angles_land_in_one_turn(void **state)
{
    (void)state;
    static const double size[] = {
        0,      1e-300, 1e-40,  1e-20, 1e-7, 1e-3,   0.5, 3.14159265358979,
        6.2831, 6.2832, 12.566, 1e2,   1e4,  123456, 1e7, 1e8,
        3e8,    1e9,    1e12,   1e16,  1e20, 1e30,   3e38};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            gm_real y = gm_wrap_phase((gm_real)(sign * size[i]));
            if (!(y >= 0 && y < turn)) fail_msg("%g wraps to %g", sign * size[i], (double)y);
        }
    }
    for (int k = -100000; k <= 100000; k++) {
        gm_real y = gm_wrap_phase(turn * (gm_real)k);
        assert_true(y >= 0 && y < turn);
        y = gm_wrap_phase(GM_C(0.37) * (gm_real)k);
        assert_true(y >= 0 && y < turn);
    }
}

static void angles_keep_their_sine_and_cosine(void **state)
{
    (void)state;
    for (int k = -100000; k <= 100000; k++) {
        gm_real x = GM_C(0.0137) * (gm_real)k;
        long double y = (long double)gm_wrap_phase(x);
        long double bound = 4 * EPSILON * (1 + fabsl((long double)x));
        assert_true(fabsl(sinl(y) - sinl((long double)x)) <= bound);
        assert_true(fabsl(cosl(y) - cosl((long double)x)) <= bound);
    }
}

static void angles_in_the_turn_stay_as_they_are(void **state)
{
    (void)state;
    for (int k = 0; k < 62800; k++) {
        gm_real x = GM_C(1e-4) * (gm_real)k;
        assert_true(gm_wrap_phase(x) == x);
    }
    assert_true(gm_wrap_phase(GM_C(1e-30)) == GM_C(1e-30));
    assert_true(gm_wrap_phase(turn) == 0);
}

static void angles_that_are_not_finite_become_nan(void **state)
{
    (void)state;
    assert_true(isnan(gm_wrap_phase((gm_real)NAN)));
    assert_true(isnan(gm_wrap_phase((gm_real)INFINITY)));
    assert_true(isnan(gm_wrap_phase(-(gm_real)INFINITY)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_numbers_lose_nothing),
        cmocka_unit_test(a_small_variance_survives_a_large_mean),
        cmocka_unit_test(numbers_of_both_signs_and_a_first_one_far_off),
        cmocka_unit_test(one_number_and_equal_numbers_have_no_variance),
        cmocka_unit_test(variance_is_never_negative),
        cmocka_unit_test(a_nan_shows_in_mean_and_variance),
        cmocka_unit_test(a_nan_is_left_out_of_min_and_max_unless_it_is_the_first),
        cmocka_unit_test(angles_land_in_one_turn),
        cmocka_unit_test(angles_keep_their_sine_and_cosine),
        cmocka_unit_test(angles_in_the_turn_stay_as_they_are),
        cmocka_unit_test(angles_that_are_not_finite_become_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif

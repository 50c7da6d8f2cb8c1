/** Connection matrices: what gm_network_prepare does and refuses, and the spectral radius. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "small_sweep.h"

static char weights_path[] = "w.csv";

static gm_network_spec as_is(void)
{
    return (gm_network_spec){
        .kind = GM_NETWORK_MATRIX, .weights = {weights_path, 7, 12}, .keep_self = true};
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g to %g", value, expected, tolerance);
}

/* Runs prepare and hands back the problems, to be destroyed by the caller. */
static gm_problems *prepare(const gm_network_spec *spec, int64_t n, double *weight)
{
    gm_problems *problems = NULL;
    assert_int_equal(gm_problems_create(&problems), GM_OK);
    gm_network_prepare(spec, n, weight, "sweep.yaml", problems);
    return problems;
}

static void assert_prepared(const gm_network_spec *spec, int64_t n, double *weight,
                            const double *expected)
{
    gm_problems *problems = prepare(spec, n, weight);
    if (gm_problems_count(problems) > 0) fail_msg("%s", gm_problems_text(problems, 0));
    gm_problems_destroy(&problems);
    for (int64_t i = 0; i < n * n; i++) assert_near(weight[i], expected[i], 1e-14);
}

static void assert_refused(const gm_network_spec *spec, int64_t n, double *weight, const char *part)
{
    gm_problems *problems = prepare(spec, n, weight);
    assert_int_equal(gm_problems_count(problems), 1);
    if (!has_problem(problems, part)) fail_msg("%s", gm_problems_text(problems, 0));
    assert_true(has_problem(problems, "sweep.yaml:7:12: weights 'w.csv'"));
    gm_problems_destroy(&problems);
}

static void nothing_asked_for_changes_nothing(void **state)
{
    (void)state;
    gm_network_spec spec = as_is();
    double w[] = {1, -2, 3, 4};
    const double same[] = {1, -2, 3, 4};
    assert_prepared(&spec, 2, w, same);
}

static void self_connections_are_removed(void **state)
{
    (void)state;
    gm_network_spec spec = as_is();
    spec.keep_self = false;
    double w[] = {1, 2, 3, 4};
    const double expected[] = {0, 2, 3, 0};
    assert_prepared(&spec, 2, w, expected);
}

static void rows_that_are_sources_are_transposed(void **state)
{
    (void)state;
    gm_network_spec spec = as_is();
    spec.rows_are_source = true;
    double w[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const double expected[] = {1, 4, 7, 2, 5, 8, 3, 6, 9};
    assert_prepared(&spec, 3, w, expected);
}

static void averaging_makes_symmetric(void **state)
{
    (void)state;
    gm_network_spec spec = as_is();
    spec.symmetry = GM_SYMMETRIC_AVERAGED;
    double w[] = {1, 2, 4, 5};
    const double expected[] = {1, 3, 3, 5};
    assert_prepared(&spec, 2, w, expected);
}

static void the_maximum_is_taken_after_the_diagonal_is_gone(void **state)
{
    (void)state;
    gm_network_spec spec = as_is();
    spec.keep_self = false;
    spec.normalisation = GM_NORM_MAXIMUM;
    double w[] = {100, 2, -4, 100};
    const double expected[] = {0, 0.5, -1, 0};
    assert_prepared(&spec, 2, w, expected);
}

static void each_row_is_divided_by_its_sum_after_transposition(void **state)
{
    (void)state;
    gm_network_spec spec = as_is();
    spec.rows_are_source = true;
    spec.normalisation = GM_NORM_ROW;
    double w[] = {1, 2, 3, 6};
    const double expected[] = {0.25, 0.75, 0.25, 0.75};
    assert_prepared(&spec, 2, w, expected);
}

static void the_spectral_radius_becomes_one(void **state)
{
    (void)state;
    gm_network_spec spec = as_is();
    spec.normalisation = GM_NORM_SPECTRAL;
    double w[] = {0, 4, 9, 0};
    const double expected[] = {0, 4.0 / 6, 9.0 / 6, 0};
    assert_prepared(&spec, 2, w, expected);
}

static void entry_that_is_not_finite_is_named_with_the_count(void **state)
{
    (void)state;
    gm_network_spec spec = as_is();
    spec.rows_are_source = true; /* the place is the file's */
    double w[] = {0, 1, 2, 3, 4, NAN, 6, -INFINITY, 8};
    assert_refused(&spec, 3, w, "row 2, column 3 is nan; 2 of 9 entries");
}

static void missing_symmetry_is_named(void **state)
{
    (void)state;
    gm_network_spec spec = as_is();
    spec.symmetry = GM_SYMMETRIC_REQUIRED;
    double w[] = {0, 1, 2, 1, 0, 3, 2, 3.5, 0};
    assert_refused(&spec, 3, w, "row 3, column 2 is 3.5, but row 2, column 3 is 3; 1 of 3 pairs");
}

static void symmetry_up_to_single_precision_passes(void **state)
{
    (void)state;
    gm_network_spec spec = as_is();
    spec.symmetry = GM_SYMMETRIC_REQUIRED;
    double w[] = {0, 1, 1.0000001, 0};
    const double same[] = {0, 1, 1.0000001, 0};
    assert_prepared(&spec, 2, w, same);
}

static void norm_of_zero_is_refused(void **state)
{
    (void)state;
    gm_network_spec spec = as_is();
    double zero[] = {0, 0, 0, 0};
    double upper[] = {0, 1, 0, 0};
    double alone[] = {0, 1, 0, 0};
    spec.normalisation = GM_NORM_MAXIMUM;
    assert_refused(&spec, 2, zero, "largest modulus is 0");
    spec.normalisation = GM_NORM_SPECTRAL;
    assert_refused(&spec, 2, upper, "spectral radius is 0");
    spec.normalisation = GM_NORM_ROW;
    assert_refused(&spec, 2, alone, "node 2 (counted from 1) sums to 0; so it is for 1 of 2");
}

static double radius_of(int64_t n, const double *matrix)
{
    double radius = -1;
    assert_int_equal(gm_spectral_radius(n, matrix, &radius), GM_OK);
    return radius;
}

static void rotation_has_radius_one(void **state)
{
    (void)state;
    for (int k = 1; k < 20; k++) {
        double a = 0.317 * k;
        const double r[] = {cos(a), -sin(a), sin(a), cos(a)};
        assert_near(radius_of(2, r), 1, 1e-10);
    }
}

static void nilpotent_has_radius_zero(void **state)
{
    (void)state;
    double w[36] = {0};
    for (int i = 0; i < 6; i++)
        for (int j = i + 1; j < 6; j++) w[i * 6 + j] = 1 + i + j;
    assert_near(radius_of(6, w), 0, 0);
    const double zero[] = {0};
    assert_near(radius_of(1, zero), 0, 0);
}

static void known_small_cases(void **state)
{
    (void)state;
    const double negative[] = {-3};
    const double swap[] = {0, 1, 1, 0};
    const double symmetric[] = {2, 1, 1, 2};
    const double jordan[] = {0.5, 1, 0, 0, 0.5, 1, 0, 0, 0.5};
    const double skewed[] = {1, 1e6, 0, 0.5};
    const double tiny[] = {3e-200, 0, 0, 1e-200};
    const double huge[] = {3e200, 1e200, 0, 1e200};
    assert_near(radius_of(1, negative), 3, 3e-10);
    assert_near(radius_of(2, swap), 1, 1e-10);
    assert_near(radius_of(2, symmetric), 3, 3e-10);
    assert_near(radius_of(3, jordan), 0.5, 0.5e-10);
    assert_near(radius_of(2, skewed), 1, 1e-10);
    assert_near(radius_of(2, tiny) / 3e-200, 1, 1e-10);
    assert_near(radius_of(2, huge) / 3e200, 1, 1e-10);
}

static double uniform(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*seed >> 11) / 9007199254740992.0 - 0.5;
}

/* a = p d p^-1 with p a product of elementary shears, d diagonal or with one rotation block. */
static void random_similar(int64_t n, double *a, uint64_t seed)
{
    for (int step = 0; step < 4 * n; step++) {
        int64_t i = (int64_t)((uniform(&seed) + 0.5) * (double)n);
        int64_t j = (i + 1 + (int64_t)((uniform(&seed) + 0.5) * (double)(n - 1))) % n;
        double f = uniform(&seed);
        for (int64_t k = 0; k < n; k++) a[i * n + k] += f * a[j * n + k];
        for (int64_t k = 0; k < n; k++) a[k * n + j] -= f * a[k * n + i];
    }
}

static void random_matrices_of_known_eigenvalues(void **state)
{
    (void)state;
    enum { N = 9 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        double real[N * N] = {0};
        double complex_pair[N * N] = {0};
        double equal_and_opposite[N * N] = {0};
        for (int64_t i = 0; i < N; i++)
            real[i * N + i] = complex_pair[i * N + i] = equal_and_opposite[i * N + i] =
                0.1 * (double)i;
        real[0] = -0.81; /* close to 0.8 */
        complex_pair[0] = complex_pair[N + 1] = 0.6;
        complex_pair[1] = -0.8 * 1.5, complex_pair[N] = 0.8 / 1.5; /* 0.6 +- 0.8 i */
        equal_and_opposite[0] = -0.8;
        random_similar(N, real, seed);
        random_similar(N, complex_pair, seed);
        random_similar(N, equal_and_opposite, seed);
        assert_near(radius_of(N, real), 0.81, 1e-10);
        assert_near(radius_of(N, complex_pair), 1, 1e-10);
        assert_near(radius_of(N, equal_and_opposite), 0.8, 1e-10);
    }
}

static void directed_cycle_of_any_length(void **state)
{
    (void)state;
    for (int64_t n = 2; n <= 40; n++) {
        double *w = calloc((size_t)(n * n), sizeof *w);
        assert_non_null(w);
        for (int64_t i = 0; i < n; i++) w[i * n + (i + 1) % n] = i == 0 ? 3 : 1;
        assert_near(radius_of(n, w), pow(3, 1 / (double)n), 1e-10);
        free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_asked_for_changes_nothing),
        cmocka_unit_test(self_connections_are_removed),
        cmocka_unit_test(rows_that_are_sources_are_transposed),
        cmocka_unit_test(averaging_makes_symmetric),
        cmocka_unit_test(the_maximum_is_taken_after_the_diagonal_is_gone),
        cmocka_unit_test(each_row_is_divided_by_its_sum_after_transposition),
        cmocka_unit_test(the_spectral_radius_becomes_one),
        cmocka_unit_test(entry_that_is_not_finite_is_named_with_the_count),
        cmocka_unit_test(missing_symmetry_is_named),
        cmocka_unit_test(symmetry_up_to_single_precision_passes),
        cmocka_unit_test(norm_of_zero_is_refused),
        cmocka_unit_test(rotation_has_radius_one),
        cmocka_unit_test(nilpotent_has_radius_zero),
        cmocka_unit_test(known_small_cases),
        cmocka_unit_test(random_matrices_of_known_eigenvalues),
        cmocka_unit_test(directed_cycle_of_any_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

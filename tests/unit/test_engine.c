/** The CPU engine: published numbers, the same bits for any cut of the work, what is recorded when,
 *  and points that diverge. */
#include <math.h>

#include "engine_fixture.h"
#include "kernels/cpu/task.h"

/* --- published numbers --------------------------------------------------------------------------
 */

/* Runge-Kutta with h = 1e-3 in exact arithmetic; sigma 10, beta 2.666, from (1, 0, 0) to t = 1. */
static void lorenz63_is_right_to_nine_digits(void **state)
{
    (void)state;
    static const double exact[2][3] = {
        {-6.4495699834436577, -8.8925906723813162, 14.651992900314946}, /* rho 21 */
        {4.5399929800634759e-5, 0, 0},                                  /* rho 0 */
    };
    trial t = trial_create("model: lorenz63\nintegrator: rk4\nprecision: fp64\n"
                           "time: {dt: 1e-3, duration: 1}\nrecord: {last: all}\n"
                           "axes: {rho: [21, 0]}\nparameters: {sigma: 10, beta: 2.666}\n"
                           "initial: {x: 1, y: 0, z: 0}\n",
                           1);
    outcome o = march(&t, 0, 0, 1);
    assert_int_equal(t.sweep->n_step, 1000);
    for (int p = 0; p < 2; p++)
        for (int s = 0; s < 3; s++)
            assert_true(fabs(o.statistic[GM_LAST][s][p] - exact[p][s]) <= 1e-9 * fabs(exact[p][s]));
    outcome_destroy(&o);
    trial_destroy(&t);
}

/* --- the same bits ------------------------------------------------------------------------------
 */

static const char *const precisions[] = {"fp32", "fp64"};

/* All observables, too. */
static trial create_rich(const char *precision, const char *integrator)
{
    return trial_rich(precision, integrator,
                      "{last: all, mean: all, variance: all, min: all, max: all, "
                      "trajectory: {variables: all, every: 3}}");
}

static void tiles_chunks_and_threads_do_not_change_a_bit(void **state)
{
    (void)state;
    static const int64_t tiles[] = {1, 3, 16, 17, 0};
    static const int64_t chunks[] = {1, 7, 0};
    for (int p = 0; p < 2; p++) {
        trial t = create_rich(precisions[p], "heun");
        outcome whole = march(&t, 0, 0, 1);
        for (int i = 0; i < 5; i++) {
            for (int c = 0; c < 3; c++) {
                outcome cut = march(&t, tiles[i], chunks[c], 1 + (i + c) % 2);
                if (!outcomes_equal(&whole, &cut))
                    fail_msg("%s differs with tiles of %d and chunks of %d", precisions[p],
                             (int)tiles[i], (int)chunks[c]);
                outcome_destroy(&cut);
            }
        }
        outcome_destroy(&whole);
        trial_destroy(&t);
    }
}

/* A point's numbers are its own: the sweep around it does not matter, but its index does. */
static void results_depend_on_seed_and_point(void **state)
{
    (void)state;
    trial t = create_rich("fp64", "euler");
    outcome a = march(&t, 0, 0, 1);
    outcome again = march(&t, 0, 0, 2);
    assert_true(outcomes_equal(&a, &again));
    t.sweep->seed = 12;
    outcome b = march(&t, 0, 0, 1);
    const double *x = a.statistic[GM_LAST][0];
    const double *y = b.statistic[GM_LAST][0];
    for (int64_t i = 0; i < a.n_point * a.n_node; i++) {
        assert_true(x[i] != y[i]);
        for (int64_t k = 0; k < i; k++) assert_true(x[i] != x[k]);
    }
    outcome_destroy(&a);
    outcome_destroy(&again);
    outcome_destroy(&b);
    trial_destroy(&t);
}

/* --- instruction sets ---------------------------------------------------------------------------
 */

static bool level_runs(const char *level)
{
    gm_device *device = NULL;
    assert_int_equal(setenv("GRIDMARCH_CPU_LEVEL", level, 1), 0);
    const gm_status st = gm_backend_cpu.open(0, 1, &device);
    if (st == GM_OK) {
        gm_device_info info;
        assert_int_equal(gm_backend_cpu.describe(device, &info), GM_OK);
        assert_string_equal(info.architecture, level);
        gm_backend_cpu.close(&device);
    } else {
        assert_int_equal(st, GM_E_DEVICE);
        assert_non_null(strstr(gm_status_message(), level));
    }
    return st == GM_OK;
}

static void compare_levels(const char *precision, const char *integrator, double tolerance)
{
    trial t = create_rich(precision, integrator);
    outcome best = march(&t, 0, 0, 1);
    for (const gm_cpu_level *level = gm_cpu_levels; level->name; level++) {
        if (!level_runs(level->name)) continue;
        outcome o = march(&t, 0, 0, 1);
        for (int s = 0; s < 2; s++) {
            for (int64_t i = 0; i < o.n_point * o.n_sample * o.n_node; i++)
                assert_true(fabs(o.trajectory[s][i] - best.trajectory[s][i]) <= tolerance);
            for (int k = 0; k < GM_TRAJECTORY; k++)
                for (int64_t i = 0; i < o.n_point * o.n_node; i++)
                    assert_true(fabs(o.statistic[k][s][i] - best.statistic[k][s][i]) <= tolerance);
        }
        outcome_destroy(&o);
    }
    assert_int_equal(unsetenv("GRIDMARCH_CPU_LEVEL"), 0);
    outcome_destroy(&best);
    trial_destroy(&t);
}

static void instruction_sets_agree(void **state)
{
    (void)state;
    compare_levels("fp32", "heun", 2e-6);
    compare_levels("fp64", "heun", 1e-14);
    compare_levels("fp32", "euler", 2e-6);
    compare_levels("fp64", "euler", 1e-14);
}

static void an_unknown_instruction_set_is_refused(void **state)
{
    (void)state;
    gm_device *device = NULL;
    assert_int_equal(setenv("GRIDMARCH_CPU_LEVEL", "x86-64-v9", 1), 0);
    assert_int_equal(gm_backend_cpu.open(0, 1, &device), GM_E_USAGE);
    assert_null(device);
    assert_non_null(strstr(gm_status_message(), "x86-64-v9"));
    assert_int_equal(unsetenv("GRIDMARCH_CPU_LEVEL"), 0);
}

/* --- what is recorded ---------------------------------------------------------------------------
 */

static void assert_statistics_of_trajectory(const outcome *o, int s, int64_t point, int64_t node,
                                            double epsilon)
{
    const double *x = o->trajectory[s] + point * o->n_sample * o->n_node + node;
    const int64_t at = point * o->n_node + node;
    long double mean = 0, variance = 0;
    double low = x[0], high = x[0];
    for (int64_t k = 0; k < o->n_sample; k++) {
        mean += (long double)x[k * o->n_node] / (long double)o->n_sample;
        low = fmin(low, x[k * o->n_node]);
        high = fmax(high, x[k * o->n_node]);
    }
    for (int64_t k = 0; k < o->n_sample; k++) {
        const long double d = (long double)x[k * o->n_node] - mean;
        variance += d * d / (long double)o->n_sample;
    }
    const double got_mean = o->statistic[GM_MEAN][s][at];
    const double got_variance = o->statistic[GM_VARIANCE][s][at];
    const long double size = fabsl(mean) + sqrtl(variance);
    assert_true(fabsl((long double)got_mean - mean) <= epsilon * size);
    assert_true(fabsl((long double)got_variance - variance) <= 4 * epsilon * variance);
    assert_true(o->statistic[GM_MIN][s][at] == low);
    assert_true(o->statistic[GM_MAX][s][at] == high);
    assert_true(o->statistic[GM_LAST][s][at] == x[(o->n_sample - 1) * o->n_node]);
}

static void statistics_are_those_of_the_trajectory(void **state)
{
    (void)state;
    static const double epsilon[] = {0x1p-23, 0x1p-48};
    for (int p = 0; p < 2; p++) {
        trial t = create_rich(precisions[p], "heun");
        t.sweep->every = 1;
        outcome o = march(&t, 0, 0, 1);
        assert_int_equal(o.n_sample, t.sweep->n_step - t.sweep->n_transient);
        for (int s = 0; s < 2; s++)
            for (int64_t point = 0; point < o.n_point; point++)
                for (int64_t node = 0; node < o.n_node; node++)
                    assert_statistics_of_trajectory(&o, s, point, node, epsilon[p]);
        outcome_destroy(&o);
        trial_destroy(&t);
    }
}

/* Sample k is the state after transient + (k + 1) * every steps. */
static void compare_samples(int64_t n_transient, int64_t every, int64_t chunk)
{
    trial t = create_rich("fp64", "heun");
    t.sweep->n_transient = 0;
    t.sweep->every = 1;
    outcome full = march(&t, 0, 0, 1);
    t.sweep->n_transient = n_transient;
    t.sweep->every = every;
    outcome part = march(&t, 16, chunk, 1);
    assert_int_equal(part.n_sample, (t.sweep->n_step - n_transient) / every);
    for (int64_t p = 0; p < part.n_point; p++) {
        for (int64_t k = 0; k < part.n_sample; k++) {
            const int64_t step = n_transient + (k + 1) * every - 1;
            assert_memory_equal(part.trajectory[1] + (p * part.n_sample + k) * part.n_node,
                                full.trajectory[1] + (p * full.n_sample + step) * full.n_node,
                                (size_t)part.n_node * sizeof(double));
        }
    }
    assert_memory_equal(part.statistic[GM_LAST][0], full.statistic[GM_LAST][0],
                        (size_t)(part.n_point * part.n_node) * sizeof(double));
    outcome_destroy(&full);
    outcome_destroy(&part);
    trial_destroy(&t);
}

static void transient_and_every_choose_the_samples(void **state)
{
    (void)state;
    compare_samples(0, 1, 0);
    compare_samples(0, 60, 7); /* only the last step */
    compare_samples(5, 3, 0);  /* does not come out even */
    compare_samples(5, 3, 4);
    compare_samples(12, 4, 1);  /* the last sample is the last step */
    compare_samples(59, 1, 13); /* a single recorded step */
    compare_samples(58, 5, 3);  /* none at all */
}

static void phases_are_recorded_in_one_turn(void **state)
{
    (void)state;
    for (int p = 0; p < 2; p++) {
        char text[512];
        snprintf(text, sizeof text,
                 "model: kuramoto\nintegrator: rk4\nprecision: %s\n" SOME_NETWORK
                 "time: {dt: 0.1, duration: 40}\naxes: {omega: [-0.5, 0, 0.9]}\n"
                 "initial: {theta: {uniform: [-9, 9]}}\n"
                 "record: {last: all, trajectory: {variables: all, every: 1}}\n",
                 precisions[p]);
        trial t = trial_create(text, 4);
        outcome o = march(&t, 0, 0, 1);
        for (int64_t i = 0; i < o.n_point * o.n_sample * o.n_node; i++)
            assert_true(o.trajectory[0][i] >= 0 && o.trajectory[0][i] < 6.2831855);
        for (int64_t i = 0; i < o.n_point * o.n_node; i++)
            assert_true(o.statistic[GM_LAST][0][i] >= 0 && o.statistic[GM_LAST][0][i] < 6.2831855);
        outcome_destroy(&o);
        trial_destroy(&t);
    }
}

/* --- points that diverge ------------------------------------------------------------------------
 */

/* Euler steps of 0.1 cube a large x. From 1000 it goes to about -1e8, 1e23 and then beyond single
 * precision; in double precision 1e68 and 1e203 come first. */
static trial create_diverging(const char *precision, const char *x)
{
    char text[512];
    snprintf(text, sizeof text,
             "model: hopf\nintegrator: euler\nprecision: %s\n" SOME_NETWORK
             "time: {dt: 0.1, duration: 2}\naxes: {initial.x: [0.1, 0.2, %s, 0.4, 0.5]}\n"
             "record: {last: all, max: all, trajectory: {variables: all, every: 1}}\n",
             precision, x);
    return trial_create(text, 3);
}

static void a_diverged_point_names_its_step_and_disturbs_nobody(void **state)
{
    (void)state;
    static const int64_t step[] = {3, 5};
    static const int64_t chunks[] = {0, 1, 4};
    for (int p = 0; p < 2; p++) {
        trial calm_trial = create_diverging(precisions[p], "0.3");
        trial wild_trial = create_diverging(precisions[p], "1000");
        outcome calm = march(&calm_trial, 0, 0, 1);
        const int64_t row = calm.n_sample * calm.n_node;
        for (int64_t point = 0; point < 5; point++) assert_int_equal(calm.failed[point], -1);
        for (int c = 0; c < 3; c++) {
            outcome wild = march(&wild_trial, 0, chunks[c], 1);
            for (int64_t point = 0; point < 5; point++) {
                const bool equal =
                    memcmp(wild.trajectory[0] + point * row, calm.trajectory[0] + point * row,
                           (size_t)row * sizeof(double)) == 0;
                assert_true(equal == (point != 2));
                assert_int_equal(wild.failed[point], point == 2 ? step[p] : -1);
            }
            const double *x = wild.trajectory[0] + 2 * row;
            for (int64_t k = 0; k < wild.n_sample; k++)
                assert_true(isfinite(x[k * wild.n_node]) == (k + 1 < step[p]));
            assert_true(!isfinite(wild.statistic[GM_LAST][0][2 * wild.n_node]));
            outcome_destroy(&wild);
        }
        outcome_destroy(&calm);
        trial_destroy(&calm_trial);
        trial_destroy(&wild_trial);
    }
}

/* One of three nodes diverges, in the last step: it has no time to reach the others. */
static void one_node_is_enough_to_diverge(void **state)
{
    (void)state;
    trial t = trial_create("model: hopf\nintegrator: euler\nprecision: fp64\n" SOME_NETWORK
                           "time: {dt: 0.1, duration: 0.5}\nparameters: {G: 0}\n"
                           "initial: {x: {file: x.txt}}\naxes: {a: [0.1, 0.2]}\n"
                           "record: {last: all}\n",
                           3);
    trial_node_values(&t, "initial.x", 0, 0.5);
    t.data->node_value[gm_model_find_knob(t.sweep->model, "initial.x")][1] = 1000;
    outcome o = march(&t, 0, 0, 1);
    for (int64_t p = 0; p < 2; p++) {
        assert_int_equal(o.failed[p], 5);
        assert_true(isfinite(o.statistic[GM_LAST][0][3 * p]));
        assert_true(!isfinite(o.statistic[GM_LAST][0][3 * p + 1]));
    }
    outcome_destroy(&o);
    trial_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lorenz63_is_right_to_nine_digits),
        cmocka_unit_test(tiles_chunks_and_threads_do_not_change_a_bit),
        cmocka_unit_test(results_depend_on_seed_and_point),
        cmocka_unit_test(instruction_sets_agree),
        cmocka_unit_test(an_unknown_instruction_set_is_refused),
        cmocka_unit_test(statistics_are_those_of_the_trajectory),
        cmocka_unit_test(transient_and_every_choose_the_samples),
        cmocka_unit_test(phases_are_recorded_in_one_turn),
        cmocka_unit_test(a_diverged_point_names_its_step_and_disturbs_nobody),
        cmocka_unit_test(one_node_is_enough_to_diverge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

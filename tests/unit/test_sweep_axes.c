/** Axes of a sweep file: forms, designs, points, and what is said about bad ones. */
#include "sweep_expect.h"

#include <math.h>
#include <stdio.h>

static void points_count_with_the_last_axis_fastest(void **state)
{
    (void)state;
    gm_sweep *s = parse(LORENZ "axes: {rho: [1, 2, 3], seed: [7, 9], initial.z: [4, 5]}\n");
    int64_t index[3];
    double knob[16];
    uint64_t seed;
    assert_int_equal(s->n_point, 12);
    gm_sweep_point_index(s, 6, index);
    assert_true(index[0] == 1 && index[1] == 1 && index[2] == 0);
    gm_sweep_point(s, 6, knob, &seed);
    assert_true(knob[1] == 2 && knob[0] == 10 && knob[8] == 4 && seed == 9);
    gm_sweep_destroy(&s);
}

static void more_than_2_to_the_32_points_keep_their_places(void **state)
{
    (void)state;
    gm_sweep *s =
        parse(LORENZ "axes: {rho: {range: [1, 70000, 1]}, sigma: {range: [1, 70000, 1]}}\n");
    int64_t index[2];
    double knob[16];
    uint64_t seed;
    assert_true(s->n_point == INT64_C(4900000000));
    gm_sweep_point_index(s, INT64_C(4899999998), index);
    assert_true(index[0] == 69999 && index[1] == 69998);
    gm_sweep_point(s, INT64_C(4294967296), knob, &seed); /* 61356 x 70000 + 47296 */
    assert_true(knob[1] == 61357 && knob[0] == 47297);
    gm_sweep_destroy(&s);
}

static void zip_pairs_the_axes(void **state)
{
    (void)state;
    gm_sweep *s = parse(LORENZ "design: zip\naxes: {rho: [1, 2, 3], seed: [7, 9, 11]}\n");
    int64_t index[2];
    double knob[16];
    uint64_t seed;
    assert_int_equal(s->n_point, 3);
    gm_sweep_point_index(s, 2, index);
    assert_true(index[0] == 2 && index[1] == 2);
    gm_sweep_point(s, 2, knob, &seed);
    assert_true(knob[1] == 3 && seed == 11);
    gm_sweep_destroy(&s);
    expect(LORENZ "design: zip\naxes: {rho: [1, 2, 3], sigma: [1, 2]}\n",
           "s.yaml:6:24: design zip pairs the axes value by value, but sigma has 2 values and rho "
           "has 3");
}

static void expect_axis(const char *form, int64_t n, const double *value)
{
    char text[512];
    snprintf(text, sizeof text, LORENZ "axes: {rho: %s}\n", form);
    gm_sweep *s = parse(text);
    assert_int_equal(s->axis[0].n, n);
    for (int64_t i = 0; i < n; i++) {
        if (s->axis[0].value[i] != value[i])
            print_error("%s: value %d is %.17g\n", form, (int)i, s->axis[0].value[i]);
        assert_true(s->axis[0].value[i] == value[i]);
    }
    gm_sweep_destroy(&s);
}

static void axis_forms_give_their_values(void **state)
{
    (void)state;
    expect_axis("[1, -2.5, 1e3]", 3, (double[]){1, -2.5, 1000});
    expect_axis("{values: [.5, +2, 010, 5.]}", 4, (double[]){0.5, 2, 10, 5});
    expect_axis("{linspace: [0, 1, 5]}", 5, (double[]){0, 0.25, 0.5, 0.75, 1});
    expect_axis("{linspace: [1, 0, 4], endpoint: false}", 4, (double[]){1, 0.75, 0.5, 0.25});
    expect_axis("{linspace: [2, 2, 1]}", 1, (double[]){2});
    expect_axis("{linspace: [0, 0.7, 8]}", 8,
                (double[]){0, 0.09999999999999999, 0.19999999999999998, 0.3, 0.39999999999999997,
                           0.49999999999999994, 0.6, 0.7}); /* numpy's */
    expect_axis("{logspace: [0.01, 100, 5]}", 5, (double[]){0.01, 0.1, 1, 10, 100});
    expect_axis("{logspace: [1, 10000, 4], endpoint: false}", 4, (double[]){1, 10, 100, 1000});
    expect_axis("{range: [0, 0.5, 0.1]}", 6, (double[]){0, 0.1, 0.2, 0.3, 0.4, 0.5});
    expect_axis("{range: [3, 1, -1]}", 3, (double[]){3, 2, 1});
    expect_axis("{range: [3, 3, 1]}", 1, (double[]){3});
}

static void axis_ends_are_exact(void **state)
{
    (void)state;
    gm_sweep *s = parse(LORENZ "axes: {rho: {logspace: [0.0013, 0.77, 37]}, beta: {linspace: "
                               "[0.1, 0.7, 43]}, sigma: {range: [0.1, 0.7, 0.05]}}\n");
    assert_true(s->axis[0].value[0] == 0.0013 && s->axis[0].value[36] == 0.77);
    assert_true(s->axis[1].value[0] == 0.1 && s->axis[1].value[42] == 0.7);
    assert_true(s->axis[2].value[0] == 0.1 && s->axis[2].value[12] == 0.7);
    gm_sweep_destroy(&s);
}

static void bad_axes_are_refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"{rho: []}", "axes.rho: the number of values must be 1 to 134217728; found 0"},
        {"{rho: {linspace: [0, 1, 0]}}", "axes.rho.linspace: the number of values must be 1"},
        {"{rho: {linspace: [0, 1, -4]}}", "found -4"},
        {"{rho: {linspace: [0, 1, 2.5]}}", "must be a whole number; found '2.5'"},
        {"{rho: {linspace: [0, 1, 1e15]}}", "found 1000000000000000"},
        {"{rho: {linspace: [0, 1, 1e17]}}", "a whole number below 2^53; found '1e17'"},
        {"{rho: {linspace: [0, 1]}}", "needs three numbers: [first, last, number of values]"},
        {"{rho: {linspace: [0, 1, 1]}}", "one value cannot be both first and last"},
        {"{rho: {linspace: [-1e308, 1e308, 3]}}", "too far apart"},
        {"{rho: {logspace: [0, 1, 3]}}",
         "(not exponents) and must be greater than 0; found 0 and 1"},
        {"{rho: {range: [0, 1, 0.3]}}", "the nearest ends that are: 0.9 and 1.2"},
        {"{rho: {range: [0, 1, -0.1]}}", "the step -0.1 does not lead from 0 to 1"},
        {"{rho: {range: [0, 1, 0]}}", "the step 0 does not lead"},
        {"{rho: {range: [0, 1, 1e-12]}}", "values are too many"},
        {"{rho: {linspace: [0, 1, 5]}, beta: {linspace: [0, 1, 134217727]}}",
         "134217727 values are too many; all axes together may have 134217728, and those before "
         "have 5"},
        {"{rho: {range: [0, 1, 0.1], endpoint: false}}",
         "endpoint goes with linspace and logspace"},
        {"{rho: {linspace: [0, 1, 3], endpoint: no}}",
         "endpoint must be true or false; found 'no'"},
        {"{rho: {values: [1], range: [0, 1, 1]}}", "exactly one of values, linspace"},
        {"{rho: {}}", "found 0"},
        {"{rho: []}", "axes.rho: the number of values must be 1 to 134217728; found 0"},
        {"{rho: {linspace: [0, 1, 0]}}", "the number of values must be 1 to 134217728; found 0"},
        {"{rho: {linspac: [0, 1, 3], values: [1]}}",
         "unknown key 'linspac'; did you mean 'linspace'?"},
        {"{rho: 5}", "axes.rho: an axis is a list, [0, 1, 2], or {linspace:"},
        {"{rho: 0:30:2}", "{range: [first, last, step]}; found '0:30:2'"},
        {"{rho: [1, x]}", "axes.rho must be a number; found 'x'"},
        {"{rho: [1, .nan]}", "axes.rho must be a finite number; found '.nan'"},
        {"{rho: [1, -.Inf]}", "must be a finite number"},
        {"{rho: [1, 1e999]}", "must be a finite number"},
        {"{rho: [1_000]}", "a number without '_'; found '1_000'"},
        {"{rho: [\"1\"]}", "found the text '1' (remove the quotes)"},
        {"{rho: [0x10]}", "must be a number; found '0x10'"},
        {"{rho: [1e]}", "must be a number; found '1e'"},
        {"{rho: [.]}", "must be a number; found '.'"},
        {"{rho: [null]}", "must be a number; found nothing"},
        {"{rho: [[1]]}", "must be a number; found a list"},
        {"{rhu: [1]}", "no parameter 'rhu'; did you mean 'rho'? axes can be: sigma, rho"},
        {"{y: [1]}", "y is a state; its initial value is initial.y, or the axis 'initial.y'"},
        {"{initial.q: [1]}", "initial.x, initial.y, initial.z, seed"},
        {"{seed: [1.5]}", "seeds are whole numbers from 0 to below 2^53; found 1.5"},
        {"{seed: [-1]}", "found -1"},
        {"{seed: [9007199254740992]}", "found 9007199254740992"},
        {"[1, 2]", "axes must be a mapping (key: value); found a list"},
    };
    char text[512];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, LORENZ "axes: %s\n", bad[i][0]);
        expect(text, bad[i][1]);
    }
    expect(LORENZ "axes: {rho: {range: [1, 33e6, 1]}, beta: {range: [1, 33e6, 1]}, sigma: {range: "
                  "[1, 33e6, 1]}}\n",
           "s.yaml:5:7: the grid has more than 2^62 points");
    expect(WC "axes: {p_e: [1]}\n",
           "axes: p_e is an input, and inputs cannot be swept yet: an input is the same for all "
           "points; sweep a parameter that acts alike");
}

static void repeated_values_are_refused_in_a_grid_only(void **state)
{
    (void)state;
    expect(LORENZ "axes:\n  rho: [0.1, 3, 0.2, 3, 0.2]\n",
           "dir/s.yaml:6:22: axes.rho: values 2 and 4 are both 3 (the first at dir/s.yaml:6:14); a "
           "grid takes each value once (only design: zip may repeat values)");
    expect(LORENZ "axes: {rho: {values: [0.1, 0.1]}}\n",
           "dir/s.yaml:5:28: axes.rho: values 1 and 2 are both 0.1 (the first at dir/s.yaml:5:23)");
    expect(LORENZ "axes: {rho: [2, 1, 1]}\n", "values 2 and 3 are both 1");
    expect(LORENZ "axes: {initial.x: [0, 1, -0.0]}\n", "axes.initial.x: values 1 and 3 are both");
    expect(LORENZ "axes: {seed: [7, 8, 7]}\n", "axes.seed: values 1 and 3 are both 7");
    expect(LORENZ "axes: {rho: {linspace: [2, 2, 5]}}\n",
           "dir/s.yaml:5:13: axes.rho: values 1 and 2 are both 2; a grid");
    expect_set(LORENZ, "axes.rho=[1, 1]",
               "--set axes.rho=[1, 1]: axes.rho: values 1 and 2 are both 1; a grid");
    gm_sweep *s = parse(LORENZ "design: zip\naxes: {rho: [1, 1, 2], seed: [7, 8, 7]}\n");
    assert_int_equal(s->n_point, 3);
    gm_sweep_destroy(&s);
}

static void bad_axis_is_named_with_its_line(void **state)
{
    (void)state;
    expect(LORENZ "axes:\n  beta: [1]\n  rhp: [1]\n", "dir/s.yaml:7:3: axes: lorenz63 has no");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_count_with_the_last_axis_fastest),
        cmocka_unit_test(more_than_2_to_the_32_points_keep_their_places),
        cmocka_unit_test(zip_pairs_the_axes),
        cmocka_unit_test(axis_forms_give_their_values),
        cmocka_unit_test(axis_ends_are_exact),
        cmocka_unit_test(bad_axes_are_refused),
        cmocka_unit_test(repeated_values_are_refused_in_a_grid_only),
        cmocka_unit_test(bad_axis_is_named_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

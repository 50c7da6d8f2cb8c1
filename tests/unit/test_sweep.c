/* The sweep file reader: what it accepts, and what it says about the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
// clang-format off
#include <cmocka.h>
// clang-format on
#include <locale.h>
#include <math.h>

#include "tests/unit/sweep_fixture.h"

#define LORENZ                                                                                     \
    "model: lorenz63\nintegrator: rk4\nrecord: {last: all}\ntime: {dt: 0.5, duration: 10}\n"
#define WC_REST "model: wilson_cowan\nintegrator: heun\ntime: {dt: 0.1, duration: 10}\n"
#define WC      WC_REST "network: none\nrecord: {mean: E}\n"
#define HOPF                                                                                       \
    "model: hopf\nintegrator: heun\ntime: {dt: 0.1, duration: 10}\nnetwork: none\n"                \
    "record: {mean: x}\n"

/* Parse what has to be right. */
static gm_sweep *parse_with(const char *text, const char *const *setting)
{
    gm_problems *problems = NULL;
    gm_sweep *sweep = NULL;
    assert_int_equal(gm_problems_create(&problems), GM_OK);
    gm_status st = fixture_parse(text, setting, problems, &sweep);
    if (st != GM_OK) print_error("%s\n", gm_status_message());
    assert_int_equal(st, GM_OK);
    assert_non_null(sweep);
    gm_problems_destroy(&problems);
    return sweep;
}

static gm_sweep *parse(const char *text)
{
    return parse_with(text, NULL);
}

/* Parse what has n problems, with this in one of them. */
static void expect_n(const char *text, const char *const *setting, int n, const char *wanted)
{
    gm_problems *problems = NULL;
    gm_sweep *sweep = NULL;
    bool found = false;
    assert_int_equal(gm_problems_create(&problems), GM_OK);
    gm_status st = fixture_parse(text, setting, problems, &sweep);
    for (int i = 0; i < gm_problems_count(problems); i++)
        found = found || strstr(gm_problems_text(problems, i), wanted);
    if (!found || gm_problems_count(problems) != n) {
        print_error("wanted %d: %s\n", n, wanted);
        for (int i = 0; i < gm_problems_count(problems); i++)
            print_error("found: %s\n", gm_problems_text(problems, i));
    }
    assert_true(found);
    assert_int_equal(gm_problems_count(problems), n);
    assert_int_equal(st, GM_E_INPUT);
    assert_null(sweep);
    gm_problems_destroy(&problems);
}

static void expect(const char *text, const char *wanted)
{
    expect_n(text, NULL, 1, wanted);
}

static void expect_set(const char *text, const char *setting, const char *wanted)
{
    expect_n(text, (const char *const[]){setting, NULL}, 1, wanted);
}

static void full_sweep_is_read(void **state)
{
    (void)state;
    gm_sweep *s =
        parse("model: wilson_cowan\n"
              "network: {weights: w.csv, labels: /abs/l.csv, normalise: spectral,\n"
              "  symmetric: averaged, self_connections: drop, rows: source}\n"
              "axes:\n  G: {linspace: [0, 3, 4]}\n  initial.I: [0.1, 0.2]\n"
              "seed: 12\n"
              "parameters: {c_ee: 15.5, tau_e: {file: tau.npy}}\n"
              "initial: {E: {uniform: [0, 0.05]}}\n"
              "inputs:\n  p_e: {file: p.h5, dataset: /a/b, step: 0.2, interpolation: "
              "linear}\n"
              "time: {dt: 0.1, duration: 1000, transient: 200}\n"
              "integrator: heun\n"
              "record: {mean: [E, I], last: all, trajectory: {variables: [I], every: 20}}\n"
              "precision: fp64\noutput: out/r.h5\n");
    assert_string_equal(s->network.weights.path, "dir/w.csv");
    assert_string_equal(s->network.labels.path, "/abs/l.csv");
    assert_int_equal(s->network.weights.line, 2);
    assert_int_equal(s->network.weights.column, 20);
    assert_int_equal(s->network.kind, GM_NETWORK_MATRIX);
    assert_int_equal(s->network.normalisation, GM_NORM_SPECTRAL);
    assert_int_equal(s->network.symmetry, GM_SYMMETRIC_AVERAGED);
    assert_true(!s->network.keep_self && s->network.rows_are_source);
    assert_int_equal(s->n_axis, 2);
    assert_int_equal(s->n_point, 8);
    assert_string_equal(s->axis[1].name, "initial.I");
    assert_int_equal(s->axis[1].knob, 7);
    assert_int_equal(s->seed, 12);
    assert_true(s->knob[1] == 15.5 && s->knob[2] == 0.6 && s->knob[7] == 0.06);
    assert_string_equal(s->node_file[0].path, "dir/tau.npy");
    assert_true(s->uniform[0].on && s->uniform[0].high == 0.05 && !s->uniform[1].on);
    assert_int_equal(s->input[0].kind, GM_INPUT_FILE);
    assert_string_equal(s->input[0].source.path, "dir/p.h5");
    assert_string_equal(s->input[0].dataset, "/a/b");
    assert_int_equal(s->input[0].interpolation, GM_LINEAR);
    assert_true(s->input[0].step == 0.2 && s->input[1].constant == 0);
    assert_int_equal(s->n_step, 10000);
    assert_int_equal(s->n_transient, 2000);
    assert_int_equal(gm_sweep_n_sample(s), 400);
    assert_true(s->record[GM_LAST][0] && s->record[GM_LAST][1] && !s->record[GM_TRAJECTORY][0]);
    assert_true(gm_sweep_records(s, GM_MEAN) && !gm_sweep_records(s, GM_VARIANCE));
    assert_int_equal(s->precision, GM_FP64);
    assert_string_equal(s->output.path, "out/r.h5");
    assert_false(s->noise);
    gm_sweep_destroy(&s);
    assert_null(s);
    gm_sweep_destroy(&s);
}

static void defaults_hold_where_the_file_is_silent(void **state)
{
    (void)state;
    gm_sweep *s = parse(WC "parameters:\naxes: {}\n");
    assert_int_equal(s->n_axis, 0);
    assert_int_equal(s->n_point, 1);
    assert_int_equal(s->precision, GM_FP32);
    assert_int_equal(s->design, GM_DESIGN_GRID);
    assert_int_equal(s->network.kind, GM_NETWORK_NONE);
    assert_int_equal(s->n_transient, 0);
    assert_int_equal(s->seed, 0);
    assert_true(s->input[0].kind == GM_INPUT_CONSTANT && s->input[0].constant == 0.25);
    assert_null(s->output.path);
    assert_int_equal(gm_sweep_n_sample(s), 0);
    gm_sweep_destroy(&s);
}

static void names_match_the_sweep_file(void **state)
{
    (void)state;
    assert_string_equal(gm_precision_name(GM_FP64), "fp64");
    assert_string_equal(gm_integrator_name(GM_RK4), "rk4");
    assert_string_equal(gm_observable_name(GM_VARIANCE), "variance");
    assert_string_equal(gm_observable_long_name(GM_MAX), "maximum over time");
    assert_int_equal(gm_model_find_knob(&fixture_wilson_cowan, "initial.I"), 7);
    assert_int_equal(gm_model_find_knob(&fixture_wilson_cowan, "I"), -1);
    assert_string_equal(gm_model_knob(&fixture_wilson_cowan, 7)->name, "I");
    assert_null(gm_model_knob(&fixture_wilson_cowan, 8));
    assert_null(gm_catalog_find(&fixture_catalog, "nobody"));
}

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
        {"{rho: {range: [0, 1, 0.1], endpoint: false}}",
         "endpoint goes with linspace and logspace"},
        {"{rho: {linspace: [0, 1, 3], endpoint: no}}",
         "endpoint must be true or false; found 'no'"},
        {"{rho: {values: [1], range: [0, 1, 1]}}", "exactly one of values, linspace"},
        {"{rho: {}}", "found 0"},
        {"{rho: {linspac: [0, 1, 3], values: [1]}}",
         "unknown key 'linspac'; did you mean 'linspace'?"},
        {"{rho: 5}", "axes.rho must be a mapping (key: value); found '5'"},
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
    expect(LORENZ "axes: {rho: {range: [1, 1e8, 1]}, beta: {range: [1, 1e8, 1]}, sigma: {range: "
                  "[1, 1e8, 1]}}\n",
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

static void words_of_other_programs_get_a_hint(void **state)
{
    (void)state;
    expect_set(LORENZ, "precision=float32", "'float32'; did you mean 'fp32'? the choices: fp32");
    expect_set(LORENZ, "precision=single", "did you mean 'fp32'?");
    expect_set(LORENZ, "precision=float64", "did you mean 'fp64'?");
    expect_set(LORENZ, "precision=Double", "did you mean 'fp64'?");
    expect_set(LORENZ, "record.std=all",
               "unknown key 'std'; did you mean 'variance' (the standard");
    expect_set(LORENZ, "record.var=all", "unknown key 'var'; did you mean 'variance'? allowed");
    expect_set(
        LORENZ, "integrator=rk45",
        "'rk45'; did you mean 'rk4' (steps are of fixed length: no integrator is adaptive)?");
    expect_set(LORENZ, "integrator=adaptive", "no integrator is adaptive)? the choices: euler");
    expect_n(LORENZ "axes: {rho: {arange: [0, 1, 0.1]}}\n", NULL, 2,
             "unknown key 'arange'; did you mean 'range' ([first, last, step], the last value");
    expect_set(LORENZ, "design=max", "design cannot be 'max'; the choices: grid, zip");
}

static void bad_axis_is_named_with_its_line(void **state)
{
    (void)state;
    expect(LORENZ "axes:\n  beta: [1]\n  rhp: [1]\n", "dir/s.yaml:7:3: axes: lorenz63 has no");
}

static void unknown_keys_get_the_nearest_name(void **state)
{
    (void)state;
    expect(LORENZ "axis: {}\n", "dir/s.yaml:5:1: unknown key 'axis'; did you mean 'axes'? allowed "
                                "here: model, network, axes, design");
    expect(LORENZ "xyzzyx: 1\n", "unknown key 'xyzzyx'; allowed here: model");
    expect_set(LORENZ, "time.transiant=1",
               "--set time.transiant=1: time: unknown key 'transiant'; did you mean 'transient'?");
}

static void all_problems_are_reported_at_once(void **state)
{
    (void)state;
    expect_n("model: wilson_cowan\nnetwork: {weights: w.csv}\nprecision: fp16\nintegrator: hein\n"
             "time: {dt: 0, duration: ten}\nrecord: {mean: [E, Q]}\nparameters: {c_e: 1}\n"
             "inputs: {G: 2}\n",
             NULL, 10, "s.yaml:2:10: network.symmetric is missing: choose one of: as_is, required");
    expect_n("model: wilson_cowan\n", NULL, 4,
             "dir/s.yaml: network is missing, and wilson_cowan couples nodes");
    expect_n("{}", NULL, 4, "dir/s.yaml: model is missing: choose one of: wilson_cowan, hopf");
}

static void unknown_model_lists_the_known_ones(void **state)
{
    (void)state;
    expect(
        "model: wilson_cowen\nintegrator: rk4\nrecord: {last: all}\ntime: {dt: 1, duration: 1}\n",
        "s.yaml:1:8: unknown model 'wilson_cowen'; did you mean 'wilson_cowan'? the models are: "
        "wilson_cowan, hopf, lorenz63");
    expect("model: ./x.h\nintegrator: rk4\nrecord: {last: all}\ntime: {dt: 1, duration: 1}\n",
           "unknown model './x.h'; the models are");
}

static void network_choices_must_be_spelled_out(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"{weights: w, normalise: none, symmetric: as_is}",
         "network.self_connections is missing: choose one of: keep, drop"},
        {"{weights: w, normalise: max, symmetric: as_is, self_connections: keep}",
         "network.normalise cannot be 'max'; did you mean 'maximum'? the choices: none, maximum, "
         "row, spectral"},
        {"{tvb: d, labels: l, normalise: none, symmetric: as_is, self_connections: keep}",
         "network.labels does not go with network.tvb"},
        {"{tvb: d, weights: l, normalise: none, symmetric: as_is, self_connections: keep}",
         "network.weights is given, and so is network.tvb"},
        {"{normalise: none, symmetric: as_is, self_connections: keep}",
         "network needs `weights: FILE` or `tvb: FOLDER`"},
        {"{weights: '', normalise: none, symmetric: as_is, self_connections: keep}",
         "network.weights must be a text; found ''"},
        {"w.csv", "network must be none or a mapping"},
    };
    char text[512];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, WC_REST "record: {mean: E}\nnetwork: %s\n", bad[i][0]);
        expect(text, bad[i][1]);
    }
    expect(LORENZ "network: none\n", "s.yaml:5:1: lorenz63 has no couplings between nodes");
    gm_sweep *s = parse(WC_REST "record: {mean: E}\nnetwork: {tvb: d, normalise: row, symmetric: "
                                "required, self_connections: keep}\n");
    assert_int_equal(s->network.kind, GM_NETWORK_TVB);
    assert_string_equal(s->network.weights.path, "dir/d");
    assert_true(s->network.keep_self && !s->network.rows_are_source);
    gm_sweep_destroy(&s);
}

static void spans_must_be_whole_steps(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"{dt: 0.1, duration: 10.05}",
         "s.yaml:4:27: time.duration 10.05 is not a whole number of steps of time.dt 0.1; the "
         "nearest that are: 10 and 10.1"},
        {"{dt: 0.1, duration: 10, transient: 0.25}", "the nearest that are: 0.2 and 0.3"},
        {"{dt: 0.1, duration: 0.04}", "is shorter than one step of time.dt 0.1"},
        {"{dt: 0.1, duration: 10, transient: 10}", "leaves nothing to record"},
        {"{dt: 0.1, duration: 10, transient: -1}", "time.transient must be at least 0; found -1"},
        {"{dt: -0.1, duration: 10}", "time.dt must be greater than 0; found -0.1"},
        {"{dt: 1e-9, duration: 1e5}", "is 1e+14 steps of 1e-09; at most 1e12"},
        {"{dt: 0.1}", "time.duration is missing"},
        {"5", "time must be a mapping"},
    };
    char text[512];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text,
                 "model: lorenz63\nintegrator: rk4\nrecord: {last: all}\ntime: %s\n", bad[i][0]);
        expect(text, bad[i][1]);
    }
    const char *const many[] = {"time={dt: 0.1, duration: 100000000000}", NULL};
    gm_sweep *s = parse_with(LORENZ, many);
    assert_int_equal(s->n_step, INT64_C(1000000000000));
    gm_sweep_destroy(&s);
}

static void parameters_and_inputs_go_where_they_belong(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"parameters: {E: 1}", "parameters: E is a state; its initial value is initial.E"},
        {"parameters: {p_e: 1}", "parameters: p_e is an input; it goes under inputs"},
        {"initial: {G: 1}", "initial: G is a parameter; it goes under parameters or axes"},
        {"initial: {F: 1}",
         "wilson_cowan has no state 'F'; did you mean 'E'? its states are: E, I"},
        {"inputs: {p_q: 1}", "wilson_cowan has no input 'p_q'; did you mean 'p_e'?"},
        {"parameters: {G: {uniform: [0, 1]}}", "parameters.G: unknown key 'uniform'"},
        {"initial: {E: {uniform: [1, 1]}}", "low 1 must be less than high 1"},
        {"initial: {E: {uniform: [1]}}", "needs two numbers: {uniform: [low, high]}"},
        {"initial: {E: {uniform: [0, 1], file: f}}", "both a file and a uniform distribution"},
        {"initial: {E: {}}", "must be a number, {file: PATH} or {uniform: [low, high]}"},
        {"parameters: {G: abc}", "parameters.G must be a number; found 'abc'"},
        {"inputs: {p_e: {file: f, step: 0, interpolation: hold}}", "step must be greater than 0"},
        {"inputs: {p_e: {file: f, step: 1}}",
         "inputs.p_e.interpolation is missing: choose hold or"},
        {"inputs: {p_e: {step: 1, interpolation: hold}}", "inputs.p_e.file is missing"},
        {"inputs: {p_e: [1, 2]}", "inputs.p_e must be a number; found a list"},
        {"seed: -1", "seed must be 0 or more; found -1"},
        {"seed: 1.5", "seed must be a whole number; found '1.5'"},
    };
    char text[512];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, WC "%s\n", bad[i][0]);
        if (strstr(bad[i][0], "{uniform: [0, 1]}}"))
            expect_n(text, NULL, 2, bad[i][1]);
        else
            expect(text, bad[i][1]);
    }
    expect(HOPF "inputs: {p: 1}\n", "hopf has no input 'p'; its inputs are: none");
}

static void record_names_are_checked(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"{}", "record is empty"},
        {"{mean: []}", "record.mean must be all or a list of states, such as [x]; found an empty"},
        {"{mean: }", "found nothing"},
        {"{mean: [x, x]}", "record.mean names x twice"},
        {"{mean: [w]}", "lorenz63 has no state 'w'; did you mean 'x'? its states are: x, y, z"},
        {"{average: all}", "unknown key 'average'"},
        {"{trajectory: all}", "must be {variables: [...], every: steps}; found 'all'"},
        {"{trajectory: {variables: all}}", "record.trajectory.every is missing"},
        {"{trajectory: {every: 1}}", "record.trajectory.variables is missing"},
        {"{trajectory: {variables: all, every: 0}}", "must be 1 or more steps; found 0"},
        {"{trajectory: {variables: all, every: 21}}",
         "every 21 leaves no sample: after the transient there are 20 steps"},
    };
    char text[512];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text,
                 "model: lorenz63\nintegrator: rk4\ntime: {dt: 0.5, duration: 10}\nrecord: %s\n",
                 bad[i][0]);
        expect(text, bad[i][1]);
    }
}

static void derived_quantities_are_recorded_where_they_are_named(void **state)
{
    (void)state;
    const char *setting[] = {"record={mean: all, max: flow, trajectory: {variables: [y, flow], "
                             "every: 2}}",
                             NULL};
    gm_sweep *s = parse_with(HOPF, setting);
    assert_true(s->record[GM_MEAN][0] && s->record[GM_MEAN][1] && !s->record[GM_MEAN][2]);
    assert_true(!s->record[GM_MAX][0] && s->record[GM_MAX][2]);
    assert_true(s->record[GM_TRAJECTORY][1] && s->record[GM_TRAJECTORY][2]);
    gm_sweep_destroy(&s);
    expect_set(HOPF, "record={mean: [flow, x, flow]}", "record.mean names flow twice");
    expect_set(HOPF, "record={mean: [flo]}",
               "hopf has no state or derived quantity 'flo'; did you mean 'flow'? it has: x, y, "
               "flow");
    s = parse_with(HOPF, (const char *const[]){"record={last: flow}", NULL});
    assert_true(gm_sweep_records(s, GM_LAST) && !gm_sweep_records(s, GM_MEAN));
    gm_sweep_destroy(&s);
}

static void derived_quantities_cannot_be_set(void **state)
{
    (void)state;
    static const char *const settings[] = {"axes.flow=[1]", "parameters.flow=1", "initial.flow=1",
                                           "inputs.flow=1"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        expect_set(HOPF, settings[i], "flow is a derived quantity: it is computed, not set");
}

static void knob_set_in_two_places_is_a_problem(void **state)
{
    (void)state;
    expect(WC "axes:\n  G: [1]\nparameters:\n  G: 2\n",
           "s.yaml:9:3: parameters.G is given, and so is axes.G (dir/s.yaml:7:3): keep one");
    expect(WC "axes: {initial.E: [1]}\ninitial: {E: {uniform: [0, 1]}}\n",
           "initial.E is given, and so is axes.initial.E");
    expect(WC "axes: {seed: [1]}\nseed: 3\n", "seed is given, and so is axes.seed");
    expect_set(WC "axes:\n  G: [1]\n", "parameters.G=0.7",
               "--set parameters.G=0.7: parameters.G is given, and so is axes.G (dir/s.yaml:7:3): "
               "keep one; --set axes.G=null takes the one in the file away");
    expect_set(WC "parameters: {G: 1}\n", "axes.G=[1]",
               "axes.G (--set axes.G=[1]): keep one; --set parameters.G=null takes");
}

static void settings_replace_add_and_remove(void **state)
{
    (void)state;
    const char *const setting[] = {"time.dt=0.05",
                                   "axes.G={linspace: [0, 1, 5]}",
                                   "axes.initial.E.values=[1, 2]",
                                   "axes.initial.E.values=[3, 4, 5]",
                                   "parameters.G=null",
                                   "record.mean=null",
                                   "record.last=[I]",
                                   "initial.I=0.5",
                                   NULL};
    gm_sweep *s = parse_with(WC "parameters: {G: 2}\ninitial:\n", setting);
    assert_true(s->dt == 0.05);
    assert_int_equal(s->n_step, 200);
    assert_int_equal(s->n_axis, 2);
    assert_int_equal(s->axis[0].n, 5);
    assert_string_equal(s->axis[1].name, "initial.E");
    assert_true(s->axis[1].n == 3 && s->axis[1].value[2] == 5);
    assert_true(s->record[GM_LAST][1] && !gm_sweep_records(s, GM_MEAN));
    assert_true(s->knob[7] == 0.5);
    assert_int_equal(s->n_override, 8);
    assert_string_equal(s->override[4], "parameters.G=null");
    assert_string_equal(s->text, WC "parameters: {G: 2}\ninitial:\n");
    gm_sweep_destroy(&s);
}

static void bad_settings_are_refused(void **state)
{
    (void)state;
    expect_set(WC, "time.dt", "--set time.dt: a setting reads key=value, such as time.dt=0.05");
    expect_set(WC, "=1", "a setting reads key=value");
    expect_set(WC, "time..dt=1", "a setting reads key=value");
    expect_set(WC, "time.dt=", "--set time.dt=: no value after '='; null removes a key");
    expect_set(WC, "time.dt=[1", "--set time.dt=[1: not YAML: did not find expected ',' or ']'");
    expect_set(WC, "time.dt=abc", "--set time.dt=abc: time.dt must be a number; found 'abc'");
    expect_set(WC, "parameters.G=null", "null removes a key, but there is no 'G'");
    expect_set(WC, "network.weights=w.csv", "'network' is 'none' in the sweep file, with no keys");
    expect_n(WC, (const char *const[]){"a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s=1", NULL}, 2,
             "a setting reads key=value");
}

static void noise_is_on_where_an_amplitude_is_not_zero(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool noise;
    } cases[] = {
        {HOPF, false},
        {HOPF "parameters: {sigma: 0.1}\n", true},
        {HOPF "parameters: {sigma: 0.1, scale: 0}\n", false},
        {HOPF "axes: {sigma: [0, 0.1]}\n", true},
        {HOPF "axes: {sigma: [0, 0.1], scale: [0, 1]}\n", true},
        {HOPF "design: zip\naxes: {sigma: [0, 0.1], scale: [1, 0]}\n", false},
        {HOPF "parameters: {sigma: {file: f}}\n", true},
        {HOPF "axes: {sigma: {linspace: [0, 1, 1000]}, scale: {linspace: [0, 1, 1000]}}\n", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gm_sweep *s = parse(cases[i].text);
        if (s->noise != cases[i].noise) print_error("%s", cases[i].text);
        assert_true(s->noise == cases[i].noise);
        gm_sweep_destroy(&s);
    }
}

static void negative_noise_and_noise_with_rk4_are_refused(void **state)
{
    (void)state;
    expect(HOPF "axes:\n  scale: [1, -1]\nparameters: {sigma: 0.5}\n",
           "s.yaml:8:14: the noise amplitude of x (sigma * scale) is -0.5 at sigma = 0.5, scale "
           "= -1; it must be a number, 0 or more");
    expect_set(HOPF "parameters: {sigma: 0.5}\n", "integrator=rk4",
               "--set integrator=rk4: rk4 cannot take noise, and these amplitudes are not 0: "
               "sigma * scale; use euler (Euler-Maruyama) or heun (stochastic Heun)");
    const char *const rk4[] = {"integrator=rk4", NULL};
    gm_sweep *s = parse_with(HOPF, rk4);
    assert_int_equal(s->integrator, GM_RK4);
    gm_sweep_destroy(&s);
}

static void files_that_are_not_yaml_get_line_and_column(void **state)
{
    (void)state;
    expect("", "dir/s.yaml:1:1: the sweep file is empty");
    expect("# nothing\n", "the sweep file is empty");
    expect("- a\n", "a sweep file must be a mapping (key: value); found a list");
    expect("model: [a\n",
           "dir/s.yaml:2:1: not YAML: did not find expected ',' or ']', while parsing "
           "a flow sequence that starts at line 1");
    expect("time:\n\tdt: 1\n", "dir/s.yaml:2:1: not YAML: a tab; indent with spaces");
    expect(LORENZ "---\n" LORENZ, "s.yaml:5:1: a second YAML document; one sweep per file");
    expect("model: a\ntime: \xFF\n", "dir/s.yaml:2:7: not plain UTF-8 text: invalid leading UTF-8");
    expect("model: a\nti\x01me: 1\n", "dir/s.yaml:2:3: not plain UTF-8 text: control characters");
    expect("a: &x 1\n", "s.yaml:1:4: YAML anchors (&), aliases (*) and tags (!) are not used");
    expect("a: *x\n", "anchors");
    expect("a: !!int 1\n", "anchors");
    expect("? [a]\n: 1\n", "a list or mapping cannot be a key");
    expect("a: \"x\\0y\"\n", "a text with a zero byte");
    expect("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "s.yaml:1:17: nested too deeply");
    expect(LORENZ "seed: 1\nseed: 2\n", "s.yaml:6:1: the key 'seed' is here twice; first at "
                                        "dir/s.yaml:5:1");
    expect(LORENZ "axes: {rho: [1], rho: [2]}\n", "the key 'rho' is here twice");
}

static void byte_order_mark_and_zero_bytes(void **state)
{
    (void)state;
    gm_sweep *s = parse("\xEF\xBB\xBF" LORENZ);
    gm_sweep_destroy(&s);
    gm_problems *problems = NULL;
    assert_int_equal(gm_problems_create(&problems), GM_OK);
    assert_int_equal(
        gm_sweep_parse("s.yaml", "a: 1\0b: 2", 9, NULL, 0, &fixture_catalog, problems, &s),
        GM_E_INPUT);
    assert_non_null(strstr(gm_problems_text(problems, 0), "s.yaml:1:5: not plain UTF-8 text"));
    gm_problems_destroy(&problems);
}

static void numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    static const char *const comma[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8"};
    const char *set = NULL;
    for (size_t i = 0; i < sizeof comma / sizeof *comma && !set; i++)
        set = setlocale(LC_NUMERIC, comma[i]);
    if (!set) {
        print_message("no locale with a decimal comma is installed here\n");
        skip();
    }
    gm_sweep *s = parse(LORENZ "parameters: {rho: 1.5}\n");
    assert_true(s->knob[1] == 1.5);
    gm_sweep_destroy(&s);
    setlocale(LC_NUMERIC, "C");
}

/* Every prefix of a sweep file is either a sweep or refused: nothing crashes, nothing leaks. */
static void cut_files_are_refused_or_read(void **state)
{
    (void)state;
    static const char text[] = WC "axes: {G: {linspace: [0, 1, 3]}, seed: [1, 2]}\n"
                                  "inputs: {p_e: {file: \"f\", step: 1, interpolation: hold}}\n";
    for (size_t n = 0; n < sizeof text; n++) {
        gm_problems *problems = NULL;
        gm_sweep *s = NULL;
        assert_int_equal(gm_problems_create(&problems), GM_OK);
        gm_status st =
            gm_sweep_parse("s", text, (int64_t)n, NULL, 0, &fixture_catalog, problems, &s);
        assert_true(st == (gm_problems_count(problems) ? GM_E_INPUT : GM_OK));
        assert_true((st == GM_OK) == (s != NULL));
        gm_sweep_destroy(&s);
        gm_problems_destroy(&problems);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_sweep_is_read),
        cmocka_unit_test(defaults_hold_where_the_file_is_silent),
        cmocka_unit_test(names_match_the_sweep_file),
        cmocka_unit_test(points_count_with_the_last_axis_fastest),
        cmocka_unit_test(zip_pairs_the_axes),
        cmocka_unit_test(axis_forms_give_their_values),
        cmocka_unit_test(axis_ends_are_exact),
        cmocka_unit_test(bad_axes_are_refused),
        cmocka_unit_test(repeated_values_are_refused_in_a_grid_only),
        cmocka_unit_test(words_of_other_programs_get_a_hint),
        cmocka_unit_test(bad_axis_is_named_with_its_line),
        cmocka_unit_test(unknown_keys_get_the_nearest_name),
        cmocka_unit_test(all_problems_are_reported_at_once),
        cmocka_unit_test(unknown_model_lists_the_known_ones),
        cmocka_unit_test(network_choices_must_be_spelled_out),
        cmocka_unit_test(spans_must_be_whole_steps),
        cmocka_unit_test(parameters_and_inputs_go_where_they_belong),
        cmocka_unit_test(record_names_are_checked),
        cmocka_unit_test(derived_quantities_are_recorded_where_they_are_named),
        cmocka_unit_test(derived_quantities_cannot_be_set),
        cmocka_unit_test(knob_set_in_two_places_is_a_problem),
        cmocka_unit_test(settings_replace_add_and_remove),
        cmocka_unit_test(bad_settings_are_refused),
        cmocka_unit_test(noise_is_on_where_an_amplitude_is_not_zero),
        cmocka_unit_test(negative_noise_and_noise_with_rk4_are_refused),
        cmocka_unit_test(files_that_are_not_yaml_get_line_and_column),
        cmocka_unit_test(byte_order_mark_and_zero_bytes),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(cut_files_are_refused_or_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/** What a sweep file may ask for: sections, defaults, what belongs where, and what is said about
 * the rest. */
#include "sweep_expect.h"

#include <math.h>
#include <stdio.h>

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

static bool only_jr_is_there(const char *path)
{
    return strcmp(path, "dir/jr.h") == 0;
}

static void expect_with_files(const char *name, const char *wanted)
{
    gm_problems *problems = NULL;
    gm_sweep *sweep = NULL;
    char text[128];
    gm_model_catalog catalog = fixture_catalog;
    catalog.has_file = only_jr_is_there;
    snprintf(text, sizeof text,
             "model: %s\nintegrator: rk4\nrecord: {last: all}\ntime: {dt: 1, duration: 1}\n", name);
    assert_int_equal(gm_problems_create(&problems), GM_OK);
    assert_int_equal(gm_sweep_parse("dir/s.yaml", text, (int64_t)strlen(text), NULL, 0, &catalog,
                                    problems, &sweep),
                     GM_E_INPUT);
    assert_int_equal(gm_problems_count(problems), 1);
    assert_string_equal(gm_problems_text(problems, 0), wanted);
    gm_problems_destroy(&problems);
}

static void a_header_beside_the_sweep_file_is_pointed_at(void **state)
{
    (void)state;
    expect_with_files("jr",
                      "dir/s.yaml:1:8: unknown model 'jr'; for the file beside it write ./jr.h; "
                      "the models are: wilson_cowan, hopf, lorenz63");
    expect_with_files("jx", "dir/s.yaml:1:8: unknown model 'jx'; the models are: wilson_cowan, "
                            "hopf, lorenz63");
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
        {"{dt: 1e-300, duration: 1e300}", "is inf steps of 1e-300; at most 1e12"},
        {"{dt: 1, duration: 1.000000000001e12}", "at most 1e12"},
        {"{dt: 0.333333, duration: 1}", "is not a whole number of steps of time.dt 0.333333"},
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

static void steps_are_counted_exactly(void **state)
{
    (void)state;
    static const struct {
        const char *time;
        int64_t n_step, n_transient, every;
    } good[] = {
        {"{dt: 0.1, duration: 0.3}", 3, 0, 1}, /* 2.9999999999999996 in doubles */
        {"{dt: 0.1, duration: 1.0e+8}", 1000000000, 0, 1000},
        {"{dt: 0.3333333333333333, duration: 1}", 3, 0, 3},
        {"{dt: 0.3333333333333333, duration: 1.0e+6, transient: 1.0e+5}", 3000000, 300000, 7},
        {"{dt: 1.0e-5, duration: 10, transient: 0.00001}", 1000000, 1, 999999},
        {"{dt: 1.0e-5, duration: 1.0e+7, transient: 9999999.99999}", 1000000000000, 999999999999,
         1},
        {"{dt: 1.0e-300, duration: 1.0e-288}", 1000000000000, 0, 500000000000},
    };
    char text[512];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(text, sizeof text,
                 "model: lorenz63\nintegrator: rk4\ntime: %s\nrecord: {trajectory: {variables: "
                 "[x], every: %lld}}\n",
                 good[i].time, (long long)good[i].every);
        gm_sweep *s = parse(text);
        assert_true(s->n_step == good[i].n_step && s->n_transient == good[i].n_transient);
        assert_true(gm_sweep_n_sample(s) == (good[i].n_step - good[i].n_transient) / good[i].every);
        gm_sweep_destroy(&s);
    }
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

static void all_may_stand_beside_names(void **state)
{
    (void)state;
    gm_sweep *s = parse_with(
        HOPF,
        (const char *const[]){"record={mean: [all, flow], max: [x, all], last: [all]}", NULL});
    assert_true(s->record[GM_MEAN][0] && s->record[GM_MEAN][1] && s->record[GM_MEAN][2]);
    assert_true(s->record[GM_MAX][0] && s->record[GM_MAX][1] && !s->record[GM_MAX][2]);
    assert_true(s->record[GM_LAST][0] && s->record[GM_LAST][1] && !s->record[GM_LAST][2]);
    gm_sweep_destroy(&s);
    expect_set(HOPF, "record={mean: [all, flow, all]}", "record.mean names all twice");
    expect_set(HOPF, "record={mean: [all, flow, flow]}", "record.mean names flow twice");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_sweep_is_read),
        cmocka_unit_test(defaults_hold_where_the_file_is_silent),
        cmocka_unit_test(names_match_the_sweep_file),
        cmocka_unit_test(all_problems_are_reported_at_once),
        cmocka_unit_test(unknown_model_lists_the_known_ones),
        cmocka_unit_test(a_header_beside_the_sweep_file_is_pointed_at),
        cmocka_unit_test(network_choices_must_be_spelled_out),
        cmocka_unit_test(spans_must_be_whole_steps),
        cmocka_unit_test(steps_are_counted_exactly),
        cmocka_unit_test(parameters_and_inputs_go_where_they_belong),
        cmocka_unit_test(record_names_are_checked),
        cmocka_unit_test(derived_quantities_are_recorded_where_they_are_named),
        cmocka_unit_test(all_may_stand_beside_names),
        cmocka_unit_test(derived_quantities_cannot_be_set),
        cmocka_unit_test(knob_set_in_two_places_is_a_problem),
        cmocka_unit_test(noise_is_on_where_an_amplitude_is_not_zero),
        cmocka_unit_test(negative_noise_and_noise_with_rk4_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

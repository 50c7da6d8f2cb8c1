/** A sweep file as text: YAML, encodings, unknown keys, and settings of the command line. */
#include "sweep_expect.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

static void unknown_keys_get_the_nearest_name(void **state)
{
    (void)state;
    expect(LORENZ "axis: {}\n", "dir/s.yaml:5:1: unknown key 'axis'; did you mean 'axes'? allowed "
                                "here: model, network, axes, design");
    expect(LORENZ "xyzzyx: 1\n", "unknown key 'xyzzyx'; allowed here: model");
    expect_set(LORENZ, "time.transiant=1",
               "--set time.transiant=1: time: unknown key 'transiant'; did you mean 'transient'?");
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
        cmocka_unit_test(unknown_keys_get_the_nearest_name),
        cmocka_unit_test(words_of_other_programs_get_a_hint),
        cmocka_unit_test(settings_replace_add_and_remove),
        cmocka_unit_test(bad_settings_are_refused),
        cmocka_unit_test(files_that_are_not_yaml_get_line_and_column),
        cmocka_unit_test(byte_order_mark_and_zero_bytes),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(cut_files_are_refused_or_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/** Inputs sampled in time, checks of data against the sweep, and the canonical text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "small_sweep.h"

static char input_path[] = "p.csv";
static char node_path[] = "mu.txt";

static gm_data *new_data(const small_sweep *s, int64_t n_node)
{
    gm_data *data = NULL;
    assert_int_equal(gm_data_create(&s->sweep, &data), GM_OK);
    data->n_node = n_node;
    return data;
}

/* Gives input 0 a signal of n_sample rows: sample[k][j] = k + 100 j. */
static void give_signal(small_sweep *s, gm_data *data, int64_t n_sample, int64_t n_column,
                        double step, gm_interpolation interpolation)
{
    double *sample = malloc((size_t)(n_sample * n_column) * sizeof *sample);
    assert_non_null(sample);
    for (int64_t k = 0; k < n_sample * n_column; k++)
        sample[k] = (double)(k / n_column) + 100.0 * (double)(k % n_column);
    free(data->signal[0].sample);
    data->signal[0] = (gm_signal){n_sample, n_column, sample};
    s->input[0].kind = GM_INPUT_FILE;
    s->input[0].source = (gm_source){input_path, 9, 4};
    s->input[0].step = step;
    s->input[0].interpolation = interpolation;
}

static void new_data_is_empty(void **state)
{
    (void)state;
    small_sweep s;
    small_sweep_fill(&s);
    gm_data *data = new_data(&s, 1);
    assert_null(data->weight);
    assert_null(data->label);
    for (int k = 0; k < gm_model_n_knob(&s.model); k++) assert_null(data->node_value[k]);
    for (int i = 0; i < SMALL_N_INPUT; i++) assert_int_equal(data->signal[i].n_sample, 0);
    assert_false(gm_data_input_varies(&s.sweep, data));
    gm_data_destroy(&data, &s.sweep);
    assert_null(data);
    gm_data_destroy(&data, &s.sweep);
}

static void constant_inputs_fill_every_node_and_step(void **state)
{
    (void)state;
    small_sweep s;
    small_sweep_fill(&s);
    gm_data *data = new_data(&s, 3);
    double out[3][SMALL_N_INPUT][3];
    s.input[0].constant = 1.5;
    s.input[1].constant = -2;
    gm_data_input(&s.sweep, data, 7, 2, &out[0][0][0]);
    for (int t = 0; t < 3; t++)
        for (int j = 0; j < 3; j++) {
            assert_true(out[t][0][j] == 1.5);
            assert_true(out[t][1][j] == -2);
        }
    gm_data_destroy(&data, &s.sweep);
}

static void hold_takes_the_sample_at_or_before_the_time(void **state)
{
    (void)state;
    small_sweep s;
    small_sweep_fill(&s);
    gm_data *data = new_data(&s, 2);
    double out[101][SMALL_N_INPUT][2];
    give_signal(&s, data, 20, 2, 0.5, GM_HOLD);
    assert_true(gm_data_input_varies(&s.sweep, data));
    gm_data_input(&s.sweep, data, 0, 100, &out[0][0][0]);
    for (int t = 0; t < 100; t++) {
        assert_true(out[t][0][0] == t / 5);
        assert_true(out[t][0][1] == 100 + t / 5);
    }
    assert_true(out[100][0][0] == 19); /* beyond the end the last one holds */
    gm_data_destroy(&data, &s.sweep);
}

static void linear_interpolates_and_ends_on_the_last_sample(void **state)
{
    (void)state;
    small_sweep s;
    small_sweep_fill(&s);
    gm_data *data = new_data(&s, 2);
    double out[101][SMALL_N_INPUT][2];
    give_signal(&s, data, 11, 2, 1, GM_LINEAR);
    gm_data_input(&s.sweep, data, 0, 100, &out[0][0][0]);
    for (int t = 0; t <= 100; t++) {
        if (t % 10 == 0) assert_true(out[t][0][0] == t / 10);
        assert_true(fabs(out[t][0][0] - 0.1 * t) < 1e-12);
        assert_true(fabs(out[t][0][1] - (100 + 0.1 * t)) < 1e-12);
    }
    gm_data_destroy(&data, &s.sweep);
}

static void one_column_reaches_every_node(void **state)
{
    (void)state;
    small_sweep s;
    small_sweep_fill(&s);
    gm_data *data = new_data(&s, 3);
    double out[2][SMALL_N_INPUT][3];
    give_signal(&s, data, 101, 1, 0.1, GM_HOLD);
    gm_data_input(&s.sweep, data, 42, 1, &out[0][0][0]);
    for (int j = 0; j < 3; j++) assert_true(out[0][0][j] == 42 && out[1][0][j] == 43);
    gm_data_destroy(&data, &s.sweep);
}

/* Steps of 0.1, 0.3, 1e-4: none is a binary fraction, and each time has to find its own sample. */
static void times_equal_up_to_rounding_take_their_sample(void **state)
{
    (void)state;
    static const double dt[] = {0.1, 0.3, 1e-4, 0.7};
    small_sweep s;
    small_sweep_fill(&s);
    gm_data *data = new_data(&s, 1);
    double out[2][SMALL_N_INPUT];
    for (int c = 0; c < 4; c++)
        for (int linear = 0; linear < 2; linear++) {
            s.sweep.dt = dt[c];
            give_signal(&s, data, 20001, 1, 10 * dt[c], linear ? GM_LINEAR : GM_HOLD);
            for (int64_t k = 0; k < 20000; k++) {
                gm_data_input(&s.sweep, data, 10 * k, 0, &out[0][0]);
                assert_true(out[0][0] == (double)k);
            }
        }
    gm_data_destroy(&data, &s.sweep);
}

static void chunks_of_any_length_give_the_same_inputs(void **state)
{
    (void)state;
    enum { N_STEP = 500, N_NODE = 3, ROW = SMALL_N_INPUT * N_NODE };
    small_sweep s;
    small_sweep_fill(&s);
    gm_data *data = new_data(&s, N_NODE);
    double *whole = calloc((size_t)(N_STEP + 1) * ROW, sizeof *whole);
    double *part = calloc((size_t)(N_STEP + 1) * ROW, sizeof *part);
    assert_true(whole && part);
    for (int linear = 0; linear < 2; linear++) {
        give_signal(&s, data, 70, N_NODE, 0.73, linear ? GM_LINEAR : GM_HOLD);
        gm_data_input(&s.sweep, data, 0, N_STEP, whole);
        for (int64_t chunk = 1; chunk < 60; chunk += 7)
            for (int64_t begin = 0; begin < N_STEP; begin += chunk) {
                int64_t n = begin + chunk < N_STEP ? chunk : N_STEP - begin;
                gm_data_input(&s.sweep, data, begin, n, part);
                assert_memory_equal(part, whole + begin * ROW, (size_t)((n + 1) * ROW) * 8);
            }
    }
    free(whole);
    free(part);
    gm_data_destroy(&data, &s.sweep);
}

/* What gm_data_check says of input 0 alone; "" when it has nothing to say. */
static void check_says(const small_sweep *s, const gm_data *data, const char *part)
{
    gm_problems *problems = NULL;
    assert_int_equal(gm_problems_create(&problems), GM_OK);
    gm_data_check(&s->sweep, data, problems);
    if (*part == '\0' && gm_problems_count(problems) > 0)
        fail_msg("%s", gm_problems_text(problems, 0));
    if (*part) {
        assert_int_equal(gm_problems_count(problems), 1);
        if (!has_problem(problems, part)) fail_msg("%s", gm_problems_text(problems, 0));
    }
    gm_problems_destroy(&problems);
}

static void input_has_to_last_as_long_as_the_run(void **state)
{
    (void)state;
    small_sweep s;
    small_sweep_fill(&s); /* 10 ms in 100 steps */
    gm_data *data = new_data(&s, 1);
    give_signal(&s, data, 100, 1, 0.1, GM_HOLD);
    check_says(&s, data, "");
    give_signal(&s, data, 99, 1, 0.1, GM_HOLD);
    check_says(&s, data,
               "sweep.yaml:9:4: input p: 'p.csv' lasts 9.9 ms (99 samples, one every 0.1 ms, "
               "hold), but the run lasts 10 ms and needs 100 samples");
    give_signal(&s, data, 101, 1, 0.1, GM_LINEAR);
    check_says(&s, data, "");
    give_signal(&s, data, 100, 1, 0.1, GM_LINEAR);
    check_says(&s, data,
               "lasts 9.9 ms (100 samples, one every 0.1 ms, linear), but the run lasts "
               "10 ms and needs 101 samples");
    give_signal(&s, data, 4, 1, 3, GM_LINEAR);
    check_says(&s, data, "needs 5 samples");
    give_signal(&s, data, 4, 1, 3, GM_HOLD);
    check_says(&s, data, "");
    give_signal(&s, data, 1, 1, 10, GM_HOLD);
    check_says(&s, data, "");
    gm_data_destroy(&data, &s.sweep);
}

static void input_columns_have_to_match_the_nodes(void **state)
{
    (void)state;
    small_sweep s;
    small_sweep_fill(&s);
    gm_data *data = new_data(&s, 5);
    give_signal(&s, data, 100, 5, 0.1, GM_HOLD);
    check_says(&s, data, "");
    give_signal(&s, data, 100, 1, 0.1, GM_HOLD);
    check_says(&s, data, "");
    give_signal(&s, data, 100, 4, 0.1, GM_HOLD);
    check_says(&s, data, "100 rows (times) x 4 columns (nodes), but there are 5 nodes");
    give_signal(&s, data, 5, 100, 0.1, GM_HOLD);
    check_says(&s, data, "are rows and columns swapped?");
    gm_data_destroy(&data, &s.sweep);
}

static void values_that_are_not_finite_are_named(void **state)
{
    (void)state;
    small_sweep s;
    small_sweep_fill(&s);
    gm_data *data = new_data(&s, 5);
    give_signal(&s, data, 100, 5, 0.1, GM_HOLD);
    data->signal[0].sample[13] = NAN;
    data->signal[0].sample[14] = INFINITY;
    check_says(&s, data, "row 3, column 4 is nan; 2 of 500 values are not finite");
    data->signal[0].sample[13] = data->signal[0].sample[14] = 0;
    data->node_value[2] = calloc(5, sizeof(double));
    assert_non_null(data->node_value[2]);
    s.node_file[2] = (gm_source){node_path, 11, 2};
    check_says(&s, data, "");
    data->node_value[2][1] = -INFINITY;
    check_says(&s, data, "sweep.yaml:11:2: values per node in 'mu.txt': value 2 is -inf; 1 of 5");
    gm_data_destroy(&data, &s.sweep);
}

static char *canonical(const small_sweep *s, const gm_data *data)
{
    char *text = NULL;
    assert_int_equal(gm_sweep_canonical(&s->sweep, data, &text), GM_OK);
    return text;
}

static void assert_line(const char *text, const char *line)
{
    const size_t n = strlen(line);
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (strncmp(at, line, n) == 0 && at[n] == '\n') return;
    fail_msg("no line '%s' in\n%s", line, text);
}

static void canonical_text_holds_the_request(void **state)
{
    (void)state;
    small_sweep s;
    small_sweep_fill(&s);
    gm_data *data = new_data(&s, 1);
    s.sweep.n_axis = 1;
    s.uniform[1] = (gm_uniform){true, 0, 0.05};
    s.record[GM_TRAJECTORY][0] = s.record[GM_TRAJECTORY][1] = true;
    s.sweep.every = 10;
    s.input[1].constant = 0.25;
    char *text = canonical(&s, data);
    assert_line(text, "model: small");
    assert_line(text, "precision: fp32");
    assert_line(text, "integrator: heun");
    assert_line(text, "time.dt: 0.1");
    assert_line(text, "time.n_step: 100");
    assert_line(text, "time.n_transient: 0");
    assert_line(text, "design: grid");
    assert_line(text, "axes.G: 3 values: 0 0.1 0.2");
    assert_line(text, "axes: G");
    assert_line(text, "seed: 0");
    assert_line(text, "parameters.tau: 2.5");
    assert_line(text, "parameters.G: axis");
    assert_line(text, "initial.E: 0.05");
    assert_line(text, "initial.I: uniform 0 0.05");
    assert_line(text, "inputs.q: 0.25");
    assert_line(text, "network.n_node: 1");
    assert_line(text, "network.weights: none");
    assert_line(text, "record.mean: E");
    assert_line(text, "record.trajectory: E I");
    assert_line(text, "record.every: 10");
    free(text);
    gm_data_destroy(&data, &s.sweep);
}

static void canonical_text_tells_the_order_of_the_axes(void **state)
{
    (void)state;
    small_sweep s;
    small_sweep_fill(&s);
    gm_data *data = new_data(&s, 1);
    char *none = canonical(&s, data);
    s.sweep.n_axis = 2;
    char *two = canonical(&s, data);
    const gm_axis first = s.axis[0];
    s.axis[0] = s.axis[1];
    s.axis[1] = first;
    char *swapped = canonical(&s, data);
    assert_line(none, "axes: none");
    assert_line(two, "axes: G, initial.E");
    assert_line(swapped, "axes: initial.E, G");
    assert_non_null(strstr(two, "axes.initial.E: 9 values from 0 to 0.8, hash "));
    assert_non_null(strstr(swapped, "axes.initial.E: 9 values from 0 to 0.8, hash "));
    free(none);
    free(two);
    free(swapped);
    gm_data_destroy(&data, &s.sweep);
}

static void canonical_lines_are_sorted(void **state)
{
    (void)state;
    small_sweep s;
    small_sweep_fill(&s);
    s.sweep.n_axis = 2;
    gm_data *data = new_data(&s, 1);
    char *text = canonical(&s, data);
    char *rest = text;
    const char *before = "";
    int n = 0;
    for (char *line; (line = strsep(&rest, "\n")) && *line; before = line, n++)
        assert_true(strcmp(before, line) <= 0);
    assert_true(n > 15);
    assert_true(rest == NULL); /* one newline at the end */
    free(text);
    gm_data_destroy(&data, &s.sweep);
}

static void canonical_text_changes_with_each_content_and_no_path(void **state)
{
    (void)state;
    static char label_a[] = "a";
    static char label_b[] = "b";
    static char *labels[] = {label_a, label_b};
    static double weight[] = {0, 1, 1, 0};
    static double node_value[] = {3, 4};
    small_sweep s;
    small_sweep_fill(&s);
    s.sweep.n_axis = 2;
    s.sweep.network.kind = GM_NETWORK_MATRIX;
    gm_data *data = new_data(&s, 2);
    data->weight = weight;
    data->label = labels;
    data->node_value[2] = node_value;
    give_signal(&s, data, 100, 2, 0.1, GM_HOLD);
    char *before = canonical(&s, data);
    s.input[0].source.path = node_path;
    s.sweep.output.path = input_path;
    char *same = canonical(&s, data);
    assert_string_equal(same, before);
    free(same);
    double *const content[] = {
        &weight[1],          &node_value[1],      &data->signal[0].sample[150],
        &s.axis_value[1][4], &s.axis_value[0][1], &s.sweep.dt};
    for (size_t i = 0; i < sizeof content / sizeof *content; i++) {
        double kept = *content[i];
        *content[i] = nextafter(kept, 10);
        char *other = canonical(&s, data);
        assert_string_not_equal(other, before);
        *content[i] = kept;
        free(other);
    }
    label_b[0] = 'c';
    char *other = canonical(&s, data);
    assert_string_not_equal(other, before);
    label_b[0] = 'b';
    free(other);
    free(before);
    data->weight = NULL;
    data->label = NULL;
    data->node_value[2] = NULL;
    gm_data_destroy(&data, &s.sweep);
}

static void canonical_text_does_not_depend_on_the_locale(void **state)
{
    (void)state;
    small_sweep s;
    small_sweep_fill(&s);
    gm_data *data = new_data(&s, 1);
    char *before = canonical(&s, data);
    bool comma = setlocale(LC_NUMERIC, "de_DE.UTF-8") || setlocale(LC_NUMERIC, "fr_FR.UTF-8");
    char *after = canonical(&s, data);
    setlocale(LC_NUMERIC, "C");
    int order = strcmp(before, after);
    free(before);
    free(after);
    gm_data_destroy(&data, &s.sweep);
    if (!comma) {
        print_message("skipped: no locale with a decimal comma is installed\n");
        skip();
    }
    assert_int_equal(order, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_data_is_empty),
        cmocka_unit_test(constant_inputs_fill_every_node_and_step),
        cmocka_unit_test(hold_takes_the_sample_at_or_before_the_time),
        cmocka_unit_test(linear_interpolates_and_ends_on_the_last_sample),
        cmocka_unit_test(one_column_reaches_every_node),
        cmocka_unit_test(times_equal_up_to_rounding_take_their_sample),
        cmocka_unit_test(chunks_of_any_length_give_the_same_inputs),
        cmocka_unit_test(input_has_to_last_as_long_as_the_run),
        cmocka_unit_test(input_columns_have_to_match_the_nodes),
        cmocka_unit_test(values_that_are_not_finite_are_named),
        cmocka_unit_test(canonical_text_holds_the_request),
        cmocka_unit_test(canonical_text_tells_the_order_of_the_axes),
        cmocka_unit_test(canonical_lines_are_sorted),
        cmocka_unit_test(canonical_text_changes_with_each_content_and_no_path),
        cmocka_unit_test(canonical_text_does_not_depend_on_the_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

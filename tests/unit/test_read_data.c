/** gm_read_data: whole networks, labels, values per node and inputs, and what does not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <sys/stat.h>

#include "io/reader.h"
#include "scratch.h"
#include "small_sweep.h"

/* The sweep under test: a matrix "w.csv" and whatever the test adds. */
static void fill_sweep(small_sweep *s)
{
    small_sweep_fill(s);
    s->sweep.network = (gm_network_spec){.kind = GM_NETWORK_MATRIX, .keep_self = true};
    s->sweep.network.weights = (gm_source){strdup(at("w.csv")), 7, 12};
}

static void clear_sweep(small_sweep *s)
{
    free(s->sweep.network.weights.path);
    free(s->sweep.network.labels.path);
    for (int k = 0; k < SMALL_N_PARAM + SMALL_N_STATE; k++) free(s->node_file[k].path);
    for (int i = 0; i < SMALL_N_INPUT; i++) free(s->input[i].source.path);
}

static gm_data *read_good(const small_sweep *s)
{
    gm_problems *problems = NULL;
    gm_data *data = NULL;
    assert_int_equal(gm_problems_create(&problems), GM_OK);
    if (gm_read_data(&s->sweep, problems, &data) != GM_OK) fail_msg("%s", gm_status_message());
    assert_int_equal(gm_problems_count(problems), 0);
    gm_problems_destroy(&problems);
    return data;
}

static void assert_data_refused(const small_sweep *s, int n_problem, const char *const *part)
{
    gm_problems *problems = NULL;
    gm_data *data = NULL;
    assert_int_equal(gm_problems_create(&problems), GM_OK);
    assert_int_equal(gm_read_data(&s->sweep, problems, &data), GM_E_INPUT);
    assert_null(data);
    if (gm_problems_count(problems) != n_problem) fail_msg("%s", gm_status_message());
    for (int i = 0; i < n_problem; i++)
        if (!has_problem(problems, part[i]))
            fail_msg("no '%s' in %s", part[i], gm_status_message());
    gm_problems_destroy(&problems);
}

static void assert_data_fault(const small_sweep *s, const char *part)
{
    assert_data_refused(s, 1, &part);
}

static void everything_a_sweep_names_is_read(void **state)
{
    (void)state;
    small_sweep s;
    fill_sweep(&s);
    s.sweep.network.rows_are_source = true;
    put_text("w.csv", "0 1 2\n3 4 5\n6 7 8\n");
    put_text("labels.txt", "# names\nleft\n\n\"middle, upper\"\r\nright #2\n");
    s.sweep.network.labels = (gm_source){strdup(path), 8, 12};
    put_text("mu.txt", "1,2,3\n");
    s.node_file[2] = (gm_source){strdup(path), 9, 1};
    put_text("e.txt", "4\n5\n6\n");
    s.node_file[3] = (gm_source){strdup(path), 9, 1};
    put_text("p.txt", "1 2 3\n4 5 6\n");
    s.input[1] = (gm_input_spec){.kind = GM_INPUT_FILE,
                                 .source = {strdup(path), 10, 1},
                                 .step = 5,
                                 .interpolation = GM_HOLD};
    gm_data *data = read_good(&s);
    assert_int_equal(data->n_node, 3);
    assert_true(data->weight[1] == 3 && data->weight[3] == 1);
    assert_string_equal(data->label[0], "left");
    assert_string_equal(data->label[1], "middle, upper");
    assert_string_equal(data->label[2], "right #2");
    assert_true(data->node_value[2][2] == 3 && data->node_value[3][2] == 6);
    assert_null(data->node_value[0]);
    assert_int_equal(data->signal[1].n_sample, 2);
    assert_int_equal(data->signal[1].n_column, 3);
    assert_true(data->signal[1].sample[5] == 6);
    assert_int_equal(data->signal[0].n_sample, 0);
    gm_data_destroy(&data, &s.sweep);
    clear_sweep(&s);
}

static void single_node_needs_no_network(void **state)
{
    (void)state;
    small_sweep s;
    small_sweep_fill(&s);
    gm_data *data = read_good(&s);
    assert_int_equal(data->n_node, 1);
    assert_true(data->weight && data->weight[0] == 0);
    gm_data_destroy(&data, &s.sweep);
    s.model.n_coupling = 0;
    data = read_good(&s);
    assert_int_equal(data->n_node, 1);
    assert_null(data->weight);
    gm_data_destroy(&data, &s.sweep);
}

static void uncoupled_model_takes_no_network(void **state)
{
    (void)state;
    small_sweep s;
    put_text("w.csv", "0 1\n1 0\n");
    fill_sweep(&s);
    s.model.n_coupling = 0;
    assert_data_fault(&s, "sweep.yaml:7:12: model small has no couplings");
    clear_sweep(&s);
}

static void matrix_has_to_be_square_and_finite(void **state)
{
    (void)state;
    small_sweep s;
    fill_sweep(&s);
    put_text("w.csv", "0 1 2\n3 4 5\n");
    assert_data_fault(&s, "holds 2 rows x 3 columns, expected as many rows as columns (is there a "
                          "column of row numbers?)");
    put_text("w.csv", "0 1\n3 4\n5 6\n");
    assert_data_fault(&s, "holds 3 rows x 2 columns, expected as many rows as columns");
    put_text("w.csv", "0 1\nnan 0\n");
    assert_data_fault(&s, "row 2, column 1 is nan; 1 of 4 entries are not finite");
    clear_sweep(&s);
}

static void labels_have_to_fit(void **state)
{
    (void)state;
    small_sweep s;
    fill_sweep(&s);
    put_text("w.csv", "0 1\n1 0\n");
    put_text("labels.csv", "a,b,c\n");
    s.sweep.network.labels = (gm_source){strdup(path), 8, 12};
    assert_data_fault(&s, "labels.csv' holds 3 labels for 2 nodes");
    put_text("labels.csv", "a,a\n");
    assert_data_fault(&s, "labels.csv:1:2: label 'a' is also field 1");
    put_text("labels.csv", "a\n\na\n");
    assert_data_fault(&s, "labels.csv:3: label 'a' also stands in line 1");
    put_text("labels.csv", "1,a\n2,b\n");
    assert_data_fault(&s, "labels.csv:1: a comma between labels");
    put_text("labels.csv", "a,,b\n");
    assert_data_fault(&s, "labels.csv:1:2: empty label");
    put_text("labels.csv", "a\nBr\xfc"
                           "cke\n");
    assert_data_fault(&s, "labels.csv:2: label is not plain text in UTF-8");
    put_text("labels.csv", "a\nBr\xc3\xbc"
                           "cke\n");
    gm_data *data = read_good(&s);
    assert_string_equal(data->label[1], "Br\xc3\xbc"
                                        "cke");
    gm_data_destroy(&data, &s.sweep);
    clear_sweep(&s);
}

static void values_per_node_have_to_fit(void **state)
{
    (void)state;
    small_sweep s;
    fill_sweep(&s);
    put_text("w.csv", "0 1\n1 0\n");
    put_text("mu.txt", "1\n2\n3\n");
    s.node_file[2] = (gm_source){strdup(path), 9, 1};
    assert_data_fault(&s, "mu.txt' holds 3 rows x 1 columns, expected one number per node: 2 x 1 "
                          "or 1 x 2");
    put_text("mu.txt", "1\ninf\n");
    assert_data_fault(&s, "mu.txt': value 2 is inf; 1 of 2 are not finite");
    clear_sweep(&s);
}

static void faults_of_all_files_are_reported_at_once(void **state)
{
    (void)state;
    small_sweep s;
    fill_sweep(&s);
    put_text("w.csv", "0 1\n1 x\n");
    put_text("labels.csv", "a,a\n");
    s.sweep.network.labels = (gm_source){strdup(path), 8, 12};
    s.node_file[2] = (gm_source){strdup(at("none.txt")), 9, 1};
    put_text("p.txt", "1\n2\n");
    s.input[0] = (gm_input_spec){.kind = GM_INPUT_FILE,
                                 .source = {strdup(path), 10, 1},
                                 .step = 1,
                                 .interpolation = GM_HOLD};
    static const char *const part[] = {"w.csv:2:2: 'x' is not a number", "label 'a' is also",
                                       "none.txt': No such file", "lasts 2 ms (2 samples"};
    assert_data_refused(&s, 4, part);
    clear_sweep(&s);
}

static void tvb_folder_is_read_and_checked(void **state)
{
    (void)state;
    small_sweep s;
    fill_sweep(&s);
    s.sweep.network.kind = GM_NETWORK_TVB;
    free(s.sweep.network.weights.path);
    assert_int_equal(mkdir(at("tvb"), 0700), 0);
    s.sweep.network.weights.path = strdup(path);
    put_text("tvb/weights.txt", "0 1\n2 0\n");
    assert_data_fault(&s, "tvb/centres.txt': No such file");
    put_text("tvb/centres.txt", "rA1 1.5 2 3\nrA2 -1 -2 -3\n");
    gm_data *data = read_good(&s);
    assert_int_equal(data->n_node, 2);
    assert_string_equal(data->label[1], "rA2");
    gm_data_destroy(&data, &s.sweep);
    put_text("tvb/tract_lengths.txt", "0 1 2\n1 0 2\n2 2 0\n");
    assert_data_fault(&s, "tvb/tract_lengths.txt' holds 3 x 3 lengths for 2 nodes");
    put_text("tvb/tract_lengths.txt", "0 1\n1 0\n");
    put_text("tvb/centres.txt", "rA1 1.5 2 3\nrA2 -1 -2\n");
    assert_data_fault(&s, "tvb/centres.txt:2: expected a label and three numbers");
    put_text("tvb/centres.txt", "rA1 1.5 2 3\n");
    assert_data_fault(&s, "tvb/centres.txt' holds 1 label for 2 nodes");
    free(s.sweep.network.weights.path);
    s.sweep.network.weights.path = strdup(at("tvb.zip"));
    assert_data_fault(&s, "sweep.yaml:7:12: no folder '");
    clear_sweep(&s);
}

/* Reads one of the real connectomes; labels NULL: none. */
static gm_data *read_connectome(small_sweep *s, gm_network_kind kind, const char *weights,
                                const char *labels)
{
    const char *root = getenv("GM_CONNECTOMES");
    small_sweep_fill(s);
    s->sweep.network.kind = kind;
    s->sweep.network.normalisation = GM_NORM_SPECTRAL;
    snprintf(path, sizeof path, "%s/%s", root, weights);
    s->sweep.network.weights.path = strdup(path);
    snprintf(path, sizeof path, "%s/%s", root, labels ? labels : "");
    if (labels) s->sweep.network.labels.path = strdup(path);
    return read_good(s);
}

static void real_connectomes_are_read(void **state)
{
    (void)state;
    static const struct {
        gm_network_kind kind;
        int n_node;
        const char *weights, *labels, *last_label;
    } c[] = {
        {GM_NETWORK_MATRIX, 68, "enigma_dk68/weights.csv", "enigma_dk68/labels.csv", "R_insula"},
        {GM_NETWORK_MATRIX, 100, "enigma_schaefer100/weights.csv", NULL, NULL},
        {GM_NETWORK_MATRIX, 360, "enigma_glasser360/weights.csv", NULL, NULL},
        {GM_NETWORK_TVB, 68, "tvb_68", NULL, "l_insula"},
        {GM_NETWORK_TVB, 76, "tvb_76", NULL, "lCC"},
    };
    if (!getenv("GM_CONNECTOMES")) {
        print_message("skipped: GM_CONNECTOMES names no folder of connectomes\n");
        skip();
    }
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        small_sweep s;
        double radius = 0;
        gm_data *data = read_connectome(&s, c[i].kind, c[i].weights, c[i].labels);
        assert_int_equal(data->n_node, c[i].n_node);
        if (c[i].last_label)
            assert_string_equal(data->label[data->n_node - 1], c[i].last_label);
        else
            assert_null(data->label);
        for (int64_t k = 0; k < data->n_node; k++)
            assert_true(data->weight[k * (data->n_node + 1)] == 0);
        assert_int_equal(gm_spectral_radius(data->n_node, data->weight, &radius), GM_OK);
        assert_true(fabs(radius - 1) < 1e-10);
        gm_data_destroy(&data, &s.sweep);
        clear_sweep(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_a_sweep_names_is_read),
        cmocka_unit_test(single_node_needs_no_network),
        cmocka_unit_test(uncoupled_model_takes_no_network),
        cmocka_unit_test(matrix_has_to_be_square_and_finite),
        cmocka_unit_test(labels_have_to_fit),
        cmocka_unit_test(values_per_node_have_to_fit),
        cmocka_unit_test(faults_of_all_files_are_reported_at_once),
        cmocka_unit_test(tvb_folder_is_read_and_checked),
        cmocka_unit_test(real_connectomes_are_read),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

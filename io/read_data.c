/** gm_read_data: everything a sweep names, read and held against each other. A fault in one file
 *  does not stop the reading of the others, so that all faults are reported at once. */
#include "io/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** What the steps below share. */
typedef struct reading {
    const gm_sweep *sweep;
    gm_problems *problems;
    gm_data *data; /* n_node is 0 when the network could not be read */
} reading;

/* A bad file is in the problems already; reading goes on. */
static gm_status unless_bad_input(gm_status st)
{
    return st == GM_E_INPUT ? GM_OK : st;
}

static gm_place place_of(const reading *r, const gm_source *source)
{
    return (gm_place){r->sweep->path, source->line, source->column};
}

static gm_status join_path(const char *folder, const char *name, char **out)
{
    size_t n = strlen(folder);
    const char *slash = n > 0 && folder[n - 1] == '/' ? "" : "/";
    if (asprintf(out, "%s%s%s", folder, slash, name) >= 0) return GM_OK;
    *out = NULL;
    return GM_FAIL(GM_E_MEMORY, "out of memory");
}

/* Read a table that has to be square. */
static gm_status read_square(const reading *r, const gm_source *source, gm_table *out)
{
    gm_status st = GM_OK;
    gm_table table = {0};
    GM_TRY(st, gm_read_table(r->sweep->path, source, NULL, r->problems, &table));
    if (table.n_row != table.n_column) {
        gm_problems_add(r->problems, place_of(r, source),
                        "'%s' holds %lld rows x %lld columns, expected as many rows as columns%s",
                        source->path, (long long)table.n_row, (long long)table.n_column,
                        table.n_column == table.n_row + 1 ? " (is there a column of row numbers?)"
                                                          : "");
        st = GM_E_INPUT;
        goto cleanup;
    }
    *out = table, table = (gm_table){0};
cleanup:
    gm_table_clear(&table);
    return st;
}

static gm_status read_weights(reading *r, const gm_source *source)
{
    gm_status st = GM_OK;
    gm_table table = {0};
    gm_network_spec spec = r->sweep->network;
    r->data->n_node = 0;
    GM_TRY(st, unless_bad_input(read_square(r, source, &table)));
    if (!table.value) goto cleanup;
    r->data->n_node = table.n_row;
    r->data->weight = table.value;
    spec.weights = *source;
    gm_network_prepare(&spec, table.n_row, table.value, r->sweep->path, r->problems);
cleanup:
    return st;
}

/* Labels of the network as read; with an unknown number of nodes only their own faults are found.
 */
static gm_status read_labels(reading *r, gm_place named, const char *path, bool is_centres)
{
    gm_status st = GM_OK;
    char **label = NULL;
    int64_t n = r->data->n_node > 0 ? r->data->n_node : -1;
    st = is_centres ? gm_read_centres(named, path, n, r->problems, &label)
                    : gm_read_labels(named, path, n, r->problems, &label);
    if (label) {
        gm_labels_destroy(&r->data->label, r->data->n_node);
        r->data->label = label;
    }
    return unless_bad_input(st);
}

/* Lengths are not used: they have to fit, so that a mixed-up folder is found. */
static gm_status check_tract_lengths(const reading *r, const gm_source *source)
{
    gm_status st = GM_OK;
    gm_table table = {0};
    GM_TRY(st, unless_bad_input(read_square(r, source, &table)));
    if (table.value && r->data->n_node > 0 && table.n_row != r->data->n_node)
        gm_problems_add(r->problems, place_of(r, source),
                        "'%s' holds %lld x %lld lengths for %lld "
                        "nodes",
                        source->path, (long long)table.n_row, (long long)table.n_column,
                        (long long)r->data->n_node);
cleanup:
    gm_table_clear(&table);
    return st;
}

static gm_status read_tvb(reading *r)
{
    gm_status st = GM_OK;
    const gm_source *folder = &r->sweep->network.weights;
    gm_place named = place_of(r, folder);
    gm_source weights = *folder;
    gm_source lengths = *folder;
    char *centres = NULL;
    struct stat info;
    if (stat(folder->path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        gm_problems_add(r->problems, named,
                        "no folder '%s' (expected one that holds weights.txt "
                        "and centres.txt; a zip file has to be unpacked)",
                        folder->path);
        r->data->n_node = 0;
        return GM_OK;
    }
    weights.path = lengths.path = NULL;
    GM_TRY(st, join_path(folder->path, "weights.txt", &weights.path));
    GM_TRY(st, join_path(folder->path, "centres.txt", &centres));
    GM_TRY(st, join_path(folder->path, "tract_lengths.txt", &lengths.path));
    GM_TRY(st, read_weights(r, &weights));
    GM_TRY(st, read_labels(r, named, centres, true));
    if (access(lengths.path, F_OK) == 0) GM_TRY(st, check_tract_lengths(r, &lengths));
cleanup:
    free(weights.path);
    free(lengths.path);
    free(centres);
    return st;
}

static gm_status read_network(reading *r)
{
    gm_status st = GM_OK;
    const gm_network_spec *spec = &r->sweep->network;
    bool coupled = r->sweep->model->n_coupling > 0;
    if (!coupled && spec->kind != GM_NETWORK_NONE) {
        gm_problems_add(r->problems, place_of(r, &spec->weights),
                        "model %s has no couplings, so it takes no network", r->sweep->model->name);
        return GM_OK;
    }
    switch (spec->kind) {
    case GM_NETWORK_MATRIX: GM_TRY(st, read_weights(r, &spec->weights)); break;
    case GM_NETWORK_TVB: GM_TRY(st, read_tvb(r)); break;
    case GM_NETWORK_NONE:
        if (!coupled) break;
        r->data->weight = calloc(1, sizeof *r->data->weight);
        if (!r->data->weight) return GM_FAIL(GM_E_MEMORY, "out of memory");
        break;
    }
    if (spec->labels.path)
        GM_TRY(st, read_labels(r, place_of(r, &spec->labels), spec->labels.path, false));
cleanup:
    return st;
}

/* One row or one column: a number per node. */
static gm_status read_node_value(reading *r, int knob)
{
    gm_status st = GM_OK;
    gm_table table = {0};
    const gm_source *source = &r->sweep->node_file[knob];
    int64_t n = r->data->n_node;
    GM_TRY(st, unless_bad_input(gm_read_table(r->sweep->path, source, NULL, r->problems, &table)));
    if (!table.value || n == 0) goto cleanup;
    bool is_column = table.n_row == n && table.n_column == 1;
    bool is_row = table.n_row == 1 && table.n_column == n;
    if (!is_column && !is_row) {
        gm_problems_add(r->problems, place_of(r, source),
                        "'%s' holds %lld rows x %lld columns, expected one number per node: "
                        "%lld x 1 or 1 x %lld",
                        source->path, (long long)table.n_row, (long long)table.n_column,
                        (long long)n, (long long)n);
        goto cleanup;
    }
    r->data->node_value[knob] = table.value, table.value = NULL;
cleanup:
    gm_table_clear(&table);
    return st;
}

static gm_status read_input(reading *r, int input)
{
    gm_status st = GM_OK;
    gm_table table = {0};
    const gm_input_spec *spec = &r->sweep->input[input];
    GM_TRY(st, unless_bad_input(gm_read_table(r->sweep->path, &spec->source, spec->dataset,
                                              r->problems, &table)));
    if (table.value) r->data->signal[input] = (gm_signal){table.n_row, table.n_column, table.value};
cleanup:
    return st;
}

gm_status gm_read_data(const gm_sweep *sweep, gm_problems *problems, gm_data **out)
{
    gm_status st = GM_OK;
    int n_before = gm_problems_count(problems);
    reading r = {sweep, problems, NULL};
    *out = NULL;
    GM_TRY(st, gm_data_create(sweep, &r.data));
    GM_TRY(st, read_network(&r));
    for (int k = 0; k < gm_model_n_knob(sweep->model); k++)
        if (sweep->node_file[k].path) GM_TRY(st, read_node_value(&r, k));
    for (int i = 0; i < sweep->model->n_input; i++)
        if (sweep->input[i].kind == GM_INPUT_FILE) GM_TRY(st, read_input(&r, i));
    gm_data_check(sweep, r.data, problems);
    if (gm_problems_count(problems) > n_before) GM_TRY(st, gm_problems_status(problems));
    *out = r.data, r.data = NULL;
cleanup:
    gm_data_destroy(&r.data, sweep);
    return st;
}

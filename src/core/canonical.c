/** A sweep and its data as sorted "key: value" lines: equal texts compute equal results.
 *
 *  Contents of files enter as hashes; where the files lie, and where the result goes, does not. */
#include "core/data.h"
#include "core/hash.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES_SHOWN = 8 };

static void put_hash(FILE *out, gm_hash hash)
{
    char text[GM_HASH_TEXT_SIZE];
    gm_hash_format(hash, text);
    fprintf(out, "hash %s", text);
}

/* The shortest text that reads back as the same number: 0.1 and not 0.10000000000000001. */
static void put_number(FILE *out, double value)
{
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value + 0.0); /* -0 becomes 0 */
        if (strtod(text, NULL) == value) break;
    }
    fputs(text, out);
}

static void put_array_hash(FILE *out, const double *value, int64_t n)
{
    gm_hash hash = gm_hash_begin();
    gm_hash_add_double(&hash, value, n);
    put_hash(out, hash);
}

static void put_general(FILE *out, const gm_sweep *sweep)
{
    fprintf(out, "model: %s\n", sweep->model->name);
    if (sweep->model->text) /* a file of the user's, which may change; the built-in ones do not */
        fprintf(out, "model.header: hash %s\n", sweep->model->source_hash);
    fprintf(out, "precision: %s\n", gm_precision_name(sweep->precision));
    fprintf(out, "integrator: %s\n", gm_integrator_name(sweep->integrator));
    fputs("time.dt: ", out);
    put_number(out, sweep->dt);
    fputc('\n', out);
    fprintf(out, "time.n_step: %lld\n", (long long)sweep->n_step);
    fprintf(out, "time.n_transient: %lld\n", (long long)sweep->n_transient);
    fprintf(out, "design: %s\n", sweep->design == GM_DESIGN_GRID ? "grid" : "zip");
    fprintf(out, "seed: %llu\n", (unsigned long long)sweep->seed);
}

static void put_axis(FILE *out, const gm_axis *axis)
{
    fprintf(out, "axes.%s: %lld value%s", axis->name, (long long)axis->n, axis->n == 1 ? "" : "s");
    if (axis->n <= MAX_VALUES_SHOWN) {
        for (int64_t k = 0; k < axis->n; k++) {
            fputs(k == 0 ? ": " : " ", out);
            put_number(out, axis->value[k]);
        }
    } else {
        fputs(" from ", out);
        put_number(out, axis->value[0]);
        fputs(" to ", out);
        put_number(out, axis->value[axis->n - 1]);
        fputs(", ", out);
        put_array_hash(out, axis->value, axis->n);
    }
    fputc('\n', out);
}

/* Their order decides which varies fastest, so it is a setting of its own. */
static void put_axes(FILE *out, const gm_sweep *sweep)
{
    fputs("axes: ", out);
    for (int i = 0; i < sweep->n_axis; i++)
        fprintf(out, "%s%s", i == 0 ? "" : ", ", sweep->axis[i].name);
    fputs(sweep->n_axis == 0 ? "none\n" : "\n", out);
    for (int i = 0; i < sweep->n_axis; i++) put_axis(out, &sweep->axis[i]);
}

/* The word for where a knob's value comes from, in order of precedence: axis, file, distribution,
 * number. */
static void put_knob(FILE *out, const gm_sweep *sweep, const gm_data *data, int knob)
{
    int state = knob - sweep->model->n_param;
    if (state < 0)
        fprintf(out, "parameters.%s: ", sweep->model->param[knob].name);
    else
        fprintf(out, "initial.%s: ", sweep->model->state[state].name);
    bool swept = false;
    for (int i = 0; i < sweep->n_axis; i++)
        swept |= sweep->axis[i].kind == GM_AXIS_KNOB && sweep->axis[i].knob == knob;
    if (swept) {
        fputs("axis", out);
    } else if (data->node_value[knob]) {
        fputs("one value per node, ", out);
        put_array_hash(out, data->node_value[knob], data->n_node);
    } else if (state >= 0 && sweep->uniform[state].on) {
        fputs("uniform ", out);
        put_number(out, sweep->uniform[state].low);
        fputc(' ', out);
        put_number(out, sweep->uniform[state].high);
    } else {
        put_number(out, sweep->knob[knob]);
    }
    fputc('\n', out);
}

static void put_network(FILE *out, const gm_sweep *sweep, const gm_data *data)
{
    static const char *const normalisation[] = {
        [GM_NORM_NONE] = "none",
        [GM_NORM_MAXIMUM] = "maximum",
        [GM_NORM_ROW] = "row",
        [GM_NORM_SPECTRAL] = "spectral",
    };
    static const char *const symmetry[] = {
        [GM_SYMMETRIC_AS_IS] = "as_is",
        [GM_SYMMETRIC_REQUIRED] = "required",
        [GM_SYMMETRIC_AVERAGED] = "averaged",
    };
    const gm_network_spec *spec = &sweep->network;
    fprintf(out, "network.n_node: %lld\n", (long long)data->n_node);
    if (data->label) {
        gm_hash hash = gm_hash_begin();
        for (int64_t i = 0; i < data->n_node; i++) gm_hash_add_text(&hash, data->label[i]);
        fprintf(out, "network.labels: %lld labels, ", (long long)data->n_node);
        put_hash(out, hash);
        fputc('\n', out);
    } else {
        fputs("network.labels: none\n", out);
    }
    if (!data->weight || spec->kind == GM_NETWORK_NONE) {
        fputs("network.weights: none\n", out);
        return;
    }
    fprintf(out, "network.weights: %lld x %lld numbers, ", (long long)data->n_node,
            (long long)data->n_node);
    put_array_hash(out, data->weight, data->n_node * data->n_node);
    fprintf(out, "\nnetwork.normalise: %s\n", normalisation[spec->normalisation]);
    fprintf(out, "network.symmetric: %s\n", symmetry[spec->symmetry]);
    fprintf(out, "network.self_connections: %s\n", spec->keep_self ? "keep" : "drop");
}

static void put_input(FILE *out, const gm_sweep *sweep, const gm_data *data, int i)
{
    const gm_input_spec *spec = &sweep->input[i];
    const gm_signal *signal = &data->signal[i];
    fprintf(out, "inputs.%s: ", sweep->model->input[i].name);
    if (signal->n_sample == 0) {
        put_number(out, spec->constant);
        fputc('\n', out);
        return;
    }
    fprintf(out, "%lld x %lld samples, step ", (long long)signal->n_sample,
            (long long)signal->n_column);
    put_number(out, spec->step);
    fputs(spec->interpolation == GM_LINEAR ? ", linear, " : ", hold, ", out);
    put_array_hash(out, signal->sample, signal->n_sample * signal->n_column);
    fputc('\n', out);
}

static void put_record(FILE *out, const gm_sweep *sweep)
{
    for (int o = 0; o < GM_N_OBSERVABLE; o++) {
        int n = 0;
        for (int q = 0; q < gm_model_n_quantity(sweep->model); q++) {
            if (!sweep->record[o][q]) continue;
            if (n++ == 0) fprintf(out, "record.%s:", gm_observable_name((gm_observable)o));
            fprintf(out, " %s", gm_model_quantity(sweep->model, q)->name);
        }
        if (n > 0) fputc('\n', out);
        if (n > 0 && o == GM_TRAJECTORY)
            fprintf(out, "record.every: %lld\n", (long long)sweep->every);
    }
}

static void put_all(FILE *out, const gm_sweep *sweep, const gm_data *data)
{
    put_general(out, sweep);
    put_axes(out, sweep);
    for (int k = 0; k < gm_model_n_knob(sweep->model); k++) put_knob(out, sweep, data, k);
    put_network(out, sweep, data);
    for (int i = 0; i < sweep->model->n_input; i++) put_input(out, sweep, data, i);
    put_record(out, sweep);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sort the lines of text (each ends in a newline); the result has the same length. */
static gm_status sort_lines(const char *text, char **out)
{
    gm_status st = GM_OK;
    size_t n = 0;
    for (const char *c = text; *c; c++) n += *c == '\n';
    char *copy = strdup(text);
    char *sorted = malloc(strlen(text) + 1);
    char **line = malloc((n + 1) * sizeof *line);
    if (!copy || !sorted || !line) {
        st = GM_FAIL(GM_E_MEMORY, "out of memory");
        goto cleanup;
    }
    char *rest = copy;
    for (size_t i = 0; i < n; i++) line[i] = strsep(&rest, "\n");
    qsort(line, n, sizeof *line, by_text);
    char *end = sorted;
    for (size_t i = 0; i < n; i++) {
        end = stpcpy(end, line[i]);
        *end++ = '\n';
    }
    *end = '\0';
    *out = sorted, sorted = NULL;
cleanup:
    free(line);
    free(sorted);
    free(copy);
    return st;
}

gm_status gm_sweep_canonical(const gm_sweep *sweep, const gm_data *data, char **out)
{
    gm_status st = GM_OK;
    char *text = NULL;
    size_t n_byte = 0;
    FILE *stream = NULL;
    locale_t plain = newlocale(LC_ALL_MASK, "C", NULL); /* a decimal point, whatever was set */
    locale_t before = NULL;
    *out = NULL;
    if (plain) before = uselocale(plain);
    stream = open_memstream(&text, &n_byte);
    if (!plain || !stream) {
        st = GM_FAIL(GM_E_MEMORY, "out of memory");
        goto cleanup;
    }
    put_all(stream, sweep, data);
    bool failed = ferror(stream) != 0;
    failed |= fclose(stream) != 0;
    stream = NULL;
    if (failed) {
        st = GM_FAIL(GM_E_MEMORY, "out of memory");
        goto cleanup;
    }
    GM_TRY(st, sort_lines(text, out));
cleanup:
    if (stream) fclose(stream);
    if (before) uselocale(before);
    if (plain) freelocale(plain);
    free(text);
    return st;
}

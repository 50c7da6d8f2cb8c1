/** Loaded data of a sweep: its life, its checks against the sweep, and the sampling of inputs in
 * time. */
#include "core/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NODE = 65535 }; /* random numbers are counted by 16 bits of node */

gm_status gm_data_create(const gm_sweep *sweep, gm_data **out)
{
    gm_status st = GM_OK;
    size_t n_knob = (size_t)gm_model_n_knob(sweep->model);
    size_t n_input = (size_t)sweep->model->n_input;
    gm_data *data = calloc(1, sizeof *data);
    *out = NULL;
    if (!data) return GM_FAIL(GM_E_MEMORY, "out of memory");
    data->n_node = 1;
    data->node_value = calloc(n_knob + 1, sizeof *data->node_value);
    data->signal = calloc(n_input + 1, sizeof *data->signal);
    if (!data->node_value || !data->signal) {
        st = GM_FAIL(GM_E_MEMORY, "out of memory");
        goto cleanup;
    }
    *out = data, data = NULL;
cleanup:
    gm_data_destroy(&data, sweep);
    return st;
}

void gm_data_destroy(gm_data **data, const gm_sweep *sweep)
{
    gm_data *d = *data;
    if (!d) return;
    free(d->weight);
    if (d->label)
        for (int64_t i = 0; i < d->n_node; i++) free(d->label[i]);
    free(d->label);
    if (d->node_value)
        for (int k = 0; k < gm_model_n_knob(sweep->model); k++) free(d->node_value[k]);
    free(d->node_value);
    if (d->signal)
        for (int i = 0; i < sweep->model->n_input; i++) free(d->signal[i].sample);
    free(d->signal);
    free(d);
    *data = NULL;
}

static gm_place place_of(const gm_sweep *sweep, const gm_source *source)
{
    return (gm_place){sweep->path, source->line, source->column};
}

static int64_t count_not_finite(const double *value, int64_t n, int64_t *first)
{
    int64_t bad = 0;
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(value[i]) && bad++ == 0) *first = i;
    return bad;
}

static void check_node_value(const gm_sweep *sweep, const gm_data *data, int knob,
                             gm_problems *problems)
{
    const gm_source *source = &sweep->node_file[knob];
    int64_t first = 0;
    int64_t bad = count_not_finite(data->node_value[knob], data->n_node, &first);
    if (bad == 0) return;
    gm_problems_add(problems, place_of(sweep, source),
                    "values per node in '%s': value %lld is %g; %lld of %lld are not finite",
                    source->path, (long long)first + 1, data->node_value[knob][first],
                    (long long)bad, (long long)data->n_node);
}

/* The sample that holds at x samples from the start, and how far x lies towards the next one (0 to
 * below 1). An x that equals a whole number up to rounding is that number, so that step * dt which
 * should be a sample's time takes that sample. */
static double locate(double x, double *fraction)
{
    double nearest = round(x);
    double below = floor(x);
    bool on_sample = fabs(x - nearest) <= 1e-9 + 1e-15 * x;
    *fraction = on_sample ? 0 : x - below;
    return on_sample ? nearest : below;
}

/* Samples needed so that no time of the run lies beyond the last one. */
static double n_sample_needed(const gm_sweep *sweep, const gm_input_spec *spec)
{
    bool linear = spec->interpolation == GM_LINEAR;
    int64_t last_step = linear ? sweep->n_step : sweep->n_step - 1;
    double fraction;
    double last = locate((double)last_step * sweep->dt / spec->step, &fraction);
    return last + 1 + (linear && fraction > 0);
}

static void check_length(const gm_sweep *sweep, const gm_signal *signal, int input,
                         gm_problems *problems)
{
    const gm_input_spec *spec = &sweep->input[input];
    const char *unit = sweep->model->time_unit;
    const char *blank = strcmp(unit, "1") == 0 ? "" : " ";
    bool linear = spec->interpolation == GM_LINEAR;
    double needed = n_sample_needed(sweep, spec);
    double length = (double)(linear ? signal->n_sample - 1 : signal->n_sample) * spec->step;
    if ((double)signal->n_sample >= needed) return;
    if (*blank == '\0') unit = "";
    gm_problems_add(
        problems, place_of(sweep, &spec->source),
        "input %s: '%s' lasts %.10g%s%s (%lld samples, one every %.10g%s%s, %s), but the run "
        "lasts %.10g%s%s and needs %.0f samples",
        sweep->model->input[input].name, spec->source.path, length, blank, unit,
        (long long)signal->n_sample, spec->step, blank, unit, linear ? "linear" : "hold",
        (double)sweep->n_step * sweep->dt, blank, unit, needed);
}

static void check_signal(const gm_sweep *sweep, const gm_data *data, int input,
                         gm_problems *problems)
{
    const gm_signal *signal = &data->signal[input];
    const gm_source *source = &sweep->input[input].source;
    const char *name = sweep->model->input[input].name;
    int64_t n_column = signal->n_column;
    int64_t first = 0;
    int64_t bad = count_not_finite(signal->sample, signal->n_sample * n_column, &first);
    if (bad > 0)
        gm_problems_add(problems, place_of(sweep, source),
                        "input %s: '%s': row %lld, column %lld is %g; %lld of %lld values are not "
                        "finite",
                        name, source->path, (long long)(first / n_column) + 1,
                        (long long)(first % n_column) + 1, signal->sample[first], (long long)bad,
                        (long long)signal->n_sample * (long long)n_column);
    if (data->n_node > 0 && n_column != 1 && n_column != data->n_node) {
        gm_problems_add(problems, place_of(sweep, source),
                        "input %s: '%s' has %lld rows (times) x %lld columns (nodes), but there "
                        "%s %lld node%s; allowed: %s%s",
                        name, source->path, (long long)signal->n_sample, (long long)n_column,
                        data->n_node == 1 ? "is" : "are", (long long)data->n_node,
                        data->n_node == 1 ? "" : "s",
                        data->n_node == 1 ? "1 column" : "1 column or one per node",
                        signal->n_sample == 1 || signal->n_sample == data->n_node
                            ? " (are rows and columns swapped?)"
                            : "");
        return; /* a swapped table's length would mislead */
    }
    check_length(sweep, signal, input, problems);
}

/* n_node 0 means that the network could not be read: what depends on it is not held against it. */
void gm_data_check(const gm_sweep *sweep, const gm_data *data, gm_problems *problems)
{
    if (data->n_node > MAX_NODE)
        gm_problems_add(problems, (gm_place){sweep->path, sweep->network.weights.line, 0},
                        "the network has %lld nodes; at most %d are possible",
                        (long long)data->n_node, MAX_NODE);
    for (int k = 0; k < gm_model_n_knob(sweep->model); k++)
        if (data->node_value[k]) check_node_value(sweep, data, k, problems);
    for (int i = 0; i < sweep->model->n_input; i++)
        if (data->signal[i].n_sample > 0) check_signal(sweep, data, i, problems);
}

/* One input at one time: out[n_node]. */
static void sample_input(const gm_input_spec *spec, const gm_signal *signal, int64_t n_node,
                         double time, double *out)
{
    if (signal->n_sample == 0) {
        for (int64_t j = 0; j < n_node; j++) out[j] = spec->constant;
        return;
    }
    int64_t last = signal->n_sample - 1;
    double fraction;
    double below = locate(time / spec->step, &fraction);
    int64_t k = below >= (double)last ? last : (int64_t)below;
    bool between = spec->interpolation == GM_LINEAR && fraction > 0 && k < last;
    const double *now = signal->sample + k * signal->n_column;
    const double *next = between ? now + signal->n_column : now;
    if (!between) fraction = 0;
    if (signal->n_column == 1) {
        double value = now[0] + fraction * (next[0] - now[0]);
        for (int64_t j = 0; j < n_node; j++) out[j] = value;
        return;
    }
    for (int64_t j = 0; j < n_node; j++) out[j] = now[j] + fraction * (next[j] - now[j]);
}

void gm_data_input(const gm_sweep *sweep, const gm_data *data, int64_t step_begin, int64_t n_step,
                   double *out)
{
    for (int64_t s = 0; s <= n_step; s++) {
        double time = (double)(step_begin + s) * sweep->dt;
        for (int i = 0; i < sweep->model->n_input; i++, out += data->n_node)
            sample_input(&sweep->input[i], &data->signal[i], data->n_node, time, out);
    }
}

bool gm_data_input_varies(const gm_sweep *sweep, const gm_data *data)
{
    for (int i = 0; i < sweep->model->n_input; i++)
        if (data->signal[i].n_sample > 1) return true;
    return false;
}

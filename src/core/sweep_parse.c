/* Reads a sweep file: text to tree, settings over it, then section by section into a gm_sweep.
 * Problems are gathered along the way, so that all of them are reported at once. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sweep_sections.h"

/* Tables of the model's sizes, filled with what holds when the sweep file is silent. */
static gm_status allocate_tables(gm_sweep_reader *reader)
{
    gm_sweep *sweep = reader->sweep;
    const gm_model_info *model = sweep->model;
    int n_knob = gm_model_n_knob(model);
    size_t n = (size_t)n_knob + 1;
    sweep->knob = calloc(n, sizeof *sweep->knob);
    sweep->node_file = calloc(n, sizeof *sweep->node_file);
    sweep->uniform = calloc((size_t)model->n_state + 1, sizeof *sweep->uniform);
    sweep->input = calloc((size_t)model->n_input + 1, sizeof *sweep->input);
    sweep->record = calloc(GM_N_OBSERVABLE, sizeof *sweep->record);
    reader->knob_key = calloc(n, sizeof *reader->knob_key);
    if (!sweep->knob || !sweep->node_file || !sweep->uniform || !sweep->input || !sweep->record ||
        !reader->knob_key)
        return gm_sweep_no_memory();
    for (int k = 0; k < n_knob; k++) sweep->knob[k] = gm_model_knob(model, k)->value;
    for (int i = 0; i < model->n_input; i++) sweep->input[i].constant = model->input[i].value;
    return GM_OK;
}

static void read_integrator(gm_sweep_reader *reader)
{
    static const char *const names[] = {"euler", "heun", "rk4"};
    int which = GM_HEUN;
    const gm_yaml_node *node = gm_sweep_need(reader, reader->root, "integrator", "integrator",
                                             "choose euler, heun or rk4");
    if (node) gm_yaml_get_choice(node, "integrator", names, 3, reader->problems, &which);
    reader->sweep->integrator = (gm_integrator)which;
}

static void read_precision(gm_sweep_reader *reader)
{
    static const char *const names[] = {"fp32", "fp64", "fast"}; /* of gm_precision */
    int which = GM_FP32;
    const gm_yaml_node *node = gm_yaml_find(reader->root, "precision");
    if (node) gm_yaml_get_choice(node, "precision", names, 3, reader->problems, &which);
    reader->sweep->precision = (gm_precision)which;
}

/* The output is taken as it stands: relative to where the program runs, like any output. */
static gm_status read_output(gm_sweep_reader *reader)
{
    const char *text;
    gm_source *output = &reader->sweep->output;
    const gm_yaml_node *node = gm_yaml_find(reader->root, "output");
    if (!node || !gm_yaml_get_string(node, "output", reader->problems, &text)) return GM_OK;
    output->path = strdup(text);
    output->line = node->place.line;
    output->column = node->place.column;
    return output->path ? GM_OK : gm_sweep_no_memory();
}

static gm_status read_sections(gm_sweep_reader *reader, const gm_model_catalog *catalog)
{
    static const char *const keys[] = {"model",      "network",   "axes",   "design", "seed",
                                       "parameters", "initial",   "inputs", "time",   "integrator",
                                       "record",     "precision", "output"};
    gm_status st = GM_OK;
    gm_yaml_check_keys(reader->root, NULL, keys, (int)(sizeof keys / sizeof *keys),
                       reader->problems);
    GM_TRY(st, gm_sweep_read_model(reader, catalog));
    read_integrator(reader);
    read_precision(reader);
    gm_sweep_read_time(reader);
    GM_TRY(st, read_output(reader));
    GM_TRY(st, gm_sweep_read_network(reader));
    if (!reader->sweep->model) {
        gm_sweep_read_record(reader);
        goto cleanup;
    }
    GM_TRY(st, allocate_tables(reader));
    GM_TRY(st, gm_sweep_read_knobs(reader));
    GM_TRY(st, gm_sweep_read_axes(reader));
    GM_TRY(st, gm_sweep_read_inputs(reader));
    gm_sweep_read_record(reader);
    gm_sweep_check_noise(reader);
cleanup:
    return st;
}

static gm_status create_sweep(const char *path, const char *text, int64_t n_byte,
                              const char *const *override, int n_override, gm_sweep_reader *reader)
{
    size_t n_slot = (size_t)n_override + 1;
    gm_sweep *sweep = calloc(1, sizeof *sweep);
    if (!sweep) return gm_sweep_no_memory();
    reader->sweep = sweep;
    sweep->every = 1;
    sweep->n_override = n_override;
    reader->n_override = n_override;
    sweep->path = strdup(path);
    sweep->text = calloc((size_t)n_byte + 1, 1);
    sweep->override = calloc(n_slot, sizeof *sweep->override);
    reader->override_name = calloc(n_slot, sizeof *reader->override_name);
    if (!sweep->path || !sweep->text || !sweep->override || !reader->override_name)
        return gm_sweep_no_memory();
    memcpy(sweep->text, text, (size_t)n_byte);
    for (int i = 0; i < n_override; i++) {
        sweep->override[i] = strdup(override[i]);
        if (!sweep->override[i] ||
            asprintf(&reader->override_name[i], "--set %s", override[i]) < 0) {
            reader->override_name[i] = NULL;
            return gm_sweep_no_memory();
        }
    }
    return GM_OK;
}

static void clear_reader(gm_sweep_reader *reader)
{
    for (int i = 0; reader->override_name && i < reader->n_override; i++)
        free(reader->override_name[i]);
    free(reader->override_name);
    free(reader->knob_key);
    free(reader->axis_key);
    gm_yaml_destroy(&reader->root);
    gm_sweep_destroy(&reader->sweep);
}

static gm_status build_tree(gm_sweep_reader *reader, int64_t n_byte)
{
    gm_status st = GM_OK;
    gm_sweep *sweep = reader->sweep;
    gm_problems *problems = reader->problems;
    gm_place start = {.file = sweep->path, .line = 1, .column = 1};
    int n_problem = gm_problems_count(problems);
    GM_TRY(st, gm_yaml_parse(sweep->text, n_byte, start, problems, &reader->root));
    if (gm_problems_count(problems) == n_problem &&
        (!reader->root || gm_yaml_is_null(reader->root)))
        gm_problems_add(problems, start, "the sweep file is empty");
    else if (reader->root)
        gm_yaml_get_map(reader->root, "a sweep file", problems);
    if (!reader->root || reader->root->kind != GM_YAML_MAP) gm_yaml_destroy(&reader->root);
    for (int i = 0; reader->root && i < sweep->n_override; i++)
        GM_TRY(st, gm_sweep_override(reader->root, sweep->override[i], reader->override_name[i],
                                     problems));
cleanup:
    return st;
}

gm_status gm_sweep_parse(const char *path, const char *text, int64_t n_byte,
                         const char *const *override, int n_override,
                         const gm_model_catalog *catalog, gm_problems *problems, gm_sweep **out)
{
    gm_status st = GM_OK;
    gm_sweep_reader reader = {.problems = problems};
    *out = NULL;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* a point is a decimal point */
    if (!c_locale) return gm_sweep_no_memory();
    locale_t before = uselocale(c_locale);
    GM_TRY(st, create_sweep(path, text, n_byte, override, n_override, &reader));
    GM_TRY(st, build_tree(&reader, n_byte));
    if (reader.root) GM_TRY(st, read_sections(&reader, catalog));
    GM_TRY(st, gm_problems_status(problems));
    *out = reader.sweep, reader.sweep = NULL;
cleanup:
    clear_reader(&reader);
    uselocale(before);
    freelocale(c_locale);
    return st;
}

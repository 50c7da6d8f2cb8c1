/* Reads a sweep file: text to tree, settings over it, then section by section into a gm_sweep.
 * Problems are gathered along the way, so that all of them are reported at once. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sweep_sections.h"

static gm_status out_of_memory(void)
{
    return GM_FAIL(GM_E_MEMORY, "out of memory for the sweep");
}

gm_place gm_sweep_file_place(const gm_sweep_reader *reader)
{
    return (gm_place){.file = reader->sweep->path};
}

const gm_yaml_node *gm_sweep_need(const gm_sweep_reader *reader, const gm_yaml_node *map,
                                  const char *key, const char *what, const char *hint)
{
    const gm_yaml_node *node = gm_yaml_find(map, key);
    gm_place place = map == reader->root ? gm_sweep_file_place(reader) : map->place;
    if (!node) gm_problems_add(reader->problems, place, "%s is missing: %s", what, hint);
    return node;
}

const gm_yaml_node *gm_sweep_optional_map(const gm_sweep_reader *reader, const char *section)
{
    const gm_yaml_node *node = gm_yaml_find(reader->root, section);
    if (!node || gm_yaml_is_null(node)) return NULL;
    return gm_yaml_get_map(node, section, reader->problems) ? node : NULL;
}

gm_status gm_sweep_read_source(const gm_sweep_reader *reader, const gm_yaml_node *node,
                               const char *what, gm_source *out)
{
    const char *text;
    if (!gm_yaml_get_string(node, what, reader->problems, &text)) return GM_OK;
    const char *slash = strrchr(reader->sweep->path, '/');
    size_t n_folder = slash && text[0] != '/' ? (size_t)(slash - reader->sweep->path) + 1 : 0;
    size_t n_text = strlen(text) + 1;
    out->path = malloc(n_folder + n_text);
    if (!out->path) return out_of_memory();
    memcpy(out->path, reader->sweep->path, n_folder);
    memcpy(out->path + n_folder, text, n_text);
    out->line = node->place.line;
    out->column = node->place.column;
    return GM_OK;
}

int gm_sweep_names(const gm_quantity *list, int n, const char **name)
{
    for (int i = 0; i < n; i++) name[i] = list[i].name;
    return n;
}

void gm_sweep_report_name(const gm_sweep_reader *reader, const gm_yaml_node *key,
                          const char *section, const char *kind, const char *const *allowed,
                          int n_allowed)
{
    const gm_model_info *model = reader->sweep->model;
    const char *name = key->text;
    char before[GM_YAML_NAME_SIZE];
    char after[GM_YAML_NAME_SIZE];
    const bool is_axis = strcmp(kind, "axis") == 0;
    if (gm_quantity_find(model->state, model->n_state, name) >= 0) {
        gm_problems_add(reader->problems, key->place,
                        "%s: %s is a state; its initial value is initial.%s, or the axis "
                        "'initial.%s'",
                        section, name, name, name);
    } else if (is_axis && gm_quantity_find(model->input, model->n_input, name) >= 0) {
        gm_problems_add(reader->problems, key->place,
                        "%s: %s is an input, and inputs cannot be swept yet: an input is the same "
                        "for all points; sweep a parameter that acts alike",
                        section, name);
    } else if (gm_quantity_find(model->input, model->n_input, name) >= 0) {
        gm_problems_add(reader->problems, key->place,
                        "%s: %s is an input; it goes under inputs, the same for all points",
                        section, name);
    } else if (gm_quantity_find(model->param, model->n_param, name) >= 0) {
        gm_problems_add(reader->problems, key->place,
                        "%s: %s is a parameter; it goes under parameters or axes", section, name);
    } else if (gm_quantity_find(model->derived, model->n_derived, name) >= 0) {
        gm_problems_add(reader->problems, key->place,
                        "%s: %s is a derived quantity: it is computed, not set; record can name it",
                        section, name);
    } else {
        snprintf(before, sizeof before, "%s: %s has no %s", section, model->name,
                 is_axis ? "parameter" : kind);
        snprintf(after, sizeof after, is_axis ? "axes can be" : "its %ss are", kind);
        gm_yaml_report_name(key, before, after, allowed, n_allowed, reader->problems);
    }
}

void gm_sweep_report_both(const gm_sweep_reader *reader, const gm_yaml_node *a, const char *a_path,
                          const gm_yaml_node *b, const char *b_path)
{
    char where[GM_YAML_LIST_SIZE];
    bool a_set = a->place.line == 0;
    bool b_set = b->place.line == 0;
    if (a_set == b_set)
        gm_problems_add(reader->problems, a->place, "%s is given, and so is %s (%s): keep one",
                        a_path, b_path, gm_yaml_where(b, where, sizeof where));
    else
        gm_problems_add(reader->problems, a->place,
                        "%s is given, and so is %s (%s): keep one; --set %s=null takes the one in "
                        "the file away",
                        a_path, b_path, gm_yaml_where(b, where, sizeof where),
                        a_set ? b_path : a_path);
}

static gm_status open_model(gm_sweep_reader *reader, const gm_model_catalog *catalog,
                            const gm_yaml_node *node)
{
    gm_source source = {0};
    gm_status st = gm_sweep_read_source(reader, node, "model", &source);
    if (st == GM_OK && source.path)
        st = catalog->open(catalog->context, node->place, source.path, reader->problems,
                           &reader->sweep->model);
    free(source.path);
    return st == GM_E_INPUT ? GM_OK : st; /* its problems are noted: go on and find more */
}

/* A model called NAME is unknown; NAME.h may lie beside the sweep file. */
static gm_status report_model(gm_sweep_reader *reader, const gm_model_catalog *catalog,
                              const gm_yaml_node *node, const char *const *names)
{
    const char *path = reader->sweep->path;
    const char *slash = strrchr(path, '/');
    const int n_folder = slash ? (int)(slash - path) + 1 : 0;
    const size_t size = (size_t)n_folder + strlen(node->text) + sizeof ".h";
    char *file = malloc(size);
    if (!file) return out_of_memory();
    snprintf(file, size, "%.*s%s.h", n_folder, path, node->text);
    char after[GM_YAML_NAME_SIZE] = "the models are";
    if (catalog->has_file && strlen(node->text) < sizeof after / 2 && catalog->has_file(file))
        snprintf(after, sizeof after, "for the file beside it write ./%s.h; the models are",
                 node->text);
    gm_yaml_report_name(node, "unknown model", after, names, catalog->n_model, reader->problems);
    free(file);
    return GM_OK;
}

static gm_status read_model(gm_sweep_reader *reader, const gm_model_catalog *catalog)
{
    gm_status st = GM_OK;
    gm_sweep *sweep = reader->sweep;
    const char *name;
    char all[GM_YAML_LIST_SIZE];
    const char **names = calloc((size_t)catalog->n_model + 1, sizeof *names);
    if (!names) return out_of_memory();
    for (int m = 0; m < catalog->n_model; m++) names[m] = catalog->model[m]->name;
    char hint[GM_YAML_LIST_SIZE + 16];
    snprintf(hint, sizeof hint, "choose one of: %s",
             gm_yaml_join(names, catalog->n_model, all, sizeof all));
    const gm_yaml_node *node = gm_sweep_need(reader, reader->root, "model", "model", hint);
    if (!node || !gm_yaml_get_string(node, "model", reader->problems, &name)) goto cleanup;
    if (catalog->open && gm_model_is_path(name)) {
        st = open_model(reader, catalog, node);
        goto cleanup;
    }
    sweep->model = gm_catalog_find(catalog, name);
    if (!sweep->model) st = report_model(reader, catalog, node, names);
cleanup:
    free(names);
    return st;
}

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
        return out_of_memory();
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
    return output->path ? GM_OK : out_of_memory();
}

static gm_status read_sections(gm_sweep_reader *reader, const gm_model_catalog *catalog)
{
    static const char *const keys[] = {"model",      "network",   "axes",   "design", "seed",
                                       "parameters", "initial",   "inputs", "time",   "integrator",
                                       "record",     "precision", "output"};
    gm_status st = GM_OK;
    gm_yaml_check_keys(reader->root, NULL, keys, (int)(sizeof keys / sizeof *keys),
                       reader->problems);
    GM_TRY(st, read_model(reader, catalog));
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
    if (!sweep) return out_of_memory();
    reader->sweep = sweep;
    sweep->every = 1;
    sweep->n_override = n_override;
    reader->n_override = n_override;
    sweep->path = strdup(path);
    sweep->text = calloc((size_t)n_byte + 1, 1);
    sweep->override = calloc(n_slot, sizeof *sweep->override);
    reader->override_name = calloc(n_slot, sizeof *reader->override_name);
    if (!sweep->path || !sweep->text || !sweep->override || !reader->override_name)
        return out_of_memory();
    memcpy(sweep->text, text, (size_t)n_byte);
    for (int i = 0; i < n_override; i++) {
        sweep->override[i] = strdup(override[i]);
        if (!sweep->override[i] ||
            asprintf(&reader->override_name[i], "--set %s", override[i]) < 0) {
            reader->override_name[i] = NULL;
            return out_of_memory();
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
    if (!c_locale) return out_of_memory();
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

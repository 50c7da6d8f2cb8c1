/* The sections `parameters` and `initial`: the numbers of the model that no axis sweeps. */
#include <math.h>
#include <stdio.h>

#include "core/sweep_sections.h"

static void read_uniform(const gm_sweep_reader *reader, const gm_yaml_node *node, const char *what,
                         gm_uniform *uniform)
{
    gm_problems *problems = reader->problems;
    double low;
    double high;
    if (!gm_yaml_get_list(node, what, problems)) return;
    if (node->n != 2) {
        gm_problems_add(problems, node->place, "%s needs two numbers: {uniform: [low, high]}",
                        what);
        return;
    }
    bool has_low = gm_yaml_get_double(node->item[0], what, problems, &low);
    bool has_high = gm_yaml_get_double(node->item[1], what, problems, &high);
    if (!has_low || !has_high) return;
    if (low >= high)
        gm_problems_add(problems, node->place,
                        "%s: low %.15g must be less than high %.15g: {uniform: [low, high]}", what,
                        low, high);
    else if (!isfinite(high - low))
        gm_problems_add(problems, node->place, "%s: from %g to %g is too far for double precision",
                        what, low, high);
    else
        *uniform = (gm_uniform){.on = true, .low = low, .high = high};
}

/* number | {file: path} | (initial values only) {uniform: [low, high]} */
static gm_status read_knob(gm_sweep_reader *reader, int knob, const gm_yaml_node *node,
                           const char *what)
{
    static const char *const keys[] = {"file", "uniform"};
    gm_sweep *sweep = reader->sweep;
    int n_param = sweep->model->n_param;
    bool is_initial = knob >= n_param;
    if (node->kind != GM_YAML_MAP) {
        gm_yaml_get_double(node, what, reader->problems, &sweep->knob[knob]);
        return GM_OK;
    }
    gm_yaml_check_keys(node, what, keys, is_initial ? 2 : 1, reader->problems);
    const gm_yaml_node *file = gm_yaml_find(node, "file");
    const gm_yaml_node *uniform = is_initial ? gm_yaml_find(node, "uniform") : NULL;
    if (!file && !uniform)
        gm_problems_add(reader->problems, node->place, "%s must be a number, {file: PATH}%s", what,
                        is_initial ? " or {uniform: [low, high]}" : " for values per node");
    if (file && uniform)
        gm_problems_add(reader->problems, node->place,
                        "%s has both a file and a uniform distribution: keep one", what);
    if (uniform) read_uniform(reader, uniform, what, &sweep->uniform[knob - n_param]);
    if (file) return gm_sweep_read_source(reader, file, what, &sweep->node_file[knob]);
    return GM_OK;
}

static gm_status read_section(gm_sweep_reader *reader, const char *section, const char *kind,
                              const gm_quantity *list, int n, int first_knob)
{
    char what[GM_YAML_NAME_SIZE];
    const char *names[GM_SWEEP_MAX_NAMES];
    const gm_yaml_node *map = gm_sweep_optional_map(reader, section);
    for (int64_t i = 0; map && i < map->n; i++) {
        const gm_yaml_node *key = map->key[i];
        int which = gm_quantity_find(list, n, key->text);
        if (which < 0) {
            gm_sweep_report_name(reader, key, section, kind, names, gm_sweep_names(list, n, names));
            continue;
        }
        if (reader->knob_key[first_knob + which]) continue; /* twice: reported with the tree */
        reader->knob_key[first_knob + which] = key;
        snprintf(what, sizeof what, "%s.%s", section, key->text);
        gm_status st = read_knob(reader, first_knob + which, map->item[i], what);
        if (st != GM_OK) return st;
    }
    return GM_OK;
}

gm_status gm_sweep_read_knobs(gm_sweep_reader *reader)
{
    const gm_model_info *model = reader->sweep->model;
    gm_status st = read_section(reader, "parameters", "parameter", model->param, model->n_param, 0);
    if (st != GM_OK) return st;
    return read_section(reader, "initial", "state", model->state, model->n_state, model->n_param);
}

/* The section `inputs`: outside signals, constant or sampled in a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sweep_sections.h"

static gm_status read_dataset(const gm_sweep_reader *reader, const gm_yaml_node *node,
                              const char *what, gm_input_spec *input)
{
    const char *text;
    if (!gm_yaml_get_string(node, what, reader->problems, &text)) return GM_OK;
    input->dataset = strdup(text);
    return input->dataset ? GM_OK : GM_FAIL(GM_E_MEMORY, "out of memory for the sweep file");
}

static gm_status read_signal(const gm_sweep_reader *reader, const gm_yaml_node *map,
                             const char *name, gm_input_spec *input)
{
    static const char *const keys[] = {"file", "dataset", "step", "interpolation"};
    static const char *const interpolations[] = {"hold", "linear"};
    char what[GM_YAML_NAME_SIZE];
    gm_problems *problems = reader->problems;
    int interpolation = 0;
    gm_status st = GM_OK;
    input->kind = GM_INPUT_FILE;
    snprintf(what, sizeof what, "inputs.%s", name);
    gm_yaml_check_keys(map, what, keys, 4, problems);

    snprintf(what, sizeof what, "inputs.%s.step", name);
    const gm_yaml_node *step = gm_sweep_need(reader, map, "step", what, "time between two samples");
    if (step && gm_yaml_get_double(step, what, problems, &input->step) && input->step <= 0)
        gm_problems_add(problems, step->place, "%s must be greater than 0; found %.15g", what,
                        input->step);

    snprintf(what, sizeof what, "inputs.%s.interpolation", name);
    const gm_yaml_node *between = gm_sweep_need(reader, map, "interpolation", what,
                                                "choose hold or linear, for between two samples");
    if (between) gm_yaml_get_choice(between, what, interpolations, 2, problems, &interpolation);
    input->interpolation = (gm_interpolation)interpolation;

    snprintf(what, sizeof what, "inputs.%s.dataset", name);
    const gm_yaml_node *dataset = gm_yaml_find(map, "dataset");
    if (dataset) GM_TRY(st, read_dataset(reader, dataset, what, input));

    snprintf(what, sizeof what, "inputs.%s.file", name);
    const gm_yaml_node *file = gm_sweep_need(reader, map, "file", what, "the file of the signal");
    if (file) GM_TRY(st, gm_sweep_read_source(reader, file, what, &input->source));
cleanup:
    return st;
}

gm_status gm_sweep_read_inputs(gm_sweep_reader *reader)
{
    const gm_model_info *model = reader->sweep->model;
    const gm_yaml_node *map = gm_sweep_optional_map(reader, "inputs");
    const char *names[GM_SWEEP_MAX_NAMES];
    char what[GM_YAML_NAME_SIZE];
    for (int64_t i = 0; map && i < map->n; i++) {
        const gm_yaml_node *key = map->key[i];
        const gm_yaml_node *item = map->item[i];
        int which = gm_quantity_find(model->input, model->n_input, key->text);
        if (which < 0) {
            gm_sweep_report_name(reader, key, "inputs", "input", names,
                                 gm_sweep_names(model->input, model->n_input, names));
            continue;
        }
        if (gm_yaml_index(map, key->text) != i) continue; /* twice: reported with the tree */
        gm_input_spec *input = &reader->sweep->input[which];
        snprintf(what, sizeof what, "inputs.%s", key->text);
        if (item->kind != GM_YAML_MAP) {
            gm_yaml_get_double(item, what, reader->problems, &input->constant);
            continue;
        }
        gm_status st = read_signal(reader, item, key->text, input);
        if (st != GM_OK) return st;
    }
    return GM_OK;
}

/* The section `record`: which observables of which states and derived quantities the result file
 * holds. */
#include <stdio.h>
#include <string.h>

#include "core/sweep_sections.h"

/* As for the values of an axis: 1 GiB of times. */
static const int64_t max_sample = INT64_C(1) << 27;

static void mark_quantity(gm_sweep_reader *reader, gm_observable observable,
                          const gm_yaml_node *node, const char *what)
{
    const gm_model_info *model = reader->sweep->model;
    const char *names[GM_SWEEP_MAX_NAMES];
    const char *name;
    char before[GM_YAML_NAME_SIZE];
    if (!gm_yaml_get_string(node, what, reader->problems, &name)) return;
    const int quantity = gm_model_find_quantity(model, name);
    if (quantity < 0) {
        const bool derives = model->n_derived > 0;
        int n = gm_sweep_names(model->state, model->n_state, names);
        n += gm_sweep_names(model->derived, model->n_derived, names + n);
        snprintf(before, sizeof before, "%s: %s has no state%s", what, model->name,
                 derives ? " or derived quantity" : "");
        gm_yaml_report_name(node, before, derives ? "it has" : "its states are", names, n,
                            reader->problems);
    } else if (reader->sweep->record[observable][quantity]) {
        gm_problems_add(reader->problems, node->place, "%s names %s twice", what, name);
    } else {
        reader->sweep->record[observable][quantity] = true;
    }
}

static bool is_all(const gm_yaml_node *node)
{
    return node->kind == GM_YAML_SCALAR && strcmp(node->text, "all") == 0;
}

static void mark_states(gm_sweep_reader *reader, gm_observable observable)
{
    gm_sweep *sweep = reader->sweep;
    for (int s = 0; s < sweep->model->n_state; s++) sweep->record[observable][s] = true;
}

/* A list of names. `all` in it adds the states, whichever of them it also names. */
static void read_names(gm_sweep_reader *reader, gm_observable observable, const gm_yaml_node *list,
                       const char *what)
{
    bool has_all = false;
    for (int64_t i = 0; i < list->n; i++) {
        if (!is_all(list->item[i])) {
            mark_quantity(reader, observable, list->item[i], what);
            continue;
        }
        if (has_all)
            gm_problems_add(reader->problems, list->item[i]->place, "%s names all twice", what);
        has_all = true;
    }
    if (has_all) mark_states(reader, observable);
}

/* all | name | [name, ...]; all are the states */
static void read_quantities(gm_sweep_reader *reader, gm_observable observable,
                            const gm_yaml_node *node, const char *what)
{
    const gm_model_info *model = reader->sweep->model;
    if (is_all(node)) {
        mark_states(reader, observable);
    } else if (node->kind == GM_YAML_LIST && node->n > 0) {
        read_names(reader, observable, node, what);
    } else if (node->kind == GM_YAML_SCALAR && !gm_yaml_is_null(node)) {
        mark_quantity(reader, observable, node, what);
    } else {
        char found[GM_YAML_NAME_SIZE];
        gm_problems_add(reader->problems, node->place,
                        "%s must be all or a list of states, such as [%s]; found %s", what,
                        model->state[0].name,
                        node->n == 0 && node->kind == GM_YAML_LIST
                            ? "an empty list"
                            : gm_yaml_describe(node, found, sizeof found));
    }
}

static void read_trajectory(gm_sweep_reader *reader, const gm_yaml_node *node)
{
    static const char *const keys[] = {"variables", "every"};
    gm_sweep *sweep = reader->sweep;
    gm_problems *problems = reader->problems;
    int64_t every;
    if (node->kind != GM_YAML_MAP) {
        char found[GM_YAML_NAME_SIZE];
        gm_problems_add(problems, node->place,
                        "record.trajectory must be {variables: [...], every: steps}; found %s",
                        gm_yaml_describe(node, found, sizeof found));
        return;
    }
    gm_yaml_check_keys(node, "record.trajectory", keys, 2, problems);
    const gm_yaml_node *variables = gm_sweep_need(
        reader, node, "variables", "record.trajectory.variables", "all, or a list of states");
    const gm_yaml_node *every_node = gm_sweep_need(reader, node, "every", "record.trajectory.every",
                                                   "the number of steps between samples");
    if (variables) read_quantities(reader, GM_TRAJECTORY, variables, "record.trajectory.variables");
    if (!every_node || !gm_yaml_get_int64(every_node, "record.trajectory.every", problems, &every))
        return;
    int64_t n_recorded = sweep->n_step - sweep->n_transient;
    if (every < 1)
        gm_problems_add(problems, every_node->place,
                        "record.trajectory.every must be 1 or more steps; found %lld",
                        (long long)every);
    else if (n_recorded > 0 && every > n_recorded)
        gm_problems_add(problems, every_node->place,
                        "record.trajectory.every %lld leaves no sample: after the transient there "
                        "are %lld steps",
                        (long long)every, (long long)n_recorded);
    else if (n_recorded / every > max_sample)
        gm_problems_add(problems, every_node->place,
                        "record.trajectory.every %lld leaves %lld samples, more than %lld: record "
                        "less often",
                        (long long)every, (long long)(n_recorded / every), (long long)max_sample);
    else
        sweep->every = every;
}

void gm_sweep_read_record(gm_sweep_reader *reader)
{
    const char *names[GM_N_OBSERVABLE];
    char what[GM_YAML_NAME_SIZE];
    const gm_yaml_node *record = gm_sweep_need(reader, reader->root, "record", "record",
                                               "what to keep, such as record: {mean: all}");
    if (!record || !gm_yaml_get_map(record, "record", reader->problems)) return;
    for (int o = 0; o < GM_N_OBSERVABLE; o++) names[o] = gm_observable_name((gm_observable)o);
    gm_yaml_check_keys(record, "record", names, GM_N_OBSERVABLE, reader->problems);
    if (record->n == 0)
        gm_problems_add(reader->problems, record->place,
                        "record is empty, so the run would keep nothing; choose from: %s",
                        gm_yaml_join(names, GM_N_OBSERVABLE, what, sizeof what));
    for (int o = 0; o < GM_N_OBSERVABLE; o++) {
        const gm_yaml_node *node = reader->sweep->model ? gm_yaml_find(record, names[o]) : NULL;
        snprintf(what, sizeof what, "record.%s", names[o]);
        if (node && o == GM_TRAJECTORY)
            read_trajectory(reader, node);
        else if (node)
            read_quantities(reader, (gm_observable)o, node, what);
    }
}

/* The sections `axes`, `design` and `seed`: which points the sweep has. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sweep_sections.h"

enum { MAX_GRID_AXES = 30 }; /* HDF5 has 32 dimensions; time and node take two */
static const double seed_limit = 9007199254740992.0; /* 2^53: exact in a double */

/* Names that an axis may have. The strings "initial.<state>" lie in storage. */
static int axis_names(const gm_model_info *model, char storage[GM_MAX_STATE][GM_YAML_NAME_SIZE],
                      const char **name)
{
    int n = gm_sweep_names(model->param, model->n_param, name);
    for (int s = 0; s < model->n_state; s++) {
        snprintf(storage[s], GM_YAML_NAME_SIZE, "initial.%s", model->state[s].name);
        name[n++] = storage[s];
    }
    name[n++] = "seed";
    return n;
}

static bool find_axis(const gm_sweep_reader *reader, const gm_yaml_node *key, gm_axis *axis)
{
    char storage[GM_MAX_STATE][GM_YAML_NAME_SIZE];
    const char *names[GM_SWEEP_MAX_NAMES];
    const gm_model_info *model = reader->sweep->model;
    axis->kind = strcmp(key->text, "seed") == 0 ? GM_AXIS_SEED : GM_AXIS_KNOB;
    axis->knob = axis->kind == GM_AXIS_KNOB ? gm_model_find_knob(model, key->text) : -1;
    if (axis->kind == GM_AXIS_SEED || axis->knob >= 0) return true;
    gm_sweep_report_name(reader, key, "axes", "axis", names, axis_names(model, storage, names));
    return false;
}

static void check_seeds(const gm_sweep_reader *reader, const gm_yaml_node *node,
                        const gm_axis *axis)
{
    for (int64_t i = 0; i < axis->n; i++) {
        double seed = axis->value[i];
        if (seed >= 0 && seed < seed_limit && seed == rint(seed)) continue;
        gm_problems_add(reader->problems, node->place,
                        "axes.seed: seeds are whole numbers from 0 to below 2^53; found %.17g",
                        seed);
        return;
    }
}

/* What else sets the number that an axis sweeps. */
static void check_both(const gm_sweep_reader *reader, const gm_yaml_node *key, const gm_axis *axis)
{
    char axis_path[GM_YAML_NAME_SIZE];
    char other_path[GM_YAML_NAME_SIZE] = "seed";
    const gm_yaml_node *other = gm_yaml_find_key(reader->root, "seed");
    if (axis->kind == GM_AXIS_KNOB) {
        other = reader->knob_key[axis->knob];
        snprintf(other_path, sizeof other_path, "%s%s",
                 axis->knob < reader->sweep->model->n_param ? "parameters." : "", key->text);
    }
    snprintf(axis_path, sizeof axis_path, "axes.%s", key->text);
    if (other) gm_sweep_report_both(reader, other, other_path, key, axis_path);
}

static gm_status read_axis(gm_sweep_reader *reader, const gm_yaml_node *key,
                           const gm_yaml_node *node)
{
    gm_status st = GM_OK;
    gm_sweep *sweep = reader->sweep;
    gm_axis axis = {0};
    char what[GM_YAML_NAME_SIZE];
    bool known = find_axis(reader, key, &axis);
    snprintf(what, sizeof what, "axes.%s", key->text);
    GM_TRY(st, gm_sweep_read_axis_values(node, what, reader->problems, &reader->n_axis_value,
                                         &axis.n, &axis.value));
    if (!known) goto cleanup;
    check_both(reader, key, &axis);
    if (axis.n == 0) goto cleanup;
    if (axis.kind == GM_AXIS_SEED) check_seeds(reader, node, &axis);
    if (sweep->design == GM_DESIGN_GRID)
        GM_TRY(st, gm_sweep_check_repeats(reader, node, what, &axis));
    if (!(axis.name = strdup(key->text))) {
        st = GM_FAIL(GM_E_MEMORY, "out of memory for the axes");
        goto cleanup;
    }
    reader->axis_key[sweep->n_axis] = key;
    sweep->axis[sweep->n_axis++] = axis;
    axis.value = NULL;
cleanup:
    free(axis.value);
    return st;
}

static void check_zip(const gm_sweep_reader *reader)
{
    const gm_sweep *sweep = reader->sweep;
    for (int a = 1; a < sweep->n_axis; a++)
        if (sweep->axis[a].n != sweep->axis[0].n)
            gm_problems_add(reader->problems, reader->axis_key[a]->place,
                            "design zip pairs the axes value by value, but %s has %lld values and "
                            "%s has %lld",
                            sweep->axis[a].name, (long long)sweep->axis[a].n, sweep->axis[0].name,
                            (long long)sweep->axis[0].n);
}

static void count_points(gm_sweep_reader *reader, gm_place place)
{
    static const int64_t limit = INT64_C(1) << 62;
    gm_sweep *sweep = reader->sweep;
    sweep->n_point = 1;
    if (sweep->design == GM_DESIGN_ZIP) {
        check_zip(reader);
        if (sweep->n_axis > 0) sweep->n_point = sweep->axis[0].n;
        for (int a = 1; a < sweep->n_axis; a++)
            if (sweep->axis[a].n < sweep->n_point) sweep->n_point = sweep->axis[a].n;
        return;
    }
    if (sweep->n_axis > MAX_GRID_AXES)
        gm_problems_add(reader->problems, place, "a grid may have %d axes; found %d", MAX_GRID_AXES,
                        sweep->n_axis);
    for (int a = 0; a < sweep->n_axis; a++) {
        if (sweep->n_point > limit / sweep->axis[a].n) {
            gm_problems_add(reader->problems, place, "the grid has more than 2^62 points");
            return;
        }
        sweep->n_point *= sweep->axis[a].n;
    }
}

static void read_design(gm_sweep_reader *reader)
{
    static const char *const designs[] = {"grid", "zip"};
    int design = GM_DESIGN_GRID;
    const gm_yaml_node *node = gm_yaml_find(reader->root, "design");
    if (node) gm_yaml_get_choice(node, "design", designs, 2, reader->problems, &design);
    reader->sweep->design = (gm_design)design;
}

static void read_seed(gm_sweep_reader *reader)
{
    int64_t seed = 0;
    const gm_yaml_node *node = gm_yaml_find(reader->root, "seed");
    if (!node || !gm_yaml_get_int64(node, "seed", reader->problems, &seed)) return;
    if (seed < 0)
        gm_problems_add(reader->problems, node->place, "seed must be 0 or more; found %lld",
                        (long long)seed);
    else
        reader->sweep->seed = (uint64_t)seed;
}

gm_status gm_sweep_read_axes(gm_sweep_reader *reader)
{
    const gm_yaml_node *map = gm_sweep_optional_map(reader, "axes");
    gm_place place = map ? map->place : gm_sweep_file_place(reader);
    read_design(reader);
    read_seed(reader);
    if (map && map->n > 0) {
        reader->sweep->axis = calloc((size_t)map->n, sizeof *reader->sweep->axis);
        reader->axis_key = calloc((size_t)map->n, sizeof *reader->axis_key);
        if (!reader->sweep->axis || !reader->axis_key)
            return GM_FAIL(GM_E_MEMORY, "out of memory for the axes");
    }
    for (int64_t i = 0; map && i < map->n; i++) {
        if (gm_yaml_index(map, map->key[i]->text) != i) continue; /* twice: reported already */
        gm_status st = read_axis(reader, map->key[i], map->item[i]);
        if (st != GM_OK) return st;
    }
    count_points(reader, place);
    return GM_OK;
}

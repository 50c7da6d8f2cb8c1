/* Derives the dimensions, coordinates and variables of the result file from a sweep. */
#include "core/layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t gm_type_size(gm_type type)
{
    switch (type) {
    case GM_TYPE_U8: return 1;
    case GM_TYPE_F32: return 4;
    case GM_TYPE_F64:
    case GM_TYPE_I64: return 8;
    }
    return 0;
}

static gm_status out_of_memory(void)
{
    return GM_FAIL(GM_E_MEMORY, "out of memory for the layout of the result file");
}

static void clear_coordinate(gm_coordinate *coordinate)
{
    for (int64_t i = 0; coordinate->text && i < coordinate->n; i++) free(coordinate->text[i]);
    free(coordinate->text);
    free(coordinate->value);
    free(coordinate->name);
    free(coordinate->unit);
    free(coordinate->long_name);
}

void gm_layout_destroy(gm_layout **layout)
{
    gm_layout *self = *layout;
    if (!self) return;
    for (int c = 0; self->coordinate && c < self->n_coordinate; c++)
        clear_coordinate(&self->coordinate[c]);
    for (int v = 0; self->variable && v < self->n_variable; v++) {
        free(self->variable[v].name);
        free(self->variable[v].unit);
        free(self->variable[v].long_name);
    }
    free(self->coordinate);
    free(self->variable);
    free(self);
    *layout = NULL;
}

/* A name that the file may hold beside the axes, whatever this sweep records: so an axis keeps its
 * name when the record section changes. */
static bool is_reserved(const gm_model_info *model, const char *name)
{
    static const char *const fixed[] = {"time",        "node", "point",    "status",
                                        "failed_step", "run",  "checksum", "provenance"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (strcmp(name, fixed[i]) == 0) return true;
    for (int q = 0; q < gm_model_n_quantity(model); q++) {
        const char *recorded = gm_model_quantity(model, q)->name;
        size_t length = strlen(recorded);
        if (strncmp(name, recorded, length) != 0) continue;
        if (name[length] == '\0') return true;
        for (int o = 0; name[length] == '_' && o < GM_N_OBSERVABLE; o++)
            if (strcmp(name + length + 1, gm_observable_name((gm_observable)o)) == 0) return true;
    }
    return false;
}

static bool is_taken(const gm_layout *layout, const gm_model_info *model, const char *name)
{
    for (int c = 0; c < layout->n_coordinate; c++)
        if (strcmp(layout->coordinate[c].name, name) == 0) return true;
    return is_reserved(model, name);
}

/* The axis's own name with dots as underscores; "_param" is added while it is taken. */
static gm_status name_axis(const gm_layout *layout, const gm_model_info *model, const gm_axis *axis,
                           char **out)
{
    *out = strdup(axis->name);
    for (char *c = *out; c && *c; c++)
        if (*c == '.') *c = '_';
    while (*out && is_taken(layout, model, *out)) {
        char *longer = NULL;
        if (asprintf(&longer, "%s_param", *out) < 0) longer = NULL;
        free(*out);
        *out = longer;
    }
    return *out ? GM_OK : out_of_memory();
}

/* Append a coordinate of numbers 0, 1, 2 ... with copies of the texts. Its room is there already.*/
static gm_status add_coordinate(gm_layout *layout, const char *name, const char *unit,
                                const char *long_name, int64_t n)
{
    gm_coordinate *coordinate = &layout->coordinate[layout->n_coordinate++];
    coordinate->n = n;
    coordinate->is_dimension = true;
    coordinate->is_integer = true;
    coordinate->name = strdup(name);
    coordinate->unit = strdup(unit);
    coordinate->long_name = strdup(long_name);
    coordinate->value = (uint64_t)n <= SIZE_MAX / sizeof(double)
                            ? malloc((size_t)n * sizeof *coordinate->value)
                            : NULL;
    if (!coordinate->name || !coordinate->unit || !coordinate->long_name || !coordinate->value)
        return out_of_memory();
    for (int64_t i = 0; i < n; i++) coordinate->value[i] = (double)i;
    return GM_OK;
}

static gm_status add_axis(gm_layout *layout, const gm_sweep *sweep, const gm_axis *axis)
{
    gm_status st = GM_OK;
    char *name = NULL;
    char *long_name = NULL;
    const char *unit = "1";
    bool is_seed = axis->kind == GM_AXIS_SEED;
    GM_TRY(st, name_axis(layout, sweep->model, axis, &name));
    if (is_seed) {
        long_name = strdup("seed of the random numbers");
    } else {
        const gm_quantity *knob = gm_model_knob(sweep->model, axis->knob);
        bool is_initial = axis->knob >= sweep->model->n_param;
        unit = knob->unit;
        if (asprintf(&long_name, "%s%s", knob->doc, is_initial ? ", initial value" : "") < 0)
            long_name = NULL;
    }
    if (!long_name) {
        st = out_of_memory();
        goto cleanup;
    }
    GM_TRY(st, add_coordinate(layout, name, unit, long_name, axis->n));
    gm_coordinate *coordinate = &layout->coordinate[layout->n_coordinate - 1];
    memcpy(coordinate->value, axis->value, (size_t)axis->n * sizeof *axis->value);
    coordinate->is_integer = is_seed;
    coordinate->is_dimension = sweep->design == GM_DESIGN_GRID;
cleanup:
    free(name);
    free(long_name);
    return st;
}

static gm_status add_axes(gm_layout *layout, const gm_sweep *sweep)
{
    for (int a = 0; a < sweep->n_axis; a++) {
        gm_status st = add_axis(layout, sweep, &sweep->axis[a]);
        if (st != GM_OK) return st;
    }
    return GM_OK;
}

static gm_status add_time(gm_layout *layout, const gm_sweep *sweep)
{
    if (!gm_sweep_records(sweep, GM_TRAJECTORY)) return GM_OK;
    layout->time_dim = layout->n_coordinate;
    gm_status st =
        add_coordinate(layout, "time", sweep->model->time_unit, "time", layout->n_sample);
    if (st != GM_OK) return st;
    gm_coordinate *time = &layout->coordinate[layout->time_dim];
    time->is_integer = false;
    for (int64_t j = 0; j < layout->n_sample; j++)
        time->value[j] = (double)(sweep->n_transient + (j + 1) * sweep->every) * sweep->dt;
    return GM_OK;
}

static gm_status add_node(gm_layout *layout, const gm_sweep *sweep, const gm_data *data)
{
    if (sweep->model->n_coupling == 0) return GM_OK;
    layout->node_dim = layout->n_coordinate;
    gm_status st = add_coordinate(layout, "node", "1", "node of the network", data->n_node);
    if (st != GM_OK || !data->label) return st;
    gm_coordinate *node = &layout->coordinate[layout->node_dim];
    free(node->value);
    free(node->unit);
    node->value = NULL;
    node->unit = NULL;
    node->is_integer = false;
    node->text = calloc((size_t)node->n + 1, sizeof *node->text);
    if (!node->text) return out_of_memory();
    for (int64_t i = 0; i < node->n; i++)
        if (!(node->text[i] = strdup(data->label[i]))) return out_of_memory();
    return GM_OK;
}

static gm_status add_coordinates(gm_layout *layout, const gm_sweep *sweep, const gm_data *data)
{
    gm_status st = GM_OK;
    bool has_axis_dimensions = sweep->design == GM_DESIGN_GRID && sweep->n_axis > 0;
    layout->coordinate = calloc((size_t)sweep->n_axis + 3, sizeof *layout->coordinate);
    if (!layout->coordinate) return out_of_memory();
    if (has_axis_dimensions)
        GM_TRY(st, add_axes(layout, sweep));
    else
        GM_TRY(st, add_coordinate(layout, "point", "1", "index of the point", sweep->n_point));
    layout->n_point_dim = layout->n_coordinate;
    GM_TRY(st, add_time(layout, sweep));
    GM_TRY(st, add_node(layout, sweep, data));
    if (!has_axis_dimensions) GM_TRY(st, add_axes(layout, sweep));
cleanup:
    return st;
}

static gm_status count_bytes(gm_layout *layout, gm_variable *variable)
{
    int64_t n_byte;
    variable->row_bytes = gm_type_size(variable->type);
    if ((variable->has_time &&
         __builtin_mul_overflow(variable->row_bytes, layout->n_sample, &variable->row_bytes)) ||
        (variable->has_node &&
         __builtin_mul_overflow(variable->row_bytes, layout->n_node, &variable->row_bytes)) ||
        __builtin_mul_overflow(variable->row_bytes, layout->n_point, &n_byte) ||
        __builtin_add_overflow(layout->n_byte, n_byte, &layout->n_byte))
        return GM_FAIL(GM_E_INPUT,
                       "the result would take more than 2^63 bytes (%lld points, %lld samples of "
                       "the trajectory, %lld nodes): sweep fewer points or record less",
                       (long long)layout->n_point, (long long)layout->n_sample,
                       (long long)layout->n_node);
    return GM_OK;
}

/* Append a variable. Its texts are taken over; NULL among them means that memory ran out. */
static gm_status add_variable(gm_layout *layout, const gm_variable *variable)
{
    gm_variable *added = &layout->variable[layout->n_variable++];
    *added = *variable;
    if (!added->name || !added->unit || !added->long_name) return out_of_memory();
    return count_bytes(layout, added);
}

static char *format_unit(const char *unit, gm_observable observable)
{
    char *squared = NULL;
    if (observable != GM_VARIANCE || strcmp(unit, "1") == 0) return strdup(unit);
    return asprintf(&squared, "(%s)^2", unit) < 0 ? NULL : squared;
}

static gm_status add_recorded(gm_layout *layout, const gm_sweep *sweep, gm_observable observable,
                              int index)
{
    const gm_quantity *quantity = gm_model_quantity(sweep->model, index);
    bool is_trajectory = observable == GM_TRAJECTORY;
    gm_variable variable = {.type = sweep->precision == GM_FP64 ? GM_TYPE_F64 : GM_TYPE_F32,
                            .fill = NAN,
                            .has_time = is_trajectory,
                            .has_node = layout->node_dim >= 0,
                            .observable = observable,
                            .quantity = index};
    variable.unit = format_unit(quantity->unit, observable);
    if (asprintf(&variable.name, "%s%s%s", quantity->name, is_trajectory ? "" : "_",
                 is_trajectory ? "" : gm_observable_name(observable)) < 0)
        variable.name = NULL;
    if (asprintf(&variable.long_name, "%s: %s", quantity->doc,
                 gm_observable_long_name(observable)) < 0)
        variable.long_name = NULL;
    return add_variable(layout, &variable);
}

static gm_status add_bookkeeping(gm_layout *layout, const char *name, const char *long_name,
                                 gm_type type, double fill, int *index)
{
    gm_variable variable = {.name = strdup(name),
                            .unit = strdup("1"),
                            .long_name = strdup(long_name),
                            .type = type,
                            .fill = fill,
                            .quantity = -1};
    *index = layout->n_variable;
    return add_variable(layout, &variable);
}

static gm_status add_variables(gm_layout *layout, const gm_sweep *sweep)
{
    gm_status st = GM_OK;
    enum { N_BOOKKEEPING = 4 };
    const int n_quantity = gm_model_n_quantity(sweep->model);
    size_t n = (size_t)(GM_N_OBSERVABLE * n_quantity + N_BOOKKEEPING);
    layout->variable = calloc(n, sizeof *layout->variable);
    if (!layout->variable) return out_of_memory();
    for (int o = 0; o < GM_N_OBSERVABLE; o++)
        for (int q = 0; q < n_quantity; q++)
            if (sweep->record[o][q]) GM_TRY(st, add_recorded(layout, sweep, (gm_observable)o, q));
    GM_TRY(st, add_bookkeeping(layout, "status", "state of the computation", GM_TYPE_U8,
                               GM_POINT_PENDING, &layout->status));
    GM_TRY(st, add_bookkeeping(layout, "failed_step", "first step at which a state was not finite",
                               GM_TYPE_I64, -1, &layout->failed_step));
    GM_TRY(st, add_bookkeeping(layout, "run",
                               "which run of the program computed the point: index into "
                               "provenance/run",
                               GM_TYPE_U8, 255, &layout->run));
    GM_TRY(st, add_bookkeeping(layout, "checksum",
                               "CRC-32 of the point's values, variables in the order of `covers`",
                               GM_TYPE_I64, -1, &layout->checksum));
cleanup:
    return st;
}

gm_status gm_layout_create(const gm_sweep *sweep, const gm_data *data, gm_layout **out)
{
    gm_status st = GM_OK;
    gm_layout *layout = calloc(1, sizeof *layout);
    *out = NULL;
    if (!layout) return out_of_memory();
    layout->time_dim = layout->node_dim = -1;
    layout->n_point = sweep->n_point;
    layout->n_node = data->n_node;
    layout->n_sample = gm_sweep_n_sample(sweep);
    GM_TRY(st, add_coordinates(layout, sweep, data));
    GM_TRY(st, add_variables(layout, sweep));
    *out = layout, layout = NULL;
cleanup:
    gm_layout_destroy(&layout);
    return st;
}

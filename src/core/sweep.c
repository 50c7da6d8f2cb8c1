/* A sweep once read: its names, its points, its end. */
#include "core/sweep.h"

#include <stdlib.h>
#include <string.h>

const char *gm_precision_name(gm_precision precision)
{
    static const char *const names[] = {"fp32", "fp64", "fast"};
    return names[precision];
}

const char *gm_integrator_name(gm_integrator integrator)
{
    static const char *const names[] = {"euler", "heun", "rk4"};
    return names[integrator];
}

const char *gm_observable_name(gm_observable observable)
{
    static const char *const names[] = {
#define X(id, name, long_name, has_time) name,
        GM_OBSERVABLE_LIST(X)
#undef X
    };
    return names[observable];
}

const char *gm_observable_long_name(gm_observable observable)
{
    static const char *const names[] = {
#define X(id, name, long_name, has_time) long_name,
        GM_OBSERVABLE_LIST(X)
#undef X
    };
    return names[observable];
}

static void clear_network(gm_network_spec *network)
{
    free(network->weights.path);
    free(network->labels.path);
}

/* The tables whose sizes are the model's. */
static void clear_tables(gm_sweep *sweep)
{
    int n_knob = sweep->model ? gm_model_n_knob(sweep->model) : 0;
    int n_input = sweep->model ? sweep->model->n_input : 0;
    for (int k = 0; sweep->node_file && k < n_knob; k++) free(sweep->node_file[k].path);
    for (int i = 0; sweep->input && i < n_input; i++) {
        free(sweep->input[i].source.path);
        free(sweep->input[i].dataset);
    }
    free(sweep->knob);
    free(sweep->node_file);
    free(sweep->uniform);
    free(sweep->input);
    free(sweep->record);
}

void gm_sweep_destroy(gm_sweep **sweep)
{
    gm_sweep *self = *sweep;
    if (!self) return;
    clear_tables(self);
    clear_network(&self->network);
    for (int a = 0; a < self->n_axis; a++) {
        free(self->axis[a].name);
        free(self->axis[a].value);
    }
    free(self->axis);
    for (int i = 0; self->override && i < self->n_override; i++) free(self->override[i]);
    free(self->override);
    free(self->output.path);
    free(self->path);
    free(self->text);
    free(self);
    *sweep = NULL;
}

void gm_sweep_point_index(const gm_sweep *sweep, int64_t point, int64_t *index)
{
    for (int a = sweep->n_axis - 1; a >= 0; a--) {
        if (sweep->design == GM_DESIGN_ZIP) {
            index[a] = point;
            continue;
        }
        index[a] = point % sweep->axis[a].n;
        point /= sweep->axis[a].n;
    }
}

void gm_sweep_point(const gm_sweep *sweep, int64_t point, double *knob, uint64_t *seed)
{
    memcpy(knob, sweep->knob, (size_t)gm_model_n_knob(sweep->model) * sizeof *knob);
    *seed = sweep->seed;
    for (int a = sweep->n_axis - 1; a >= 0; a--) {
        const gm_axis *axis = &sweep->axis[a];
        int64_t i = point;
        if (sweep->design == GM_DESIGN_GRID) {
            i = point % axis->n;
            point /= axis->n;
        }
        if (axis->kind == GM_AXIS_SEED)
            *seed = (uint64_t)axis->value[i];
        else
            knob[axis->knob] = axis->value[i];
    }
}

int64_t gm_sweep_n_sample(const gm_sweep *sweep)
{
    if (!gm_sweep_records(sweep, GM_TRAJECTORY)) return 0;
    return (sweep->n_step - sweep->n_transient) / sweep->every;
}

bool gm_sweep_records(const gm_sweep *sweep, gm_observable observable)
{
    for (int q = 0; q < gm_model_n_quantity(sweep->model); q++)
        if (sweep->record[observable][q]) return true;
    return false;
}

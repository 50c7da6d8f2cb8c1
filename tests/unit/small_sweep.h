/** A sweep built by hand for tests: two states, three parameters, one coupling, two inputs. */
#ifndef GM_TESTS_SMALL_SWEEP_H
#define GM_TESTS_SMALL_SWEEP_H

#include <string.h>

#include "core/data.h"

enum { SMALL_N_PARAM = 3, SMALL_N_STATE = 2, SMALL_N_INPUT = 2 };

typedef struct small_sweep {
    gm_sweep sweep; /* points into the rest: fill with small_sweep_fill, do not copy */
    gm_model_info model;
    gm_axis axis[2];
    double axis_value[2][16];
    double knob[SMALL_N_PARAM + SMALL_N_STATE];
    gm_source node_file[SMALL_N_PARAM + SMALL_N_STATE];
    gm_uniform uniform[SMALL_N_STATE];
    gm_input_spec input[SMALL_N_INPUT];
    bool record[GM_N_OBSERVABLE][GM_MAX_QUANTITY];
} small_sweep;

static const gm_quantity small_state[] = {{"E", 0.05, "1", "first"}, {"I", 0.05, "1", "second"}};
static const gm_quantity small_param[] = {
    {"tau", 2.5, "ms", "time constant"}, {"G", 0.6, "1", "coupling"}, {"mu", 3, "1", "threshold"}};
static const gm_quantity small_coupling[] = {{"exc", 0, "1", "sum_j W_ij E_j"}};
static const gm_quantity small_input[] = {{"p", 0, "1", "to E"}, {"q", 0, "1", "to I"}};

/* 100 steps of 0.1 ms, no axis, no network, constant inputs, the mean of E recorded. */
static inline void small_sweep_fill(small_sweep *s)
{
    static char name_g[] = "G";
    static char name_e[] = "initial.E";
    memset(s, 0, sizeof *s);
    s->model = (gm_model_info){.name = "small",
                               .time_unit = "ms",
                               .n_state = SMALL_N_STATE,
                               .n_param = SMALL_N_PARAM,
                               .n_coupling = 1,
                               .n_input = SMALL_N_INPUT,
                               .state = small_state,
                               .param = small_param,
                               .coupling = small_coupling,
                               .input = small_input};
    s->axis[0] = (gm_axis){name_g, GM_AXIS_KNOB, 1, 3, s->axis_value[0]};
    s->axis[1] = (gm_axis){name_e, GM_AXIS_KNOB, SMALL_N_PARAM, 9, s->axis_value[1]};
    for (int k = 0; k < 16; k++) s->axis_value[0][k] = s->axis_value[1][k] = 0.1 * k;
    for (int k = 0; k < SMALL_N_PARAM; k++) s->knob[k] = small_param[k].value;
    for (int k = 0; k < SMALL_N_STATE; k++) s->knob[SMALL_N_PARAM + k] = small_state[k].value;
    s->record[GM_MEAN][0] = true;
    static char path[] = "sweep.yaml";
    s->sweep = (gm_sweep){.path = path,
                          .model = &s->model,
                          .precision = GM_FP32,
                          .integrator = GM_HEUN,
                          .dt = 0.1,
                          .n_step = 100,
                          .design = GM_DESIGN_GRID,
                          .axis = s->axis,
                          .n_point = 1,
                          .knob = s->knob,
                          .node_file = s->node_file,
                          .uniform = s->uniform,
                          .input = s->input,
                          .record = s->record,
                          .every = 1};
}

static inline bool has_problem(const gm_problems *problems, const char *part)
{
    for (int i = 0; i < gm_problems_count(problems); i++)
        if (strstr(gm_problems_text(problems, i), part)) return true;
    return false;
}

#endif

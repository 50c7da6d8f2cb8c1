/* Is there noise anywhere in the sweep, and is each amplitude a number that makes sense?
 *
 * An amplitude is a C expression of the model's parameters. Which ones is found by probing it with
 * NaN; then it is evaluated at all combinations of their values. One that only a compiler
 * understands counts as noise. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/sweep_sections.h"

static const int64_t max_combination = 100000; /* beyond: taken as on, without a look */

typedef struct dependence {
    int n_param;
    int param[GM_MAX_PARAM];
    int n_axis;
    int axis[GM_MAX_PARAM]; /* of the sweep: those that sweep one of the parameters */
    bool has_file;          /* one of the parameters differs from node to node */
} dependence;

/* An amplitude as a reader of the sweep file knows it: without the model's "m->". */
static const char *plain_amplitude(const gm_model_info *model, int noise, char *buffer, size_t size)
{
    size_t used = 0;
    for (const char *c = model->noise_amplitude[noise]; *c && used + 1 < size; c++) {
        if (strncmp(c, "m->", 3) == 0)
            c += 2;
        else
            buffer[used++] = *c;
    }
    buffer[used] = '\0';
    return buffer;
}

static int axis_of(const gm_sweep *sweep, int knob)
{
    for (int a = 0; a < sweep->n_axis; a++)
        if (sweep->axis[a].kind == GM_AXIS_KNOB && sweep->axis[a].knob == knob) return a;
    return -1;
}

static void find_dependence(const gm_sweep *sweep, int noise, dependence *depends)
{
    const gm_model_info *model = sweep->model;
    double param[GM_MAX_PARAM];
    memset(depends, 0, sizeof *depends);
    memcpy(param, sweep->knob, (size_t)model->n_param * sizeof *param);
    for (int p = 0; p < model->n_param; p++) {
        param[p] = NAN;
        bool matters = isnan(gm_model_noise_value(model, param, noise));
        param[p] = sweep->knob[p];
        if (!matters) continue;
        int axis = axis_of(sweep, p);
        depends->param[depends->n_param++] = p;
        if (axis >= 0) depends->axis[depends->n_axis++] = axis;
        if (sweep->node_file[p].path) depends->has_file = true;
    }
}

/* Combinations of the values of these axes; -1: more than can be looked at. */
static int64_t count_combinations(const gm_sweep *sweep, const dependence *depends)
{
    int64_t n = 1;
    if (sweep->design == GM_DESIGN_ZIP)
        n = depends->n_axis > 0 ? sweep->n_point : 1;
    else
        for (int i = 0; i < depends->n_axis && n <= max_combination; i++)
            n = sweep->axis[depends->axis[i]].n > max_combination
                    ? max_combination + 1
                    : n * sweep->axis[depends->axis[i]].n;
    return n <= max_combination ? n : -1;
}

static void set_combination(const gm_sweep *sweep, const dependence *depends, int64_t which,
                            double *param)
{
    for (int i = 0; i < depends->n_axis; i++) {
        const gm_axis *axis = &sweep->axis[depends->axis[i]];
        int64_t k = which;
        if (sweep->design == GM_DESIGN_GRID) {
            k = which % axis->n;
            which /= axis->n;
        }
        param[axis->knob] = axis->value[k];
    }
}

static gm_place place_of(const gm_sweep_reader *reader, const dependence *depends)
{
    for (int i = 0; i < depends->n_param; i++) {
        int axis = axis_of(reader->sweep, depends->param[i]);
        if (axis >= 0) return reader->axis_key[axis]->place;
        const gm_yaml_node *key = reader->knob_key[depends->param[i]];
        if (key) return key->place;
    }
    return gm_sweep_file_place(reader);
}

static void report_amplitude(const gm_sweep_reader *reader, const dependence *depends, int noise,
                             const double *param, double amplitude)
{
    const gm_model_info *model = reader->sweep->model;
    char at[GM_YAML_LIST_SIZE] = "";
    char text[GM_YAML_NAME_SIZE];
    size_t used = 0;
    for (int i = 0; i < depends->n_param && used + GM_YAML_NAME_SIZE < sizeof at; i++)
        used += (size_t)snprintf(at + used, GM_YAML_NAME_SIZE, "%s%s = %.15g", i ? ", " : " at ",
                                 model->param[depends->param[i]].name, param[depends->param[i]]);
    gm_problems_add(reader->problems, place_of(reader, depends),
                    "the noise amplitude of %s (%s) is %.15g%s; it must be a number, 0 or more",
                    model->state[model->noise_state[noise]].name,
                    plain_amplitude(model, noise, text, sizeof text), amplitude, at);
}

/* True if the amplitude is not zero somewhere. */
static bool check_amplitude(const gm_sweep_reader *reader, int noise)
{
    const gm_sweep *sweep = reader->sweep;
    dependence depends;
    double param[GM_MAX_PARAM];
    if (!gm_model_noise_is_known(sweep->model, noise)) return true;
    find_dependence(sweep, noise, &depends);
    int64_t n = count_combinations(sweep, &depends);
    if (depends.has_file || n < 0) return true;
    memcpy(param, sweep->knob, (size_t)sweep->model->n_param * sizeof *param);
    bool is_on = false;
    for (int64_t i = 0; i < n; i++) {
        set_combination(sweep, &depends, i, param);
        double amplitude = gm_model_noise_value(sweep->model, param, noise);
        if (!(amplitude >= 0 && isfinite(amplitude))) {
            report_amplitude(reader, &depends, noise, param, amplitude);
            return true;
        }
        if (amplitude > 0) is_on = true;
    }
    return is_on;
}

void gm_sweep_check_noise(gm_sweep_reader *reader)
{
    gm_sweep *sweep = reader->sweep;
    const gm_model_info *model = sweep->model;
    char storage[GM_MAX_NOISE][GM_YAML_NAME_SIZE];
    const char *amplitude[GM_MAX_NOISE];
    int n_on = 0;
    for (int k = 0; k < model->n_noise; k++)
        if (check_amplitude(reader, k))
            amplitude[n_on++] = plain_amplitude(model, k, storage[k], sizeof storage[k]);
    sweep->noise = n_on > 0;
    const gm_yaml_node *integrator = gm_yaml_find(reader->root, "integrator");
    if (!sweep->noise || sweep->integrator != GM_RK4 || !integrator) return;
    char all[GM_YAML_LIST_SIZE];
    gm_problems_add(reader->problems, integrator->place,
                    "rk4 cannot take noise, and these amplitudes are not 0: %s; use euler "
                    "(Euler-Maruyama) or heun (stochastic Heun), or set them to 0",
                    gm_yaml_join(amplitude, n_on, all, sizeof all));
}

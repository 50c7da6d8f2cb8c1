#include "kernels/shape.h"

#include "kernels/backend.h"

int64_t gm_real_size(const gm_sweep *sweep)
{
    return sweep->precision == GM_FP64 ? 8 : 4;
}

void gm_put_real(gm_precision precision, void *array, int64_t i, double value)
{
    if (precision == GM_FP64)
        ((double *)array)[i] = value;
    else
        ((float *)array)[i] = (float)value;
}

bool gm_has_statistics(const gm_sweep *sweep)
{
    return gm_sweep_records(sweep, GM_MEAN) || gm_sweep_records(sweep, GM_VARIANCE) ||
           gm_sweep_records(sweep, GM_MIN) || gm_sweep_records(sweep, GM_MAX);
}

int64_t gm_n_final(const gm_sweep *sweep)
{
    int64_t n = 0;
    for (int o = 0; o < GM_TRAJECTORY; o++)
        for (int s = 0; s < sweep->model->n_state; s++) n += sweep->record[o][s];
    return n;
}

int64_t gm_n_trajectory(const gm_sweep *sweep)
{
    int64_t n = 0;
    for (int s = 0; s < sweep->model->n_state; s++) n += sweep->record[GM_TRAJECTORY][s];
    return n;
}

int64_t gm_point_bytes(const gm_sweep *sweep, const gm_data *data)
{
    const int64_t real = gm_real_size(sweep);
    const int64_t n_value = sweep->model->n_state * data->n_node;
    const int64_t statistics =
        gm_has_statistics(sweep) ? 2 * (int64_t)sizeof(double) + 3 * real : 0;
    const int64_t final = gm_n_final(sweep) * data->n_node * real + (int64_t)sizeof(int64_t);
    const int64_t knobs = gm_model_n_knob(sweep->model) * real;
    return n_value * (real + statistics) + GM_N_SLOT * final + knobs + 4 * (int64_t)sizeof(int64_t);
}

int64_t gm_most_samples(const gm_sweep *sweep, int64_t n_step)
{
    const int64_t every = sweep->every;
    return gm_sweep_records(sweep, GM_TRAJECTORY) ? (n_step + every - 1) / every : 0;
}

#include "kernels/shape.h"

#include "kernels/backend.h"

gm_precision gm_real_precision(const gm_sweep *sweep)
{
    return sweep->precision == GM_FP64 ? GM_FP64 : GM_FP32;
}

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

uint32_t gm_record_mask(const gm_sweep *sweep, int observable)
{
    uint32_t mask = 0;
    for (int q = 0; q < gm_model_n_quantity(sweep->model); q++)
        mask |= (uint32_t)sweep->record[observable][q] << q;
    return mask;
}

uint32_t gm_statistics_mask(const gm_sweep *sweep)
{
    uint32_t mask = 0;
    for (int o = GM_MEAN; o < GM_TRAJECTORY; o++) mask |= gm_record_mask(sweep, o);
    return mask;
}

uint32_t gm_derived_mask(const gm_sweep *sweep)
{
    const uint32_t states = (UINT32_C(1) << sweep->model->n_state) - 1;
    uint32_t mask = 0;
    for (int o = 0; o < GM_N_OBSERVABLE; o++) mask |= gm_record_mask(sweep, o);
    return mask & ~states;
}

bool gm_derived_couples(const gm_sweep *sweep)
{
    const gm_model_info *model = sweep->model;
    const uint32_t recorded = gm_derived_mask(sweep) >> model->n_state;
    bool couples = false;
    for (int k = 0; k < model->n_derived; k++)
        couples |= (recorded >> k & 1) && gm_model_derived_couples(model, k);
    return couples && model->n_coupling > 0;
}

int gm_n_row(const gm_sweep *sweep)
{
    const gm_model_info *model = sweep->model;
    return gm_derived_mask(sweep) ? gm_model_n_quantity(model) : model->n_state;
}

uint32_t gm_linear_mask(const gm_sweep *sweep)
{
    uint32_t mask = 0;
    for (int i = 0; i < sweep->model->n_input; i++)
        if (sweep->input[i].kind == GM_INPUT_FILE && sweep->input[i].interpolation == GM_LINEAR)
            mask |= UINT32_C(1) << i;
    return mask;
}

int64_t gm_n_final(const gm_sweep *sweep)
{
    int64_t n = 0;
    for (int o = 0; o < GM_TRAJECTORY; o++) n += __builtin_popcount(gm_record_mask(sweep, o));
    return n;
}

int64_t gm_n_trajectory(const gm_sweep *sweep)
{
    return __builtin_popcount(gm_record_mask(sweep, GM_TRAJECTORY));
}

int64_t gm_point_bytes(const gm_sweep *sweep, const gm_data *data)
{
    const int64_t real = gm_real_size(sweep);
    const int64_t n_value = gm_n_row(sweep) * data->n_node;
    const int64_t statistics =
        gm_statistics_mask(sweep) ? 2 * (int64_t)sizeof(double) + 3 * real : 0;
    const int64_t final = gm_n_final(sweep) * data->n_node * real + (int64_t)sizeof(int64_t);
    const int64_t knobs = gm_model_n_knob(sweep->model) * real;
    return n_value * (real + statistics) + GM_N_SLOT * final + knobs + 4 * (int64_t)sizeof(int64_t);
}

int64_t gm_most_samples(const gm_sweep *sweep, int64_t n_step)
{
    const int64_t every = sweep->every;
    return gm_sweep_records(sweep, GM_TRAJECTORY) ? (n_step + every - 1) / every : 0;
}

/* Amplitudes of a model's noises: its expressions, evaluated for given parameters. */
#include <math.h>
#include <stddef.h>

#include "core/expression.h"
#include "core/model.h"

typedef struct parameters {
    const gm_model_info *model;
    const double *value; /* [n_param]; NULL: any */
} parameters;

static bool find_parameter(const void *context, const char *name, double *value)
{
    const parameters *of = context;
    const int i = gm_quantity_find(of->model->param, of->model->n_param, name);
    if (i >= 0) *value = of->value ? of->value[i] : 1;
    return i >= 0;
}

double gm_model_noise_value(const gm_model_info *model, const double *param, int k)
{
    const parameters of = {model, param};
    double value = 0;
    const bool known = gm_expression_value(model->noise_amplitude[k], find_parameter, &of, &value);
    return known ? value : NAN;
}

bool gm_model_noise_is_known(const gm_model_info *model, int k)
{
    const parameters of = {model, NULL};
    double value;
    return gm_expression_value(model->noise_amplitude[k], find_parameter, &of, &value);
}

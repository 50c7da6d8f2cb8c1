/* Look-ups by name in what a model says about itself. */
#include "core/model.h"

#include <string.h>

static const char initial_prefix[] = "initial.";
enum { INITIAL_LENGTH = sizeof initial_prefix - 1 };

int gm_quantity_find(const gm_quantity *list, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(list[i].name, name) == 0) return i;
    return -1;
}

int gm_model_find_knob(const gm_model_info *model, const char *name)
{
    if (strncmp(name, initial_prefix, INITIAL_LENGTH) != 0)
        return gm_quantity_find(model->param, model->n_param, name);
    int state = gm_quantity_find(model->state, model->n_state, name + INITIAL_LENGTH);
    return state < 0 ? -1 : model->n_param + state;
}

const gm_quantity *gm_model_knob(const gm_model_info *model, int knob)
{
    if (knob < 0 || knob >= gm_model_n_knob(model)) return NULL;
    if (knob < model->n_param) return &model->param[knob];
    return &model->state[knob - model->n_param];
}

int gm_model_find_quantity(const gm_model_info *model, const char *name)
{
    const int state = gm_quantity_find(model->state, model->n_state, name);
    if (state >= 0) return state;
    const int derived = gm_quantity_find(model->derived, model->n_derived, name);
    return derived < 0 ? -1 : model->n_state + derived;
}

const gm_model_info *gm_catalog_find(const gm_model_catalog *catalog, const char *name)
{
    for (int i = 0; i < catalog->n_model; i++)
        if (strcmp(catalog->model[i]->name, name) == 0) return catalog->model[i];
    return NULL;
}

bool gm_model_is_path(const char *name)
{
    const size_t n = strlen(name);
    return strchr(name, '/') || (n > 2 && strcmp(name + n - 2, ".h") == 0);
}

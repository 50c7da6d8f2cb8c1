/* gridmarch models: what a model is made of. */
#include "app/commands.h"

#include <stdio.h>
#include <string.h>

#include "core/problems.h"
#include "kernels/backend.h"

static void print_list(const char *title, const gm_quantity *list, int n, bool with_value)
{
    if (n == 0) return;
    printf("\n%s\n", title);
    for (int i = 0; i < n; i++) {
        if (with_value)
            printf("  %-10s %-10g %-11s %s\n", list[i].name, list[i].value, list[i].unit,
                   list[i].doc);
        else
            printf("  %-10s %s\n", list[i].name, list[i].doc);
    }
}

static void print_model(const gm_model_info *model)
{
    printf("%s: %s\n  %s\n  time in %s\n", model->name, model->doc, model->source,
           strcmp(model->time_unit, "1") == 0 ? "units of the model" : model->time_unit);
    print_list("states (initial value, unit)", model->state, model->n_state, true);
    print_list("parameters (default, unit)", model->param, model->n_param, true);
    print_list("couplings", model->coupling, model->n_coupling, false);
    print_list("inputs (default, unit)", model->input, model->n_input, true);
    if (model->n_noise > 0) printf("\nnoise (state, amplitude)\n");
    for (int i = 0; i < model->n_noise; i++) {
        const char *text = model->noise_amplitude[i];
        printf("  %-10s %s\n", model->state[model->noise_state[i]].name,
               strncmp(text, "m->", 3) == 0 ? text + 3 : text);
    }
}

gm_status gm_command_models(const gm_options *options)
{
    const gm_model_catalog *all = &gm_builtin_models;
    const char *names[256];
    int n = all->n_model < 256 ? all->n_model : 256;
    if (!options->target) {
        for (int i = 0; i < n; i++) printf("%-14s %s\n", all->model[i]->name, all->model[i]->doc);
        return GM_OK;
    }
    const gm_model_info *model = gm_catalog_find(all, options->target);
    if (model) {
        print_model(model);
        return GM_OK;
    }
    for (int i = 0; i < n; i++) names[i] = all->model[i]->name;
    const char *near = gm_nearest_name(options->target, names, n);
    return GM_FAIL(GM_E_USAGE, "unknown model \"%s\"%s%s%s; `gridmarch models` lists them",
                   options->target, near ? "; did you mean \"" : "", near ? near : "",
                   near ? "\"" : "");
}

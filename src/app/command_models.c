/* gridmarch models: what a model is made of, built in or of a user's file. */
#include "app/commands.h"

#include <stdio.h>
#include <string.h>

#include "app/model_template.h"
#include "core/model_read.h"
#include "io/table.h"
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

static void print_noise(const gm_model_info *model)
{
    if (model->n_noise > 0) printf("\nnoise (state, amplitude)\n");
    for (int i = 0; i < model->n_noise; i++) {
        const char *text = model->noise_amplitude[i];
        printf("  %-10s %s\n", model->state[model->noise_state[i]].name,
               strncmp(text, "m->", 3) == 0 ? text + 3 : text);
    }
}

static void print_derived(const gm_model_info *model)
{
    if (model->n_derived > 0) printf("\nderived quantities (unit)\n");
    for (int i = 0; i < model->n_derived; i++)
        printf("  %-10s %-22s %s = %s\n", model->derived[i].name, model->derived[i].unit,
               model->derived[i].doc, model->derived_expression[i]);
}

static void print_model(const gm_model_info *model)
{
    printf("%s: %s\n", model->name, model->doc);
    if (model->source[0]) printf("  %s\n", model->source);
    printf("  time in %s\n",
           strcmp(model->time_unit, "1") == 0 ? "units of the model" : model->time_unit);
    print_list("states (initial value, unit)", model->state, model->n_state, true);
    print_list("parameters (default, unit)", model->param, model->n_param, true);
    print_list("couplings", model->coupling, model->n_coupling, false);
    print_list("inputs (default, unit)", model->input, model->n_input, true);
    print_noise(model);
    print_derived(model);
}

static gm_status print_file(const char *path)
{
    gm_status st = GM_OK;
    gm_problems *problems = NULL;
    gm_model *model = NULL;
    gm_bytes text = {0};
    GM_TRY(st, gm_problems_create(&problems));
    st = gm_text_load((gm_place){0}, path, problems, &text);
    if (st == GM_E_INPUT) st = gm_problems_status(problems);
    if (st != GM_OK) goto cleanup;
    GM_TRY(st, gm_model_read(path, text.byte, problems, &model));
    print_model(&model->info);
cleanup:
    gm_model_destroy(&model);
    gm_bytes_clear(&text);
    gm_problems_destroy(&problems);
    return st;
}

static gm_status print_built_in(const char *name)
{
    const gm_model_catalog *all = &gm_builtin_models;
    const char *names[256];
    const int n = all->n_model < 256 ? all->n_model : 256;
    const gm_model_info *model = gm_catalog_find(all, name);
    if (model) {
        print_model(model);
        return GM_OK;
    }
    for (int i = 0; i < n; i++) names[i] = all->model[i]->name;
    const char *near = gm_nearest_name(name, names, n);
    return GM_FAIL(GM_E_USAGE,
                   "unknown model \"%s\"%s%s%s; `gridmarch models` lists them, and the file of a "
                   "model of your own is named like ./my_model.h",
                   name, near ? "; did you mean \"" : "", near ? near : "", near ? "\"" : "");
}

gm_status gm_command_models(const gm_options *options)
{
    const gm_model_catalog *all = &gm_builtin_models;
    if (options->template_name) return gm_model_template_print(options->template_name);
    if (options->target)
        return gm_model_is_path(options->target) ? print_file(options->target)
                                                 : print_built_in(options->target);
    for (int i = 0; i < all->n_model; i++)
        printf("%-14s %s\n", all->model[i]->name, all->model[i]->doc);
    return GM_OK;
}

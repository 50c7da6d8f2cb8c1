/* From the lists of a model header to the data that describe the model. */
#include "core/model_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/expression.h"
#include "core/hash.h"
#include "core/model_check.h"

enum { MAX_STRING = 4 * GM_N_LIST * GM_MAX_ENTRY + 8 };

/* What a model's info points to. */
typedef struct store {
    gm_quantity state[GM_MAX_STATE], param[GM_MAX_PARAM], coupling[GM_MAX_COUPLING],
        input[GM_MAX_INPUT], derived[GM_MAX_DERIVED];
    int noise_state[GM_MAX_NOISE];
    const char *noise_amplitude[GM_MAX_NOISE];
    const char *derived_expression[GM_MAX_DERIVED];
    char hash[GM_HASH_TEXT_SIZE];
    int n_string;
    char *string[MAX_STRING]; /* owned */
} store;

typedef struct reader {
    const gm_model_header *header;
    gm_model_lists *lists;
    gm_problems *problems;
    gm_model *model; /* being filled */
    store *store;
} reader;

static gm_status out_of_memory(void)
{
    return GM_FAIL(GM_E_MEMORY, "out of memory for a model header");
}

/* Give a string to the store; *out is "" if there is none. */
static gm_status keep(store *to, gm_status st, char *text, const char **out)
{
    *out = text ? text : "";
    if (text) to->string[to->n_string++] = text;
    return st;
}

static gm_status keep_code(const reader *r, gm_span field, const char **out)
{
    char *text = NULL;
    const gm_status st = gm_model_field_code(r->header, field, &text);
    return keep(r->store, st, text, out);
}

static gm_status keep_text(const reader *r, gm_span field, const char *of, const char *name,
                           const char **out)
{
    char what[2 * GM_MODEL_NAME_SIZE];
    char *text = NULL;
    snprintf(what, sizeof what, "the %s of '%s'", of, name);
    const gm_status st = gm_model_field_text(r->header, field, what, r->problems, &text);
    return keep(r->store, st, text, out);
}

/* --- entries --------------------------------------------------------------------------------- */

/* What is wrong with the value of an entry. */
static void report_value(const reader *r, const gm_entry *entry, const char *of, const char *fault)
{
    char shown[GM_MODEL_SHOWN_SIZE];
    gm_problems_add(r->problems, gm_model_header_place(r->header, entry->field[1].begin),
                    "the %s of '%s' %s; found '%s'", of, entry->name, fault,
                    gm_model_header_show(r->header, entry->field[1], shown));
}

static gm_status read_value(const reader *r, const gm_entry *entry, const char *of, double *value)
{
    char *text = NULL;
    const gm_status st = gm_model_field_code(r->header, entry->field[1], &text);
    if (st != GM_OK) return st;
    if (!text[0])
        report_value(r, entry, of, "is missing");
    else if (!gm_expression_value(text, NULL, NULL, value))
        report_value(r, entry, of,
                     "must be a number, or arithmetic of numbers such as 8.0 / 3.0 (in C, 1/3 is "
                     "0)");
    else if (!isfinite(*value))
        report_value(r, entry, of, "must be finite");
    free(text);
    return GM_OK;
}

static gm_status read_unit(const reader *r, const gm_entry *entry, const char **unit)
{
    const int before = gm_problems_count(r->problems);
    const gm_status st = keep_text(r, entry->field[2], "unit", entry->name, unit);
    if (st == GM_OK && gm_problems_count(r->problems) == before && !(*unit)[0])
        gm_problems_add(r->problems, gm_model_header_place(r->header, entry->field[2].begin),
                        "the unit of '%s' is empty; write \"1\" for none", entry->name);
    return st;
}

/* States, parameters and inputs have a value; a derived quantity has an expression in its place. */
static gm_status read_quantity(const reader *r, gm_list_id id, const gm_entry *entry,
                               gm_quantity *out, const char **expression)
{
    gm_status st = GM_OK;
    const bool has_unit = id != GM_LIST_COUPLING;
    out->unit = "1";
    st = keep(r->store, GM_OK, strdup(entry->name), &out->name);
    if (!out->name[0]) return entry->name[0] ? out_of_memory() : st;
    if (expression)
        GM_TRY(st, keep_code(r, entry->field[1], expression));
    else if (has_unit)
        GM_TRY(st, read_value(r, entry, id == GM_LIST_STATE ? "initial value" : "default",
                              &out->value));
    if (has_unit) GM_TRY(st, read_unit(r, entry, &out->unit));
    GM_TRY(st, keep_text(r, entry->field[has_unit ? 3 : 2], "description", entry->name, &out->doc));
cleanup:
    return st;
}

/* Entries that have the wrong number of fields were reported and are left out. */
static gm_status read_quantities(const reader *r, gm_list_id id, gm_quantity *out, int *n,
                                 const char **expression)
{
    const gm_entries *list = &r->lists->list[id];
    for (int i = 0; i < list->n; i++) {
        if (list->entry[i].n_field != gm_list_forms[id].n_field) continue;
        const gm_status st =
            read_quantity(r, id, &list->entry[i], &out[*n], expression ? &expression[*n] : NULL);
        if (st != GM_OK) return st;
        ++*n;
    }
    return GM_OK;
}

static gm_status read_noises(const reader *r, gm_model_info *info)
{
    const gm_entries *list = &r->lists->list[GM_LIST_NOISE];
    for (int i = 0; i < list->n; i++) {
        const gm_entry *entry = &list->entry[i];
        const int state = gm_quantity_find(info->state, info->n_state, entry->name);
        if (state < 0 || entry->n_field != gm_list_forms[GM_LIST_NOISE].n_field) continue;
        r->store->noise_state[info->n_noise] = state;
        const gm_status st =
            keep_code(r, entry->field[1], &r->store->noise_amplitude[info->n_noise]);
        if (st != GM_OK) return st;
        info->n_noise++;
    }
    return GM_OK;
}

static void read_phases(const reader *r, gm_model_info *info)
{
    const gm_entries *list = &r->lists->list[GM_LIST_PHASE];
    for (int i = 0; i < list->n; i++) {
        const int state = gm_quantity_find(info->state, info->n_state, list->entry[i].name);
        if (state >= 0) info->phase_mask |= 1u << state;
    }
}

/* --- texts of the model as a whole ----------------------------------------------------------- */

static gm_status read_macro(const reader *r, const char *macro, const char *otherwise,
                            bool may_be_empty, const char **out)
{
    gm_directive directive;
    char *text = NULL;
    *out = otherwise;
    if (!gm_model_header_macro(r->header, macro, r->problems, &directive)) return GM_OK;
    gm_span rest = directive.rest;
    while (rest.begin < rest.end && strchr(" \t", r->header->text[rest.begin])) rest.begin++;
    gm_status st = gm_model_field_text(r->header, rest, macro, r->problems, &text);
    if (text && !text[0] && !may_be_empty)
        gm_problems_add(r->problems, gm_model_header_place(r->header, directive.name.begin),
                        "%s is empty; leave the line out for its default", macro);
    return keep(r->store, st, text, out);
}

/* A model without a name is called like its file. */
static gm_status read_name(const reader *r, gm_model_info *info)
{
    const char *slash = strrchr(r->model->path, '/');
    const char *file = slash ? slash + 1 : r->model->path;
    size_t n = strlen(file);
    const char *name = NULL;
    gm_status st = GM_OK;
    if (n > 2 && strcmp(file + n - 2, ".h") == 0) n -= 2;
    keep(r->store, GM_OK, strndup(file, n), &name);
    if (n > 0 && !name[0]) return out_of_memory();
    GM_TRY(st, read_macro(r, "GM_MODEL_NAME", name, false, &info->name));
    GM_TRY(st, read_macro(r, "GM_MODEL_DOC", "", true, &info->doc));
    GM_TRY(st, read_macro(r, "GM_MODEL_SOURCE", "", true, &info->source));
    GM_TRY(st, read_macro(r, "GM_MODEL_TIME_UNIT", "1", false, &info->time_unit));
cleanup:
    return st;
}

/* --- all of it ------------------------------------------------------------------------------- */

static gm_status read_info(const reader *r)
{
    gm_status st = GM_OK;
    gm_model_info *info = &r->model->info;
    store *s = r->store;
    *info = (gm_model_info){.path = r->model->path,
                            .text = r->model->text,
                            .state = s->state,
                            .param = s->param,
                            .coupling = s->coupling,
                            .input = s->input,
                            .noise_state = s->noise_state,
                            .noise_amplitude = s->noise_amplitude,
                            .derived = s->derived,
                            .derived_expression = s->derived_expression,
                            .source_hash = s->hash};
    gm_hash hash = gm_hash_begin();
    gm_hash_add_text(&hash, r->model->text);
    gm_hash_format(hash, s->hash);
    GM_TRY(st, read_name(r, info));
    GM_TRY(st, read_quantities(r, GM_LIST_STATE, s->state, &info->n_state, NULL));
    GM_TRY(st, read_quantities(r, GM_LIST_PARAM, s->param, &info->n_param, NULL));
    GM_TRY(st, read_quantities(r, GM_LIST_COUPLING, s->coupling, &info->n_coupling, NULL));
    GM_TRY(st, read_quantities(r, GM_LIST_INPUT, s->input, &info->n_input, NULL));
    GM_TRY(st, read_quantities(r, GM_LIST_DERIVED, s->derived, &info->n_derived,
                               s->derived_expression));
    GM_TRY(st, read_noises(r, info));
    read_phases(r, info);
cleanup:
    return st;
}

static void check(const reader *r)
{
    const gm_entries *states = &r->lists->list[GM_LIST_STATE];
    gm_model_check_macros(r->header, r->lists, r->problems);
    if (states->n == 0 && states->is_whole)
        gm_problems_add(r->problems, gm_model_header_place(r->header, states->at),
                        "the model has no states: #define GM_STATES(X) %s ...",
                        gm_list_forms[GM_LIST_STATE].form);
    gm_model_check_names(r->header, r->lists, r->problems);
    gm_model_check_expressions(r->header, r->lists, r->problems);
    gm_model_check_functions(r->header, r->lists, r->problems);
    gm_model_check_math(r->header, r->problems);
}

static gm_status create(const char *path, const char *text, gm_model **out)
{
    gm_model *model = calloc(1, sizeof *model);
    if (!model) return out_of_memory();
    model->path = strdup(path);
    model->text = strdup(text);
    model->memory = calloc(1, sizeof(store));
    if (model->path && model->text && model->memory) {
        *out = model;
        return GM_OK;
    }
    gm_model_destroy(&model);
    return out_of_memory();
}

gm_status gm_model_read(const char *path, const char *text, gm_problems *problems, gm_model **out)
{
    gm_status st = GM_OK;
    gm_model *model = NULL;
    gm_model_header *header = NULL;
    gm_model_lists *lists = NULL;
    const int before = gm_problems_count(problems);
    *out = NULL;
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0) text += 3; /* a byte order mark */
    if (strnlen(text, GM_MODEL_MAX_TEXT + 1) > GM_MODEL_MAX_TEXT) {
        gm_problems_add(problems, (gm_place){path, 0, 0},
                        "larger than 1 MiB, so it is no model header");
        return gm_problems_status(problems);
    }
    GM_TRY(st, create(path, text, &model));
    GM_TRY(st, gm_model_header_create(model->path, model->text, &header));
    gm_model_lists_check_ends(header, problems);
    if (gm_problems_count(problems) > before) GM_TRY(st, gm_problems_status(problems));
    GM_TRY(st, gm_model_lists_create(header, problems, &lists));
    const reader r = {header, lists, problems, model, model->memory};
    GM_TRY(st, read_info(&r));
    check(&r);
    if (gm_problems_count(problems) > before) GM_TRY(st, gm_problems_status(problems));
    *out = model, model = NULL;
cleanup:
    free(lists);
    gm_model_header_destroy(&header);
    gm_model_destroy(&model);
    return st;
}

void gm_model_destroy(gm_model **model)
{
    if (!*model) return;
    store *s = (*model)->memory;
    for (int i = 0; s && i < s->n_string; i++) free(s->string[i]);
    free(s);
    free((*model)->text);
    free((*model)->path);
    free(*model);
    *model = NULL;
}

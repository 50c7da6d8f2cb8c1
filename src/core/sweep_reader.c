#include "core/sweep_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

gm_place gm_sweep_file_place(const gm_sweep_reader *reader)
{
    return (gm_place){.file = reader->sweep->path};
}

const gm_yaml_node *gm_sweep_need(const gm_sweep_reader *reader, const gm_yaml_node *map,
                                  const char *key, const char *what, const char *hint)
{
    const gm_yaml_node *node = gm_yaml_find(map, key);
    gm_place place = map == reader->root ? gm_sweep_file_place(reader) : map->place;
    if (!node) gm_problems_add(reader->problems, place, "%s is missing: %s", what, hint);
    return node;
}

const gm_yaml_node *gm_sweep_optional_map(const gm_sweep_reader *reader, const char *section)
{
    const gm_yaml_node *node = gm_yaml_find(reader->root, section);
    if (!node || gm_yaml_is_null(node)) return NULL;
    return gm_yaml_get_map(node, section, reader->problems) ? node : NULL;
}

gm_status gm_sweep_read_source(const gm_sweep_reader *reader, const gm_yaml_node *node,
                               const char *what, gm_source *out)
{
    const char *text;
    if (!gm_yaml_get_string(node, what, reader->problems, &text)) return GM_OK;
    const char *slash = strrchr(reader->sweep->path, '/');
    size_t n_folder = slash && text[0] != '/' ? (size_t)(slash - reader->sweep->path) + 1 : 0;
    size_t n_text = strlen(text) + 1;
    out->path = malloc(n_folder + n_text);
    if (!out->path) return gm_sweep_no_memory();
    memcpy(out->path, reader->sweep->path, n_folder);
    memcpy(out->path + n_folder, text, n_text);
    out->line = node->place.line;
    out->column = node->place.column;
    return GM_OK;
}

int gm_sweep_names(const gm_quantity *list, int n, const char **name)
{
    for (int i = 0; i < n; i++) name[i] = list[i].name;
    return n;
}

void gm_sweep_report_name(const gm_sweep_reader *reader, const gm_yaml_node *key,
                          const char *section, const char *kind, const char *const *allowed,
                          int n_allowed)
{
    const gm_model_info *model = reader->sweep->model;
    const char *name = key->text;
    char before[GM_YAML_NAME_SIZE];
    char after[GM_YAML_NAME_SIZE];
    const bool is_axis = strcmp(kind, "axis") == 0;
    if (gm_quantity_find(model->state, model->n_state, name) >= 0) {
        gm_problems_add(reader->problems, key->place,
                        "%s: %s is a state; its initial value is initial.%s, or the axis "
                        "'initial.%s'",
                        section, name, name, name);
    } else if (is_axis && gm_quantity_find(model->input, model->n_input, name) >= 0) {
        gm_problems_add(reader->problems, key->place,
                        "%s: %s is an input, and inputs cannot be swept yet: an input is the same "
                        "for all points; sweep a parameter that acts alike",
                        section, name);
    } else if (gm_quantity_find(model->input, model->n_input, name) >= 0) {
        gm_problems_add(reader->problems, key->place,
                        "%s: %s is an input; it goes under inputs, the same for all points",
                        section, name);
    } else if (gm_quantity_find(model->param, model->n_param, name) >= 0) {
        gm_problems_add(reader->problems, key->place,
                        "%s: %s is a parameter; it goes under parameters or axes", section, name);
    } else if (gm_quantity_find(model->derived, model->n_derived, name) >= 0) {
        gm_problems_add(reader->problems, key->place,
                        "%s: %s is a derived quantity: it is computed, not set; record can name it",
                        section, name);
    } else {
        snprintf(before, sizeof before, "%s: %s has no %s", section, model->name,
                 is_axis ? "parameter" : kind);
        snprintf(after, sizeof after, is_axis ? "axes can be" : "its %ss are", kind);
        gm_yaml_report_name(key, before, after, allowed, n_allowed, reader->problems);
    }
}

void gm_sweep_report_both(const gm_sweep_reader *reader, const gm_yaml_node *a, const char *a_path,
                          const gm_yaml_node *b, const char *b_path)
{
    char where[GM_YAML_LIST_SIZE];
    bool a_set = a->place.line == 0;
    bool b_set = b->place.line == 0;
    if (a_set == b_set)
        gm_problems_add(reader->problems, a->place, "%s is given, and so is %s (%s): keep one",
                        a_path, b_path, gm_yaml_where(b, where, sizeof where));
    else
        gm_problems_add(reader->problems, a->place,
                        "%s is given, and so is %s (%s): keep one; --set %s=null takes the one in "
                        "the file away",
                        a_path, b_path, gm_yaml_where(b, where, sizeof where),
                        a_set ? b_path : a_path);
}

/* model: a name of the catalog, or the path of a header. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sweep_sections.h"

static gm_status open_model(gm_sweep_reader *reader, const gm_model_catalog *catalog,
                            const gm_yaml_node *node)
{
    gm_source source = {0};
    gm_status st = gm_sweep_read_source(reader, node, "model", &source);
    if (st == GM_OK && source.path)
        st = catalog->open(catalog->context, node->place, source.path, reader->problems,
                           &reader->sweep->model);
    free(source.path);
    return st == GM_E_INPUT ? GM_OK : st; /* its problems are noted: go on and find more */
}

/* A model called NAME is unknown; NAME.h may lie beside the sweep file. */
static gm_status report_model(gm_sweep_reader *reader, const gm_model_catalog *catalog,
                              const gm_yaml_node *node, const char *const *names)
{
    const char *path = reader->sweep->path;
    const char *slash = strrchr(path, '/');
    const int n_folder = slash ? (int)(slash - path) + 1 : 0;
    const size_t size = (size_t)n_folder + strlen(node->text) + sizeof ".h";
    char *file = malloc(size);
    if (!file) return gm_sweep_no_memory();
    snprintf(file, size, "%.*s%s.h", n_folder, path, node->text);
    char after[GM_YAML_NAME_SIZE] = "the models are";
    if (catalog->has_file && strlen(node->text) < sizeof after / 2 && catalog->has_file(file))
        snprintf(after, sizeof after, "for the file beside it write ./%s.h; the models are",
                 node->text);
    gm_yaml_report_name(node, "unknown model", after, names, catalog->n_model, reader->problems);
    free(file);
    return GM_OK;
}

gm_status gm_sweep_read_model(gm_sweep_reader *reader, const gm_model_catalog *catalog)
{
    gm_status st = GM_OK;
    gm_sweep *sweep = reader->sweep;
    const char *name;
    char all[GM_YAML_LIST_SIZE];
    const char **names = calloc((size_t)catalog->n_model + 1, sizeof *names);
    if (!names) return gm_sweep_no_memory();
    for (int m = 0; m < catalog->n_model; m++) names[m] = catalog->model[m]->name;
    char hint[GM_YAML_LIST_SIZE + 16];
    snprintf(hint, sizeof hint, "choose one of: %s",
             gm_yaml_join(names, catalog->n_model, all, sizeof all));
    const gm_yaml_node *node = gm_sweep_need(reader, reader->root, "model", "model", hint);
    if (!node || !gm_yaml_get_string(node, "model", reader->problems, &name)) goto cleanup;
    if (catalog->open && gm_model_is_path(name)) {
        st = open_model(reader, catalog, node);
        goto cleanup;
    }
    sweep->model = gm_catalog_find(catalog, name);
    if (!sweep->model) st = report_model(reader, catalog, node, names);
cleanup:
    free(names);
    return st;
}

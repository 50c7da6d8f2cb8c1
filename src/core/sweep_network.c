/* The section `network`: where the weights come from and what is done to them. Nothing is done
 * silently, so every choice that changes numbers has to be spelled out. */
#include <stdio.h>
#include <string.h>

#include "core/sweep_sections.h"

static const char *const normalisations[] = {"none", "maximum", "row", "spectral"};
static const char *const symmetries[] = {"as_is", "required", "averaged"};
static const char *const self_connections[] = {"keep", "drop"};
static const char *const rows[] = {"target", "source"};

static void read_choice(const gm_sweep_reader *reader, const gm_yaml_node *network, const char *key,
                        const char *const *choice, int n_choice, bool required, int *out)
{
    char what[GM_YAML_NAME_SIZE];
    char all[GM_YAML_NAME_SIZE];
    char hint[GM_YAML_NAME_SIZE + 16];
    snprintf(what, sizeof what, "network.%s", key);
    snprintf(hint, sizeof hint, "choose one of: %s",
             gm_yaml_join(choice, n_choice, all, sizeof all));
    const gm_yaml_node *node =
        required ? gm_sweep_need(reader, network, key, what, hint) : gm_yaml_find(network, key);
    if (node) gm_yaml_get_choice(node, what, choice, n_choice, reader->problems, out);
}

static gm_status read_files(gm_sweep_reader *reader, const gm_yaml_node *network)
{
    gm_network_spec *spec = &reader->sweep->network;
    const gm_yaml_node *weights = gm_yaml_find(network, "weights");
    const gm_yaml_node *tvb = gm_yaml_find(network, "tvb");
    const gm_yaml_node *labels = gm_yaml_find(network, "labels");
    gm_status st = GM_OK;
    if (weights && tvb)
        gm_sweep_report_both(reader, weights, "network.weights", tvb, "network.tvb");
    if (!weights && !tvb)
        gm_problems_add(reader->problems, network->place,
                        "network needs `weights: FILE` or `tvb: FOLDER`");
    if (tvb && labels)
        gm_problems_add(reader->problems, labels->place,
                        "network.labels does not go with network.tvb, whose folder has the labels");
    spec->kind = tvb ? GM_NETWORK_TVB : GM_NETWORK_MATRIX;
    if (tvb)
        st = gm_sweep_read_source(reader, tvb, "network.tvb", &spec->weights);
    else if (weights)
        st = gm_sweep_read_source(reader, weights, "network.weights", &spec->weights);
    if (st != GM_OK || !labels || tvb) return st;
    return gm_sweep_read_source(reader, labels, "network.labels", &spec->labels);
}

static gm_status read_mapping(gm_sweep_reader *reader, const gm_yaml_node *network)
{
    static const char *const keys[] = {
        "weights", "tvb", "labels", "normalise", "symmetric", "self_connections", "rows"};
    gm_network_spec *spec = &reader->sweep->network;
    int normalisation = 0;
    int symmetry = 0;
    int self = 0;
    int row = 0;
    gm_yaml_check_keys(network, "network", keys, (int)(sizeof keys / sizeof *keys),
                       reader->problems);
    read_choice(reader, network, "normalise", normalisations, 4, true, &normalisation);
    read_choice(reader, network, "symmetric", symmetries, 3, true, &symmetry);
    read_choice(reader, network, "self_connections", self_connections, 2, true, &self);
    read_choice(reader, network, "rows", rows, 2, false, &row);
    spec->normalisation = (gm_normalisation)normalisation;
    spec->symmetry = (gm_symmetry)symmetry;
    spec->keep_self = self == 0;
    spec->rows_are_source = row == 1;
    return read_files(reader, network);
}

gm_status gm_sweep_read_network(gm_sweep_reader *reader)
{
    const gm_model_info *model = reader->sweep->model;
    const gm_yaml_node *network = gm_yaml_find(reader->root, "network");
    if (model && model->n_coupling == 0) {
        if (network)
            gm_problems_add(reader->problems, gm_yaml_find_key(reader->root, "network")->place,
                            "%s has no couplings between nodes, so it takes no network: remove it",
                            model->name);
        return GM_OK;
    }
    if (!network) {
        if (model)
            gm_problems_add(reader->problems, gm_sweep_file_place(reader),
                            "network is missing, and %s couples nodes: write network: {weights: "
                            "FILE, normalise: ..., symmetric: ..., self_connections: ...}, or "
                            "network: none for a single node",
                            model->name);
        return GM_OK;
    }
    if (network->kind == GM_YAML_SCALAR && strcmp(network->text, "none") == 0) return GM_OK;
    if (network->kind == GM_YAML_MAP) return read_mapping(reader, network);
    char found[GM_YAML_NAME_SIZE];
    gm_problems_add(reader->problems, network->place,
                    "network must be none or a mapping with `weights: FILE` or `tvb: FOLDER`; "
                    "found %s",
                    gm_yaml_describe(network, found, sizeof found));
    return GM_OK;
}

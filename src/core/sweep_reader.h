/** What all parts of the sweep file reader share: the tree, the sweep that is being filled, and the
 *  common ways to look things up and to report. Private to the reader. */
#ifndef GM_CORE_SWEEP_READER_H
#define GM_CORE_SWEEP_READER_H

#include "core/sweep.h"
#include "core/sweep_yaml.h"

enum { GM_SWEEP_MAX_NAMES = GM_MAX_PARAM + GM_MAX_STATE + 1 };

typedef struct gm_sweep_reader {
    gm_sweep *sweep; /* being filled */
    gm_problems *problems;
    gm_yaml_node *root; /* owned */
    int n_override;
    char **override_name;          /* owned [n_override] "--set key=value" */
    const gm_yaml_node **knob_key; /* owned [n_knob] what sets it under parameters, initial */
    int64_t n_axis_value;          /* generated for axes so far */
    const gm_yaml_node **axis_key; /* owned [sweep->n_axis] */
} gm_sweep_reader;

/** The sweep file as a whole: the place of what is missing. */
gm_place gm_sweep_file_place(const gm_sweep_reader *reader);

/** Value of a key that must be there, or NULL with a problem "what is missing: hint". */
const gm_yaml_node *gm_sweep_need(const gm_sweep_reader *reader, const gm_yaml_node *map,
                                  const char *key, const char *what, const char *hint);

/** A section that may be left out or empty: its mapping, or NULL. */
const gm_yaml_node *gm_sweep_optional_map(const gm_sweep_reader *reader, const char *section);

/** A path, relative to the folder of the sweep file. A wrong node adds a problem. */
gm_status gm_sweep_read_source(const gm_sweep_reader *reader, const gm_yaml_node *node,
                               const char *what, gm_source *out);

/** Report a name that a section does not have; if the model has it elsewhere, say where it goes.
 *  @param kind  "parameter", "state", "input", "axis" */
void gm_sweep_report_name(const gm_sweep_reader *reader, const gm_yaml_node *key,
                          const char *section, const char *kind, const char *const *allowed,
                          int n_allowed);

/** Names of a list of quantities. Returns n. */
int gm_sweep_names(const gm_quantity *list, int n, const char **name);

/** Report that two places set the same thing, and which of them to take away.
 *  @param a_path, b_path  their dotted keys ("axes.G") */
void gm_sweep_report_both(const gm_sweep_reader *reader, const gm_yaml_node *a, const char *a_path,
                          const gm_yaml_node *b, const char *b_path);

/** GM_E_MEMORY, said of the sweep. */
static inline gm_status gm_sweep_no_memory(void)
{
    return GM_FAIL(GM_E_MEMORY, "out of memory for the sweep");
}

#endif

/** The parts of the sweep file reader, one per section of the file. Private to the reader.
 *
 *  Each part looks its section up under reader->root, fills reader->sweep and adds problems. A
 *  status other than GM_OK means that memory ran out. With an unknown model (sweep->model NULL)
 *  only the parts that say so are called. */
#ifndef GM_CORE_SWEEP_SECTIONS_H
#define GM_CORE_SWEEP_SECTIONS_H

#include "core/sweep_reader.h"

/** Put one "key=value" into the tree. */
gm_status gm_sweep_override(gm_yaml_node *root, const char *setting, const char *place_name,
                            gm_problems *problems);

/** Values of one axis. On a problem *n is 0 and *value NULL.
 *  @param[in,out] n_all  values generated for all axes so far
 *  @param[out] value  owned by the caller [n] */
gm_status gm_sweep_read_axis_values(const gm_yaml_node *node, const char *what,
                                    gm_problems *problems, int64_t *n_all, int64_t *n,
                                    double **value);

/** Values of an axis, and of all together, 2^27 unless set: for tests. */
void gm_sweep_limit_values(int64_t n);

/** Report a value that an axis of a grid holds twice. */
gm_status gm_sweep_check_repeats(const gm_sweep_reader *reader, const gm_yaml_node *node,
                                 const char *what, const gm_axis *axis);

/** Leaves sweep->model NULL on a problem. */
gm_status gm_sweep_read_model(gm_sweep_reader *reader, const gm_model_catalog *catalog);

void gm_sweep_read_time(gm_sweep_reader *reader);         /* needs no model */
gm_status gm_sweep_read_network(gm_sweep_reader *reader); /* needs no model */
gm_status gm_sweep_read_knobs(gm_sweep_reader *reader);   /* parameters, initial */
gm_status gm_sweep_read_axes(gm_sweep_reader *reader);    /* after the knobs: axes, design, seed */
gm_status gm_sweep_read_inputs(gm_sweep_reader *reader);
void gm_sweep_read_record(gm_sweep_reader *reader); /* after the time; needs no model */
void gm_sweep_check_noise(gm_sweep_reader *reader); /* after the axes */

#endif

/** What a sweep's files hold, once loaded: weights, labels, per-node values, inputs. */
#ifndef GM_CORE_DATA_H
#define GM_CORE_DATA_H

#include "core/sweep.h"

typedef struct gm_signal {
    int64_t n_sample; /* 0: the input is constant */
    int64_t n_column; /* 1 (the same for all nodes) or n_node */
    double *sample;   /* owned [n_sample][n_column] */
} gm_signal;

typedef struct gm_data {
    int64_t n_node;      /* 1 for a plain ODE */
    double *weight;      /* owned [n_node][n_node], row = target; NULL for a plain ODE */
    char **label;        /* owned [n_node]; NULL: nodes are numbered from 0 */
    double **node_value; /* owned [n_knob], each [n_node] or NULL */
    gm_signal *signal;   /* owned [n_input] */
} gm_data;

/** An empty gm_data for a sweep: n_node 1, tables of the model's sizes filled with NULL / 0. */
gm_status gm_data_create(const gm_sweep *sweep, gm_data **out);
void gm_data_destroy(gm_data **data, const gm_sweep *sweep);

/** Apply what the network section asks for to a matrix as read, in this order: orientation,
 *  symmetry, self-connections, normalisation. Adds problems (place: the weights' source) for an
 *  entry that is not finite, for a missing symmetry, and for a norm of zero.
 *  @param[in,out] weight [n][n] */
void gm_network_prepare(const gm_network_spec *spec, int64_t n, double *weight,
                        const char *sweep_path, gm_problems *problems);

/** Largest modulus of the eigenvalues of a real matrix [n][n], relative error below 1e-10.
 *  By Gelfand's formula with repeated squaring, so also right for complex pairs.
 *  @return GM_OK; GM_E_MEMORY */
gm_status gm_spectral_radius(int64_t n, const double *matrix, double *radius);

/** Hold sweep and data against each other: node counts of labels, per-node files and inputs;
 *  inputs that end before the run does. Adds problems. */
void gm_data_check(const gm_sweep *sweep, const gm_data *data, gm_problems *problems);

/** Fill the inputs of steps [step_begin, step_begin + n_step + 1) (one more than the steps, for the
 *  last step's end): out[n_step + 1][n_input][n_node] in doubles, at times step * dt.
 *  Sample k of a signal belongs to time k * spec.step; "hold" takes the sample at or before the
 *  time, "linear" interpolates; beyond the last sample the last one holds. */
void gm_data_input(const gm_sweep *sweep, const gm_data *data, int64_t step_begin, int64_t n_step,
                   double *out);

/** True if any input changes in time. */
bool gm_data_input_varies(const gm_sweep *sweep, const gm_data *data);

/** The whole request as sorted "key: value" lines: what resume compares. Contents of files enter
 *  by hash, their paths do not; the output path does not.
 *  @return GM_OK with *out owned by the caller (free) */
gm_status gm_sweep_canonical(const gm_sweep *sweep, const gm_data *data, char **out);

#endif

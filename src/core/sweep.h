/** A sweep: one run's whole request, as read from a sweep file and checked.
 *
 *  gm_sweep_parse turns text into a gm_sweep. It opens no other file: what the sweep only names
 *  (weights, inputs, per-node values) is loaded into a gm_data afterwards (see core/data.h), and
 *  gm_sweep_check then holds the two against each other. */
#ifndef GM_CORE_SWEEP_H
#define GM_CORE_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/model.h"
#include "core/problems.h"
#include "core/status.h"

/* fast: numbers as in fp32, functions and couplings with fewer digits where that is quicker. */
typedef enum { GM_FP32, GM_FP64, GM_FAST_FP32 } gm_precision;
typedef enum { GM_EULER, GM_HEUN, GM_RK4 } gm_integrator;
/* How a GPU marches a network: chosen from the sweep, or by the user. */
typedef enum { GM_ENGINE_AUTO, GM_ENGINE_BLOCK, GM_ENGINE_MATRIX } gm_engine_wish;
typedef enum { GM_DESIGN_GRID, GM_DESIGN_ZIP } gm_design;

/* X(enumerator, name in the sweep file, long name, does it have a time dimension) */
#define GM_OBSERVABLE_LIST(X)                                                                      \
    X(GM_LAST, "last", "value after the last step", false)                                         \
    X(GM_MEAN, "mean", "mean over time", false)                                                    \
    X(GM_VARIANCE, "variance", "variance over time", false)                                        \
    X(GM_MIN, "min", "minimum over time", false)                                                   \
    X(GM_MAX, "max", "maximum over time", false)                                                   \
    X(GM_TRAJECTORY, "trajectory", "value over time", true)

typedef enum gm_observable {
#define X(id, name, long_name, has_time) id,
    GM_OBSERVABLE_LIST(X)
#undef X
        GM_N_OBSERVABLE
} gm_observable;

const char *gm_precision_name(gm_precision precision);    /* "fp32" */
const char *gm_integrator_name(gm_integrator integrator); /* "heun" */
const char *gm_observable_name(gm_observable observable); /* "last" */
const char *gm_observable_long_name(gm_observable observable);

/** Where in the sweep file a file name stands, and the path it resolves to. */
typedef struct gm_source {
    char *path; /* owned; absolute or relative to the working directory; NULL: not given */
    int line, column;
} gm_source;

typedef enum { GM_AXIS_KNOB, GM_AXIS_SEED } gm_axis_kind;

typedef struct gm_axis {
    char *name; /* owned: "G", "initial.E", "seed" */
    gm_axis_kind kind;
    int knob;      /* GM_AXIS_KNOB: which */
    int64_t n;     /* > 0 */
    double *value; /* owned [n]; seeds are whole numbers below 2^53 */
} gm_axis;

typedef enum { GM_NETWORK_NONE, GM_NETWORK_MATRIX, GM_NETWORK_TVB } gm_network_kind;
typedef enum { GM_NORM_NONE, GM_NORM_MAXIMUM, GM_NORM_ROW, GM_NORM_SPECTRAL } gm_normalisation;
typedef enum { GM_SYMMETRIC_AS_IS, GM_SYMMETRIC_REQUIRED, GM_SYMMETRIC_AVERAGED } gm_symmetry;

typedef struct gm_network_spec {
    gm_network_kind kind;
    gm_source weights; /* a matrix file, or for GM_NETWORK_TVB the folder */
    gm_source labels;  /* optional */
    gm_normalisation normalisation;
    gm_symmetry symmetry;
    bool keep_self;       /* keep the diagonal */
    bool rows_are_source; /* the file's W[i][j] goes from i to j: transposed on reading */
} gm_network_spec;

typedef enum { GM_INPUT_CONSTANT, GM_INPUT_FILE } gm_input_kind;
typedef enum { GM_HOLD, GM_LINEAR } gm_interpolation;

typedef struct gm_input_spec {
    gm_input_kind kind; /* GM_INPUT_CONSTANT with the model's default when the sweep is silent */
    double constant;
    gm_source source; /* (time, node) or (time) */
    char *dataset;    /* owned; HDF5 only: path of the dataset */
    double step;      /* time between samples, in the model's time unit, > 0 */
    gm_interpolation interpolation;
} gm_input_spec;

/** Uniform random initial values of one state, drawn per point and node. */
typedef struct gm_uniform {
    bool on;
    double low, high;
} gm_uniform;

typedef struct gm_sweep {
    char *path;      /* owned; as given on the command line */
    char *text;      /* owned; the file's text, without overrides */
    char **override; /* owned [n_override] "key=value" */
    int n_override;

    const gm_model_info *model; /* borrowed from the catalog */
    gm_precision precision;
    gm_integrator integrator;

    double dt;           /* > 0, in the model's time unit */
    int64_t n_step;      /* > 0; the whole run, transient included */
    int64_t n_transient; /* 0 <= n_transient < n_step: steps before recording starts */

    gm_design design;
    int n_axis;      /* 0: one point */
    gm_axis *axis;   /* owned [n_axis]; grid: the last axis varies fastest */
    int64_t n_point; /* > 0 */
    uint64_t seed;   /* of every point, unless an axis is the seed; below 2^53 */

    double *knob;         /* owned [n_knob] value where no axis, file or distribution sets it */
    gm_source *node_file; /* owned [n_knob] per-node values; path NULL: none */
    gm_uniform *uniform;  /* owned [n_state] */

    gm_network_spec network;
    gm_input_spec *input; /* owned [n_input] */
    bool noise;           /* some noise amplitude is not zero at some point */

    bool (*record)[GM_MAX_QUANTITY]; /* owned [GM_N_OBSERVABLE][states, then derived] */
    int64_t every;                   /* trajectory: steps between samples, > 0 */

    gm_source output; /* path NULL: not given */

    gm_engine_wish engine; /* of the command line; the parser leaves GM_ENGINE_AUTO */
} gm_sweep;

/** Parse and check a sweep file's text.
 *  @param path      name of the file: for messages, and its folder is where relative paths start
 *  @param text      NUL-terminated UTF-8; n_byte its length without the NUL
 *  @param override  "key=value" with dotted keys ("time.dt=0.05"), applied over the text
 *  @param problems  receives everything found wrong
 *  @return GM_OK with *out owned by the caller; GM_E_INPUT when problems were found;
 *          GM_E_MEMORY. Not collective. Thread safe. */
gm_status gm_sweep_parse(const char *path, const char *text, int64_t n_byte,
                         const char *const *override, int n_override,
                         const gm_model_catalog *catalog, gm_problems *problems, gm_sweep **out);

void gm_sweep_destroy(gm_sweep **sweep);

/** Values of every axis at a point: index[n_axis] into axis[].value. */
void gm_sweep_point_index(const gm_sweep *sweep, int64_t point, int64_t *index);

/** Seed and knob values of a point (without per-node files and distributions).
 *  @param[out] knob [n_knob] */
void gm_sweep_point(const gm_sweep *sweep, int64_t point, double *knob, uint64_t *seed);

/** Number of trajectory samples: (n_step - n_transient) / every; 0 without a trajectory. */
int64_t gm_sweep_n_sample(const gm_sweep *sweep);

/** True if anything is recorded by this observable. */
bool gm_sweep_records(const gm_sweep *sweep, gm_observable observable);

#endif

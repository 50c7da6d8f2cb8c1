/** What a model says about itself: the lists of its header, as data.
 *
 *  Instances are made from the model headers by kernels/models/describe.c. */
#ifndef GM_CORE_MODEL_H
#define GM_CORE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum {
    GM_MAX_STATE = 16,
    GM_MAX_PARAM = 64,
    GM_MAX_COUPLING = 8,
    GM_MAX_INPUT = 8,
    GM_MAX_NOISE = 8
};

/** A named quantity of a model: state, parameter, coupling or input. All strings are static. */
typedef struct gm_quantity {
    const char *name;
    double value;     /* states: initial value; parameters and inputs: default; couplings: 0 */
    const char *unit; /* UDUNITS text; "1" when there is none */
    const char *doc;  /* one line; couplings: the sum in words */
} gm_quantity;

typedef struct gm_model_info {
    const char *name;
    const char *doc;         /* one line */
    const char *source;      /* paper */
    const char *time_unit;   /* "ms", "s" or "1" */
    const char *source_hash; /* SHA-256 of the model header, hexadecimal */
    int n_state, n_param, n_coupling, n_input, n_noise;
    const gm_quantity *state;           /* [n_state] */
    const gm_quantity *param;           /* [n_param] */
    const gm_quantity *coupling;        /* [n_coupling]; none: a plain ODE, n_node = 1 */
    const gm_quantity *input;           /* [n_input] */
    const int *noise_state;             /* [n_noise] the state each noise drives */
    const char *const *noise_amplitude; /* [n_noise] the C expression of its amplitude */
    uint32_t phase_mask;                /* bit s set: state s is an angle, kept in [0, 2 pi) */
    /** Amplitude of noise k for parameters param[n_param], computed in double. */
    double (*noise_value)(const double *param, int k);
} gm_model_info;

/* A "knob" is any number of a model that a sweep may set: its parameters, followed by the initial
 * values of its states, which are named "initial.<state>". */
static inline int gm_model_n_knob(const gm_model_info *model)
{
    return model->n_param + model->n_state;
}

/** Index of a quantity by name, or -1. */
int gm_quantity_find(const gm_quantity *list, int n, const char *name);

/** Index of a knob by its name ("G", "initial.E"), or -1. */
int gm_model_find_knob(const gm_model_info *model, const char *name);

/** The quantity behind a knob: a parameter or a state. */
const gm_quantity *gm_model_knob(const gm_model_info *model, int knob);

/** All built-in models. Set by the room that holds the kernels; borrowed, static. */
typedef struct gm_model_catalog {
    const gm_model_info *const *model; /* [n_model] */
    int n_model;
} gm_model_catalog;

const gm_model_info *gm_catalog_find(const gm_model_catalog *catalog, const char *name);

#endif

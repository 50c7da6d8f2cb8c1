/** What a model says about itself: the lists of its header, as data.
 *
 *  Those of built-in models are made by kernels/models/describe.c, those of users' files by
 *  core/model_read.h. */
#ifndef GM_CORE_MODEL_H
#define GM_CORE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/problems.h"

enum {
    GM_MAX_STATE = 16,
    GM_MAX_PARAM = 64,
    GM_MAX_COUPLING = 8,
    GM_MAX_INPUT = 8,
    GM_MAX_NOISE = 8,
    GM_MAX_DERIVED = 16,
    GM_MAX_QUANTITY = GM_MAX_STATE + GM_MAX_DERIVED
};

/** A named quantity of a model: state, parameter, coupling, input or derived quantity. Strings live
 *  as long as the model. */
typedef struct gm_quantity {
    const char *name;
    double value;     /* states: initial value; parameters and inputs: default; others: 0 */
    const char *unit; /* UDUNITS text; "1" when there is none */
    const char *doc;  /* one line; couplings: the sum in words */
} gm_quantity;

typedef struct gm_model_info {
    const char *name;
    const char *doc;         /* one line */
    const char *source;      /* paper */
    const char *time_unit;   /* "ms", "s" or "1" */
    const char *path;        /* of the header, as compilers see it; NULL: built in */
    const char *text;        /* of the header; NULL: built in */
    const char *source_hash; /* of the model header's text, hexadecimal */
    int n_state, n_param, n_coupling, n_input, n_noise, n_derived;
    const gm_quantity *state;              /* [n_state] */
    const gm_quantity *param;              /* [n_param] */
    const gm_quantity *coupling;           /* [n_coupling]; none: a plain ODE, n_node = 1 */
    const gm_quantity *input;              /* [n_input] */
    const int *noise_state;                /* [n_noise] the state each noise drives */
    const char *const *noise_amplitude;    /* [n_noise] the C expression of its amplitude */
    uint32_t phase_mask;                   /* bit s set: state s is an angle, kept in [0, 2 pi) */
    const gm_quantity *derived;            /* [n_derived] computed only where it is recorded */
    const char *const *derived_expression; /* [n_derived] C, of s-> m-> c-> */
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

/* A sweep can record a model's states and derived quantities, counted in this order. */
static inline int gm_model_n_quantity(const gm_model_info *model)
{
    return model->n_state + model->n_derived;
}

/** The state or derived quantity number i. */
static inline const gm_quantity *gm_model_quantity(const gm_model_info *model, int i)
{
    return i < model->n_state ? &model->state[i] : &model->derived[i - model->n_state];
}

/** Number of a state or derived quantity by its name, or -1. */
int gm_model_find_quantity(const gm_model_info *model, const char *name);

/** Can the expression of derived quantity k depend on a coupling? False only if its text shows that
 *  it does not. */
bool gm_model_derived_couples(const gm_model_info *model, int k);

/** Amplitude of noise k for parameters param[n_param]: its expression, evaluated; NaN for one that
 * is more than arithmetic. */
double gm_model_noise_value(const gm_model_info *model, const double *param, int k);

/** Is the amplitude arithmetic of parameters, so that gm_model_noise_value can tell it? */
bool gm_model_noise_is_known(const gm_model_info *model, int k);

/** All built-in models. Set by the room that holds the kernels; borrowed, static. */
typedef struct gm_model_catalog {
    const gm_model_info *const *model; /* [n_model] */
    int n_model;
    /** Opens the header file of a user's model; NULL: only the models above are known.
     *  @param path  relative to the working directory
     *  @param out   owned by the catalog's keeper
     *  @return GM_OK; GM_E_INPUT with problems added */
    gm_status (*open)(void *context, gm_place place, const char *path, gm_problems *problems,
                      const gm_model_info **out);
    /** Is there a file at this path, relative to the working directory? NULL: not known. */
    bool (*has_file)(const char *path);
    void *context;
} gm_model_catalog;

/** Is this the path of a header file (it has a '/' or ends in ".h") and not a built-in's name? */
bool gm_model_is_path(const char *name);

const gm_model_info *gm_catalog_find(const gm_model_catalog *catalog, const char *name);

#endif

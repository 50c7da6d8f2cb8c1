/** Turns a model's lists into types. A model header includes this between its lists and gm_drift.
 *
 *  Lists that a model leaves out are empty. What a model's function sees:
 *    gm_params  one gm_real per parameter
 *    gm_state   one gm_real per state; also the type of the slope it writes
 *    gm_drive   one gm_real per coupling and per input, and `strength`, the node's sum_j W_ij
 *    gm_exp, gm_sigmoid, gm_tanh, gm_sin, gm_cos, gm_log, gm_sqrt; write constants as GM_C(0.5)
 *  For speed: multiply by 1 / m->tau rather than divide, so that a parameter costs no division at
 * each step; gm_sigmoids_scaled (kernels/math.h) gives two sigmoids for the price of one. */
#ifndef GM_KERNELS_MODELS_GM_MODEL_H
#define GM_KERNELS_MODELS_GM_MODEL_H

#include "kernels/math.h"

#ifndef GM_MODEL_NAME
#define GM_MODEL_NAME "" /* a user's file may go by its own name */
#endif
#ifndef GM_PARAMS
#define GM_PARAMS(X)
#endif
#ifndef GM_COUPLINGS
#define GM_COUPLINGS(X)
#endif
#ifndef GM_INPUTS
#define GM_INPUTS(X)
#endif
#ifndef GM_NOISES
#define GM_NOISES(X)
#endif
#ifndef GM_PHASES
#define GM_PHASES(X)
#endif
#ifdef GM_DERIVED
#define GM_HAS_DERIVED 1
#else
#define GM_HAS_DERIVED 0
#define GM_DERIVED(X)
#endif

#define GM_FIELD(name, ...) gm_real name;

typedef struct gm_params {
    GM_PARAMS(GM_FIELD)
} gm_params;

typedef struct gm_state {
    GM_STATES(GM_FIELD)
} gm_state;

typedef struct gm_drive {
    GM_COUPLINGS(GM_FIELD)
    GM_INPUTS(GM_FIELD)
    gm_real strength;
} gm_drive;

/* Positions in the lists, and their lengths. */
#define GM_PLACE(name, ...) GM_STATE_##name,
enum { GM_STATES(GM_PLACE) GM_N_STATE };
#undef GM_PLACE
#define GM_PLACE(name, ...) GM_PARAM_##name,
enum { GM_PARAMS(GM_PLACE) GM_N_PARAM };
#undef GM_PLACE
#define GM_PLACE(name, ...) GM_COUPLING_##name,
enum { GM_COUPLINGS(GM_PLACE) GM_N_COUPLING };
#undef GM_PLACE
#define GM_PLACE(name, ...) GM_INPUT_##name,
enum { GM_INPUTS(GM_PLACE) GM_N_INPUT };
#undef GM_PLACE
#define GM_PLACE(name, ...) GM_NOISE_##name,
enum { GM_NOISES(GM_PLACE) GM_N_NOISE };
#undef GM_PLACE
#define GM_PLACE(name, ...) GM_DERIVED_##name,
enum { GM_DERIVED(GM_PLACE) GM_N_DERIVED };
#undef GM_PLACE

#define GM_BIT(name) | (1u << GM_STATE_##name)
enum { GM_PHASE_MASK = 0 GM_PHASES(GM_BIT) };
#undef GM_BIT

#endif

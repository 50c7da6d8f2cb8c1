/* One model's lists as data: compiled once per model header.
 * Given by the build: GM_MODEL_HEADER, GM_INFO_SYMBOL, GM_SOURCE_HASH, GM_DOUBLE = 1. */
#include "core/model.h"
#include GM_MODEL_HEADER

#ifndef GM_MODEL_TIME_UNIT
#define GM_MODEL_TIME_UNIT "1"
#endif

#define QUANTITY(name, value, unit, doc)          {#name, value, unit, doc},
#define COUPLING(name, expression, doc)           {#name, 0, "1", doc},
#define DERIVED(name, expression, unit, doc)      {#name, 0, unit, doc},
#define DERIVED_TEXT(name, expression, unit, doc) #expression,
#define NOISE_STATE(name, amplitude)              GM_STATE_##name,
#define NOISE_TEXT(name, amplitude)               #amplitude,
#define END                                                                                        \
    {                                                                                              \
        0, 0, 0, 0                                                                                 \
    } /* so that no list is empty */

static const gm_quantity states[] = {GM_STATES(QUANTITY) END};
static const gm_quantity params[] = {GM_PARAMS(QUANTITY) END};
static const gm_quantity couplings[] = {GM_COUPLINGS(COUPLING) END};
static const gm_quantity inputs[] = {GM_INPUTS(QUANTITY) END};
static const int noise_states[] = {GM_NOISES(NOISE_STATE) - 1};
static const char *const noise_texts[] = {GM_NOISES(NOISE_TEXT) 0};
static const gm_quantity derived[] = {GM_DERIVED(DERIVED) END};
static const char *const derived_texts[] = {GM_DERIVED(DERIVED_TEXT) 0};

const gm_model_info GM_INFO_SYMBOL = {
    .name = GM_MODEL_NAME,
    .doc = GM_MODEL_DOC,
    .source = GM_MODEL_SOURCE,
    .time_unit = GM_MODEL_TIME_UNIT,
    .source_hash = GM_SOURCE_HASH,
    .n_state = GM_N_STATE,
    .n_param = GM_N_PARAM,
    .n_coupling = GM_N_COUPLING,
    .n_input = GM_N_INPUT,
    .n_noise = GM_N_NOISE,
    .n_derived = GM_N_DERIVED,
    .state = states,
    .param = params,
    .coupling = couplings,
    .input = inputs,
    .noise_state = noise_states,
    .noise_amplitude = noise_texts,
    .phase_mask = (uint32_t)GM_PHASE_MASK,
    .derived = derived,
    .derived_expression = derived_texts,
};

_Static_assert((int)GM_N_STATE <= (int)GM_MAX_STATE && (int)GM_N_PARAM <= (int)GM_MAX_PARAM &&
                   (int)GM_N_COUPLING <= (int)GM_MAX_COUPLING &&
                   (int)GM_N_INPUT <= (int)GM_MAX_INPUT && (int)GM_N_NOISE <= (int)GM_MAX_NOISE &&
                   (int)GM_N_DERIVED <= (int)GM_MAX_DERIVED,
               "a list of " GM_MODEL_NAME " is longer than core/model.h allows");

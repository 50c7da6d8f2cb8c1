/** How long chunks may be, so that a run that is to stop does so within seconds. */
#ifndef GM_APP_PACE_H
#define GM_APP_PACE_H

#include <stdint.h>

/** Chunks begin short and grow while they take well under a second, by measurement. Results do not
 *  depend on it. */
typedef struct gm_pace {
    int64_t n_step, most; /* of the next chunk; ever */
} gm_pace;

gm_pace gm_pace_begin(int64_t most);

/** Learn from a chunk that was handed to the device and, unless collected is 0, another that came
 *  back and was written. A device may work in either of the two calls.
 *  @param submitted, collected  steps of the two
 *  @param submit_seconds, collect_seconds  how long the calls took */
void gm_pace_learn(gm_pace *pace, int64_t submitted, double submit_seconds, int64_t collected,
                   double collect_seconds);

#endif

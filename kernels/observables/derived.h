/** Derived quantities of a node, as a kernel evaluates them: from a state that is recorded, the
 *  couplings of that very state, and the inputs at its time.
 *
 *  Comes behind the model, whose functions the expressions may call. */
#ifndef GM_KERNELS_OBSERVABLES_DERIVED_H
#define GM_KERNELS_OBSERVABLES_DERIVED_H

#include "kernels/observables/statistics.h"

/* Derived quantities stand behind the states in every array of what can be recorded. */
enum { GM_N_QUANTITY = GM_N_STATE + GM_N_DERIVED, GM_DERIVED_SIZE = GM_N_DERIVED + !GM_N_DERIVED };

/* The names here are those that an expression may use, and no others that it could meet. */
GM_FN void gm_derive_from(const gm_params *m, const gm_state *s, const gm_drive *c,
                          gm_real *d) // NOLINT(readability-non-const-parameter): written if any
{
    (void)m, (void)s, (void)c, (void)d;
#define X(name, expression, ...) d[GM_DERIVED_##name] = (expression);
    GM_DERIVED(X)
#undef X
}

/** Angles enter as they are recorded, in [0, 2 pi).
 *  @param[out] value  [GM_N_DERIVED] */
GM_FN void gm_derive(const gm_params *params, const gm_state *state, const gm_drive *drive,
                     gm_real *value)
{
    gm_state recorded = *state;
#define X(name) recorded.name = gm_wrap_phase(recorded.name);
    GM_PHASES(X)
#undef X
    gm_derive_from(params, &recorded, drive, value);
}

#endif

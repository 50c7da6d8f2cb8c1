/* Lorenz 1963: three equations of convection, the standard test of chaotic dynamics.
 * E. N. Lorenz, Deterministic nonperiodic flow, J. Atmos. Sci. 20 (1963). */
#define GM_MODEL_NAME      "lorenz63"
#define GM_MODEL_DOC       "Lorenz 1963 convection equations (plain ODE)"
#define GM_MODEL_SOURCE    "Lorenz 1963, J. Atmos. Sci. 20:130"
#define GM_MODEL_TIME_UNIT "1"

#define GM_STATES(X)                                                                               \
    X(x, 1.0, "1", "convection rate")                                                              \
    X(y, 0.0, "1", "horizontal temperature difference")                                            \
    X(z, 0.0, "1", "vertical temperature difference")

#define GM_PARAMS(X)                                                                               \
    X(sigma, 10.0, "1", "Prandtl number")                                                          \
    X(rho, 28.0, "1", "Rayleigh number over its critical value")                                   \
    X(beta, 8.0 / 3.0, "1", "geometric factor")

#include "gm_model.h"

GM_FN void gm_drift(const gm_params *m, const gm_state *s, const gm_drive *c, gm_state *d)
{
    (void)c;
    d->x = m->sigma * (s->y - s->x);
    d->y = s->x * (m->rho - s->z) - s->y;
    d->z = s->x * s->y - m->beta * s->z;
}

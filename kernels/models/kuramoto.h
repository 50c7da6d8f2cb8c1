/* Kuramoto phase oscillators. The pairwise sine is two linear couplings:
 * sin(theta_j - theta_i) = sin theta_j cos theta_i - cos theta_j sin theta_i.
 * The phase is an angle in [0, 2 pi): it is brought back by a turn after each step. */
#define GM_MODEL_NAME      "kuramoto"
#define GM_MODEL_DOC       "Kuramoto phase oscillators"
#define GM_MODEL_SOURCE    "Kuramoto 1984, Chemical Oscillations, Waves, and Turbulence"
#define GM_MODEL_TIME_UNIT "ms"

#define GM_STATES(X) X(theta, 0.0, "rad", "phase")
#define GM_PHASES(X) X(theta)

#define GM_PARAMS(X)                                                                               \
    X(omega, 0.25, "rad ms-1", "natural angular frequency (0.25 rad/ms is 40 Hz)")                 \
    X(G, 0.02, "ms-1", "global coupling")                                                          \
    X(sigma, 0.0, "rad ms-0.5", "noise amplitude")

#define GM_COUPLINGS(X)                                                                            \
    X(net_sin, gm_sin(s->theta), "sum_j W_ij sin theta_j")                                         \
    X(net_cos, gm_cos(s->theta), "sum_j W_ij cos theta_j")

#define GM_NOISES(X) X(theta, m->sigma)

#include "gm_model.h"

GM_FN void gm_drift(const gm_params *m, const gm_state *s, const gm_drive *c, gm_state *d)
{
    gm_real pull = c->net_sin * gm_cos(s->theta) - c->net_cos * gm_sin(s->theta);
    d->theta = m->omega + m->G * pull;
}

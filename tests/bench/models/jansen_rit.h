/* Jansen-Rit columns: pyramidal cells and their excitatory and inhibitory interneurons, six states.
 */
#define GM_MODEL_NAME      "jansen_rit"
#define GM_MODEL_DOC       "Jansen-Rit cortical columns in a network"
#define GM_MODEL_SOURCE    "Jansen and Rit 1995, Biol. Cybern. 73:357"
#define GM_MODEL_TIME_UNIT "ms"

#define GM_STATES(X)                                                                               \
    X(y0, 0.1, "mV", "potential that pyramidal cells cause")                                       \
    X(y1, 15.0, "mV", "excitatory potential of pyramidal cells")                                   \
    X(y2, 9.0, "mV", "inhibitory potential of pyramidal cells")                                    \
    X(y3, 0.0, "mV ms-1", "slope of y0")                                                           \
    X(y4, 0.0, "mV ms-1", "slope of y1")                                                           \
    X(y5, 0.0, "mV ms-1", "slope of y2")

#define GM_PARAMS(X)                                                                               \
    X(A, 3.25, "mV", "largest excitatory potential")                                               \
    X(B, 22.0, "mV", "largest inhibitory potential")                                               \
    X(a, 0.1, "ms-1", "excitatory rate constant")                                                  \
    X(b, 0.05, "ms-1", "inhibitory rate constant")                                                 \
    X(v0, 5.52, "mV", "potential of half the largest rate")                                        \
    X(nu_max, 0.0025, "ms-1", "half the largest rate")                                             \
    X(r, 0.56, "mV-1", "slope of the sigmoid")                                                     \
    X(J, 135.0, "1", "number of synapses")                                                         \
    X(mu, 0.22, "ms-1", "rate of the outside drive")                                               \
    X(G, 0.0, "1", "global coupling")

#define GM_COUPLINGS(X)                                                                            \
    X(net, gm_sigmoid(GM_C(0.56) * (s->y1 - s->y2 - 6)), "sum_j W_ij of rates, of their largest")

#include "gm_model.h"

GM_FN gm_real rate(const gm_params *m, gm_real v)
{
    return 2 * m->nu_max * gm_sigmoid(m->r * (v - m->v0));
}

GM_FN void gm_drift(const gm_params *m, const gm_state *s, const gm_drive *c, gm_state *d)
{
    const gm_real up = GM_C(0.8) * m->J * rate(m, m->J * s->y0);
    const gm_real down = GM_C(0.25) * m->J * rate(m, GM_C(0.25) * m->J * s->y0);
    const gm_real drive = m->mu + up + GM_C(0.005) * m->G * c->net;
    d->y0 = s->y3;
    d->y1 = s->y4;
    d->y2 = s->y5;
    d->y3 = m->a * (m->A * rate(m, s->y1 - s->y2) - 2 * s->y3 - m->a * s->y0);
    d->y4 = m->a * (m->A * drive - 2 * s->y4 - m->a * s->y1);
    d->y5 = m->b * (m->B * down - 2 * s->y5 - m->b * s->y2);
}

/* Reduced Wong-Wang: the gating of slow synapses, driven by a rate that is x / (1 - exp(-d x)). */
#define GM_MODEL_NAME      "wong_wang"
#define GM_MODEL_DOC       "Reduced Wong-Wang populations in a network"
#define GM_MODEL_SOURCE    "Deco et al. 2013, J. Neurosci. 33:11239"
#define GM_MODEL_TIME_UNIT "ms"

#define GM_STATES(X) X(S, 0.1, "1", "share of open synapses")

#define GM_PARAMS(X)                                                                               \
    X(w, 0.9, "1", "local recurrence")                                                             \
    X(J, 0.2609, "nA", "synaptic coupling")                                                        \
    X(I0, 0.3, "nA", "outside current")                                                            \
    X(a, 0.27, "ms-1 nA-1", "gain of the rate")                                                    \
    X(b, 0.108, "ms-1", "threshold of the rate")                                                   \
    X(d, 154.0, "ms", "curvature of the rate")                                                     \
    X(gamma, 0.641, "1", "rise of the gating")                                                     \
    X(tau, 100.0, "ms", "decay of the gating")                                                     \
    X(G, 0.5, "1", "global coupling")

#define GM_COUPLINGS(X) X(net, s->S, "sum_j W_ij S_j")

#include "gm_model.h"

/* y / (1 - exp(-y)), which is 0/0 at 0: there by its series. */
GM_FN gm_real gain(gm_real y)
{
    const bool near = y * y < GM_C(0.0025);
    const gm_real far = near ? 1 : y;
    return near ? 1 + y * (GM_C(0.5) + y / 12) : far / (1 - gm_exp(-far));
}

GM_FN void gm_drift(const gm_params *m, const gm_state *s, const gm_drive *c, gm_state *d)
{
    const gm_real x = m->w * m->J * s->S + m->G * m->J * c->net + m->I0;
    const gm_real rate = gain(m->d * (m->a * x - m->b)) / m->d;
    d->S = -s->S / m->tau + (1 - s->S) * m->gamma * rate;
}

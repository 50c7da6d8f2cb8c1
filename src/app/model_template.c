#include "app/model_template.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "kernels/backend.h"

enum { MAX_NAME = 63 };

/* One line each; a '@' stands for the name of the model. */
static const char *const lines[] = {
    "/* @: FitzHugh-Nagumo units in a network. A model to start from: make it yours.",
    " *",
    " *   dV/dt = V - V^3 / 3 - W + I_ext + G sum_j w_ij (V_j - V_i)",
    " *   dW/dt = (V + a - b W) / tau",
    " *",
    " * A model is lists (its names, numbers, units and words) and one function (its",
    " * equations). All of it is plain C; each line of a list but its last ends in a",
    " * backslash. A list that is not needed is left out. To check this file:",
    " *     gridmarch models ./@.h",
    " * To run it, name it in a sweep file: model: ./@.h */",
    "#define GM_MODEL_NAME      \"@\"",
    "#define GM_MODEL_DOC       \"FitzHugh-Nagumo units, diffusive coupling\" /* one line */",
    "#define GM_MODEL_SOURCE    \"FitzHugh 1961, Biophys. J. 1:445\"          /* the paper */",
    "#define GM_MODEL_TIME_UNIT \"1\" /* of time.dt: \"ms\", \"s\", or \"1\" for none */",
    "",
    "/* States: X(name, initial value, \"unit\", \"description\"). Units are UDUNITS text. */",
    "#define GM_STATES(X)                                        \\",
    "    X(V, -1.2, \"1\", \"membrane potential\")                   \\",
    "    X(W, -0.6, \"1\", \"recovery\")",
    "",
    "/* Parameters: X(name, default, \"unit\", \"description\"). Each can be an axis. */",
    "#define GM_PARAMS(X)                                        \\",
    "    X(a, 0.7, \"1\", \"threshold of the recovery\")             \\",
    "    X(b, 0.8, \"1\", \"damping of the recovery\")               \\",
    "    X(tau, 12.5, \"1\", \"time constant of the recovery\")      \\",
    "    X(G, 0.1, \"1\", \"global coupling\")                       \\",
    "    X(sigma, 0.0, \"1\", \"noise amplitude of V\")",
    "",
    "/* Couplings: X(name, expression, \"description\"). The expression is what a node j",
    " * sends, made of its states s->; a node i gets sum_j w_ij expression_j, as c->name.",
    " * Without this list the model is a plain ODE and takes no network. */",
    "#define GM_COUPLINGS(X) X(net, s->V, \"sum_j w_ij V_j\")",
    "",
    "/* Inputs: X(name, default, \"unit\", \"description\"). A number, or a signal in time",
    " * from a file, which all points share. */",
    "#define GM_INPUTS(X) X(I_ext, 0.5, \"1\", \"outside current\")",
    "",
    "/* Noises: X(state, amplitude). Adds amplitude dW to the state, with a Wiener",
    " * process W for each point and node. The amplitude is made of parameters m->;",
    " * where it is 0 there is no noise. */",
    "#define GM_NOISES(X) X(V, m->sigma)",
    "",
    "/* Derived quantities: X(name, expression, \"unit\", \"description\"). Made of states s->,",
    " * parameters m-> and what reaches the node, c->. They can be recorded like states, and",
    " * cost nothing where they are not. Functions from below can be called. */",
    "#define GM_DERIVED(X) X(flow, from_network(m, s, c), \"1\", \"current from the network\")",
    "",
    "/* Angles: states that turn round in [0, 2 pi). There is none here; with a state phi:",
    " * #define GM_PHASES(X) X(phi) */",
    "",
    "/* Makes types of the lists: behind all of them, before the functions. */",
    "#include \"gm_model.h\"",
    "",
    "/* Functions of your own begin with GM_FN, so that they work on CPU and GPU.",
    " * gm_real is float or double, as the sweep says; write constants as GM_C(0.5), for",
    " * a bare 0.5 is slow in float. Use gm_exp, gm_log, gm_sqrt, gm_sin, gm_cos, gm_tanh",
    " * and gm_sigmoid, not the names of math.h. */",
    "GM_FN gm_real cubic(gm_real v)",
    "{",
    "    return v - v * v * v / 3;",
    "}",
    "",
    "GM_FN gm_real from_network(const gm_params *m, const gm_state *s, const gm_drive *c)",
    "{",
    "    return m->G * (c->net - c->strength * s->V);",
    "}",
    "",
    "/* The equations of one node: from parameters m->, states s-> and what reaches the",
    " * node, c-> (couplings, inputs, and c->strength, which is sum_j w_ij), to the slope",
    " * d-> of each state. */",
    "GM_FN void gm_drift(const gm_params *m, const gm_state *s, const gm_drive *c, gm_state *d)",
    "{",
    "    d->V = cubic(s->V) - s->W + c->I_ext + from_network(m, s, c);",
    "    d->W = (s->V + m->a - m->b * s->W) / m->tau;",
    "}",
};

static bool is_name(const char *name)
{
    const size_t n = strlen(name);
    if (n == 0 || n > MAX_NAME || !isalpha((unsigned char)name[0])) return false;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_') return false;
    return true;
}

gm_status gm_model_template_print(const char *name)
{
    if (!is_name(name))
        return GM_FAIL(GM_E_USAGE,
                       "--template %s: the name of a model begins with a letter and is made of at "
                       "most %d letters, digits and _",
                       name, MAX_NAME);
    if (gm_catalog_find(&gm_builtin_models, name))
        return GM_FAIL(
            GM_E_USAGE,
            "--template %s: a built-in model has this name, and the template is another: "
            "name yours otherwise",
            name);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        for (const char *c = lines[i]; *c; c++)
            if (*c == '@')
                fputs(name, stdout);
            else
                putchar(*c);
        putchar('\n');
    }
    return GM_OK;
}

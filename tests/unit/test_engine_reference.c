/** The CPU engine against a plain reference: every model, integrator and precision. */
#include "engine_reference.h"

/* Of what a run of a few hundred steps may be off, relative to a state's size. */
static const double tolerance[] = {[GM_FP32] = 1e-5, [GM_FP64] = 1e-10};

static const char *const integrators[] = {"euler", "heun", "rk4"};

typedef struct model_case {
    const char *name;
    slope *slope;
    const char *noise[2];
    const char *dt, *duration;
    const char *rest;  /* of the sweep file */
    const char *noisy; /* amplitudes, as they stand in `parameters` */
    int64_t n_node;
} model_case;

static const model_case cases[] = {
    {"lorenz63",
     lorenz63,
     {NULL, NULL},
     "0.005",
     "1.5",
     "axes: {rho: [1, 14, 28], initial.x: [1, -3]}\nparameters: {sigma: 9.5}\n"
     "initial: {y: 0.5, z: 2}\n",
     NULL,
     1},
    {"wilson_cowan",
     wilson_cowan,
     {"sigma_e", "sigma_i"},
     "0.1",
     "40",
     SOME_NETWORK "axes: {G: [0, 0.7, 1.5], initial.E: [0.02, 0.4], seed: [1, 9]}\n"
                  "initial: {I: {uniform: [0, 0.3]}}\n"
                  "inputs:\n"
                  "  p_e: {file: p.csv, step: 0.4, interpolation: linear}\n"
                  "  p_i: {file: q.csv, step: 0.25, interpolation: hold}\n"
                  "parameters: {mu_i: 3.2, tau_e: {file: t.txt}",
     ", sigma_e: {file: s.txt}, sigma_i: 0.005",
     5},
    {"hopf",
     hopf,
     {"sigma_x", "sigma_y"},
     "0.1",
     "50",
     SOME_NETWORK "axes: {a: [-0.2, 0.1, 0.4], G: [0, 0.5]}\n"
                  "initial: {x: {file: x.txt}, y: 0.3}\n"
                  "parameters: {G_y: 0.2, w: {file: w.txt}",
     ", sigma_x: 0.02, sigma_y: {file: s.txt}",
     5},
    {"kuramoto",
     kuramoto,
     {"sigma", NULL},
     "0.1",
     "50",
     SOME_NETWORK "axes: {G: [0, 0.1, 0.8], seed: [3, 4]}\n"
                  "initial: {theta: {uniform: [-3, 3]}}\n"
                  "parameters: {omega: {file: o.txt}",
     ", sigma: 0.05",
     5},
};

static trial create(const model_case *c, const char *integrator, const char *precision, bool noise)
{
    char text[1024];
    const bool has_noise = c->noisy != NULL;
    snprintf(text, sizeof text,
             "model: %s\nintegrator: %s\nprecision: %s\ntime: {dt: %s, duration: %s}\n"
             "record: {last: all, trajectory: {variables: all, every: 7}}\n%s%s%s",
             c->name, integrator, precision, c->dt, c->duration, c->rest, noise ? c->noisy : "",
             has_noise ? "}\n" : "");
    trial t = trial_create(text, c->n_node);
    if (c->slope == wilson_cowan) {
        trial_signal(&t, 0, 70, c->n_node); /* ends before the run does */
        trial_signal(&t, 1, 200, 1);
        trial_node_values(&t, "tau_e", 2, 3);
        if (noise) trial_node_values(&t, "sigma_e", 0, 0.01);
    } else if (c->slope == hopf) {
        trial_node_values(&t, "w", 0.1, 0.4);
        trial_node_values(&t, "initial.x", -0.5, 0.5);
        if (noise) trial_node_values(&t, "sigma_y", 0, 0.03);
    } else if (c->slope == kuramoto) {
        trial_node_values(&t, "omega", 0.1, 0.5);
    }
    assert_true(t.sweep->noise == noise);
    return t;
}

static void compare(const model_case *c, const char *integrator, gm_precision precision, bool noise)
{
    trial t = create(c, integrator, gm_precision_name(precision), noise);
    outcome o = march(&t, 0, 0, 1);
    const double off = distance_of_outcome(&t, c->slope, c->noise[0], c->noise[1], &o);
    const double bound = tolerance[precision];
    if (!(off <= bound))
        fail_msg("%s, %s, %s%s: off by %g, tolerance %g", c->name, integrator,
                 gm_precision_name(precision), noise ? ", noise" : "", off, bound);
    outcome_destroy(&o);
    trial_destroy(&t);
}

static void every_model_and_integrator_agrees(void **state)
{
    (void)state;
    for (size_t m = 0; m < sizeof cases / sizeof *cases; m++)
        for (int i = 0; i < 3; i++)
            for (int p = GM_FP32; p <= GM_FP64; p++)
                compare(&cases[m], integrators[i], (gm_precision)p, false);
}

static void every_model_of_the_program_is_among_them(void **state)
{
    (void)state;
    assert_int_equal(gm_builtin_models.n_model, sizeof cases / sizeof *cases);
    for (size_t m = 0; m < sizeof cases / sizeof *cases; m++)
        assert_non_null(gm_catalog_find(&gm_builtin_models, cases[m].name));
}

static void noise_is_euler_maruyama_or_stochastic_heun(void **state)
{
    (void)state;
    for (size_t m = 1; m < sizeof cases / sizeof *cases; m++)
        for (int i = 0; i < 2; i++)
            for (int p = GM_FP32; p <= GM_FP64; p++)
                compare(&cases[m], integrators[i], (gm_precision)p, true);
}

/* Rows of the weights are multiplied in groups: any number of nodes has to come out right. */
static void compare_nodes(const char *model, slope *slope, int64_t n_node, gm_precision precision)
{
    char text[512];
    snprintf(text, sizeof text,
             "model: %s\nintegrator: heun\nprecision: %s\ntime: {dt: 0.1, duration: 3}\n"
             "record: {last: all, trajectory: {variables: all, every: 1}}\n" SOME_NETWORK
             "axes: {G: [0.5, 1]}\ninitial: {%s: {uniform: [0, 0.5]}}\n",
             model, gm_precision_name(precision), slope == hopf ? "x" : "E");
    trial t = trial_create(text, n_node);
    outcome o = march(&t, 0, 0, 1);
    const double off = distance_of_outcome(&t, slope, NULL, NULL, &o);
    if (!(off <= tolerance[precision]))
        fail_msg("%s, %d nodes: off by %g", model, (int)n_node, off);
    outcome_destroy(&o);
    trial_destroy(&t);
}

static void any_number_of_nodes_agrees(void **state)
{
    (void)state;
    for (int p = GM_FP32; p <= GM_FP64; p++) {
        for (int64_t n = 1; n <= 20; n++) {
            compare_nodes("wilson_cowan", wilson_cowan, n, (gm_precision)p);
            compare_nodes("hopf", hopf, n, (gm_precision)p);
        }
        compare_nodes("wilson_cowan", wilson_cowan, 68, (gm_precision)p);
        compare_nodes("hopf", hopf, 68, (gm_precision)p);
    }
}

static void a_node_without_a_network_agrees(void **state)
{
    (void)state;
    trial t = trial_create("model: hopf\nintegrator: rk4\nprecision: fp64\nnetwork: none\n"
                           "time: {dt: 0.1, duration: 30}\naxes: {a: [-0.1, 0.3]}\n"
                           "record: {last: all, trajectory: {variables: all, every: 1}}\n",
                           1);
    outcome o = march(&t, 0, 0, 1);
    assert_true(distance_of_outcome(&t, hopf, NULL, NULL, &o) <= tolerance[GM_FP64]);
    outcome_destroy(&o);
    trial_destroy(&t);
}

/* No signal: inputs and their only row stay for the whole run. */
static void constant_inputs_agree(void **state)
{
    (void)state;
    trial t = trial_create("model: wilson_cowan\nintegrator: rk4\nprecision: fp64\n" SOME_NETWORK
                           "time: {dt: 0.1, duration: 30}\ninputs: {p_e: 0.8, p_i: -0.3}\n"
                           "record: {last: all, trajectory: {variables: all, every: 1}}\n",
                           4);
    outcome o = march(&t, 0, 7, 1);
    assert_true(distance_of_outcome(&t, wilson_cowan, NULL, NULL, &o) <= tolerance[GM_FP64]);
    outcome_destroy(&o);
    trial_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_of_the_program_is_among_them),
        cmocka_unit_test(every_model_and_integrator_agrees),
        cmocka_unit_test(noise_is_euler_maruyama_or_stochastic_heun),
        cmocka_unit_test(any_number_of_nodes_agrees),
        cmocka_unit_test(a_node_without_a_network_agrees),
        cmocka_unit_test(constant_inputs_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

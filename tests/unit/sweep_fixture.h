/** Small models and a parse helper for the tests of the sweep file reader. */
#ifndef GM_TESTS_SWEEP_FIXTURE_H
#define GM_TESTS_SWEEP_FIXTURE_H

#include <string.h>

#include "core/sweep.h"

static const gm_quantity fixture_wc_state[] = {{"E", 0.05, "1", "excitatory activity"},
                                               {"I", 0.06, "mV", "inhibitory activity"}};
static const gm_quantity fixture_wc_param[] = {{"tau_e", 2.5, "ms", "excitatory time constant"},
                                               {"c_ee", 16, "1", "coupling E to E"},
                                               {"G", 0.6, "1", "global coupling"},
                                               {"time", 1, "s", "a name that the file has"},
                                               {"sigma_e", 0, "1", "noise of E"},
                                               {"sigma_i", 0, "1", "noise of I"}};
static const gm_quantity fixture_wc_coupling[] = {{"net", 0, "1", "sum_j W_ij E_j"}};
static const gm_quantity fixture_wc_input[] = {{"p_e", 0.25, "1", "drive of E"},
                                               {"p_i", 0, "1", "drive of I"}};
static const int fixture_wc_noise_state[] = {0, 1};
static const char *const fixture_wc_amplitude[] = {"m->sigma_e", "m->sigma_i"};

static const gm_model_info fixture_wilson_cowan = {.name = "wilson_cowan",
                                                   .time_unit = "ms",
                                                   .n_state = 2,
                                                   .n_param = 6,
                                                   .n_coupling = 1,
                                                   .n_input = 2,
                                                   .n_noise = 2,
                                                   .state = fixture_wc_state,
                                                   .param = fixture_wc_param,
                                                   .coupling = fixture_wc_coupling,
                                                   .input = fixture_wc_input,
                                                   .noise_state = fixture_wc_noise_state,
                                                   .noise_amplitude = fixture_wc_amplitude};

/* Its noise depends on two parameters at once, and it has no inputs. */
static const gm_quantity fixture_hopf_state[] = {{"x", 0.1, "1", "real part"},
                                                 {"y", 0, "1", "imaginary part"}};
static const gm_quantity fixture_hopf_param[] = {{"a", 0.25, "1", "bifurcation parameter"},
                                                 {"w", 0.2, "1", "frequency"},
                                                 {"sigma", 0, "1", "noise amplitude"},
                                                 {"scale", 1, "1", "scale of the noise"}};
static const gm_quantity fixture_hopf_coupling[] = {{"net", 0, "1", "sum_j W_ij x_j"}};
static const int fixture_hopf_noise_state[] = {0};
static const char *const fixture_hopf_amplitude[] = {"m->sigma * m->scale"};

static const gm_quantity fixture_hopf_derived[] = {{"flow", 0, "mV", "from the network"}};
static const char *const fixture_hopf_expression[] = {"c->net - c->strength * s->x"};

static const gm_model_info fixture_hopf = {.name = "hopf",
                                           .time_unit = "ms",
                                           .n_state = 2,
                                           .n_param = 4,
                                           .n_coupling = 1,
                                           .n_noise = 1,
                                           .n_derived = 1,
                                           .derived = fixture_hopf_derived,
                                           .derived_expression = fixture_hopf_expression,
                                           .state = fixture_hopf_state,
                                           .param = fixture_hopf_param,
                                           .coupling = fixture_hopf_coupling,
                                           .noise_state = fixture_hopf_noise_state,
                                           .noise_amplitude = fixture_hopf_amplitude};

static const gm_quantity fixture_lorenz_state[] = {{"x", 1, "1", "convection rate"},
                                                   {"y", 0, "1", "horizontal difference"},
                                                   {"z", 0, "1", "vertical difference"}};
static const gm_quantity fixture_lorenz_param[] = {
    {"sigma", 10, "1", "Prandtl number"},         {"rho", 28, "1", "Rayleigh number"},
    {"beta", 8.0 / 3.0, "1", "geometric factor"}, {"x_mean", 0, "1", "a name that the file has"},
    {"x", 0, "1", "a name that a state has"},     {"x_param", 0, "1", "a name that x gets"}};

static const gm_model_info fixture_lorenz63 = {.name = "lorenz63",
                                               .time_unit = "1",
                                               .n_state = 3,
                                               .n_param = 6,
                                               .state = fixture_lorenz_state,
                                               .param = fixture_lorenz_param};

static const gm_model_info *const fixture_models[] = {&fixture_wilson_cowan, &fixture_hopf,
                                                      &fixture_lorenz63};
static const gm_model_catalog fixture_catalog = {.model = fixture_models, .n_model = 3};

/** Parse a text with settings that end with NULL (or are NULL). */
static inline gm_status fixture_parse(const char *text, const char *const *setting,
                                      gm_problems *problems, gm_sweep **out)
{
    int n = 0;
    while (setting && setting[n]) n++;
    return gm_sweep_parse("dir/s.yaml", text, (int64_t)strlen(text), setting, n, &fixture_catalog,
                          problems, out);
}

#endif

/** A plain integrator to hold the engine against: one point at a time, doubles, libm, naive sums,
 *  the equations as the papers write them. */
#ifndef GM_TESTS_ENGINE_REFERENCE_H
#define GM_TESTS_ENGINE_REFERENCE_H

#define GM_DOUBLE 1
#include <math.h>

#include "engine_fixture.h"
#include "kernels/noise.h"

typedef struct reference reference;

/* dx[n_state][n_node] at a state x[n_state][n_node] and a time. */
typedef void slope(const reference *r, double step_time, double time, const double *x, double *dx);

struct reference {
    const trial *t;
    slope *slope;
    const char *noise[2]; /* names of the amplitudes of state 0, 1; NULL: none */
    int64_t n, point;     /* nodes; index in the sweep */
    uint64_t seed;
    double knob[GM_MAX_PARAM + GM_MAX_STATE];
};

static inline double param(const reference *r, const char *name, int64_t node)
{
    const int k = gm_model_find_knob(r->t->sweep->model, name);
    assert_true(k >= 0);
    return r->t->data->node_value[k] ? r->t->data->node_value[k][node] : r->knob[k];
}

static inline double weight(const reference *r, int64_t i, int64_t j)
{
    return r->t->data->weight ? r->t->data->weight[i * r->n + j] : 0;
}

/* An input at a time within the step that starts at step_time. */
static inline double input(const reference *r, int which, int64_t node, double step_time,
                           double time)
{
    const gm_input_spec *spec = &r->t->sweep->input[which];
    const gm_signal *signal = &r->t->data->signal[which];
    if (signal->n_sample == 0) return spec->constant;
    const double place = (spec->interpolation == GM_LINEAR ? time : step_time) / spec->step;
    const int64_t last = signal->n_sample - 1;
    const int64_t below = (int64_t)floor(place + 1e-9);
    const int64_t column = signal->n_column == 1 ? 0 : node;
    if (below >= last) return signal->sample[last * signal->n_column + column];
    const double a = signal->sample[below * signal->n_column + column];
    const double b = signal->sample[(below + 1) * signal->n_column + column];
    return spec->interpolation == GM_LINEAR ? a + (place - (double)below) * (b - a) : a;
}

/* --- the models ---------------------------------------------------------------------------------
 */

static inline void lorenz63(const reference *r, double step_time, double time, const double *x,
                            double *dx)
{
    (void)step_time, (void)time;
    dx[0] = param(r, "sigma", 0) * (x[1] - x[0]);
    dx[1] = x[0] * (param(r, "rho", 0) - x[2]) - x[1];
    dx[2] = x[0] * x[1] - param(r, "beta", 0) * x[2];
}

static inline double gain(double a, double mu, double x)
{
    return 1 / (1 + exp(-a * (x - mu)));
}

static inline void wilson_cowan(const reference *r, double step_time, double time, const double *x,
                                double *dx)
{
    for (int64_t i = 0; i < r->n; i++) {
        const double e = x[i];
        const double h = x[r->n + i];
        double net = 0;
        for (int64_t j = 0; j < r->n; j++) net += weight(r, i, j) * x[j];
        const double to_e = param(r, "c_ee", i) * e - param(r, "c_ei", i) * h +
                            param(r, "G", i) * net + input(r, 0, i, step_time, time);
        const double to_i =
            param(r, "c_ie", i) * e - param(r, "c_ii", i) * h + input(r, 1, i, step_time, time);
        const double s_e = gain(param(r, "a_e", i), param(r, "mu_e", i), to_e);
        const double s_i = gain(param(r, "a_i", i), param(r, "mu_i", i), to_i);
        dx[i] = (-e + (1 - e) * s_e) / param(r, "tau_e", i);
        dx[r->n + i] = (-h + (1 - h) * s_i) / param(r, "tau_i", i);
    }
}

static inline void hopf(const reference *r, double step_time, double time, const double *x,
                        double *dx)
{
    (void)step_time, (void)time;
    for (int64_t i = 0; i < r->n; i++) {
        const double re = x[i];
        const double im = x[r->n + i];
        const double growth = param(r, "a", i) - re * re - im * im;
        double net_x = 0;
        double net_y = 0;
        for (int64_t j = 0; j < r->n; j++) {
            net_x += weight(r, i, j) * (x[j] - re);
            net_y += weight(r, i, j) * (x[r->n + j] - im);
        }
        dx[i] = growth * re - param(r, "w", i) * im + param(r, "G", i) * net_x;
        dx[r->n + i] = growth * im + param(r, "w", i) * re + param(r, "G_y", i) * net_y;
    }
}

static inline void kuramoto(const reference *r, double step_time, double time, const double *x,
                            double *dx)
{
    (void)step_time, (void)time;
    for (int64_t i = 0; i < r->n; i++) {
        double pull = 0;
        for (int64_t j = 0; j < r->n; j++) pull += weight(r, i, j) * sin(x[j] - x[i]);
        dx[i] = param(r, "omega", i) + param(r, "G", i) * pull;
    }
}

/* --- marching -----------------------------------------------------------------------------------
 */

enum { MOST_VALUES = 3 * 80 };

static inline void start(const reference *r, double *x)
{
    const gm_sweep *sweep = r->t->sweep;
    for (int s = 0; s < sweep->model->n_state; s++) {
        const int k = sweep->model->n_param + s;
        const gm_uniform u = sweep->uniform[s];
        for (int64_t i = 0; i < r->n; i++) {
            double *value = &x[s * r->n + i];
            *value = r->t->data->node_value[k] ? r->t->data->node_value[k][i] : r->knob[k];
            if (u.on)
                *value = gm_draw_initial(r->seed, (uint64_t)r->point, (uint32_t)i, (uint32_t)s,
                                         u.low, u.high);
        }
    }
}

/* What noise adds in one step. One noise takes one normal number a step, two take two: a draw of
 * four serves four or two steps. */
static inline void draw_kick(const reference *r, int64_t step, double *kick)
{
    const int n_noise = r->t->sweep->model->n_noise;
    const int64_t n_served = n_noise == 1 ? 4 : 2;
    for (int s = 0; r->t->sweep->noise && s < n_noise; s++) {
        for (int64_t i = 0; i < r->n; i++) {
            double z[4];
            gm_draw_normals(r->seed, (uint64_t)r->point, (uint32_t)i, 0,
                            (uint64_t)(step / n_served), z);
            kick[s * r->n + i] =
                sqrt(r->t->sweep->dt) * param(r, r->noise[s], i) * z[step % n_served * n_noise + s];
        }
    }
}

/* x + h * k + kick */
static inline void advance(int64_t n, const double *x, double h, const double *k,
                           const double *kick, double *out)
{
    for (int64_t i = 0; i < n; i++) out[i] = x[i] + h * k[i] + (kick ? kick[i] : 0);
}

static inline void reference_step(const reference *r, int64_t step, double *x)
{
    const double h = r->t->sweep->dt;
    const double t = (double)step * h;
    const int64_t n = r->n * r->t->sweep->model->n_state;
    double k[4][MOST_VALUES], y[MOST_VALUES], all[MOST_VALUES];
    double kick[MOST_VALUES] = {0};
    draw_kick(r, step, kick);
    r->slope(r, t, t, x, k[0]);
    if (r->t->sweep->integrator == GM_EULER) {
        advance(n, x, h, k[0], kick, x);
    } else if (r->t->sweep->integrator == GM_HEUN) {
        advance(n, x, h, k[0], kick, y);
        r->slope(r, t, t + h, y, k[1]);
        for (int64_t i = 0; i < n; i++) all[i] = (k[0][i] + k[1][i]) / 2;
        advance(n, x, h, all, kick, x);
    } else {
        advance(n, x, h / 2, k[0], NULL, y);
        r->slope(r, t, t + h / 2, y, k[1]);
        advance(n, x, h / 2, k[1], NULL, y);
        r->slope(r, t, t + h / 2, y, k[2]);
        advance(n, x, h, k[2], NULL, y);
        r->slope(r, t, t + h, y, k[3]);
        for (int64_t i = 0; i < n; i++)
            all[i] = (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]) / 6;
        advance(n, x, h, all, NULL, x);
    }
}

/* --- comparing ----------------------------------------------------------------------------------
 */

/* Distance of two angles, on the circle. */
static inline double angle_between(double a, double b)
{
    return fabs(remainder(a - b, 6.283185307179586476925));
}

/* How far the engine's trajectory and last values of one state of all nodes are from the
 * reference, relative to the largest value that the state had; an angle: to how far it has turned.
 */
static inline double distance_of_point(reference *r, const outcome *o)
{
    const gm_sweep *sweep = r->t->sweep;
    double x[MOST_VALUES];
    double off[GM_MAX_STATE] = {0}, size[GM_MAX_STATE] = {0}, worst = 0;
    gm_sweep_point(sweep, r->point, r->knob, &r->seed);
    assert_true(r->n * sweep->model->n_state <= MOST_VALUES);
    start(r, x);
    for (int64_t step = 0; step < sweep->n_step; step++) {
        reference_step(r, step, x);
        const int64_t after = step + 1 - sweep->n_transient;
        const bool sampled = after > 0 && after % sweep->every == 0;
        for (int64_t v = 0; v < r->n * sweep->model->n_state; v++) {
            const int s = (int)(v / r->n);
            const bool angle = sweep->model->phase_mask >> s & 1;
            const int64_t row = r->point * o->n_sample + after / sweep->every - 1;
            double got = x[v];
            if (sampled) got = o->trajectory[s][row * r->n + v % r->n];
            if (step + 1 == sweep->n_step)
                got = o->statistic[GM_LAST][s][r->point * r->n + v % r->n];
            const double d = angle ? angle_between(got, x[v]) : fabs(got - x[v]);
            off[s] = d <= off[s] ? off[s] : d; /* a NaN is taken */
            size[s] = fmax(size[s], fabs(x[v]));
        }
    }
    for (int s = 0; s < sweep->model->n_state; s++)
        worst = off[s] / size[s] <= worst ? worst : off[s] / size[s];
    return worst;
}

/* The largest distance over all points; NaN if any number is. */
static inline double distance_of_outcome(const trial *t, slope *slope, const char *noise_0,
                                         const char *noise_1, const outcome *o)
{
    double worst = 0;
    for (int64_t p = 0; p < o->n_point; p++) {
        reference r = {t, slope, {noise_0, noise_1}, o->n_node, p, 0, {0}};
        const double d = distance_of_point(&r, o);
        worst = d <= worst ? worst : d;
        assert_int_equal(o->failed[p], -1);
    }
    return worst;
}

#endif

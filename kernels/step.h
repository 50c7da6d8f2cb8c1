/** One integration stage of one node, shared by all backends.
 *
 *  Euler has one stage, Heun two, RK4 four. The caller evaluates the slope k at the state x, then
 *  gm_stage_finish turns x into the state at which the next slope is needed; after the last stage x
 *  is the state of the next step. Noise is additive (Ito = Stratonovich): Euler becomes
 *  Euler-Maruyama and Heun stochastic Heun when kick = sqrt(dt) * amplitude * normal is given
 *  (Kloeden and Platen 1992); RK4 takes none. */
#ifndef GM_KERNELS_STEP_H
#define GM_KERNELS_STEP_H

#include "kernels/math.h"

/* The same numbers as gm_integrator of core/sweep.h, which device code does not include. */
enum { GM_STEP_EULER = 0, GM_STEP_HEUN = 1, GM_STEP_RK4 = 2 };

GM_FN int gm_step_n_stage(int integrator)
{
    return integrator == GM_STEP_EULER ? 1 : integrator == GM_STEP_HEUN ? 2 : 4;
}

/** When a stage's slope is taken, as a fraction of the step. */
GM_FN gm_real gm_stage_time(int integrator, int stage)
{
    if (stage == 0) return 0;
    if (integrator == GM_STEP_RK4 && stage < 3) return GM_C(0.5);
    return 1;
}

/** An input at a stage: held over the step, or on the line between the step's two ends. */
GM_FN gm_real gm_stage_input(int linear, gm_real time, gm_real now, gm_real next)
{
    return linear ? now + time * (next - now) : now;
}

/** After a step: bring each angle back by a turn where it left [0, 2 pi). Phases are kept small so
 *  that single precision keeps their last digits however long they run. */
GM_FN void gm_turn_phases(gm_state *x)
{
    const gm_real turn = GM_C(6.2831853071795864769);
    (void)x, (void)turn;
#define X(s)                                                                                       \
    x->s = x->s >= turn ? x->s - turn : x->s;                                                      \
    x->s = x->s < 0 ? x->s + turn : x->s;
    GM_PHASES(X)
#undef X
}

/* Adding 0 is not free: it turns -0 into 0, so compilers keep it. */
#define GM_KICKED(value, s) (kick ? (value) + kick->s : (value))

/** See the head of this file.
 *  @param kick          NULL: no noise
 *  @param[in,out] x     state where k was taken -> where the next slope is taken
 *  @param[in,out] base  RK4: state at the start of the step; Heun: with half of the step (set at
 *                       stage 0)
 *  @param[in,out] sum   RK4: sum of slopes so far (set at stage 0) */
GM_FN void gm_stage_finish(int integrator, int stage, gm_real dt, const gm_state *k,
                           const gm_state *kick, gm_state *x, gm_state *base, gm_state *sum)
{
    if (integrator == GM_STEP_EULER) {
#define X(s, ...) x->s = GM_KICKED(x->s + dt * k->s, s);
        GM_STATES(X)
#undef X
    } else if (integrator == GM_STEP_HEUN && stage == 0) {
#define X(s, ...)                                                                                  \
    base->s = GM_KICKED(x->s + dt / 2 * k->s, s);                                                  \
    x->s = GM_KICKED(x->s + dt * k->s, s);
        GM_STATES(X)
#undef X
    } else if (integrator == GM_STEP_HEUN) {
#define X(s, ...) x->s = base->s + dt / 2 * k->s;
        GM_STATES(X)
#undef X
    } else if (stage == 0) {
        *base = *x;
        *sum = *k;
#define X(s, ...) x->s = base->s + dt / 2 * k->s;
        GM_STATES(X)
#undef X
    } else if (stage < 3) {
        gm_real h = stage == 1 ? dt / 2 : dt;
#define X(s, ...)                                                                                  \
    sum->s = sum->s + 2 * k->s;                                                                    \
    x->s = base->s + h * k->s;
        GM_STATES(X)
#undef X
    } else {
#define X(s, ...) x->s = base->s + dt / 6 * (sum->s + k->s);
        GM_STATES(X)
#undef X
    }
}

#endif

/* The CPU kernel of one model: compiled once per precision and instruction set.
 *
 * Given by the build: GM_MODEL_HEADER, GM_DOUBLE, GM_KERNEL_SYMBOL (name of the gm_cpu_kernel).
 * Loops over lanes hold no call and no branch on data, so the compiler turns each into vector code;
 * every block runs whole vectors, so a point's result does not depend on which block or lane it
 * sits in. */
#include "kernels/cpu/task.h"
#include GM_MODEL_HEADER
#include "kernels/noise.h"
#include "kernels/observables/derived.h"
#include "kernels/step.h"

#include <stddef.h>
#include <string.h>

enum { GM_LANES = 64 / sizeof(gm_real) };

/* Rows of the coupling product summed together: enough to hide the latency of a multiply-add. */
enum { GM_ROWS = 8 };

/* What one register of the instruction set holds: wider vectors would live in memory. */
#if defined(__AVX512F__)
#define GM_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define GM_VECTOR_BYTES 32
#else
#define GM_VECTOR_BYTES 16
#endif
enum { GM_VECTORS = 64 / GM_VECTOR_BYTES }; /* that make up all lanes */
typedef gm_real gm_vector __attribute__((vector_size(GM_VECTOR_BYTES)));

enum {
    NOISE_WORDS = GM_NOISE_WORDS(GM_N_NOISE), /* per step, of a group of at most four noises */
    NOISE_STEPS = 4 / NOISE_WORDS,            /* steps that one Philox block serves */
    NOISE_GROUPS = (GM_N_NOISE + 3) / 4
};

#define INLINE static inline __attribute__((always_inline))

/* Where things stand in [quantity][node][lane]. */
INLINE int64_t at(const gm_cpu_task *t, int64_t quantity, int64_t node)
{
    return (quantity * t->n_node + node) * GM_LANES;
}

INLINE void load_state(gm_state *s, const gm_real *array, int64_t step, int lane)
{
#define X(name, ...) s->name = array[GM_STATE_##name * step + lane];
    GM_STATES(X)
#undef X
}

INLINE void store_state(const gm_state *s, gm_real *array, int64_t step, int lane)
{
#define X(name, ...) array[GM_STATE_##name * step + lane] = s->name;
    GM_STATES(X)
#undef X
}

/* --- coupling: [n_node x n_node] x [n_node x lane] ------------------------------------------ */

static void couple(const gm_cpu_task *t, const gm_cpu_scratch *w, const gm_real *x)
{
    const int64_t step = t->n_node * GM_LANES;
    gm_real *source = w->source;
    for (int64_t node = 0; node < t->n_node; node++) {
#pragma GCC ivdep
        for (int lane = 0; lane < GM_LANES; lane++) {
            gm_state state;
            const gm_state *s = &state;
            load_state(&state, x + node * GM_LANES, step, lane);
            (void)s;
#define X(name, expression, ...) source[at(t, GM_COUPLING_##name, node) + lane] = (expression);
            GM_COUPLINGS(X)
#undef X
        }
    }
    for (int i = 0; i < GM_N_COUPLING * GM_VECTORS; i++) {
        const int c = i / GM_VECTORS, piece = i % GM_VECTORS;
        const gm_vector *in = (const gm_vector *)source + c * t->n_node * GM_VECTORS + piece;
        gm_vector *out = (gm_vector *)w->coupled + c * t->n_node_padded * GM_VECTORS + piece;
        for (int64_t row = 0; row < t->n_node_padded; row += GM_ROWS) {
            const gm_real *weight = (const gm_real *)t->weight + row * t->n_node;
            gm_vector total[GM_ROWS] = {{0}};
            for (int64_t j = 0; j < t->n_node; j++) {
                gm_vector value = in[j * GM_VECTORS];
                for (int r = 0; r < GM_ROWS; r++) total[r] += weight[j * GM_ROWS + r] * value;
            }
            for (int r = 0; r < GM_ROWS; r++) out[(row + r) * GM_VECTORS] = total[r];
        }
    }
}

/* --- noise ---------------------------------------------------------------------------------- */

static void draw(const gm_cpu_task *t, const gm_cpu_block *b, const gm_cpu_scratch *w, int64_t step)
{
    gm_real *normal = w->normal;
    const uint64_t block = (uint64_t)step / NOISE_STEPS;
    for (int group = 0; group < NOISE_GROUPS; group++) {
        for (int64_t node = 0; node < t->n_node; node++) {
            gm_real *out = normal + at(t, 4 * group, node);
            const int64_t next = t->n_node * GM_LANES;
#pragma GCC ivdep
            for (int lane = 0; lane < GM_LANES; lane++) {
                gm_real z[4];
                gm_draw_normals(b->seed[lane], b->point[lane], (uint32_t)node, (uint32_t)group,
                                block, z);
                out[lane] = z[0];
                out[next + lane] = z[1];
                out[2 * next + lane] = z[2];
                out[3 * next + lane] = z[3];
            }
        }
    }
}

/* Which of the four normals of its group noise k uses at a step. */
INLINE int64_t normal_row(int k, int64_t step)
{
    return 4 * (k / 4) + (step % NOISE_STEPS) * NOISE_WORDS + k % 4;
}

/* --- one stage of one node, all lanes --------------------------------------------------------- */

typedef struct gm_row { /* one parameter of a node: a vector, and where it lies */
    const gm_real *value[GM_MAX_PARAM];
} gm_row;

INLINE void point_params(const gm_cpu_task *t, const gm_cpu_block *b, int64_t node, gm_row *row)
{
    for (int k = 0; k < GM_N_PARAM; k++)
        row->value[k] = t->node_param[k] ? (const gm_real *)t->node_param[k] + node * GM_LANES
                                         : (const gm_real *)b->param + k * GM_LANES;
}

INLINE void load_params(gm_params *m, const gm_row *row, int lane)
{
    (void)row;
    (void)lane;
#define X(name, ...) m->name = row->value[GM_PARAM_##name][lane];
    GM_PARAMS(X)
#undef X
    (void)m;
}

INLINE void load_kick(gm_state *kick, const gm_params *m, const gm_cpu_task *t,
                      const gm_cpu_scratch *w, int64_t node, int lane, int64_t step, int noise)
{
    const gm_real root_dt = (gm_real)__builtin_sqrt(t->dt);
    memset(kick, 0, sizeof *kick);
    (void)m, (void)w, (void)node, (void)lane, (void)step, (void)root_dt;
    if (!noise) return;
#define X(name, amplitude)                                                                         \
    kick->name =                                                                                   \
        root_dt * (amplitude) *                                                                    \
        ((const gm_real *)w->normal)[at(t, normal_row(GM_NOISE_##name, step), node) + lane];
    GM_NOISES(X)
#undef X
}

INLINE void load_couplings(gm_drive *c, const gm_cpu_task *t, const gm_cpu_scratch *w, int64_t node,
                           int lane)
{
    (void)w, (void)lane;
#define X(name, ...)                                                                               \
    c->name = ((const gm_real *)                                                                   \
                   w->coupled)[(GM_COUPLING_##name * t->n_node_padded + node) * GM_LANES + lane];
    GM_COUPLINGS(X)
#undef X
    c->strength = ((const gm_real *)t->strength)[node];
}

/* Inputs of a node for one step: they are the same in all lanes. */
INLINE void load_drive(gm_drive *c, const gm_cpu_task *t, const gm_cpu_scratch *w, int64_t node,
                       int lane, int64_t step, gm_real time)
{
    const gm_real *now =
        (const gm_real *)t->input + (step - t->step_begin) * t->input_stride + node;
    const gm_real *next = now + t->input_stride;
    (void)now, (void)next, (void)time;
    load_couplings(c, t, w, node, lane);
#define X(name, ...)                                                                               \
    c->name = gm_stage_input((t->linear >> GM_INPUT_##name) & 1, time,                             \
                             now[GM_INPUT_##name * t->n_node], next[GM_INPUT_##name * t->n_node]);
    GM_INPUTS(X)
#undef X
}

/* Adds 0 to the probe while every state is finite, and NaN from then on. */
INLINE gm_real not_finite(const gm_state *s)
{
    gm_real total = 0;
#define X(name, ...) total += s->name * 0;
    GM_STATES(X)
#undef X
    return total;
}

INLINE void stage_node(const gm_cpu_task *t, const gm_cpu_block *b, const gm_cpu_scratch *w,
                       int64_t node, int64_t step, int integrator, int stage, int n_stage,
                       int noise)
{
    const int64_t next = t->n_node * GM_LANES;
    gm_real *restrict x = (gm_real *)b->x + node * GM_LANES;
    gm_real *restrict base = (gm_real *)w->base + node * GM_LANES;
    gm_real *restrict slope = (gm_real *)w->slope + node * GM_LANES;
    gm_real *restrict probe = w->probe;
    gm_row row;
    point_params(t, b, node, &row);
#pragma GCC ivdep
    for (int lane = 0; lane < GM_LANES; lane++) {
        gm_params m;
        gm_state s, s0 = {0}, sum = {0}, k, kick;
        gm_drive c;
        load_params(&m, &row, lane);
        load_state(&s, x, next, lane);
        if (stage > 0) load_state(&s0, base, next, lane);
        if (stage > 0 && integrator == GM_STEP_RK4) load_state(&sum, slope, next, lane);
        load_kick(&kick, &m, t, w, node, lane, step, noise);
        /* A plain ODE has no other node to wait for: all its stages run here, in registers. */
        for (int i = stage; i < stage + n_stage; i++) {
            load_drive(&c, t, w, node, lane, step, gm_stage_time(integrator, i));
            gm_drift(&m, &s, &c, &k);
            gm_stage_finish(integrator, i, (gm_real)t->dt, &k, &kick, &s, &s0, &sum);
        }
        if (stage + n_stage == gm_step_n_stage(integrator)) gm_turn_phases(&s);
        store_state(&s, x, next, lane);
        if (stage + n_stage < gm_step_n_stage(integrator)) {
            store_state(&s0, base, next, lane);
            if (integrator == GM_STEP_RK4) store_state(&sum, slope, next, lane);
        } else {
            probe[lane] += not_finite(&s);
        }
    }
}

/* coupled: the couplings of the state at hand are there already. */
INLINE void step_all(const gm_cpu_task *t, const gm_cpu_block *b, const gm_cpu_scratch *w,
                     int64_t step, int integrator, int noise, bool coupled)
{
    const int n_stage = gm_step_n_stage(integrator);
    if (noise && (step % NOISE_STEPS == 0 || step == t->step_begin)) draw(t, b, w, step);
    if (GM_N_COUPLING == 0) {
        for (int64_t node = 0; node < t->n_node; node++)
            stage_node(t, b, w, node, step, integrator, 0, n_stage, noise);
        return;
    }
#pragma GCC unroll 4
    for (int stage = 0; stage < n_stage; stage++) {
        if (stage > 0 || !coupled) couple(t, w, b->x);
        for (int64_t node = 0; node < t->n_node; node++)
            stage_node(t, b, w, node, step, integrator, stage, 1, noise);
    }
}

/* --- derived quantities ----------------------------------------------------------------------- */

/* Is one recorded after `done` steps? */
INLINE bool derives(const gm_cpu_task *t, int64_t done)
{
    if (GM_N_DERIVED == 0) return false;
    const int64_t after = done - t->n_transient;
    if (after < 1) return false;
    return (t->statistics >> GM_N_STATE) > 0 ||
           ((t->record[GM_TRAJECTORY] >> GM_N_STATE) > 0 && after % t->every == 0) ||
           ((t->record[GM_LAST] >> GM_N_STATE) > 0 && done == t->n_total);
}

/* Behind the states in x, from the state after `done` steps. */
static void derive_node(const gm_cpu_task *t, const gm_cpu_block *b, const gm_cpu_scratch *w,
                        int64_t node, int64_t done)
{
    const int64_t next = t->n_node * GM_LANES;
    const gm_real *input =
        (const gm_real *)t->input + (done - t->step_begin) * t->input_stride + node;
    gm_real *x = (gm_real *)b->x + node * GM_LANES;
    gm_row row;
    (void)input;
    point_params(t, b, node, &row);
#pragma GCC ivdep
    for (int lane = 0; lane < GM_LANES; lane++) {
        gm_params m;
        gm_state s;
        gm_drive c;
        gm_real value[GM_DERIVED_SIZE];
        load_params(&m, &row, lane);
        load_state(&s, x, next, lane);
        load_couplings(&c, t, w, node, lane);
#define X(name, ...) c.name = input[GM_INPUT_##name * t->n_node];
        GM_INPUTS(X)
#undef X
        gm_derive(&m, &s, &c, value);
        for (int k = 0; k < GM_N_DERIVED; k++) x[(GM_N_STATE + k) * next + lane] = value[k];
    }
}

/* Returns whether the couplings of the state at hand were computed: the next step begins with them.
 */
INLINE bool derive(const gm_cpu_task *t, const gm_cpu_block *b, const gm_cpu_scratch *w,
                   int64_t done)
{
    if (!derives(t, done)) return false;
    if (t->derived_couples) couple(t, w, b->x);
    for (int64_t node = 0; node < t->n_node; node++) derive_node(t, b, w, node, done);
    return t->derived_couples;
}

/* --- observables ------------------------------------------------------------------------------ */

static void record_statistics(const gm_cpu_task *t, gm_cpu_block *b, int quantity, bool start)
{
    const int64_t n = t->n_node * GM_LANES;
    const int64_t all = t->n_row * n;
    const gm_real *restrict x = (const gm_real *)b->x + quantity * n;
    double *restrict sum = b->sum + quantity * n;
    double *restrict square = b->square + quantity * n;
    gm_real *restrict first = (gm_real *)b->extreme + quantity * n;
    gm_real *restrict low = first + all;
    gm_real *restrict high = low + all;
    if (start) {
        for (int64_t i = 0; i < n; i++) {
            gm_statistic a;
            gm_statistic_start(&a, x[i]);
            sum[i] = a.sum, square[i] = a.square;
            first[i] = a.first, low[i] = a.low, high[i] = a.high;
        }
        return;
    }
#pragma GCC ivdep
    for (int64_t i = 0; i < n; i++) {
        gm_statistic a = {sum[i], square[i], first[i], low[i], high[i]};
        gm_statistic_add(&a, x[i]);
        sum[i] = a.sum, square[i] = a.square;
        low[i] = a.low, high[i] = a.high;
    }
}

INLINE gm_real recorded(int quantity, gm_real x)
{
    return ((unsigned)GM_PHASE_MASK >> quantity) & 1 ? gm_wrap_phase(x) : x;
}

static void record_sample(const gm_cpu_task *t, const gm_cpu_block *b, int quantity, int64_t sample)
{
    const gm_real *x = (const gm_real *)b->x + at(t, quantity, 0);
    for (int lane = 0; lane < b->n_lane; lane++) {
        gm_real *out = (gm_real *)t->trajectory[quantity] +
                       ((b->first + lane) * t->n_sample + sample) * t->n_node;
        for (int64_t node = 0; node < t->n_node; node++)
            out[node] = recorded(quantity, x[node * GM_LANES + lane]);
    }
}

/* After `done` steps in all. */
static void observe(const gm_cpu_task *t, gm_cpu_block *b, const gm_cpu_scratch *w, int64_t done)
{
    const gm_real *probe = w->probe;
    for (int lane = 0; lane < GM_LANES; lane++)
        b->failed[lane] = b->failed[lane] < 0 && probe[lane] != 0 ? done : b->failed[lane];
    int64_t after = done - t->n_transient;
    if (after < 1) return;
    uint32_t trajectory = t->record[GM_TRAJECTORY];
    bool is_sample = trajectory && after % t->every == 0;
    for (int q = 0; q < GM_N_QUANTITY; q++) {
        if (t->statistics >> q & 1) record_statistics(t, b, q, after == 1);
        if (is_sample && (trajectory >> q & 1))
            record_sample(t, b, q, after / t->every - 1 - t->sample_begin);
    }
}

/* --- what the engine calls -------------------------------------------------------------------- */

static void begin(const gm_cpu_task *t, gm_cpu_block *b)
{
    gm_real *x = b->x;
    for (int state = 0; state < GM_N_STATE; state++) {
        const gm_real *of_node = t->node_initial[state];
        const gm_real *of_point = (const gm_real *)b->initial + state * GM_LANES;
        gm_uniform u = t->uniform[state];
        for (int64_t node = 0; node < t->n_node; node++) {
            for (int lane = 0; lane < GM_LANES; lane++) {
                gm_real value = of_node ? of_node[node] : of_point[lane];
                if (u.on)
                    value = (gm_real)gm_draw_initial(b->seed[lane], b->point[lane], (uint32_t)node,
                                                     (uint32_t)state, u.low, u.high);
                x[at(t, state, node) + lane] = recorded(state, value);
            }
        }
    }
    for (int lane = 0; lane < GM_LANES; lane++) b->failed[lane] = -1;
}

INLINE void march_as(const gm_cpu_task *t, gm_cpu_block *b, gm_cpu_scratch *w, int integrator,
                     int noise)
{
    bool coupled = false;
    memset(w->probe, 0, GM_LANES * sizeof(gm_real));
    for (int64_t i = 0; i < t->n_step; i++) {
        step_all(t, b, w, t->step_begin + i, integrator, noise, coupled);
        coupled = derive(t, b, w, t->step_begin + i + 1);
        observe(t, b, w, t->step_begin + i + 1);
    }
}

static void march(const gm_cpu_task *t, gm_cpu_block *b, gm_cpu_scratch *w)
{
    const bool noise = GM_N_NOISE > 0 && t->noise;
    if (t->integrator == GM_STEP_EULER && noise)
        march_as(t, b, w, GM_STEP_EULER, GM_N_NOISE > 0);
    else if (t->integrator == GM_STEP_EULER)
        march_as(t, b, w, GM_STEP_EULER, 0);
    else if (t->integrator == GM_STEP_HEUN && noise)
        march_as(t, b, w, GM_STEP_HEUN, GM_N_NOISE > 0);
    else if (t->integrator == GM_STEP_HEUN)
        march_as(t, b, w, GM_STEP_HEUN, 0);
    else
        march_as(t, b, w, GM_STEP_RK4, 0);
}

static gm_real statistic_value(const gm_cpu_task *t, const gm_cpu_block *b, int observable,
                               int quantity, int64_t i, double n)
{
    const int64_t all = t->n_row * t->n_node * GM_LANES;
    const gm_real *extreme = b->extreme;
    if (observable == GM_LAST) return recorded(quantity, ((const gm_real *)b->x)[i]);
    gm_statistic a = {b->sum[i], b->square[i], extreme[i], extreme[all + i], extreme[2 * all + i]};
    if (observable == GM_MEAN) return gm_statistic_mean(&a, n);
    if (observable == GM_VARIANCE) return gm_statistic_variance(&a, n);
    return observable == GM_MIN ? a.low : a.high;
}

static void end(const gm_cpu_task *t, const gm_cpu_block *b)
{
    const double n = (double)(t->step_begin + t->n_step - t->n_transient);
    for (int observable = GM_LAST; observable < GM_TRAJECTORY; observable++) {
        for (int q = 0; q < GM_N_QUANTITY; q++) {
            if (!(t->record[observable] >> q & 1)) continue;
            for (int lane = 0; lane < b->n_lane; lane++) {
                gm_real *out =
                    (gm_real *)t->statistic[observable][q] + (b->first + lane) * t->n_node;
                for (int64_t node = 0; node < t->n_node; node++)
                    out[node] = statistic_value(t, b, observable, q, at(t, q, node) + lane, n);
            }
        }
    }
}

const gm_cpu_kernel GM_KERNEL_SYMBOL = {
    .model = GM_MODEL_NAME,
    .precision = GM_DOUBLE ? GM_FP64 : GM_FP32,
    .lanes = GM_LANES,
    .rows = GM_ROWS,
    .begin = begin,
    .march = march,
    .end = end,
};

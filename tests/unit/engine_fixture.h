/** A sweep marched by the CPU backend as the run loop does it, its results gathered by point.
 *
 *  A trial's sweep comes from YAML text; what its files would hold is made up here. All numbers
 *  leave as double, which holds a single-precision number exactly. */
#ifndef GM_TESTS_ENGINE_FIXTURE_H
#define GM_TESTS_ENGINE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/backend.h"

/* A network as the sweeps here name it; its weights are the trial's. */
#define SOME_NETWORK                                                                               \
    "network: {weights: w.csv, normalise: none, symmetric: as_is, self_connections: keep}\n"

typedef struct trial {
    gm_sweep *sweep;
    gm_data *data;
} trial;

typedef struct outcome {
    int64_t n_point, n_node, n_sample;
    double *statistic[GM_TRAJECTORY][GM_MAX_QUANTITY]; /* [n_point][n_node] or NULL */
    double *trajectory[GM_MAX_QUANTITY];               /* [n_point][n_sample][n_node] or NULL */
    int64_t *failed;                                   /* [n_point] */
} outcome;

static inline void *take(int64_t n, size_t size)
{
    void *memory = calloc((size_t)n + 1, size);
    assert_non_null(memory);
    return memory;
}

/* The same numbers in [0, 1) for the same index. */
static inline double made_up(int64_t i)
{
    uint64_t z = ((uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
    return (double)((z ^ (z >> 32)) >> 11) * 0x1p-53;
}

/* Weights are not symmetric and sum to about 1 per row. */
static inline trial trial_create_from(const gm_model_catalog *models, const char *text,
                                      int64_t n_node)
{
    trial t = {0};
    gm_problems *problems = NULL;
    assert_int_equal(gm_problems_create(&problems), GM_OK);
    gm_status st =
        gm_sweep_parse("s.yaml", text, (int64_t)strlen(text), NULL, 0, models, problems, &t.sweep);
    if (st != GM_OK) fail_msg("%s", gm_status_message());
    gm_problems_destroy(&problems);
    assert_int_equal(gm_data_create(t.sweep, &t.data), GM_OK);
    t.data->n_node = n_node;
    if (t.sweep->network.kind == GM_NETWORK_NONE) return t;
    t.data->weight = take(n_node * n_node, sizeof(double));
    for (int64_t i = 0; i < n_node * n_node; i++)
        t.data->weight[i] = 2 * made_up(i) / (double)n_node;
    return t;
}

static inline trial trial_create(const char *text, int64_t n_node)
{
    return trial_create_from(&gm_builtin_models, text, n_node);
}

static inline void trial_destroy(trial *t)
{
    gm_data_destroy(&t->data, t->sweep);
    gm_sweep_destroy(&t->sweep);
}

/* What the per-node file of a knob would hold: values between low and high. */
static inline void trial_node_values(trial *t, const char *knob, double low, double high)
{
    const int k = gm_model_find_knob(t->sweep->model, knob);
    assert_true(k >= 0 && t->sweep->node_file[k].path != NULL);
    t->data->node_value[k] = take(t->data->n_node, sizeof(double));
    for (int64_t i = 0; i < t->data->n_node; i++)
        t->data->node_value[k][i] = low + (high - low) * made_up(1000 + i);
}

/* What the file of an input would hold: n_sample rows of n_column values in [0, 1). */
static inline void trial_signal(trial *t, int input, int64_t n_sample, int64_t n_column)
{
    assert_int_equal(t->sweep->input[input].kind, GM_INPUT_FILE);
    double *sample = take(n_sample * n_column, sizeof *sample);
    for (int64_t i = 0; i < n_sample * n_column; i++) sample[i] = made_up(2000 + i);
    t->data->signal[input] = (gm_signal){n_sample, n_column, sample};
}

/* 41 points of 5 nodes and 60 steps with all there is: inputs, values per node, random starts, a
 * transient, and noise where the integrator allows it. */
static inline trial trial_rich(const char *precision, const char *integrator, const char *record)
{
    char text[1024];
    snprintf(text, sizeof text,
             "model: wilson_cowan\nintegrator: %s\nprecision: %s\n" SOME_NETWORK
             "time: {dt: 0.1, duration: 6, transient: 0.5}\n"
             "axes: {G: {linspace: [0, 2, 41]}}\nseed: 11\n"
             "initial: {E: {uniform: [0, 0.4]}, I: {file: i.txt}}\n"
             "parameters: {tau_e: {file: t.txt}%s}\n"
             "inputs: {p_e: {file: p.csv, step: 0.3, interpolation: linear}, p_i: 0.2}\n"
             "record: %s\n",
             integrator, precision,
             strcmp(integrator, "rk4") ? ", sigma_e: 0.01, sigma_i: 0.02" : "", record);
    trial t = trial_create(text, 5);
    trial_signal(&t, 0, 30, 5);
    trial_node_values(&t, "tau_e", 2, 3);
    trial_node_values(&t, "initial.I", 0, 0.2);
    return t;
}

/* --- marching -----------------------------------------------------------------------------------
 */

static inline double number_at(const gm_sweep *sweep, const void *array, int64_t i)
{
    return sweep->precision == GM_FP64 ? ((const double *)array)[i]
                                       : (double)((const float *)array)[i];
}

static inline outcome outcome_create(const trial *t)
{
    const gm_sweep *sweep = t->sweep;
    outcome o = {sweep->n_point, t->data->n_node, gm_sweep_n_sample(sweep), {{0}}, {0}, NULL};
    o.failed = take(o.n_point, sizeof *o.failed);
    for (int s = 0; s < gm_model_n_quantity(sweep->model); s++) {
        for (int k = 0; k < GM_TRAJECTORY; k++)
            if (sweep->record[k][s]) o.statistic[k][s] = take(o.n_point * o.n_node, sizeof(double));
        if (sweep->record[GM_TRAJECTORY][s])
            o.trajectory[s] = take(o.n_point * o.n_sample * o.n_node, sizeof(double));
    }
    return o;
}

static inline void outcome_destroy(outcome *o)
{
    for (int s = 0; s < GM_MAX_QUANTITY; s++) {
        for (int k = 0; k < GM_TRAJECTORY; k++) free(o->statistic[k][s]);
        free(o->trajectory[s]);
    }
    free(o->failed);
}

/* Are all recorded numbers the same, bit for bit? */
static inline bool outcomes_equal(const outcome *a, const outcome *b)
{
    const size_t row = (size_t)(a->n_point * a->n_node) * sizeof(double);
    bool equal = a->n_point == b->n_point && a->n_node == b->n_node && a->n_sample == b->n_sample;
    for (int s = 0; equal && s < GM_MAX_QUANTITY; s++) {
        for (int k = 0; k < GM_TRAJECTORY; k++)
            if (a->statistic[k][s])
                equal = equal && memcmp(a->statistic[k][s], b->statistic[k][s], row) == 0;
        if (a->trajectory[s])
            equal =
                equal && memcmp(a->trajectory[s], b->trajectory[s], row * (size_t)a->n_sample) == 0;
    }
    return equal && memcmp(a->failed, b->failed, (size_t)a->n_point * sizeof *a->failed) == 0;
}

/* Copy what a chunk left. Every sample has to come once, in order. */
static inline void gather(const trial *t, const gm_work *work, const gm_result *result,
                          int64_t *next_sample, outcome *o)
{
    const int64_t first = work->point[0];
    if (work->step_begin == 0) *next_sample = 0;
    if (result->n_sample > 0) assert_int_equal(result->sample_begin, *next_sample);
    *next_sample += result->n_sample;
    for (int s = 0; s < gm_model_n_quantity(t->sweep->model); s++) {
        const int64_t chunk_row = result->n_sample * o->n_node;
        for (int64_t i = 0; o->trajectory[s] && i < work->n_point * chunk_row; i++)
            o->trajectory[s][((first + i / chunk_row) * o->n_sample + result->sample_begin) *
                                 o->n_node +
                             i % chunk_row] = number_at(t->sweep, result->trajectory[s], i);
        for (int k = 0; work->last && k < GM_TRAJECTORY; k++)
            for (int64_t i = 0; o->statistic[k][s] && i < work->n_point * o->n_node; i++)
                o->statistic[k][s][first * o->n_node + i] =
                    number_at(t->sweep, result->statistic[k][s], i);
    }
    if (!work->last) return;
    assert_int_equal(*next_sample, o->n_sample);
    memcpy(o->failed + first, result->failed_step, (size_t)work->n_point * sizeof *o->failed);
}

/* Memory of a run: points are borrowed until their tile is done, inputs for one call only. */
typedef struct lender {
    int64_t *point; /* [n_point] */
    double *input;  /* [chunk_steps + 1][n_input][n_node] */
} lender;

static inline gm_work next_work(const trial *t, gm_tiling tiling, const lender *memory,
                                int64_t first, int64_t step)
{
    const int64_t points_left = t->sweep->n_point - first;
    const int64_t steps_left = t->sweep->n_step - step;
    const gm_work work = {
        .n_point = points_left < tiling.tile_points ? points_left : tiling.tile_points,
        .point = memory->point + first,
        .step_begin = step,
        .n_step = steps_left < tiling.chunk_steps ? steps_left : tiling.chunk_steps,
        .input = memory->input,
        .first = step == 0,
        .last = steps_left <= tiling.chunk_steps,
    };
    gm_data_input(t->sweep, t->data, step,
                  gm_data_input_varies(t->sweep, t->data) ? work.n_step : 0, memory->input);
    return work;
}

/* All slots are submitted before the first is collected, across tiles too. */
static inline void march_engine(const trial *t, gm_engine *engine, gm_tiling tiling, outcome *o)
{
    gm_work queue[GM_N_SLOT];
    gm_result result;
    int64_t n_submitted = 0, n_collected = 0, next_sample = 0;
    const int64_t n_input = t->sweep->model->n_input * t->data->n_node;
    const lender memory = {take(o->n_point, sizeof(int64_t)),
                           take((tiling.chunk_steps + 1) * n_input, sizeof(double))};
    for (int64_t p = 0; p < o->n_point; p++) memory.point[p] = p;
    for (int64_t first = 0; first < o->n_point; first += tiling.tile_points) {
        for (int64_t step = 0; step < t->sweep->n_step; step += tiling.chunk_steps) {
            const int slot = (int)(n_submitted % GM_N_SLOT);
            if (n_submitted - n_collected == GM_N_SLOT) {
                assert_int_equal(gm_backend_cpu.collect(engine, slot, &result), GM_OK);
                gather(t, &queue[slot], &result, &next_sample, o);
                n_collected++;
            }
            queue[slot] = next_work(t, tiling, &memory, first, step);
            assert_int_equal(gm_backend_cpu.submit(engine, slot, &queue[slot]), GM_OK);
            n_submitted++;
        }
    }
    for (; n_collected < n_submitted; n_collected++) {
        const int slot = (int)(n_collected % GM_N_SLOT);
        assert_int_equal(gm_backend_cpu.collect(engine, slot, &result), GM_OK);
        gather(t, &queue[slot], &result, &next_sample, o);
    }
    free(memory.point);
    free(memory.input);
}

/* Sizes of 0 mean all; without code the built-in kernel marches. */
static inline outcome march_code(const trial *t, int64_t tile, int64_t chunk, int n_thread,
                                 const gm_code *code)
{
    const gm_tiling tiling = {tile > 0 ? tile : t->sweep->n_point,
                              chunk > 0 ? chunk : t->sweep->n_step};
    gm_device *device = NULL;
    gm_engine *engine = NULL;
    outcome o = outcome_create(t);
    gm_status st = gm_backend_cpu.open(0, n_thread, &device);
    if (st == GM_OK)
        st = gm_backend_cpu.engine_create(device, t->sweep, t->data, tiling, code, &engine);
    if (st != GM_OK) fail_msg("%s", gm_status_message());
    march_engine(t, engine, tiling, &o);
    gm_backend_cpu.engine_destroy(&engine);
    gm_backend_cpu.close(&device);
    return o;
}

static inline outcome march(const trial *t, int64_t tile, int64_t chunk, int n_thread)
{
    return march_code(t, tile, chunk, n_thread, NULL);
}

#endif

/* Do marching and copying overlap? Drives the CUDA engine as the run loop does, without a file,
 * with a trajectory that is sampled so often that it takes as long to copy as to march, and holds
 * the wall time against the larger of the two plus the first and the last chunk. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/backend.h"

enum { N_POINT = 1 << 19, CHUNKS = 30 };
static const double tolerance = 0.15;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct outcome {
    double wall, march, down;
} outcome;

static gm_status march(const gm_sweep *sweep, const gm_data *data, gm_device *device,
                       int64_t chunk_steps, gm_work *work, outcome *out)
{
    gm_status st = GM_OK;
    gm_engine *engine = NULL;
    gm_result result;
    gm_engine_usage usage;
    const gm_tiling tiling = {N_POINT, chunk_steps};
    GM_TRY(st, gm_backend_cuda.engine_create(device, sweep, data, tiling, NULL, &engine));
    const double start = now();
    int64_t n_collected = 0;
    for (int64_t i = 0; i < CHUNKS; i++) {
        work->step_begin = i * chunk_steps;
        work->n_step = chunk_steps;
        work->first = i == 0;
        work->last = i == CHUNKS - 1;
        if (i - n_collected == GM_N_SLOT)
            GM_TRY(st, gm_backend_cuda.collect(engine, (int)(n_collected++ % GM_N_SLOT), &result));
        GM_TRY(st, gm_backend_cuda.submit(engine, (int)(i % GM_N_SLOT), work));
    }
    for (; n_collected < CHUNKS; n_collected++)
        GM_TRY(st, gm_backend_cuda.collect(engine, (int)(n_collected % GM_N_SLOT), &result));
    out->wall = now() - start;
    gm_backend_cuda.usage(engine, &usage);
    out->march = usage.march;
    out->down = usage.down;
cleanup:
    gm_backend_cuda.engine_destroy(&engine);
    return st;
}

/* March with a sample every `every` steps, CHUNKS chunks of the same number of samples. */
static gm_status measure(gm_device *device, int64_t every, outcome *out)
{
    gm_status st = GM_OK;
    gm_problems *problems = NULL;
    gm_sweep *sweep = NULL;
    gm_data *data = NULL;
    gm_work work = {.n_point = N_POINT};
    char text[512];
    const int64_t chunk_steps = every * 16;
    snprintf(text, sizeof text,
             "model: lorenz63\naxes: {rho: {linspace: [0, 21, %d]}}\n"
             "time: {dt: 0.0009765625, duration: %.10f}\nintegrator: rk4\n"
             "record: {trajectory: {variables: all, every: %lld}}\n",
             N_POINT, (double)(CHUNKS * chunk_steps) * 0.0009765625, (long long)every);
    GM_TRY(st, gm_problems_create(&problems));
    GM_TRY(st, gm_sweep_parse("overlap", text, (int64_t)strlen(text), NULL, 0, &gm_builtin_models,
                              problems, &sweep));
    GM_TRY(st, gm_data_create(sweep, &data));
    int64_t *point = malloc(N_POINT * sizeof *point);
    double none = 0;
    for (int64_t p = 0; point && p < N_POINT; p++) point[p] = p;
    work.point = point;
    work.input = &none;
    if (!point) st = GM_FAIL(GM_E_MEMORY, "out of memory");
    if (st == GM_OK) st = march(sweep, data, device, chunk_steps, &work, out);
    free(point);
cleanup:
    if (sweep) gm_data_destroy(&data, sweep);
    gm_sweep_destroy(&sweep);
    gm_problems_destroy(&problems);
    return st;
}

int main(void)
{
    gm_device *device = NULL;
    outcome o = {0};
    const char *reason = "";
    int64_t every = 64;
    if (gm_backend_cuda.count(&reason) == 0) {
        printf("skipped: %s\n", reason);
        return 0;
    }
    gm_status st = gm_backend_cuda.open(0, 0, &device);
    for (int i = 0; i < 3 && st == GM_OK; i++) { /* settle on the balance */
        st = measure(device, every, &o);
        if (st != GM_OK) break;
        printf("a sample every %lld steps: march %.4f s, down %.4f s, wall %.4f s\n",
               (long long)every, o.march, o.down, o.wall);
        every = (int64_t)((double)every * o.down / o.march + 0.5);
        if (every < 1) every = 1;
    }
    if (st != GM_OK) {
        fprintf(stderr, "overlap: %s\n", gm_status_message());
        return 1;
    }
    const double larger = o.march > o.down ? o.march : o.down;
    const double ends = (o.march + o.down) / CHUNKS;
    const double ratio = o.wall / (larger + ends);
    printf(
        "march %.4f s, down %.4f s, one after the other %.4f s, wall %.4f s = %.3f of the larger "
        "plus the first and last chunk\n",
        o.march, o.down, o.march + o.down, o.wall, ratio);
    gm_backend_cuda.close(&device);
    return ratio <= 1 + tolerance ? 0 : 1;
}

/* The CPU engine: blocks of points over threads. A chunk is marched within submit; a block stays in
 * one core's cache for the whole chunk. */
#include "core/clock.h"
#include "kernels/backend.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/load.h"
#include "kernels/cpu/pack.h"
#include "kernels/shape.h"
#include "kernels/source.h"
#include "kernels/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPARE_BYTES = 64 << 20 }; /* scratch of the threads and the like */

struct gm_engine {
    const gm_sweep *sweep;
    const gm_data *data;
    const gm_cpu_kernel *kernel; /* built in, or of `library` */
    void *library;               /* owned; NULL: the kernel is built in */
    int n_thread;
    int64_t capacity; /* points of a tile */
    int64_t n_point;  /* of the tile in hand */
    gm_cpu_task task;
    gm_arena arena; /* owns every array below and all that task points to */
    int64_t n_block;
    gm_cpu_block *block;
    gm_cpu_scratch *scratch; /* [n_thread] */
    void *input;
    int64_t *failed[GM_N_SLOT];
    void *trajectory[GM_N_SLOT][GM_MAX_QUANTITY];
    void *statistic[GM_N_SLOT][GM_N_OBSERVABLE][GM_MAX_QUANTITY];
    gm_result result[GM_N_SLOT];
    gm_engine_usage usage;
};

static gm_status kernel_identity(const gm_device *device, const gm_sweep *sweep, char *text,
                                 size_t size)
{
    snprintf(text, size, "cpu %s %s, points in lanes, code %.16s, model %.16s", device->level->name,
             gm_precision_name(gm_real_precision(sweep)), GM_CPU_SOURCE_HASH,
             sweep->model->source_hash);
    return GM_OK;
}

static int lanes_of(const gm_sweep *sweep)
{
    return (int)(64 / gm_real_size(sweep));
}

static void engine_kind(const gm_device *device, const gm_sweep *sweep, const gm_data *data,
                        bool is_compiled, gm_engine_kind *out)
{
    (void)device, (void)data, (void)is_compiled;
    snprintf(out->name, sizeof out->name, "lanes");
    snprintf(out->reason, sizeof out->reason, "%d points side by side in vector registers%s",
             lanes_of(sweep), sweep->engine != GM_ENGINE_AUTO ? " (--engine is for GPUs)" : "");
}

static void footprint(const gm_sweep *sweep, const gm_data *data, int64_t *fixed,
                      int64_t *per_point, int64_t *per_sample)
{
    *fixed = 2 * data->n_node * data->n_node * gm_real_size(sweep) + SPARE_BYTES;
    *per_point = gm_point_bytes(sweep, data);
    *per_sample = GM_N_SLOT * gm_n_trajectory(sweep) * data->n_node * gm_real_size(sweep);
}

static int64_t wanted_points(const gm_device *device, const gm_sweep *sweep)
{
    return (int64_t)lanes_of(sweep) * device->n_thread * (sweep->model->n_coupling > 0 ? 8 : 512);
}

static int64_t least_points(const gm_device *device, const gm_sweep *sweep)
{
    return (int64_t)lanes_of(sweep) * device->n_thread;
}

static gm_status compile_key(const gm_sweep *sweep, const gm_data *data, const char *architecture,
                             char **key_text)
{
    (void)data;
    return gm_cpu_source_key(gm_model_source_of(sweep->model).text, gm_real_precision(sweep),
                             architecture, key_text);
}

static gm_status compile(const gm_sweep *sweep, const gm_data *data, const char *architecture,
                         gm_code *out)
{
    const gm_model_source model = gm_model_source_of(sweep->model);
    (void)data;
    return gm_cpu_compile(model.path, model.text, gm_real_precision(sweep), architecture, out);
}

static void destroy(gm_engine **engine)
{
    if (!*engine) return;
    gm_arena_clear(&(*engine)->arena);
    gm_cpu_unload(&(*engine)->library);
    free(*engine);
    *engine = NULL;
}

static gm_status create_blocks(gm_engine *e)
{
    gm_status st = GM_OK;
    const int lanes = e->kernel->lanes;
    const int64_t value = gm_n_row(e->sweep) * e->data->n_node * lanes;
    const int64_t real = gm_real_size(e->sweep);
    const bool statistics = gm_statistics_mask(e->sweep) != 0;
    e->n_block = (e->capacity + lanes - 1) / lanes;
    GM_TRY(st, gm_arena_take(&e->arena, e->n_block * (int64_t)sizeof *e->block, &e->block));
    for (int64_t i = 0; i < e->n_block; i++) {
        gm_cpu_block *b = &e->block[i];
        GM_TRY(st, gm_arena_take(&e->arena, lanes * 8, &b->point));
        GM_TRY(st, gm_arena_take(&e->arena, lanes * 8, &b->seed));
        GM_TRY(st, gm_arena_take(&e->arena, lanes * 8, &b->failed));
        GM_TRY(st, gm_arena_take(&e->arena, value * real, &b->x));
        GM_TRY(st, gm_arena_take(&e->arena, GM_MAX_PARAM * lanes * real, &b->param));
        GM_TRY(st, gm_arena_take(&e->arena, GM_MAX_STATE * lanes * real, &b->initial));
        if (!statistics) continue;
        GM_TRY(st, gm_arena_take(&e->arena, value * 8, &b->sum));
        GM_TRY(st, gm_arena_take(&e->arena, value * 8, &b->square));
        GM_TRY(st, gm_arena_take(&e->arena, 3 * value * real, &b->extreme));
    }
cleanup:
    return st;
}

static gm_status create_scratch(gm_engine *e)
{
    gm_status st = GM_OK;
    const gm_model_info *model = e->sweep->model;
    const int64_t lane_bytes = e->kernel->lanes * gm_real_size(e->sweep);
    const int64_t n_node = e->data->n_node;
    const int64_t n_normal = (model->n_noise + 3) / 4 * 4;
    GM_TRY(st, gm_arena_take(&e->arena, e->n_thread * (int64_t)sizeof *e->scratch, &e->scratch));
    for (int i = 0; i < e->n_thread; i++) {
        gm_cpu_scratch *w = &e->scratch[i];
        GM_TRY(st, gm_arena_take(&e->arena, model->n_state * n_node * lane_bytes, &w->base));
        GM_TRY(st, gm_arena_take(&e->arena, model->n_state * n_node * lane_bytes, &w->slope));
        GM_TRY(st, gm_arena_take(&e->arena, model->n_coupling * n_node * lane_bytes, &w->source));
        GM_TRY(st, gm_arena_take(&e->arena, model->n_coupling * e->task.n_node_padded * lane_bytes,
                                 &w->coupled));
        GM_TRY(st, gm_arena_take(&e->arena, n_normal * n_node * lane_bytes, &w->normal));
        GM_TRY(st, gm_arena_take(&e->arena, lane_bytes, &w->probe));
    }
cleanup:
    return st;
}

static gm_status create_outputs(gm_engine *e, int64_t chunk_steps)
{
    gm_status st = GM_OK;
    const gm_sweep *sweep = e->sweep;
    const int64_t row = e->data->n_node * gm_real_size(sweep);
    const int64_t n_sample = gm_most_samples(sweep, chunk_steps);
    for (int slot = 0; slot < GM_N_SLOT; slot++) {
        GM_TRY(st, gm_arena_take(&e->arena, e->capacity * 8, &e->failed[slot]));
        for (int q = 0; q < gm_n_row(sweep); q++) {
            if (sweep->record[GM_TRAJECTORY][q])
                GM_TRY(st, gm_arena_take(&e->arena, e->capacity * n_sample * row,
                                         &e->trajectory[slot][q]));
            for (int o = 0; o < GM_TRAJECTORY; o++)
                if (sweep->record[o][q])
                    GM_TRY(st,
                           gm_arena_take(&e->arena, e->capacity * row, &e->statistic[slot][o][q]));
        }
    }
cleanup:
    return st;
}

/* The one given as code, or the built-in one. */
static gm_status choose_kernel(gm_engine *e, const gm_device *device, const gm_code *code)
{
    const gm_sweep *sweep = e->sweep;
    if (!code) {
        e->kernel = gm_cpu_find(device->level, sweep->model->name, gm_real_precision(sweep));
        return e->kernel ? GM_OK
                         : GM_FAIL(GM_E_INTERNAL, "no CPU kernel for model %s", sweep->model->name);
    }
    const gm_status st = gm_cpu_load(code, &e->kernel, &e->library);
    if (st != GM_OK) return st;
    const char *name = e->kernel->model; /* "" for a model that is named by its file alone */
    if ((name[0] && strcmp(name, sweep->model->name) != 0) ||
        e->kernel->precision != gm_real_precision(sweep))
        return GM_FAIL(GM_E_INPUT,
                       "the compiled kernel is of model %s in %s; the sweep wants %s in %s", name,
                       gm_precision_name(e->kernel->precision), sweep->model->name,
                       gm_precision_name(sweep->precision));
    return GM_OK;
}

static gm_status create(gm_device *device, const gm_sweep *sweep, const gm_data *data,
                        gm_tiling tiling, const gm_code *code, gm_engine **out)
{
    gm_status st = GM_OK;
    gm_engine *e = calloc(1, sizeof *e);
    *out = NULL;
    if (!e) return GM_FAIL(GM_E_MEMORY, "out of memory");
    e->sweep = sweep;
    e->data = data;
    e->n_thread = device->n_thread;
    e->capacity = tiling.tile_points;
    GM_TRY(st, choose_kernel(e, device, code));
    GM_TRY(st, gm_cpu_pack(sweep, data, e->kernel, &e->arena, &e->task));
    const int64_t n_row = gm_data_input_varies(sweep, data) ? tiling.chunk_steps + 1 : 1;
    GM_TRY(st, gm_arena_take(&e->arena,
                             n_row * sweep->model->n_input * data->n_node * gm_real_size(sweep),
                             &e->input));
    GM_TRY(st, create_blocks(e));
    GM_TRY(st, create_scratch(e));
    GM_TRY(st, create_outputs(e, tiling.chunk_steps));
    *out = e, e = NULL;
cleanup:
    destroy(&e);
    return st;
}

/* Lanes past the tile's last point repeat it, so that they hold ordinary numbers. */
static void fill_block(gm_engine *e, int64_t i, const gm_work *work)
{
    const int lanes = e->kernel->lanes;
    const gm_model_info *model = e->sweep->model;
    gm_cpu_block *b = &e->block[i];
    int64_t left = work->n_point - i * lanes;
    b->first = i * lanes;
    b->n_lane = left < lanes ? (int)left : lanes;
    for (int lane = 0; lane < lanes; lane++) {
        double knob[GM_MAX_PARAM + GM_MAX_STATE];
        int64_t p = work->point[b->first + (lane < b->n_lane ? lane : b->n_lane - 1)];
        b->point[lane] = (uint64_t)p;
        gm_sweep_point(e->sweep, p, knob, &b->seed[lane]);
        for (int k = 0; k < model->n_param; k++)
            gm_put_real(e->sweep->precision, b->param, k * lanes + lane, knob[k]);
        for (int s = 0; s < model->n_state; s++)
            gm_put_real(e->sweep->precision, b->initial, s * lanes + lane,
                        knob[model->n_param + s]);
    }
}

/* Where a block keeps a part of its points' states. */
static gm_columns columns_of(const gm_engine *e, const gm_cpu_block *b, int part)
{
    const int lanes = e->kernel->lanes;
    const int64_t all = gm_n_row(e->sweep) * e->data->n_node * lanes * gm_real_size(e->sweep);
    void *const array[GM_N_PART] = {[GM_PART_FAILED] = b->failed,
                                    [GM_PART_SUM] = b->sum,
                                    [GM_PART_SQUARE] = b->square,
                                    [GM_PART_X] = b->x,
                                    [GM_PART_FIRST] = b->extreme};
    gm_columns c = {array[part], lanes, 0};
    if (part > GM_PART_FIRST && b->extreme)
        c.array = (char *)b->extreme + (part - GM_PART_FIRST) * all;
    return c;
}

static void load_block(gm_engine *e, gm_cpu_block *b, const gm_work *work)
{
    gm_part part[GM_N_PART];
    gm_state_parts(e->sweep, e->data, part);
    for (int i = 0; i < GM_N_PART; i++) {
        gm_columns c = columns_of(e, b, i);
        for (; c.begin < e->kernel->lanes; c.begin++) {
            const int64_t lane = c.begin < b->n_lane ? c.begin : b->n_lane - 1;
            gm_state_scatter(&part[i], c, 1,
                             (const char *)work->state + (b->first + lane) * work->state_stride,
                             work->state_stride);
        }
    }
}

static gm_status save(gm_engine *e, int64_t n_point, void *state, int64_t stride)
{
    gm_part part[GM_N_PART];
    gm_state_parts(e->sweep, e->data, part);
    for (int64_t k = 0; k * e->kernel->lanes < n_point; k++) {
        const gm_cpu_block *b = &e->block[k];
        for (int i = 0; i < GM_N_PART; i++)
            gm_state_gather(&part[i], columns_of(e, b, i), b->n_lane,
                            (char *)state + b->first * stride, stride);
    }
    return GM_OK;
}

static void set_chunk(gm_engine *e, int slot, const gm_work *work)
{
    gm_cpu_task *t = &e->task;
    const int64_t n_input = e->sweep->model->n_input * e->data->n_node;
    const bool varies = gm_data_input_varies(e->sweep, e->data);
    const int64_t n_value = (varies ? work->n_step + 1 : 1) * n_input;
    for (int64_t i = 0; i < n_value; i++)
        gm_put_real(e->sweep->precision, e->input, i, work->input[i]);
    t->input = e->input;
    t->input_stride = varies ? n_input : 0;
    t->step_begin = work->step_begin;
    t->n_step = work->n_step;
    gm_chunk_samples(e->sweep, work->step_begin, work->n_step, &t->sample_begin, &t->n_sample);
    memcpy(t->trajectory, e->trajectory[slot], sizeof t->trajectory);
    memcpy(t->statistic, e->statistic[slot], sizeof t->statistic);
}

static void give_result(gm_engine *e, int slot, const gm_work *work)
{
    gm_result *result = &e->result[slot];
    const int lanes = e->kernel->lanes;
    memset(result, 0, sizeof *result);
    result->sample_begin = e->task.sample_begin;
    result->n_sample = e->task.n_sample;
    for (int q = 0; q < GM_MAX_QUANTITY; q++) result->trajectory[q] = e->trajectory[slot][q];
    if (!work->last) return;
    for (int o = 0; o < GM_TRAJECTORY; o++)
        for (int q = 0; q < GM_MAX_QUANTITY; q++)
            result->statistic[o][q] = e->statistic[slot][o][q];
    for (int64_t p = 0; p < work->n_point; p++)
        e->failed[slot][p] = e->block[p / lanes].failed[p % lanes];
    result->failed_step = e->failed[slot];
}

static gm_status submit(gm_engine *e, int slot, const gm_work *work)
{
    const int64_t n_block = (work->n_point + e->kernel->lanes - 1) / e->kernel->lanes;
    const double start = gm_clock_seconds();
    set_chunk(e, slot, work);
#pragma omp parallel for schedule(dynamic, 1) num_threads(e->n_thread)
    for (int64_t i = 0; i < n_block; i++) {
        gm_cpu_block *b = &e->block[i];
        if (work->first) {
            fill_block(e, i, work);
            if (work->state)
                load_block(e, b, work);
            else
                e->kernel->begin(&e->task, b);
        }
        e->kernel->march(&e->task, b, &e->scratch[gm_cpu_thread()]);
        if (work->last) e->kernel->end(&e->task, b);
    }
    give_result(e, slot, work);
    e->usage.march += gm_clock_seconds() - start;
    return GM_OK;
}

static gm_status collect(gm_engine *e, int slot, gm_result *result)
{
    *result = e->result[slot];
    return GM_OK;
}

static void usage(const gm_engine *e, gm_engine_usage *out)
{
    *out = e->usage;
}

const gm_backend gm_backend_cpu = {
    .name = "cpu",
    .count = gm_cpu_count,
    .open = gm_cpu_open,
    .close = gm_cpu_close,
    .describe = gm_cpu_describe,
    .kernel = kernel_identity,
    .engine_kind = engine_kind,
    .footprint = footprint,
    .wanted_points = wanted_points,
    .least_points = least_points,
    .specialises = false,
    .compiler = gm_cpu_compiler,
    .compile_key = compile_key,
    .compile = compile,
    .engine_create = create,
    .engine_destroy = destroy,
    .submit = submit,
    .collect = collect,
    .save = save,
    .usage = usage,
};

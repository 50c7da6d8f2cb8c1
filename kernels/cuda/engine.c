/* The CUDA engine: three streams (up, march, down) and a few slots, so that the next chunk's inputs
 * rise and the last chunk's results come down while a chunk marches.
 *
 *     up     [input k+1]-.         A slot's buffers are free again once it was collected, so the
 *     march  [chunk k   ] '->[chunk k+1]   events below are all the order there is.
 *     down   [result k-1]    [result k]
 *
 * A tile's list of points must stay while the tile marches: it alternates by tile, not by slot. Two
 * suffice, since at most GM_N_SLOT chunks are on their way and a tile is only followed by its next.
 */
#include "kernels/cuda/buffers.h"
#include "kernels/cuda/compile.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/nvrtc.h"
#include "kernels/cuda/specialise.h"
#include "kernels/shape.h"
#include "kernels/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPARE_BYTES = 64 << 20, INPUT_SPARE = 1024, MAX_NODE = 1024, N_EVENT = 6 };
enum { UP_BEGIN, UP_END, MARCH_BEGIN, MARCH_END, DOWN_BEGIN, DOWN_END };

typedef struct gm_slot {
    gm_cuda_pair input;      /* real [chunk_steps + 1][n_input][n_node], and some to spare */
    gm_cuda_pair trajectory; /* real [recorded row][n_point][n_sample][n_node] */
    gm_cuda_pair final;      /* int64 [capacity] failed, then real [recorded][n_point][n_node] */
    cudaEvent_t event[N_EVENT];
    gm_result result;
    bool moved_up, moved_down;
} gm_slot;

struct gm_engine {
    gm_device *device;
    const gm_sweep *sweep;
    const gm_data *data;
    bool input_varies, input_is_up;
    gm_cuda_kernels kernels;
    cudaStream_t up, marching, down;
    gm_cuda_constants constants;
    gm_cuda_args args;
    void *x, *sum, *square, *extreme[3], *failed, *raw;
    gm_cuda_pair points[2]; /* int64 [capacity] of a tile, alternating */
    int tile;               /* counts tiles with a list */
    gm_slot slot[GM_N_SLOT];
    gm_engine_usage usage;
};

static gm_status identity(const gm_device *device, const gm_sweep *sweep, char *text, size_t size)
{
    char architecture[24];
    gm_cuda_architecture(device, architecture);
    snprintf(text, size, "cuda %s %s, %s, code %.16s, model %.16s", architecture,
             gm_precision_name(sweep->precision),
             sweep->model->n_coupling > 0 ? "block per point" : "thread per point",
             gm_cuda_source_hash, sweep->model->source_hash);
    return GM_OK;
}

static void engine_kind(const gm_device *device, const gm_sweep *sweep, const gm_data *data,
                        bool is_compiled, gm_engine_kind *out)
{
    char architecture[24];
    gm_cuda_architecture(device, architecture);
    const char *reason = gm_cuda_not_matrix(sweep, data, architecture);
    const bool is_network = sweep->model->n_coupling > 0, is_matrix = is_compiled && !reason;
    if (!is_compiled && is_network) reason = "the kernel built into the program";
    snprintf(out->name, sizeof out->name, "%s",
             is_matrix    ? "matrix"
             : is_network ? "block"
                          : "thread");
    if (is_matrix)
        snprintf(out->reason, sizeof out->reason,
                 "products on tensor cores, at least %d points a warp (%lld point%s the weights)",
                 sweep->precision == GM_FP64 ? 8 : 16, (long long)sweep->n_point,
                 sweep->n_point == 1 ? " takes" : "s share");
    else
        snprintf(out->reason, sizeof out->reason, "a %s per point (%s)",
                 is_network ? "block of threads" : "thread", reason);
}

static void footprint(const gm_sweep *sweep, const gm_data *data, int64_t *fixed,
                      int64_t *per_point, int64_t *per_sample)
{
    const int64_t row = gm_n_trajectory(sweep) * data->n_node * gm_real_size(sweep);
    *fixed = (data->n_node + 2) * data->n_node * gm_real_size(sweep) +
             gm_cuda_fragment_bytes(data->n_node) + 4 * (int64_t)SPARE_BYTES;
    for (int i = 0; i < sweep->n_axis; i++) *fixed += sweep->axis[i].n * (int64_t)sizeof(double);
    *per_point = gm_point_bytes(sweep, data);
    *per_sample = row * (GM_N_SLOT + (sweep->model->n_coupling == 0));
}

/* Enough for a few waves over the whole card; more only costs memory. */
static int64_t wanted_points(const gm_device *device, const gm_sweep *sweep)
{
    const int64_t n = device->property.multiProcessorCount;
    return sweep->model->n_coupling > 0 ? n * 128 : n * 2048 * 32;
}

/* A point for each thread that the multiprocessors hold; of a network, whose points are marched by
 * several threads each, the points of a tile. */
static int64_t least_points(const gm_device *device, const gm_sweep *sweep)
{
    const int64_t n = device->property.multiProcessorCount;
    return sweep->model->n_coupling > 0 ? n * 128 : n * 2048;
}

/* --- creation ------------------------------------------------------------------------------------
 */

static gm_status create_state(gm_engine *e, gm_tiling tiling)
{
    gm_status st = GM_OK;
    const int64_t real = gm_real_size(e->sweep);
    const int64_t n_value = tiling.tile_points * gm_n_row(e->sweep) * e->data->n_node;
    GM_TRY(st, gm_cuda_take(n_value * real, &e->x));
    GM_TRY(st, gm_cuda_take(tiling.tile_points * 8, &e->failed));
    for (int i = 0; i < 2; i++)
        GM_TRY(st, gm_cuda_pair_create(&e->points[i], tiling.tile_points * 8));
    if (gm_statistics_mask(e->sweep) != 0) {
        GM_TRY(st, gm_cuda_take(n_value * 8, &e->sum));
        GM_TRY(st, gm_cuda_take(n_value * 8, &e->square));
        for (int i = 0; i < 3; i++) GM_TRY(st, gm_cuda_take(n_value * real, &e->extreme[i]));
    }
cleanup:
    return st;
}

static gm_status create_slots(gm_engine *e, gm_tiling tiling)
{
    gm_status st = GM_OK;
    const int64_t real = gm_real_size(e->sweep);
    const int64_t row = tiling.tile_points * e->data->n_node * real;
    const int64_t trajectory =
        gm_n_trajectory(e->sweep) * gm_most_samples(e->sweep, tiling.chunk_steps) * row;
    const int64_t n_row = e->input_varies ? tiling.chunk_steps + 1 : 1;
    for (int i = 0; i < GM_N_SLOT; i++) {
        gm_slot *slot = &e->slot[i];
        GM_TRY(st, gm_cuda_pair_create(
                       &slot->input,
                       (n_row * e->sweep->model->n_input * e->data->n_node + INPUT_SPARE) * real));
        GM_TRY(st, gm_cuda_pair_create(&slot->trajectory, trajectory));
        GM_TRY(st, gm_cuda_pair_create(&slot->final,
                                       tiling.tile_points * 8 + gm_n_final(e->sweep) * row));
        for (int k = 0; k < N_EVENT; k++)
            GM_TRY(st, GM_CUDA("creating an event",
                               cudaEventCreateWithFlags(&slot->event[k], cudaEventBlockingSync)));
    }
    if (e->sweep->model->n_coupling == 0) GM_TRY(st, gm_cuda_take(trajectory, &e->raw));
cleanup:
    return st;
}

static gm_status create_streams(gm_engine *e)
{
    gm_status st = GM_OK;
    cudaStream_t *const stream[] = {&e->up, &e->marching, &e->down};
    for (int i = 0; i < 3; i++)
        GM_TRY(st, GM_CUDA("creating a stream",
                           cudaStreamCreateWithFlags(stream[i], cudaStreamNonBlocking)));
cleanup:
    return st;
}

static void destroy(gm_engine **engine)
{
    gm_engine *e = *engine;
    if (!e) return;
    if (e->marching) cudaDeviceSynchronize();
    for (int i = 0; i < GM_N_SLOT; i++) {
        gm_cuda_pair_destroy(&e->slot[i].input);
        gm_cuda_pair_destroy(&e->slot[i].trajectory);
        gm_cuda_pair_destroy(&e->slot[i].final);
        for (int k = 0; k < N_EVENT; k++)
            if (e->slot[i].event[k]) cudaEventDestroy(e->slot[i].event[k]);
    }
    for (int i = 0; i < 2; i++) gm_cuda_pair_destroy(&e->points[i]);
    void *const array[] = {e->x,          e->sum,        e->square, e->extreme[0],
                           e->extreme[1], e->extreme[2], e->failed, e->raw};
    for (size_t i = 0; i < sizeof array / sizeof array[0]; i++) cudaFree(array[i]);
    gm_cuda_constants_destroy(&e->constants);
    cudaStream_t const stream[] = {e->up, e->marching, e->down};
    for (int i = 0; i < 3; i++)
        if (stream[i]) cudaStreamDestroy(stream[i]);
    gm_cuda_kernels_unload(&e->kernels);
    free(e);
    *engine = NULL;
}

static gm_status create(gm_device *device, const gm_sweep *sweep, const gm_data *data,
                        gm_tiling tiling, const gm_code *code, gm_engine **out)
{
    gm_status st = GM_OK;
    *out = NULL;
    if (data->n_node > MAX_NODE)
        return GM_FAIL(GM_E_DEVICE,
                       "the network has %lld nodes; on a GPU at most %d are possible for now "
                       "(--backend cpu has no such limit)",
                       (long long)data->n_node, MAX_NODE);
    if (tiling.tile_points > INT32_MAX)
        return GM_FAIL(GM_E_USAGE, "a tile holds at most %d points", INT32_MAX);
    gm_engine *e = calloc(1, sizeof *e);
    if (!e) return GM_FAIL(GM_E_MEMORY, "out of memory");
    e->device = device;
    e->sweep = sweep;
    e->data = data;
    e->input_varies = gm_data_input_varies(sweep, data);
    GM_TRY(st, gm_cuda_kernels_load(device, sweep, data, code, &e->kernels));
    GM_TRY(st, gm_cuda_constants_create(sweep, data, &e->constants, &e->args));
    GM_TRY(st, create_state(e, tiling));
    GM_TRY(st, create_streams(e));
    GM_TRY(st, create_slots(e, tiling));
    e->args.capacity = (int32_t)tiling.tile_points;
    e->args.x = e->x;
    e->args.sum = e->sum;
    e->args.square = e->square;
    e->args.first = e->extreme[0];
    e->args.low = e->extreme[1];
    e->args.high = e->extreme[2];
    e->args.failed = e->failed;
    e->args.raw = e->raw;
    GM_TRY(st, gm_cuda_kernels_prepare(&e->kernels, &e->args, e->marching));
    GM_TRY(st, GM_CUDA("preparing the GPU", cudaDeviceSynchronize()));
    *out = e, e = NULL;
cleanup:
    destroy(&e);
    return st;
}

/* --- submit -------------------------------------------------------------------------------------
 */

/* Which points a tile holds: a range says it all; only the gaps of a resumed sweep need a list. */
static gm_status send_points(gm_engine *e, gm_slot *slot, const gm_work *work)
{
    const int64_t n = work->n_point;
    const size_t size = (size_t)n * sizeof(int64_t);
    e->args.n_point = (int32_t)n;
    e->args.point_begin = work->point[0];
    e->args.point = NULL;
    if (work->point[n - 1] - work->point[0] == n - 1) return GM_OK;
    gm_cuda_pair *list = &e->points[++e->tile % 2];
    memcpy(list->host, work->point, size);
    e->args.point = list->device;
    slot->moved_up = true;
    e->usage.bytes_up += (int64_t)size;
    return GM_CUDA("copying a tile's points to the GPU",
                   cudaMemcpyAsync(list->device, list->host, size, cudaMemcpyHostToDevice, e->up));
}

/* Inputs of the chunk, or once for all if they are constant. */
static gm_status send_input(gm_engine *e, gm_slot *slot, const gm_work *work)
{
    const int64_t row = e->sweep->model->n_input * e->data->n_node;
    const int64_t n_value = (e->input_varies ? work->n_step + 1 : 1) * row;
    const size_t size = (size_t)(n_value * gm_real_size(e->sweep));
    e->args.input_stride = e->input_varies ? row : 0;
    if (e->input_varies || !e->input_is_up) e->args.input = slot->input.device;
    if (n_value == 0 || (!e->input_varies && e->input_is_up)) return GM_OK;
    for (int64_t i = 0; i < n_value; i++)
        gm_put_real(e->sweep->precision, slot->input.host, i, work->input[i]);
    e->input_is_up = true;
    slot->moved_up = true;
    e->usage.bytes_up += (int64_t)size;
    return GM_CUDA(
        "copying inputs to the GPU",
        cudaMemcpyAsync(slot->input.device, slot->input.host, size, cudaMemcpyHostToDevice, e->up));
}

/* Results of the chunk: the trajectory, and with the tile's last chunk its final values. */
static gm_status send_down(gm_engine *e, gm_slot *slot, const gm_work *work)
{
    gm_status st = GM_OK;
    const int64_t row = e->data->n_node * gm_real_size(e->sweep);
    const size_t samples =
        (size_t)(gm_n_trajectory(e->sweep) * e->args.n_sample * work->n_point * row);
    if (samples > 0) {
        GM_TRY(st, GM_CUDA("copying a trajectory from the GPU",
                           cudaMemcpyAsync(slot->trajectory.host, slot->trajectory.device, samples,
                                           cudaMemcpyDeviceToHost, e->down)));
        e->usage.bytes_down += (int64_t)samples;
        slot->moved_down = true;
    }
    if (work->last) {
        GM_TRY(st, GM_CUDA("copying results from the GPU",
                           cudaMemcpyAsync(slot->final.host, slot->final.device, slot->final.size,
                                           cudaMemcpyDeviceToHost, e->down)));
        e->usage.bytes_down += (int64_t)slot->final.size;
        slot->moved_down = true;
    }
cleanup:
    return st;
}

/* Where in the slot's pinned memory each result will be. */
static void place_results(const gm_engine *e, gm_slot *slot, const gm_work *work)
{
    const int64_t row = e->data->n_node * gm_real_size(e->sweep) * work->n_point;
    gm_result *r = &slot->result;
    const char *trajectory = slot->trajectory.host;
    const char *final = (const char *)slot->final.host + e->args.capacity * 8;
    memset(r, 0, sizeof *r);
    r->sample_begin = e->args.sample_begin;
    r->n_sample = e->args.n_sample;
    for (int q = 0; q < gm_n_row(e->sweep); q++) {
        if (!e->sweep->record[GM_TRAJECTORY][q]) continue;
        r->trajectory[q] = trajectory;
        trajectory += row * e->args.n_sample;
    }
    if (!work->last) return;
    r->failed_step = slot->final.host;
    for (int o = 0; o < GM_TRAJECTORY; o++)
        for (int q = 0; q < gm_n_row(e->sweep); q++) {
            if (!e->sweep->record[o][q]) continue;
            r->statistic[o][q] = final;
            final += row;
        }
}

/* --- states of a tile between two chunks --------------------------------------------------------
 */

/* One of the engine's arrays into records (out), or from records (in); the other one is NULL.
 * Nothing marches. */
static gm_status move_part(gm_engine *e, const gm_part *part, int n_row, void *device,
                           int64_t n_point, const void *in, void *out, int64_t stride)
{
    gm_status st = GM_OK;
    const size_t size = (size_t)(n_row * part->n_node * e->args.capacity * part->size);
    const gm_columns host = {calloc(1, size), e->args.capacity, 0};
    if (!host.array) return GM_FAIL(GM_E_MEMORY, "out of memory");
    if (in) gm_state_scatter(part, host, n_point, in, stride);
    GM_TRY(st, GM_CUDA("copying states",
                       cudaMemcpyAsync(in ? device : host.array, in ? host.array : device, size,
                                       in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost,
                                       e->marching)));
    GM_TRY(st, GM_CUDA("copying states", cudaStreamSynchronize(e->marching)));
    if (out) gm_state_gather(part, host, n_point, out, stride);
cleanup:
    free(host.array);
    return st;
}

static gm_status move_states(gm_engine *e, int64_t n_point, const void *in, void *out,
                             int64_t stride)
{
    gm_status st = GM_OK;
    gm_part part[GM_N_PART];
    void *const device[GM_N_PART] = {
        [GM_PART_FAILED] = e->failed,    [GM_PART_SUM] = e->sum,
        [GM_PART_SQUARE] = e->square,    [GM_PART_X] = e->x,
        [GM_PART_FIRST] = e->extreme[0], [GM_PART_LOW] = e->extreme[1],
        [GM_PART_HIGH] = e->extreme[2],
    };
    gm_state_parts(e->sweep, e->data, part);
    for (int i = 0; i < GM_N_PART; i++) {
        const int n_row = i == GM_PART_FAILED ? 1 : gm_n_row(e->sweep);
        if (part[i].rows)
            GM_TRY(st, move_part(e, &part[i], n_row, device[i], n_point, in, out, stride));
    }
cleanup:
    return st;
}

static gm_status save(gm_engine *e, int64_t n_point, void *state, int64_t stride)
{
    return move_states(e, n_point, NULL, state, stride);
}

static gm_status mark(gm_slot *slot, int event, cudaStream_t stream)
{
    return GM_CUDA("marking a stream", cudaEventRecord(slot->event[event], stream));
}

static gm_status follow(gm_slot *slot, int event, cudaStream_t stream)
{
    return GM_CUDA("ordering streams", cudaStreamWaitEvent(stream, slot->event[event], 0));
}

static gm_status submit(gm_engine *e, int index, const gm_work *work)
{
    gm_status st = GM_OK;
    gm_slot *slot = &e->slot[index];
    gm_cuda_args *a = &e->args;
    slot->moved_up = slot->moved_down = false;

    GM_TRY(st, mark(slot, UP_BEGIN, e->up));
    if (work->first) GM_TRY(st, send_points(e, slot, work));
    if (work->first && work->state)
        GM_TRY(st, move_states(e, work->n_point, work->state, NULL, work->state_stride));
    GM_TRY(st, send_input(e, slot, work));
    GM_TRY(st, mark(slot, UP_END, e->up));

    a->step_begin = work->step_begin;
    a->n_step = work->n_step;
    gm_chunk_samples(e->sweep, work->step_begin, work->n_step, &a->sample_begin, &a->n_sample);
    a->trajectory = slot->trajectory.device;
    a->final_value = (char *)slot->final.device + (int64_t)a->capacity * 8;
    GM_TRY(st, follow(slot, UP_END, e->marching));
    GM_TRY(st, mark(slot, MARCH_BEGIN, e->marching));
    GM_TRY(st, gm_cuda_kernels_launch(&e->kernels, &e->args, work, e->marching));
    if (work->last)
        GM_TRY(st, GM_CUDA("gathering results",
                           cudaMemcpyAsync(slot->final.device, e->failed, (size_t)work->n_point * 8,
                                           cudaMemcpyDeviceToDevice, e->marching)));
    GM_TRY(st, mark(slot, MARCH_END, e->marching));

    GM_TRY(st, follow(slot, MARCH_END, e->down));
    GM_TRY(st, mark(slot, DOWN_BEGIN, e->down));
    GM_TRY(st, send_down(e, slot, work));
    GM_TRY(st, mark(slot, DOWN_END, e->down));
    place_results(e, slot, work);
cleanup:
    return st;
}

/* --- collect -------------------------------------------------------------------------------------
 */

static gm_status add_seconds(const gm_slot *slot, int begin, int end, double *total)
{
    float ms = 0;
    gm_status st =
        GM_CUDA("timing the GPU", cudaEventElapsedTime(&ms, slot->event[begin], slot->event[end]));
    *total += 1e-3 * (double)ms;
    return st;
}

static gm_status collect(gm_engine *e, int index, gm_result *result)
{
    gm_status st = GM_OK;
    gm_slot *slot = &e->slot[index];
    GM_TRY(st, GM_CUDA("marching on the GPU", cudaEventSynchronize(slot->event[DOWN_END])));
    if (slot->moved_up) GM_TRY(st, add_seconds(slot, UP_BEGIN, UP_END, &e->usage.up));
    GM_TRY(st, add_seconds(slot, MARCH_BEGIN, MARCH_END, &e->usage.march));
    if (slot->moved_down) GM_TRY(st, add_seconds(slot, DOWN_BEGIN, DOWN_END, &e->usage.down));
    *result = slot->result;
cleanup:
    return st;
}

static void usage(const gm_engine *e, gm_engine_usage *out)
{
    *out = e->usage;
}

const gm_backend gm_backend_cuda = {
    .name = "cuda",
    .specialises = true,
    .compiler = gm_nvrtc_find,
    .compile_key = gm_cuda_compile_key,
    .compile = gm_cuda_compile,
    .count = gm_cuda_count,
    .uuid = gm_cuda_uuid,
    .open = gm_cuda_open,
    .close = gm_cuda_close,
    .describe = gm_cuda_describe,
    .kernel = identity,
    .engine_kind = engine_kind,
    .footprint = footprint,
    .wanted_points = wanted_points,
    .least_points = least_points,
    .engine_create = create,
    .engine_destroy = destroy,
    .submit = submit,
    .collect = collect,
    .save = save,
    .usage = usage,
};

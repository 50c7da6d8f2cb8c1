/* gridmarch plan: what a run would do, without doing it. */
#include "app/commands.h"

#include <stdio.h>
#include <string.h>

#include "app/checkpoint.h"
#include "app/code.h"
#include "app/device.h"
#include "app/forecast.h"
#include "app/output.h"
#include "app/queue.h"
#include "app/report.h"
#include "app/request.h"
#include "io/lock.h"
#include "kernels/shape.h"

/* All of them: one that was forgotten stands at its default. */
static void print_inputs(const gm_sweep *sweep)
{
    for (int i = 0; i < sweep->model->n_input; i++) {
        const gm_input_spec *input = &sweep->input[i];
        printf("%-13s%s ", i == 0 ? "inputs" : "", sweep->model->input[i].name);
        if (input->kind == GM_INPUT_FILE)
            printf("from %s\n", input->source.path);
        else
            printf("%g\n", input->constant);
    }
}

static void print_sweep(const gm_request *request)
{
    const gm_sweep *sweep = request->sweep;
    const gm_data *data = request->data;
    printf("model        %s, %s, %s\n", sweep->model->name, gm_integrator_name(sweep->integrator),
           gm_precision_name(sweep->precision));
    if (sweep->model->n_coupling > 0)
        printf("network      %lld node%s\n", (long long)data->n_node, data->n_node == 1 ? "" : "s");
    printf("points       %lld", (long long)sweep->n_point);
    for (int i = 0; i < sweep->n_axis; i++)
        printf("%s%s %lld",
               i == 0                           ? ": "
               : sweep->design == GM_DESIGN_ZIP ? " with "
                                                : " x ",
               sweep->axis[i].name, (long long)sweep->axis[i].n);
    const char *unit = sweep->model->time_unit;
    const bool has_unit = strcmp(unit, "1") != 0;
    printf("\nsteps        %lld of %g%s%s: %g in all", (long long)sweep->n_step, sweep->dt,
           has_unit ? " " : "", has_unit ? unit : "", (double)sweep->n_step * sweep->dt);
    if (sweep->n_transient > 0)
        printf(", the first %g (%lld steps) not recorded", (double)sweep->n_transient * sweep->dt,
               (long long)sweep->n_transient);
    putchar('\n');
    printf("noise        %s\n", sweep->noise ? "on" : "off");
    print_inputs(sweep);
}

static void print_file(const gm_request *request)
{
    char bytes[32];
    const gm_layout *layout = request->layout;
    printf("file         %s, %s\n", request->path ? request->path : "(none named: -o FILE)",
           gm_text_bytes(layout->n_byte, bytes));
    for (int i = 0; i < layout->n_variable; i++) {
        const gm_variable *v = &layout->variable[i];
        if (v->quantity < 0) continue;
        printf("  %-14s (", v->name);
        for (int d = 0; d < layout->n_point_dim; d++)
            printf("%s%s", d == 0 ? "" : ", ", layout->coordinate[d].name);
        printf("%s%s)  %s\n", v->has_time ? ", time" : "", v->has_node ? ", node" : "",
               gm_text_bytes(v->row_bytes * layout->n_point, bytes));
    }
}

/* The refusal that a run would meet is the plan's own status, so that a script sees it. */
static gm_status print_output_state(const gm_request *request, const gm_options *options)
{
    gm_output_state state = GM_OUTPUT_NEW;
    gm_store_header *header = NULL;
    if (!request->path) return GM_OK;
    gm_status st = gm_lock_look(request->path);
    if (st == GM_OK) st = gm_output_examine(request, options, &state, &header);
    if (st != GM_OK)
        printf("             a run would be refused\n");
    else
        printf("             %s\n", state == GM_OUTPUT_NEW      ? "would be made new"
                                    : state == GM_OUTPUT_RESUME ? "would be resumed"
                                                                : "is complete: nothing to do");
    gm_store_header_destroy(&header);
    return st;
}

static void print_ranks(gm_schedule schedule, int64_t n_point, int n_rank, int64_t least,
                        int64_t tile_points)
{
    const int64_t share = gm_queue_wish(GM_SCHEDULE_STATIC, n_point, n_rank, least);
    const int64_t fewest = gm_queue_least(n_point, n_rank, least, tile_points);
    if (schedule == GM_SCHEDULE_STATIC || n_rank == 1)
        printf("ranks        %d, at most %lld points each\n", n_rank, (long long)share);
    else
        printf("ranks        %d, each takes the next points when it has room: at first a tile, "
               "towards the end down to %lld point%s\n",
               n_rank, (long long)fewest, fewest == 1 ? "" : "s");
}

/* @param[out] ranks, rank_points  that are planned; points of the rank with most */
static gm_status print_tiling(const gm_comm *comm, const gm_options *options,
                              const gm_request *request, const gm_rank_device *device, int *ranks,
                              int64_t *rank_points)
{
    gm_status st = GM_OK;
    char bytes[32];
    bool is_compiled = false;
    gm_engine_kind kind;
    gm_tiling tiling = {0, 0};
    int64_t fixed = 0, per_point = 0, per_sample = 0;
    const int n_rank = options->n_rank > 0 ? options->n_rank : comm->n_rank;
    const gm_tiling wish = {options->tile_points, options->chunk_steps};
    const gm_sweep *sweep = request->sweep;
    const int64_t least = device->backend->least_points(device->device, sweep);
    const int64_t n = gm_queue_wish(options->schedule, sweep->n_point, n_rank, least);
    *ranks = n_rank;
    *rank_points = gm_queue_wish(GM_SCHEDULE_STATIC, sweep->n_point, n_rank, least);
    GM_TRY(st, gm_tiling_choose(device->backend, device->device, sweep, request->data, n,
                                gm_rank_device_bytes(comm, device), wish, &tiling));
    GM_TRY(st, gm_code_is_expected(options, request, device, &is_compiled));
    device->backend->engine_kind(device->device, sweep, request->data, is_compiled, &kind);
    device->backend->footprint(sweep, request->data, &fixed, &per_point, &per_sample);
    const int64_t n_sample = gm_most_samples(sweep, tiling.chunk_steps);
    print_ranks(options->schedule, sweep->n_point, n_rank, least, tiling.tile_points);
    printf("device       %s, %s, %d %s\n", device->info.name, device->info.architecture,
           device->info.n_worker,
           device->backend == &gm_backend_cuda ? "multiprocessors" : "threads per rank");
    printf("engine       %s: %s\n", kind.name, kind.reason);
    printf("tile         %lld points, chunk %lld steps, %s of device memory\n",
           (long long)tiling.tile_points, (long long)tiling.chunk_steps,
           gm_text_bytes(fixed + tiling.tile_points * (per_point + n_sample * per_sample), bytes));
    printf("checkpoint   %s for a tile, twice, beside the file until all is done\n",
           gm_text_bytes(tiling.tile_points * gm_checkpoint_bytes(request), bytes));
cleanup:
    return st;
}

gm_status gm_command_plan(const gm_comm *comm, const gm_options *options)
{
    gm_status st = GM_OK;
    gm_request request;
    gm_rank_device device = {0};
    int n_rank = 0;
    int64_t rank_points = 0;
    gm_options lenient = *options;
    lenient.share_gpu = lenient.allow_mixed = true; /* a plan runs anywhere */
    GM_TRY(st, gm_request_read(comm, options, &request));
    GM_TRY(st, gm_rank_device_open(comm, &lenient, &device));
    if (comm->rank == 0) {
        print_sweep(&request);
        st = print_tiling(comm, options, &request, &device, &n_rank, &rank_points);
        print_file(&request);
        if (st == GM_OK) st = gm_forecast_print(&request, options, n_rank, rank_points);
        gm_report_angles(stderr, request.sweep);
        if (st == GM_OK) st = print_output_state(&request, options);
        fflush(stdout); /* the plan comes before the message on why a run would be refused */
    }
    GM_TRY(st, gm_comm_agree(comm, st));
cleanup:
    gm_rank_device_close(&device);
    gm_request_clear(&request);
    return st;
}

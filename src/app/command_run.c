/* gridmarch run: request -> device -> file and engine -> march -> summary. Each stage ends with all
 * ranks agreeing that all are well, so no rank waits for one that has given up. */
#include "app/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/code.h"
#include "app/crash.h"
#include "app/device.h"
#include "app/march.h"
#include "app/output.h"
#include "app/queue.h"
#include "app/report.h"
#include "app/request.h"
#include "core/alive.h"
#include "core/clock.h"
#include "core/stop.h"
#include "io/checkpoint_file.h"
#include "io/file_system.h"
#include "io/lock.h"
#include "io/selfcheck.h"

enum { KERNEL_SIZE = 256 };

typedef struct run {
    const gm_comm *comm;
    const gm_options *options;
    gm_request request;
    gm_rank_device device;
    gm_tiling tiling;
    int64_t least; /* points below which a tile takes no less time */
    gm_code code;
    gm_engine *engine;
    gm_output output;
    gm_checkpoint *checkpoint;
    gm_checkpoint_found found; /* points that were saved midway */
    gm_queue *queue;
    gm_watch *watch;
    gm_meter *meter;
    char kernel[KERNEL_SIZE];
    double begin, marching; /* s, when the program and the march began */
    double lap_begin;       /* s, when the phase now timed began */
    double wait;            /* s, that this rank spends on waiting for slower ones */
    gm_stop_rule stop;      /* rank 0 looks at time and file for all */
    char *stop_file;        /* owned */
    gm_lock *lock;          /* rank 0's, for all */
    gm_tally tally;
    int64_t *rank_point; /* owned [n_rank], rank 0's */
    gm_summary summary;
} run;

/* Seconds since the last call. */
static double lap(run *r)
{
    const double now = gm_clock_seconds();
    const double seconds = now - r->lap_begin;
    r->lap_begin = now;
    return seconds;
}

static bool speaks(const run *r)
{
    return r->comm->rank == 0 && !r->options->quiet;
}

static gm_status fail_all_diverged(const run *r)
{
    return GM_FAIL(GM_E_POINTS,
                   "every point diverged: see failed_step in %s; a smaller dt may help",
                   r->request.path);
}

/* n_done: points that did not diverge. */
static gm_status say_complete(const run *r, int64_t n_done)
{
    if (n_done == 0) return fail_all_diverged(r);
    if (speaks(r))
        fprintf(stderr,
                "gridmarch: %s holds every point of this sweep already; nothing to do "
                "(--overwrite computes it again)\n",
                r->request.path);
    return GM_OK;
}

/* Refuse what is wrong with the output path before a GPU is touched; notice a complete file. */
static gm_status look_at_output(run *r, bool *complete)
{
    gm_status st = GM_OK;
    int state = GM_OUTPUT_NEW;
    bool litter = false;
    if (r->comm->rank == 0) {
        gm_store_header *header = NULL;
        gm_output_state found = GM_OUTPUT_NEW;
        st = gm_output_examine(&r->request, r->options, &found, &header);
        if (st == GM_OK && found == GM_OUTPUT_COMPLETE)
            st = gm_checkpoint_file_look(r->request.path, &litter);
        if (litter) {
            found = GM_OUTPUT_RESUME; /* who holds the lock may remove it */
        } else if (st == GM_OK && found == GM_OUTPUT_COMPLETE) {
            gm_lock_tidy(r->request.path);
            st = say_complete(r, gm_output_count(header, GM_POINT_DONE));
        }
        gm_store_header_destroy(&header);
        state = (int)found;
    }
    GM_TRY(st, gm_comm_agree(r->comm, st));
    GM_TRY(st, gm_comm_send(r->comm, &state, sizeof state));
    *complete = state == GM_OUTPUT_COMPLETE;
cleanup:
    return st;
}

/* From here on no other run writes the result. */
static gm_status lock_output(run *r)
{
    gm_status st = GM_OK;
    char note[GM_LOCK_NOTE_SIZE] = "";
    if (r->comm->rank == 0) {
        st = gm_lock_take(r->request.path, r->options->take_over, note, &r->lock);
        if (speaks(r) && st == GM_OK && note[0]) fprintf(stderr, "gridmarch: %s\n", note);
    }
    return gm_comm_agree(r->comm, st);
}

/* Before anything long is begun. */
static gm_status try_folder(run *r)
{
    const bool several_hosts = gm_comm_spans_hosts(r->comm);
    const int64_t magic = gm_file_system_of(r->request.path);
    const char *concern = gm_file_system_concern(magic, several_hosts);
    if (speaks(r) && several_hosts && concern[0])
        fprintf(stderr, "gridmarch: note: %s is on %s: %s\n", r->request.path,
                gm_file_system_name(magic), concern);
    return gm_selfcheck_run(r->comm->world, r->request.path);
}

/* A new file is filled while the engine is made. */
static gm_status open_device(run *r)
{
    gm_status st = GM_OK;
    const gm_comm *comm = r->comm;
    GM_TRY(st, gm_rank_device_open(comm, r->options, &r->device));
    if (speaks(r)) {
        if (r->device.why_cpu[0])
            fprintf(stderr, "gridmarch: running on the CPU: %s\n", r->device.why_cpu);
        gm_report_bindings(stderr, r->device.table, comm->n_rank);
    }
    const gm_backend *backend = r->device.backend;
    char note[256];
    r->summary.device = lap(r);
    gm_alive_mark("compiling the kernel");
    GM_TRY(st, gm_run_code(comm, r->options, &r->request, &r->device, &r->code, note));
    r->summary.compile = lap(r);
    if (speaks(r) && note[0]) fprintf(stderr, "gridmarch: %s\n", note);
    r->least = backend->least_points(r->device.device, r->request.sweep);
    const int64_t n =
        gm_queue_wish(r->options->schedule, r->request.layout->n_point, comm->n_rank, r->least);
    const gm_tiling wish = {r->options->tile_points, r->options->chunk_steps};
    st = backend->kernel(r->device.device, r->request.sweep, r->kernel, sizeof r->kernel);
    if (st == GM_OK && r->code.data) snprintf(r->kernel, sizeof r->kernel, "%s", r->code.identity);
    if (st == GM_OK)
        st = gm_tiling_choose(backend, r->device.device, r->request.sweep, r->request.data, n,
                              gm_rank_device_bytes(comm, &r->device), wish, &r->tiling);
    GM_TRY(st, gm_comm_agree(comm, st));
    r->summary.device += lap(r);
    GM_TRY(st, gm_output_begin(comm, &r->request, r->options, r->kernel, &r->output));
    r->summary.create = lap(r);
    gm_alive_mark("preparing the engine");
    st = gm_rank_device_engine(&r->device, &r->request, r->code.data ? &r->code : NULL, &r->tiling,
                               &r->engine);
    GM_TRY(st, gm_comm_agree(comm, st));
    r->summary.device += lap(r);
cleanup:
    return st;
}

static gm_status open_output(run *r)
{
    gm_status st = GM_OK;
    char *text = gm_report_run_text(r->device.table, r->comm->n_rank, r->kernel, -1, NULL);
    if (!text) st = GM_FAIL(GM_E_MEMORY, "out of memory");
    GM_TRY(st, gm_comm_agree(r->comm, st));
    GM_TRY(st, gm_output_open(r->comm, &r->request, r->options, text, &r->output));
    r->summary.create += lap(r);
    if (speaks(r) && r->output.state == GM_OUTPUT_RESUME)
        fprintf(stderr, "gridmarch: resuming %s: %lld of %lld points are missing\n",
                r->request.path, (long long)r->output.missing.n_point,
                (long long)r->request.layout->n_point);
cleanup:
    free(text);
    return st;
}

/* Points that were saved midway. */
static gm_status open_checkpoint(run *r)
{
    const gm_checkpoint_plan plan = {
        .comm = r->comm,
        .request = &r->request,
        .options = r->options,
        .kernel = r->kernel,
        .backend = r->device.backend,
        .engine = r->engine,
        .tile_points = r->tiling.tile_points,
        .output = &r->output,
    };
    const gm_checkpoint_found *found = &r->found;
    const gm_status st = gm_checkpoint_open(&plan, &r->found, &r->checkpoint);
    if (!speaks(r) || st != GM_OK) return st;
    if (found->n_point > 0)
        fprintf(stderr, "gridmarch: %lld of them go on from where they were saved, step %lld%s\n",
                (long long)found->n_point, (long long)found->least,
                found->most > found->least ? " or later" : "");
    if (found->n_bad > 0)
        fprintf(stderr,
                "gridmarch: %lld of them begin again: what was saved of them is damaged, of "
                "another kernel, or does not fit the trajectories in the file\n",
                (long long)found->n_bad);
    return st;
}

static gm_status open_march(run *r)
{
    gm_status st = GM_OK;
    const int64_t n_missing = r->output.missing.n_point;
    GM_TRY(st, gm_watch_create(r->comm, &r->watch));
    GM_TRY(st, gm_queue_create(r->comm, &r->output.missing, r->options->schedule,
                               r->tiling.tile_points, r->least, r->checkpoint, &r->queue));
    if (speaks(r))
        st = gm_meter_create(r->watch, n_missing,
                             (double)n_missing * (double)r->request.sweep->n_step -
                                 r->found.point_steps,
                             r->comm->n_rank, &r->meter);
    GM_TRY(st, gm_comm_agree(r->comm, st));
cleanup:
    return st;
}

/* At once, so that it is known while the others go on. */
static void say_retired(const run *r)
{
    char text[sizeof r->tally.why + 256];
    snprintf(text, sizeof text,
             "rank %d on %s has lost its device and leaves its points to the other ranks: %s",
             r->comm->rank, r->comm->host, r->tally.why);
    gm_print_error(text);
}

static gm_status march(run *r)
{
    gm_status st = GM_OK;
    bool ended = false;
    GM_TRY(st, open_march(r));
    r->marching = gm_clock_seconds();
    const gm_march_plan plan = {
        .request = &r->request,
        .backend = r->device.backend,
        .engine = r->engine,
        .tiling = r->tiling,
        .output = &r->output,
        .queue = r->queue,
        .checkpoint = r->checkpoint,
        .watch = r->watch,
        .progress = r->meter ? gm_meter_show : NULL,
        .context = r->meter,
        .stop = &r->stop,
        .n_thread = r->device.n_spare,
    };
    st = gm_march_run(&plan, &r->tally);
    if (r->tally.retired) say_retired(r);
    const double begin = gm_clock_seconds();
    while (st == GM_OK && !ended) st = gm_march_listen(&plan, &r->tally.progress, &ended);
    r->wait = r->tally.wait + gm_clock_seconds() - begin;
    gm_meter_destroy(&r->meter);
    if (st != GM_OK) gm_watch_fail(r->watch, st, gm_print_error);
cleanup:
    return st;
}

/* How many points each rank has computed, and how many ranks lost their device. */
static gm_status count_by_rank(run *r)
{
    gm_status st = GM_OK;
    const int64_t mine = r->tally.done + r->tally.diverged;
    int n_retired = r->tally.retired;
    if (r->comm->rank == 0) {
        r->rank_point = calloc((size_t)r->comm->n_rank, sizeof *r->rank_point);
        if (!r->rank_point) st = GM_FAIL(GM_E_MEMORY, "out of memory");
    }
    GM_TRY(st, gm_comm_agree(r->comm, st));
    GM_TRY(st, GM_MPI("adding up", MPI_Gather(&mine, 1, MPI_INT64_T, r->rank_point, 1, MPI_INT64_T,
                                              0, r->comm->world)));
    GM_TRY(st, GM_MPI("adding up", MPI_Allreduce(MPI_IN_PLACE, &n_retired, 1, MPI_INT, MPI_SUM,
                                                 r->comm->world)));
    r->summary.rank_point = r->rank_point;
    r->summary.n_retired = n_retired;
    r->summary.schedule = gm_queue_is_shared(r->queue) ? GM_SCHEDULE_DYNAMIC : GM_SCHEDULE_STATIC;
cleanup:
    return st;
}

/* Sums over the ranks; everyone has finished. */
static gm_status sum_up(run *r)
{
    gm_status st = GM_OK;
    gm_summary *s = &r->summary;
    const gm_progress *p = &r->tally.progress;
    int64_t count[4] = {r->tally.done, r->tally.diverged, p->point_steps,
                        gm_checkpoint_gain(r->checkpoint)};
    double seconds[5] = {p->march, p->up, p->down, p->disk, r->wait};
    int stop = (int)gm_watch_stopping(r->watch);
    s->wall = gm_clock_seconds() - r->marching;
    GM_TRY(st, GM_MPI("adding up",
                      MPI_Allreduce(MPI_IN_PLACE, count, 4, MPI_INT64_T, MPI_SUM, r->comm->world)));
    GM_TRY(st, GM_MPI("adding up", MPI_Allreduce(MPI_IN_PLACE, seconds, 5, MPI_DOUBLE, MPI_SUM,
                                                 r->comm->world)));
    GM_TRY(st, GM_MPI("adding up", MPI_Allreduce(MPI_IN_PLACE, &s->wall, 1, MPI_DOUBLE, MPI_MAX,
                                                 r->comm->world)));
    GM_TRY(st, GM_MPI("adding up",
                      MPI_Allreduce(MPI_IN_PLACE, &stop, 1, MPI_INT, MPI_MAX, r->comm->world)));
    s->path = r->request.path;
    s->backend = r->device.backend->name;
    s->kernel = r->kernel;
    s->model = r->request.sweep->model->name;
    s->precision = gm_precision_name(r->request.sweep->precision);
    s->n_rank = r->comm->n_rank;
    s->n_point = r->request.layout->n_point;
    s->n_before = s->n_point - r->output.missing.n_point;
    s->done = count[0];
    s->diverged = count[1];
    s->point_steps = count[2];
    s->n_midway = r->found.n_point + count[3];
    s->n_step = r->request.sweep->n_step;
    s->n_node = r->request.data->n_node;
    s->march = seconds[0] / r->comm->n_rank;
    s->up = seconds[1] / r->comm->n_rank;
    s->down = seconds[2] / r->comm->n_rank;
    s->disk = seconds[3] / r->comm->n_rank;
    s->wait = seconds[4] / r->comm->n_rank;
    s->start_up = r->marching - r->begin;
    s->bytes = r->request.layout->n_byte;
    s->tiling = r->tiling;
    if (count[0] + count[1] < r->output.missing.n_point) s->stopped_by = (gm_stop)stop;
cleanup:
    return st;
}

static gm_status fail_stopped(const run *r)
{
    const gm_summary *s = &r->summary;
    char midway[64] = "";
    if (s->n_midway > 0)
        snprintf(midway, sizeof midway, ", %lld %s saved midway", (long long)s->n_midway,
                 s->n_midway == 1 ? "is" : "are");
    return GM_FAIL(
        GM_E_STOPPED,
        "stopped by %s: %lld of %lld points are done and saved in %s%s; the same command "
        "again computes the others",
        gm_stop_text(s->stopped_by), (long long)(s->n_before + s->done + s->diverged),
        (long long)s->n_point, r->request.path, midway);
}

static gm_status finish(run *r)
{
    gm_status st = GM_OK;
    GM_TRY(st, sum_up(r));
    GM_TRY(st, count_by_rank(r));
    const int64_t n_done = r->summary.n_before + r->summary.done + r->summary.diverged;
    lap(r);
    if (r->comm->rank == 0) {
        char *text = gm_report_run_text(r->device.table, r->comm->n_rank, r->kernel,
                                        r->summary.wall, &r->summary);
        if (!text) st = GM_FAIL(GM_E_MEMORY, "out of memory");
        if (st == GM_OK) st = gm_store_write_run(r->output.store, r->output.run, text);
        free(text);
        if (st == GM_OK) st = gm_store_sync(r->output.store);
    }
    GM_TRY(st, gm_comm_agree(r->comm, st));
    if (r->comm->rank == 0 && n_done == r->summary.n_point)
        gm_checkpoint_file_remove(r->request.path);
    GM_TRY(st, gm_output_close(&r->output));
    r->summary.finish = lap(r);
    if (speaks(r)) gm_report_summary(stderr, &r->summary);
    if (r->comm->rank == 0 && r->options->json)
        gm_report_json(stdout, &r->summary, r->device.table);
    if (r->summary.stopped_by)
        st = fail_stopped(r);
    else if (n_done < r->summary.n_point)
        st = GM_FAIL(GM_E_DEVICE,
                     "every rank has lost its device: %lld of %lld points are done and saved in "
                     "%s; the same command again computes the others",
                     (long long)n_done, (long long)r->summary.n_point, r->request.path);
    else if (r->summary.done == 0 && r->output.n_done == 0)
        st = fail_all_diverged(r);
cleanup:
    return st;
}

/* A file beside the result ends the run: for those who cannot signal its processes. One left from
 * before is no wish of today. */
static gm_status set_stop_rule(run *r)
{
    gm_status st = GM_OK;
    gm_stop_listen();
    if (r->comm->rank == 0) {
        if (r->options->max_seconds > 0) r->stop.at = r->begin + r->options->max_seconds;
        if (r->request.path && asprintf(&r->stop_file, "%s.stop", r->request.path) < 0) {
            r->stop_file = NULL;
            st = GM_FAIL(GM_E_MEMORY, "out of memory");
        }
        r->stop.file = r->stop_file;
        if (r->stop_file && unlink(r->stop_file) == 0 && !r->options->quiet)
            fprintf(stderr, "gridmarch: removed %s, which was there before this run\n",
                    r->stop_file);
        if (r->stop_file && access(r->stop_file, F_OK) == 0)
            st = GM_FAIL(GM_E_IO,
                         "%s is there and could not be removed: it would end this run at once. "
                         "Remove it",
                         r->stop_file);
    }
    return gm_comm_agree(r->comm, st);
}

gm_status gm_command_run(const gm_comm *comm, const gm_options *options)
{
    gm_status st = GM_OK;
    bool complete = false;
    run r = {.comm = comm, .options = options, .begin = gm_clock_seconds()};
    r.lap_begin = r.begin;
    if (speaks(&r) && !comm->threads && comm->n_rank > 1)
        fprintf(stderr, "gridmarch: note: this MPI lets no second thread send: only a rank that "
                        "can still speak for itself is noticed when it hangs\n");
    gm_alive_mark("reading the sweep");
    GM_TRY(st, gm_request_read(comm, options, &r.request));
    gm_alive_mark("looking at the result file");
    gm_crash_listen(comm->rank, r.request.sweep->model->name);
    GM_TRY(st, set_stop_rule(&r));
    GM_TRY(st, look_at_output(&r, &complete));
    if (complete) goto cleanup;
    if (speaks(&r)) gm_report_angles(stderr, r.request.sweep);
    GM_TRY(st, lock_output(&r));
    gm_alive_mark("trying the folder of the result file");
    GM_TRY(st, try_folder(&r));
    r.summary.read = lap(&r);
    gm_alive_mark("opening the device");
    GM_TRY(st, open_device(&r));
    gm_alive_mark("opening the result file");
    GM_TRY(st, open_output(&r));
    if (r.output.state == GM_OUTPUT_COMPLETE) {
        if (comm->rank == 0) gm_checkpoint_file_remove(r.request.path);
        st = say_complete(&r, r.output.n_done);
        goto cleanup;
    }
    GM_TRY(st, open_checkpoint(&r));
    gm_alive_mark("marching");
    GM_TRY(st, march(&r));
    gm_alive_mark("saving the summary");
    GM_TRY(st, finish(&r));
cleanup:
    gm_alive_mark("closing the device and the result file");
    gm_queue_destroy(&r.queue);
    gm_checkpoint_close(&r.checkpoint);
    gm_output_close(&r.output);
    gm_watch_destroy(&r.watch);
    gm_lock_release(&r.lock);
    if (r.engine) r.device.backend->engine_destroy(&r.engine);
    gm_code_clear(&r.code);
    free(r.stop_file);
    free(r.rank_point);
    gm_rank_device_close(&r.device);
    gm_request_clear(&r.request);
    return st;
}

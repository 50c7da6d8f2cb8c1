/* Later chunks are handed to the engine before the results of chunk k are written, across tiles
 * too: so the device, both copy directions and the file system work at the same time. */
#include "app/march.h"

#include <stdlib.h>
#include <string.h>

#include "app/pace.h"
#include "app/sums.h"
#include "core/clock.h"
#include "core/fault.h"

static const double mark_after_seconds = 1.0; /* how much work a killed run may lose */

/* A chunk of a tile: `begin` counts in the rank's list of points. */
typedef struct item {
    int64_t begin, n_point, step_begin, n_step;
    bool first, last;
    const void *state; /* first of a tile that was saved midway: its records */
    int64_t state_stride;
} item;

typedef struct run {
    const gm_march_plan *plan;
    const gm_sweep *sweep;
    const gm_layout *layout;
    double *input;              /* [chunk + 1][n_input][n_node] */
    uint8_t *status;            /* [n_mine] what the ledger will say */
    int64_t *failed, *checksum; /* [n_mine] */
    gm_sums *sums;
    int64_t n_written, n_marked; /* of the rank's list, from its start */
    double marked_at;
    gm_pace pace;
    gm_tally *tally;
} run;

/* How many points from `begin` on march together: all go on from the same step. */
static int64_t tile_from(const run *r, int64_t begin, int64_t step)
{
    const gm_output *output = r->plan->output;
    int64_t n = 1;
    while (n < r->plan->tiling.tile_points && begin + n < output->n_mine &&
           gm_checkpoint_step(r->plan->checkpoint, output->missing[begin + n]) == step)
        n++;
    return n;
}

/* The chunk after `it`; false after the last one. Start with n_step 0. */
static bool next_item(const run *r, item *it)
{
    it->step_begin += it->n_step;
    it->first = it->n_step == 0 || it->last;
    if (it->first) {
        it->begin += it->n_point;
        if (it->begin >= r->plan->output->n_mine) return false;
        it->step_begin =
            gm_checkpoint_step(r->plan->checkpoint, r->plan->output->missing[it->begin]);
        it->n_point = tile_from(r, it->begin, it->step_begin);
    }
    const int64_t left = r->sweep->n_step - it->step_begin;
    it->n_step = left < r->pace.n_step ? left : r->pace.n_step;
    it->last = it->n_step == left;
    return true;
}

static gm_status submit(run *r, const item *it, int slot)
{
    const bool varies = gm_data_input_varies(r->sweep, r->plan->request->data);
    if (varies || it->first)
        gm_data_input(r->sweep, r->plan->request->data, it->step_begin, varies ? it->n_step : 0,
                      r->input);
    const gm_work work = {
        .n_point = it->n_point,
        .point = r->plan->output->missing + it->begin,
        .step_begin = it->step_begin,
        .n_step = it->n_step,
        .input = r->input,
        .first = it->first,
        .last = it->last,
        .state = it->state,
        .state_stride = it->state_stride,
    };
    if (gm_fault(GM_FAULT_LAUNCH)) return GM_FAIL(GM_E_DEVICE, "the launch fails on purpose");
    return r->plan->backend->submit(r->plan->engine, slot, &work);
}

/* --- writing ------------------------------------------------------------------------------------
 */

/* Write [point of the tile][n_byte] rows, merging points that are neighbours in the file. */
static gm_status write_rows(run *r, const item *it, int variable, int64_t row_begin, int64_t n_byte,
                            const void *value)
{
    gm_status st = GM_OK;
    const int64_t *point = r->plan->output->missing + it->begin;
    for (int64_t p = 0, n = 0; p < it->n_point; p += n) {
        for (n = 1; p + n < it->n_point && point[p + n] == point[p] + n; n++) continue;
        GM_TRY(st, gm_store_write(r->plan->output->store, variable, point[p], n, row_begin, n_byte,
                                  (const char *)value + p * n_byte, n_byte));
    }
cleanup:
    return st;
}

static gm_status write_variables(run *r, const item *it, const gm_result *result)
{
    gm_status st = GM_OK;
    for (int i = 0; i < r->layout->n_variable; i++) {
        const gm_variable *v = &r->layout->variable[i];
        if (v->quantity < 0) continue;
        if (v->has_time) {
            const int64_t sample = v->row_bytes / r->layout->n_sample;
            if (result->n_sample > 0)
                GM_TRY(st, write_rows(r, it, i, result->sample_begin * sample,
                                      result->n_sample * sample, result->trajectory[v->quantity]));
        } else if (it->last) {
            GM_TRY(st, write_rows(r, it, i, 0, v->row_bytes,
                                  result->statistic[v->observable][v->quantity]));
        }
    }
cleanup:
    return st;
}

static void note_outcome(run *r, const item *it, const gm_result *result)
{
    for (int64_t p = 0; p < it->n_point; p++) {
        const bool diverged = result->failed_step[p] >= 0;
        r->status[it->begin + p] = diverged ? GM_POINT_DIVERGED : GM_POINT_DONE;
        r->failed[it->begin + p] = result->failed_step[p];
        r->tally->diverged += diverged;
        r->tally->done += !diverged;
    }
    r->n_written = it->begin + it->n_point;
}

/* Enter in the ledger what was written since the last time, after it is on the disk. */
static gm_status mark_written(run *r)
{
    gm_status st = GM_OK;
    gm_store *store = r->plan->output->store;
    const gm_layout *layout = r->layout;
    const int64_t begin = r->n_marked;
    const item it = {.begin = begin, .n_point = r->n_written - begin};
    uint8_t *computed_by = NULL;
    if (it.n_point == 0) return GM_OK;
    computed_by = malloc((size_t)it.n_point);
    if (!computed_by) return GM_FAIL(GM_E_MEMORY, "out of memory");
    memset(computed_by, r->plan->output->run, (size_t)it.n_point);
    GM_TRY(st, write_rows(r, &it, layout->failed_step, 0, 8, r->failed + begin));
    GM_TRY(st, write_rows(r, &it, layout->run, 0, 1, computed_by));
    GM_TRY(st, write_rows(r, &it, layout->checksum, 0, 8, r->checksum + begin));
    GM_TRY(st, gm_store_sync(store));
    if (gm_fault(GM_FAULT_MARK)) GM_TRY(st, GM_FAIL(GM_E_IO, "marking fails on purpose"));
    GM_TRY(st, write_rows(r, &it, layout->status, 0, 1, r->status + begin));
    GM_TRY(st,
           gm_checkpoint_forget(r->plan->checkpoint, r->plan->output->missing + begin, it.n_point));
    r->n_marked = r->n_written;
    r->marked_at = gm_clock_seconds();
cleanup:
    free(computed_by);
    return st;
}

static gm_status report(run *r)
{
    gm_engine_usage usage = {0};
    gm_progress *p = &r->tally->progress;
    int64_t n_byte = 0;
    r->plan->backend->usage(r->plan->engine, &usage);
    p->march = usage.march;
    p->up = usage.up;
    p->down = usage.down;
    gm_store_usage(r->plan->output->store, &n_byte, &p->disk);
    p->stopping = gm_stop_check(r->plan->stop);
    gm_status st = gm_watch_report(r->plan->watch, p);
    if (st == GM_OK && r->plan->progress) r->plan->progress(r->plan->context, p);
    return st;
}

static gm_status collect(run *r, const item *queue, int64_t slot)
{
    gm_status st = GM_OK;
    const item *it = &queue[slot];
    gm_result result;
    GM_TRY(st, r->plan->backend->collect(r->plan->engine, (int)slot, &result));
    gm_sums_add(r->sums, &result, it->n_point, it->step_begin == 0, it->last,
                r->checksum + it->begin);
    GM_TRY(st, write_variables(r, it, &result));
    r->tally->progress.point_steps += it->n_point * it->n_step;
    if (it->last) {
        note_outcome(r, it, &result);
        r->tally->progress.points += it->n_point;
        if (gm_clock_seconds() - r->marked_at > mark_after_seconds) GM_TRY(st, mark_written(r));
    }
    GM_TRY(st, report(r));
cleanup:
    return st;
}

/* --- the loop ------------------------------------------------------------------------------------
 */

static gm_status take_memory(run *r)
{
    const gm_sweep *sweep = r->sweep;
    const size_t n_row = gm_data_input_varies(sweep, r->plan->request->data)
                             ? (size_t)r->plan->tiling.chunk_steps + 1
                             : 1;
    const size_t n_input =
        n_row * (size_t)sweep->model->n_input * (size_t)r->plan->request->data->n_node;
    const size_t n_mine = (size_t)r->plan->output->n_mine;
    r->input = malloc((n_input + 1) * sizeof *r->input);
    r->status = malloc(n_mine + 1);
    r->failed = malloc((n_mine + 1) * sizeof *r->failed);
    r->checksum = malloc((n_mine + 1) * sizeof *r->checksum);
    if (!r->input || !r->status || !r->failed || !r->checksum)
        return GM_FAIL(GM_E_MEMORY, "out of memory");
    return gm_sums_create(r->layout, r->plan->tiling.tile_points, r->plan->n_thread, &r->sums);
}

static void give_memory(run *r)
{
    free(r->input);
    free(r->status);
    free(r->failed);
    free(r->checksum);
    gm_sums_destroy(&r->sums);
}

/* Chunks in hand are finished, no new ones begin. */
static bool is_stopped(const run *r)
{
    return r->tally->progress.stopping || gm_watch_stopping(r->plan->watch);
}

/* Take in the oldest chunk if all slots are full, hand over the next, learn from how long it took.
 */
static gm_status turn(run *r, const item *it, item *queue, int64_t *n_submitted,
                      int64_t *n_collected)
{
    gm_status st = GM_OK;
    const double begin = gm_clock_seconds();
    int64_t collected = 0;
    if (*n_submitted - *n_collected == GM_N_SLOT) {
        const int64_t slot = (*n_collected)++ % GM_N_SLOT;
        collected = queue[slot].n_step;
        GM_TRY(st, collect(r, queue, slot));
    }
    const double middle = gm_clock_seconds();
    queue[*n_submitted % GM_N_SLOT] = *it;
    GM_TRY(st, submit(r, it, (int)((*n_submitted)++ % GM_N_SLOT)));
    gm_pace_learn(&r->pace, it->n_step, gm_clock_seconds() - middle, collected, middle - begin);
cleanup:
    return st;
}

static gm_status drain(run *r, const item *queue, int64_t n_submitted, int64_t *n_collected)
{
    gm_status st = GM_OK;
    while (*n_collected < n_submitted) GM_TRY(st, collect(r, queue, (*n_collected)++ % GM_N_SLOT));
cleanup:
    return st;
}

/* Before a chunk is handed over: a tile may go on from where it was saved, or be saved. Both want
 * that nothing is on its way. */
static gm_status cross_border(run *r, item *it, const item *queue, int64_t n_submitted,
                              int64_t *n_collected)
{
    gm_status st = GM_OK;
    gm_checkpoint *checkpoint = r->plan->checkpoint;
    it->state = NULL;
    if (!it->first && !gm_checkpoint_due(checkpoint)) return GM_OK;
    if (!it->first) GM_TRY(st, gm_store_sync(r->plan->output->store)); /* while the device works */
    if (!it->first || it->step_begin > 0) GM_TRY(st, drain(r, queue, n_submitted, n_collected));
    if (it->first)
        st = gm_checkpoint_begin(checkpoint, r->plan->output->missing + it->begin, it->n_point,
                                 r->sums, &it->state, &it->state_stride);
    else
        st = gm_checkpoint_take(checkpoint, it->step_begin, r->sums);
cleanup:
    return st;
}

gm_status gm_march_run(const gm_march_plan *plan, gm_tally *tally)
{
    gm_status st = GM_OK;
    run r = {.plan = plan,
             .sweep = plan->request->sweep,
             .layout = plan->request->layout,
             .marked_at = gm_clock_seconds(),
             .pace = gm_pace_begin(plan->tiling.chunk_steps),
             .tally = tally};
    item it = {0}, queue[GM_N_SLOT]; /* chunk i of this rank lies in slot i % GM_N_SLOT */
    int64_t n_submitted = 0, n_collected = 0;
    memset(tally, 0, sizeof *tally);
    GM_TRY(st, take_memory(&r));
    GM_TRY(st, report(&r));
    while (!is_stopped(&r) && next_item(&r, &it)) {
        GM_TRY(st, cross_border(&r, &it, queue, n_submitted, &n_collected));
        GM_TRY(st, turn(&r, &it, queue, &n_submitted, &n_collected));
    }
    GM_TRY(st, drain(&r, queue, n_submitted, &n_collected));
    if (n_submitted > 0 && !it.last) /* stopped midway */
        GM_TRY(st, gm_checkpoint_take(plan->checkpoint, it.step_begin + it.n_step, r.sums));
    GM_TRY(st, mark_written(&r));
    tally->progress.finished = 1;
    GM_TRY(st, report(&r));
cleanup:
    give_memory(&r);
    return st;
}

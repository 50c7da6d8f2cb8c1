/* Later chunks are handed to the engine before the results of chunk k are written, across tiles
 * too: so the device, both copy directions and the file system work at the same time. */
#include "app/march.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/ledger.h"
#include "app/pace.h"
#include "app/rows.h"
#include "app/sums.h"
#include "core/clock.h"
#include "core/fault.h"

enum { NAP_MS = 2 };

/* A chunk of a tile. */
typedef struct item {
    gm_tile tile;
    int64_t step_begin, n_step;
    bool first, last;
    const void *state; /* first of a tile that was saved midway: its records */
    int64_t state_stride;
} item;

typedef struct run {
    const gm_march_plan *plan;
    const gm_sweep *sweep;
    const gm_layout *layout;
    double *input;     /* [chunk + 1][n_input][n_node] */
    int64_t *checksum; /* [tile_points] */
    gm_sums *sums;
    gm_ledger *ledger;
    item queue[GM_N_SLOT]; /* chunk i of this rank lies in slot i % GM_N_SLOT */
    int64_t n_submitted, n_collected;
    gm_pace pace;
    bool lost; /* the device */
    gm_tally *tally;
} run;

/* A chunk from step_begin on. */
static void cut_chunk(const run *r, item *it)
{
    const int64_t left = r->sweep->n_step - it->step_begin;
    it->n_step = left < r->pace.n_step ? left : r->pace.n_step;
    it->last = it->n_step == left;
}

/* The chunk after `it`: of its tile, or of the next tile. Then there may be none: no points, and
 * the same call again looks anew. */
static gm_status next_item(run *r, item *it)
{
    gm_status st = GM_OK;
    it->step_begin += it->n_step;
    it->first = it->last;
    if (it->first) {
        *it = (item){.first = true, .last = true};
        GM_TRY(st, gm_queue_take(r->plan->queue, &it->tile));
        if (it->tile.range.n == 0) goto cleanup;
        it->step_begin = it->tile.step;
    }
    cut_chunk(r, it);
cleanup:
    return st;
}

static gm_status submit(run *r, const item *it, int slot)
{
    const bool varies = gm_data_input_varies(r->sweep, r->plan->request->data);
    if (varies || it->first)
        gm_data_input(r->sweep, r->plan->request->data, it->step_begin, varies ? it->n_step : 0,
                      r->input);
    const gm_work work = {
        .n_point = it->tile.range.n,
        .point = it->tile.point,
        .step_begin = it->step_begin,
        .n_step = it->n_step,
        .input = r->input,
        .first = it->first,
        .last = it->last,
        .state = it->state,
        .state_stride = it->state_stride,
    };
    gm_status st = GM_OK;
    if (gm_fault(GM_FAULT_LAUNCH))
        st = GM_FAIL(GM_E_DEVICE, "the launch fails on purpose");
    else
        st = r->plan->backend->submit(r->plan->engine, slot, &work);
    r->lost = st == GM_E_DEVICE;
    return st;
}

/* --- writing ------------------------------------------------------------------------------------
 */

static gm_status write_variables(run *r, const item *it, const gm_result *result)
{
    gm_status st = GM_OK;
    gm_store *store = r->plan->output->store;
    const gm_tile *tile = &it->tile;
    for (int i = 0; i < r->layout->n_variable; i++) {
        const gm_variable *v = &r->layout->variable[i];
        if (v->quantity < 0) continue;
        if (v->has_time) {
            const int64_t sample = v->row_bytes / r->layout->n_sample;
            if (result->n_sample > 0)
                GM_TRY(st, gm_rows_write(store, i, tile->range.n, tile->point,
                                         result->sample_begin * sample, result->n_sample * sample,
                                         result->trajectory[v->quantity]));
        } else if (it->last) {
            GM_TRY(st, gm_rows_write(store, i, tile->range.n, tile->point, 0, v->row_bytes,
                                     result->statistic[v->observable][v->quantity]));
        }
    }
cleanup:
    return st;
}

/* The last chunk of a tile is written. */
static gm_status end_tile(run *r, const item *it, const gm_result *result)
{
    gm_status st = GM_OK;
    const int64_t n_point = it->tile.range.n;
    GM_TRY(st, gm_ledger_add(r->ledger, n_point, it->tile.point, result->failed_step, r->checksum));
    for (int64_t p = 0; p < n_point; p++) {
        const bool diverged = result->failed_step[p] >= 0;
        r->tally->diverged += diverged;
        r->tally->done += !diverged;
    }
    r->tally->progress.points += n_point;
    GM_TRY(st, gm_queue_settle(r->plan->queue));
    GM_TRY(st, gm_ledger_mark_now_and_then(r->ledger));
cleanup:
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

/* Take in the oldest chunk. */
static gm_status collect(run *r)
{
    gm_status st = GM_OK;
    const int slot = (int)(r->n_collected % GM_N_SLOT);
    const item *it = &r->queue[slot];
    gm_result result;
    st = r->plan->backend->collect(r->plan->engine, slot, &result);
    r->lost = st == GM_E_DEVICE;
    GM_TRY(st, st);
    r->n_collected++;
    gm_sums_add(r->sums, &result, it->tile.range.n, it->step_begin == 0, it->last, r->checksum);
    GM_TRY(st, write_variables(r, it, &result));
    r->tally->progress.point_steps += it->tile.range.n * it->n_step;
    if (it->last) GM_TRY(st, end_tile(r, it, &result));
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
    r->input = malloc((n_input + 1) * sizeof *r->input);
    r->checksum = malloc((size_t)r->plan->tiling.tile_points * sizeof *r->checksum);
    if (!r->input || !r->checksum) return GM_FAIL(GM_E_MEMORY, "out of memory");
    const gm_status st = gm_ledger_create(r->plan->output->store, r->layout, r->plan->output->run,
                                          r->plan->checkpoint, &r->ledger);
    if (st != GM_OK) return st;
    return gm_sums_create(r->layout, r->plan->tiling.tile_points, r->plan->n_thread, &r->sums);
}

static void give_memory(run *r)
{
    free(r->input);
    free(r->checksum);
    gm_ledger_destroy(&r->ledger);
    gm_sums_destroy(&r->sums);
}

/* Chunks in hand are finished, no new ones begin. */
static bool is_stopped(const run *r)
{
    return r->tally->progress.stopping || gm_watch_stopping(r->plan->watch);
}

static gm_status collect_until(run *r, int64_t n_left)
{
    gm_status st = GM_OK;
    while (r->n_submitted - r->n_collected > n_left) GM_TRY(st, collect(r));
cleanup:
    return st;
}

/* Before a chunk is handed over: a tile may go on from where it was saved, or be saved. Both want
 * that nothing is on its way. */
static gm_status cross_border(run *r, item *it)
{
    gm_status st = GM_OK;
    gm_checkpoint *checkpoint = r->plan->checkpoint;
    it->state = NULL;
    if (!it->first && !gm_checkpoint_due(checkpoint)) return GM_OK;
    if (!it->first) GM_TRY(st, gm_store_sync(r->plan->output->store)); /* while the device works */
    if (!it->first || it->step_begin > 0) GM_TRY(st, collect_until(r, 0));
    if (!it->first) return gm_checkpoint_take(checkpoint, it->step_begin, r->sums);
    GM_TRY(st, gm_checkpoint_begin(checkpoint, it->tile.point, it->tile.range.n, r->sums,
                                   &it->step_begin, &it->state, &it->state_stride));
    cut_chunk(r, it);
cleanup:
    return st;
}

/* Take in the oldest chunk if all slots are full, hand over the next, learn from how long it took.
 */
static gm_status turn(run *r, const item *it)
{
    gm_status st = GM_OK;
    const double begin = gm_clock_seconds();
    int64_t collected = 0;
    if (r->n_submitted - r->n_collected == GM_N_SLOT) {
        collected = r->queue[r->n_collected % GM_N_SLOT].n_step;
        GM_TRY(st, collect(r));
    }
    const double middle = gm_clock_seconds();
    const int slot = (int)(r->n_submitted++ % GM_N_SLOT);
    r->queue[slot] = *it;
    GM_TRY(st, submit(r, it, slot));
    gm_pace_learn(&r->pace, it->n_step, gm_clock_seconds() - middle, collected, middle - begin);
cleanup:
    return st;
}

gm_status gm_march_listen(const gm_march_plan *plan, gm_progress *mine, bool *ended)
{
    gm_status st = GM_OK;
    const struct timespec nap = {0, NAP_MS * 1000000L};
    const gm_stop stop = gm_stop_check(plan->stop);
    if (stop && !mine->stopping) {
        mine->stopping = stop;
        GM_TRY(st, gm_watch_report(plan->watch, mine));
    }
    GM_TRY(st, gm_watch_ended(plan->watch, mine, ended));
    if (plan->progress) plan->progress(plan->context, mine);
    if (!*ended) nanosleep(&nap, NULL);
cleanup:
    return st;
}

/* All tiles are taken; one may come back from a rank that gives up. */
static gm_status wait_for_more(run *r, bool *over)
{
    gm_status st = GM_OK;
    bool ended = false;
    GM_TRY(st, collect_until(r, 0));
    GM_TRY(st, gm_ledger_mark(r->ledger));
    GM_TRY(st, gm_queue_over(r->plan->queue, over));
    const double begin = gm_clock_seconds();
    if (!*over) GM_TRY(st, gm_march_listen(r->plan, &r->tally->progress, &ended));
    r->tally->wait += gm_clock_seconds() - begin;
cleanup:
    return st;
}

static gm_status march_tiles(run *r)
{
    gm_status st = GM_OK;
    const bool shared = gm_queue_is_shared(r->plan->queue);
    item it = {.last = true};
    for (bool over = false; !over && !is_stopped(r);) {
        /* a slow rank is not to sit on tiles that others could begin */
        if (shared && it.last) GM_TRY(st, collect_until(r, 1));
        GM_TRY(st, next_item(r, &it));
        if (it.tile.range.n == 0) {
            GM_TRY(st, wait_for_more(r, &over));
            continue;
        }
        GM_TRY(st, cross_border(r, &it));
        GM_TRY(st, turn(r, &it));
    }
    GM_TRY(st, collect_until(r, 0));
    if (!it.last) /* stopped midway */
        GM_TRY(st, gm_checkpoint_take(r->plan->checkpoint, it.step_begin + it.n_step, r->sums));
cleanup:
    return st;
}

/* The device is lost, the others are not: they take what it was given. What it has finished stays.
 */
static gm_status retire(run *r)
{
    gm_progress *p = &r->tally->progress;
    p->point_steps = p->points * r->sweep->n_step;
    r->tally->retired = true;
    snprintf(r->tally->why, sizeof r->tally->why, "%s", gm_status_message());
    return gm_queue_retire(r->plan->queue);
}

gm_status gm_march_run(const gm_march_plan *plan, gm_tally *tally)
{
    gm_status st = GM_OK;
    run r = {.plan = plan,
             .sweep = plan->request->sweep,
             .layout = plan->request->layout,
             .pace = gm_pace_begin(plan->tiling.chunk_steps),
             .tally = tally};
    memset(tally, 0, sizeof *tally);
    GM_TRY(st, take_memory(&r));
    GM_TRY(st, report(&r));
    st = march_tiles(&r);
    if (r.lost && gm_queue_is_shared(plan->queue)) st = retire(&r);
    GM_TRY(st, st);
    GM_TRY(st, gm_ledger_mark(r.ledger));
    tally->progress.finished = 1;
    GM_TRY(st, report(&r));
cleanup:
    give_memory(&r);
    return st;
}

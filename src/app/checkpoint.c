#include "app/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "io/checkpoint_file.h"

static const double usual_seconds = 300;
static const double least_share = 100; /* of the time from one to the next: a hundredth at most */

struct gm_checkpoint {
    gm_checkpoint_plan plan;
    gm_checkpoint_file *file;
    gm_checkpoint_entry *known; /* owned [n_known], by point: what was there at the start */
    int64_t n_known;
    gm_checkpoint_entry *tile; /* owned [tile_points]: where to write the points in hand */
    int64_t n_tile;
    char *state;              /* owned [tile_points][n_byte]; NULL until it is needed */
    int64_t n_engine, n_byte; /* of a record: the engine's part, all of it */
    double every;             /* s; 0: only when the run is stopped; below 0: as usual */
    double since, cost;       /* when the tile began or was saved; how long that took */
    bool saved;               /* the tile in hand was */
    bool broken;              /* there is no writing: no more are taken */
    int64_t n_finished;       /* of the known ones */
};

/* --- what is there -------------------------------------------------------------------------------
 */

static gm_status find(const gm_checkpoint_plan *plan, gm_checkpoint *c,
                      const gm_checkpoint_shape *shape)
{
    gm_status st = GM_OK;
    bool fits = true;
    const char *path = plan->request->path;
    if (plan->output->state == GM_OUTPUT_NEW) gm_checkpoint_file_remove(path);
    GM_TRY(st, gm_checkpoint_file_open(path, shape, &fits, &c->file));
    if (!fits) {
        fprintf(stderr,
                "gridmarch: the checkpoints beside %s are damaged or of another sweep: removed\n",
                path);
        gm_checkpoint_file_remove(path);
        GM_TRY(st, gm_checkpoint_file_open(path, shape, &fits, &c->file));
    }
    GM_TRY(st,
           gm_checkpoint_file_list(c->file, plan->output->header->status, &c->known, &c->n_known));
cleanup:
    return st;
}

/* Is the record good, and does it continue what the result file holds? */
static gm_status check(const gm_checkpoint *c, const gm_checkpoint_entry *entry, char *record,
                       bool *good)
{
    gm_status st = GM_OK;
    int64_t begin = 0, n_sample = 0;
    gm_chunk_samples(c->plan.request->sweep, 0, entry->step, &begin, &n_sample);
    GM_TRY(st, gm_checkpoint_file_read(c->file, entry, record, good));
    if (*good)
        GM_TRY(st, gm_sums_match(c->plan.request->layout, c->plan.output->store, entry->point,
                                 n_sample, record + c->n_engine, good));
cleanup:
    return st;
}

/* Each rank reads a share of the records. */
static gm_status check_share(const gm_checkpoint *c, uint8_t *good)
{
    gm_status st = GM_OK;
    int64_t begin = 0, n = 0;
    char *record = malloc((size_t)c->n_byte);
    if (!record) return GM_FAIL(GM_E_MEMORY, "out of memory");
    gm_share(c->n_known, c->plan.comm->rank, c->plan.comm->n_rank, &begin, &n);
    for (int64_t i = begin; i < begin + n; i++) {
        bool fine = false;
        if (i > begin && good[i - 1] && c->known[i - 1].point == c->known[i].point) continue;
        GM_TRY(st, check(c, &c->known[i], record, &fine));
        good[i] = fine;
    }
cleanup:
    free(record);
    return st;
}

/* Keep the newest good record of each point. */
static void keep_good(gm_checkpoint *c, const uint8_t *good, gm_checkpoint_found *found)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < c->n_known; i++) {
        const gm_checkpoint_entry entry = c->known[i];
        found->n_bad += i == 0 || entry.point != c->known[i - 1].point;
        if (!good[i] || (kept > 0 && c->known[kept - 1].point == entry.point)) continue;
        if (kept == 0 || entry.step < found->least) found->least = entry.step;
        if (entry.step > found->most) found->most = entry.step;
        found->point_steps += (double)entry.step;
        c->known[kept++] = entry;
    }
    c->n_known = found->n_point = kept;
    found->n_bad -= kept;
}

static gm_status agree_on_known(gm_checkpoint *c, gm_checkpoint_found *found)
{
    gm_status st = GM_OK;
    const gm_comm *comm = c->plan.comm;
    int64_t n_byte = c->n_known * (int64_t)sizeof *c->known;
    uint8_t *good = NULL;
    GM_TRY(st, gm_comm_send(comm, &c->n_known, sizeof c->n_known));
    if (c->n_known == 0) goto cleanup;
    GM_TRY(st, gm_comm_send_block(comm, (void **)&c->known, &n_byte));
    good = calloc((size_t)c->n_known, 1);
    if (!good) st = GM_FAIL(GM_E_MEMORY, "out of memory");
    if (good) st = check_share(c, good);
    GM_TRY(st, gm_comm_agree(comm, st));
    GM_TRY(st, GM_MPI("looking for checkpoints", MPI_Allreduce(MPI_IN_PLACE, good, (int)c->n_known,
                                                               MPI_UINT8_T, MPI_MAX, comm->world)));
    keep_good(c, good, found);
cleanup:
    free(good);
    return st;
}

static int64_t state_bytes(const gm_request *request)
{
    return gm_state_bytes(request->sweep, request->data) + gm_sums_bytes(request->layout);
}

int64_t gm_checkpoint_bytes(const gm_request *request)
{
    return GM_CHECKPOINT_LABEL_BYTES + state_bytes(request);
}

gm_status gm_checkpoint_open(const gm_checkpoint_plan *plan, gm_checkpoint_found *found,
                             gm_checkpoint **out)
{
    gm_status st = GM_OK;
    bool fits = true;
    const gm_request *request = plan->request;
    gm_checkpoint *c = calloc(1, sizeof *c);
    *out = NULL;
    memset(found, 0, sizeof *found);
    if (c) {
        c->plan = *plan;
        c->every = plan->options->checkpoint_seconds;
        c->n_engine = gm_state_bytes(request->sweep, request->data);
        c->n_byte = state_bytes(request);
        c->tile = calloc((size_t)plan->tile_points, sizeof *c->tile);
    }
    if (!c || !c->tile) st = GM_FAIL(GM_E_MEMORY, "out of memory");
    GM_TRY(st, gm_comm_agree(plan->comm, st));
    const gm_checkpoint_shape shape = {request->canonical, plan->kernel, request->layout->n_point,
                                       request->sweep->n_step, c->n_byte};
    if (plan->comm->rank == 0) st = find(plan, c, &shape);
    GM_TRY(st, gm_comm_agree(plan->comm, st));
    if (plan->comm->rank > 0) st = gm_checkpoint_file_open(request->path, &shape, &fits, &c->file);
    if (!fits)
        st = GM_FAIL(GM_E_IO, "the checkpoints beside %s differ from rank 0's", request->path);
    GM_TRY(st, gm_comm_agree(plan->comm, st));
    GM_TRY(st, agree_on_known(c, found));
    *out = c, c = NULL;
cleanup:
    gm_checkpoint_close(&c);
    return st;
}

void gm_checkpoint_close(gm_checkpoint **checkpoint)
{
    gm_checkpoint *c = *checkpoint;
    if (!c) return;
    gm_checkpoint_file_close(&c->file);
    free(c->known);
    free(c->tile);
    free(c->state);
    free(c);
    *checkpoint = NULL;
}

static int by_point(const void *a, const void *b)
{
    const gm_checkpoint_entry *x = a, *y = b;
    return x->point < y->point ? -1 : x->point > y->point;
}

static const gm_checkpoint_entry *lookup(const gm_checkpoint *c, int64_t point)
{
    const gm_checkpoint_entry key = {.point = point};
    if (c->n_known == 0) return NULL;
    return bsearch(&key, c->known, (size_t)c->n_known, sizeof key, by_point);
}

int64_t gm_checkpoint_step(const gm_checkpoint *checkpoint, int64_t point)
{
    const gm_checkpoint_entry *entry = lookup(checkpoint, point);
    return entry ? entry->step : 0;
}

/* --- a tile --------------------------------------------------------------------------------------
 */

static gm_status need_state(gm_checkpoint *c)
{
    if (!c->state) c->state = malloc((size_t)(c->plan.tile_points * c->n_byte));
    if (!c->state) return GM_FAIL(GM_E_MEMORY, "not enough memory for a checkpoint");
    memset(c->state, 0, (size_t)(c->n_tile * c->n_byte));
    return GM_OK;
}

/* @param[out] good  all records are as they were at the start; a rank that has lost its device
 *                   since may have saved the points further on in their place */
static gm_status load(gm_checkpoint *c, gm_sums *sums, bool *good)
{
    gm_status st = GM_OK;
    *good = true;
    GM_TRY(st, need_state(c));
    for (int64_t p = 0; p < c->n_tile && *good; p++) {
        const gm_checkpoint_entry *entry = lookup(c, c->tile[p].point);
        GM_TRY(st, gm_checkpoint_file_read(c->file, entry, c->state + p * c->n_byte, good));
    }
    if (*good) gm_sums_load(sums, c->n_tile, c->state + c->n_engine, c->n_byte);
cleanup:
    return st;
}

gm_status gm_checkpoint_begin(gm_checkpoint *c, const int64_t *point, int64_t n_point,
                              gm_sums *sums, int64_t *step, const void **state, int64_t *stride)
{
    gm_status st = GM_OK;
    bool good = false;
    c->n_tile = n_point;
    c->since = gm_clock_seconds();
    c->saved = false;
    *state = NULL;
    *stride = c->n_byte;
    for (int64_t p = 0; p < n_point; p++) {
        const gm_checkpoint_entry *entry = lookup(c, point[p]);
        c->tile[p] = (gm_checkpoint_entry){point[p], 0, entry ? 1 - entry->copy : 0};
    }
    *step = gm_checkpoint_step(c, point[0]);
    if (*step == 0) return GM_OK;
    GM_TRY(st, load(c, sums, &good));
    if (good)
        *state = c->state;
    else
        *step = 0;
cleanup:
    return st;
}

bool gm_checkpoint_due(const gm_checkpoint *c)
{
    if (c->broken || c->every == 0) return false;
    const double usual =
        c->cost * least_share > usual_seconds ? c->cost * least_share : usual_seconds;
    return gm_clock_seconds() - c->since >= (c->every > 0 ? c->every : usual);
}

static gm_status write_tile(gm_checkpoint *c)
{
    gm_status st = gm_checkpoint_file_write(c->file, c->tile, c->n_tile, c->state);
    for (int64_t p = 0; st == GM_OK && p < c->n_tile; p++) c->tile[p].copy = 1 - c->tile[p].copy;
    c->saved |= st == GM_OK;
    if (st != GM_E_IO) return st;
    fprintf(stderr,
            "gridmarch: warning: rank %d: %s: going on without checkpoints; a run that is stopped "
            "begins its unfinished points again\n",
            c->plan.comm->rank, gm_status_message());
    c->broken = true;
    return GM_OK;
}

gm_status gm_checkpoint_take(gm_checkpoint *c, int64_t step, const gm_sums *sums)
{
    gm_status st = GM_OK;
    const double begin = gm_clock_seconds();
    if (c->broken) return GM_OK;
    for (int64_t p = 0; p < c->n_tile; p++) c->tile[p].step = step;
    GM_TRY(st, gm_store_sync(c->plan.output->store));
    GM_TRY(st, need_state(c));
    GM_TRY(st, c->plan.backend->save(c->plan.engine, c->n_tile, c->state, c->n_byte));
    gm_sums_save(sums, c->n_tile, c->state + c->n_engine, c->n_byte);
    GM_TRY(st, write_tile(c));
    c->since = gm_clock_seconds();
    c->cost = c->since - begin;
cleanup:
    return st;
}

gm_status gm_checkpoint_forget(gm_checkpoint *c, const int64_t *point, int64_t n_point)
{
    for (int64_t p = 0; p < n_point; p++) {
        c->n_finished += lookup(c, point[p]) != NULL;
        c->saved &= c->n_tile > 0 && point[p] != c->tile[0].point;
    }
    return gm_checkpoint_file_erase(c->file, point, n_point);
}

int64_t gm_checkpoint_gain(const gm_checkpoint *c)
{
    int64_t n_new = 0;
    for (int64_t p = 0; c->saved && p < c->n_tile; p++) n_new += !lookup(c, c->tile[p].point);
    return n_new - c->n_finished;
}

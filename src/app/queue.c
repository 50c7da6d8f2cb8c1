#include "app/queue.h"

#include <stdlib.h>

enum { N_HELD = GM_N_SLOT + 1 }; /* tiles taken and not settled */

struct gm_queue {
    const gm_missing *missing;
    const gm_checkpoint *checkpoint;
    gm_handout *handout; /* owned; NULL: nothing is shared */
    int64_t tile_points, least;
    gm_range left;              /* taken and not cut into tiles yet */
    gm_range held[N_HELD];      /* tile i lies in i % N_HELD */
    int64_t n_taken, n_settled; /* tiles */
    int64_t *point;             /* owned [N_HELD][tile_points] */
};

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

int64_t gm_queue_least(int64_t n_point, int n_rank, int64_t least, int64_t tile_points)
{
    const int64_t even = (n_point + n_rank - 1) / n_rank; /* every rank is to get something */
    return clamp(clamp(least, 1, tile_points), 1, even > 0 ? even : 1);
}

int64_t gm_queue_wish(gm_schedule schedule, int64_t n_point, int n_rank, int64_t least)
{
    int64_t begin = 0, n = 0;
    gm_share(n_point, 0, n_rank, &begin, &n);
    if (schedule == GM_SCHEDULE_STATIC || n_rank == 1) return n;
    return gm_handout_size(n_point, n_rank, gm_queue_least(n_point, n_rank, least, n), n);
}

gm_status gm_queue_create(const gm_comm *comm, const gm_missing *missing, gm_schedule schedule,
                          int64_t tile_points, int64_t least, const gm_checkpoint *checkpoint,
                          gm_queue **out)
{
    gm_status st = GM_OK;
    const int64_t n_point = missing->n_point;
    gm_queue *q = calloc(1, sizeof *q);
    *out = NULL;
    if (q) {
        q->missing = missing;
        q->checkpoint = checkpoint;
        q->tile_points = tile_points;
        q->least = gm_queue_least(n_point, comm->n_rank, least, tile_points);
        q->point = malloc((size_t)(N_HELD * tile_points) * sizeof *q->point);
    }
    if (!q || !q->point) st = GM_FAIL(GM_E_MEMORY, "out of memory");
    GM_TRY(st, gm_comm_agree(comm, st));
    if (schedule == GM_SCHEDULE_DYNAMIC && comm->n_rank > 1)
        st = gm_handout_create(comm, n_point, N_HELD + 1, &q->handout);
    else
        gm_share(n_point, comm->rank, comm->n_rank, &q->left.begin, &q->left.n);
    if (st == GM_E_MPI)
        gm_status_extend(st, "--schedule dynamic needs one-sided operations of MPI, or an MPI for "
                             "several threads; --schedule static needs neither");
    GM_TRY(st, st);
    *out = q, q = NULL;
cleanup:
    gm_queue_destroy(&q);
    return st;
}

void gm_queue_destroy(gm_queue **queue)
{
    gm_queue *q = *queue;
    if (!q) return;
    gm_handout_destroy(&q->handout);
    free(q->point);
    free(q);
    *queue = NULL;
}

bool gm_queue_is_shared(const gm_queue *q)
{
    return q->handout != NULL;
}

/* How many of the points, from the first on, go on from the same step. */
static int64_t at_one_step(const gm_checkpoint *checkpoint, const int64_t *point, int64_t n_point)
{
    const int64_t step = gm_checkpoint_step(checkpoint, point[0]);
    int64_t n = 1;
    while (n < n_point && gm_checkpoint_step(checkpoint, point[n]) == step) n++;
    return n;
}

gm_status gm_queue_take(gm_queue *q, gm_tile *tile)
{
    gm_status st = GM_OK;
    *tile = (gm_tile){.point = NULL};
    if (q->left.n == 0 && q->handout)
        GM_TRY(st, gm_handout_take(q->handout, q->least, q->tile_points, &q->left));
    if (q->left.n == 0) goto cleanup;
    const int64_t slot = q->n_taken++ % N_HELD;
    int64_t *point = q->point + slot * q->tile_points;
    gm_range range = {q->left.begin, clamp(q->left.n, 1, q->tile_points)};
    gm_missing_points(q->missing, range.begin, range.n, point);
    range.n = at_one_step(q->checkpoint, point, range.n);
    q->left = (gm_range){range.begin + range.n, q->left.n - range.n};
    q->held[slot] = range;
    *tile = (gm_tile){range, point, gm_checkpoint_step(q->checkpoint, point[0])};
cleanup:
    return st;
}

gm_status gm_queue_settle(gm_queue *q)
{
    const gm_range *oldest = &q->held[q->n_settled++ % N_HELD];
    return q->handout ? gm_handout_settle(q->handout, oldest->n) : GM_OK;
}

gm_status gm_queue_retire(gm_queue *q)
{
    gm_range unfinished[N_HELD + 1];
    int n = 0;
    if (!q->handout) return GM_OK;
    for (; q->n_settled < q->n_taken; q->n_settled++)
        unfinished[n++] = q->held[q->n_settled % N_HELD];
    if (q->left.n > 0) unfinished[n++] = q->left;
    q->left.n = 0;
    return gm_handout_give_back(q->handout, unfinished, n);
}

gm_status gm_queue_over(gm_queue *q, bool *over)
{
    *over = true;
    return q->handout ? gm_handout_over(q->handout, over) : GM_OK;
}

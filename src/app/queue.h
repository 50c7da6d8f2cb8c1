/** Which points a rank marches next: its even share, cut into tiles, or pieces of a list common to
 *  all ranks (--schedule dynamic). */
#ifndef GM_APP_QUEUE_H
#define GM_APP_QUEUE_H

#include "app/checkpoint.h"
#include "app/missing.h"
#include "app/options.h"
#include "kernels/backend.h"
#include "mpi/handout.h"

/** Points that are marched together. */
typedef struct gm_tile {
    gm_range range;       /* in the list of missing points */
    const int64_t *point; /* [range.n] numbers in the sweep, rising; borrowed until it is settled */
    int64_t step;         /* that all of them have done already */
} gm_tile;

typedef struct gm_queue gm_queue;

/** Collective.
 *  @param missing      borrowed
 *  @param tile_points  at most, in a tile
 *  @param least        points below which a tile takes no less time
 *  @param checkpoint   borrowed: points of a tile go on from one step */
gm_status gm_queue_create(const gm_comm *comm, const gm_missing *missing, gm_schedule schedule,
                          int64_t tile_points, int64_t least, const gm_checkpoint *checkpoint,
                          gm_queue **out);
/** Collective. */
void gm_queue_destroy(gm_queue **queue);

/** Do the ranks share a list? Then a tile should be taken late, and there may be more of them after
 *  gm_queue_take found none. */
bool gm_queue_is_shared(const gm_queue *queue);

/** The next tile. A rank holds at most GM_N_SLOT + 1 that are not settled. Not collective, like all
 *  below.
 *  @param[out] tile  range.n is 0: there is none, as yet */
gm_status gm_queue_take(gm_queue *queue, gm_tile *tile);

/** The oldest tile is finished. */
gm_status gm_queue_settle(gm_queue *queue);

/** This rank takes no more: others may have the tiles that are not settled. */
gm_status gm_queue_retire(gm_queue *queue);

/** gm_queue_take found none: will it ever again? */
gm_status gm_queue_over(gm_queue *queue, bool *over);

/** Points that a rank could use a tile for: its share; if tiles are handed out, the first of them.
 *  @param n_point  of the sweep
 *  @param least    points below which a tile takes no less time */
int64_t gm_queue_wish(gm_schedule schedule, int64_t n_point, int n_rank, int64_t least);

/** Points of the smallest tile that is handed out, but for what is left at the end. */
int64_t gm_queue_least(int64_t n_point, int n_rank, int64_t least, int64_t tile_points);

#endif

/** Checkpoints of the points in hand: when they are taken, and where a run goes on from.
 *
 *  A record of a point is its state in the engine and the running checksums of its trajectory, in
 *  the file that io/checkpoint_file.h describes. A record counts only if the result file holds the
 *  samples that were written before it. So it does not matter what else happened to either file. */
#ifndef GM_APP_CHECKPOINT_H
#define GM_APP_CHECKPOINT_H

#include "app/output.h"
#include "app/sums.h"

typedef struct gm_checkpoint gm_checkpoint;

/** What marches, and where. Borrowed until the end of the checkpoint. */
typedef struct gm_checkpoint_plan {
    const gm_comm *comm;
    const gm_request *request;
    const gm_options *options;
    const char *kernel;
    const gm_backend *backend;
    gm_engine *engine;
    int64_t tile_points;
    gm_output *output;
} gm_checkpoint_plan;

/** What was there: points that go on, and those that cannot because no record of theirs is good. */
typedef struct gm_checkpoint_found {
    int64_t n_point, n_bad;
    int64_t least, most; /* steps that the former have done; 0 without one */
    double point_steps;  /* all their steps together */
} gm_checkpoint_found;

/** Bytes that a record of a point takes in the file. */
int64_t gm_checkpoint_bytes(const gm_request *request);

/** Collective: find out which pending points were saved midway. All ranks know of all. */
gm_status gm_checkpoint_open(const gm_checkpoint_plan *plan, gm_checkpoint_found *found,
                             gm_checkpoint **out);
void gm_checkpoint_close(gm_checkpoint **checkpoint);

/** Steps that a point has done already. */
int64_t gm_checkpoint_step(const gm_checkpoint *checkpoint, int64_t point);

/** A tile begins.
 *  @param point  [n_point] its points, n_point at most tile_points, all at one step
 *  @param[out] step   that it goes on from
 *  @param[out] state, stride  what gm_work needs if it goes on from a record, borrowed until the
 *                             next call of this or gm_checkpoint_take; NULL: it begins at step 0
 *  @return GM_OK; GM_E_IO; GM_E_MEMORY */
gm_status gm_checkpoint_begin(gm_checkpoint *checkpoint, const int64_t *point, int64_t n_point,
                              gm_sums *sums, int64_t *step, const void **state, int64_t *stride);

/** Has the tile in hand marched long enough since it began, or was saved? */
bool gm_checkpoint_due(const gm_checkpoint *checkpoint);

/** Save the tile in hand; all its chunks were collected and written.
 *  A checkpoint that cannot be written costs a warning, and there are no more of them.
 *  @param step  steps that it has done
 *  @return GM_OK; the fault of the device or the result file; GM_E_MEMORY */
gm_status gm_checkpoint_take(gm_checkpoint *checkpoint, int64_t step, const gm_sums *sums);

/** These points are in the ledger: their records are of no more use. */
gm_status gm_checkpoint_forget(gm_checkpoint *checkpoint, const int64_t *point, int64_t n_point);

/** Pending points that this rank has saved, and of those known at the start that it has finished:
 * the difference. */
int64_t gm_checkpoint_gain(const gm_checkpoint *checkpoint);

#endif

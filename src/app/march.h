/** The run loop: a rank's points through the engine, chunk by chunk, into the file. */
#ifndef GM_APP_MARCH_H
#define GM_APP_MARCH_H

#include "app/checkpoint.h"
#include "app/output.h"
#include "app/queue.h"
#include "app/request.h"
#include "kernels/backend.h"
#include "mpi/watch.h"

typedef struct gm_march_plan {
    const gm_request *request;
    const gm_backend *backend;
    gm_engine *engine;
    gm_tiling tiling;
    gm_output *output;
    gm_queue *queue;
    gm_checkpoint *checkpoint;
    gm_watch *watch;
    /** Called between chunks with this rank's progress; may be NULL. */
    void (*progress)(void *context, const gm_progress *mine);
    void *context;
    gm_stop_rule *stop;
    int n_thread; /* that may take checksums while the device marches */
} gm_march_plan;

/** What became of this rank's points. */
typedef struct gm_tally {
    int64_t done, diverged;
    bool retired;  /* its device failed, and the other ranks went on */
    char why[512]; /* retired: the cause */
    double wait;   /* s, without points while others may give some back */
    gm_progress progress;
} gm_tally;

/** March the queue's tiles, or end at the next chunk if this rank (by its rule or a signal) or
 *  another wants all to stop: then the tile in hand is saved midway. Not collective.
 *  A point is marked in the ledger only once its data are on the disk.
 *  @return GM_OK also when points diverged, and when the device failed but other ranks share the
 *          queue (tally->retired); else the fault of the device, the file, or another rank (on
 *          rank 0) */
gm_status gm_march_run(const gm_march_plan *plan, gm_tally *tally);

/** For a rank that has nothing to march: hear failures and signals, show progress, nap. To be
 * called again and again. Not collective.
 *  @param[out] ended  all ranks have finished */
gm_status gm_march_listen(const gm_march_plan *plan, gm_progress *mine, bool *ended);

#endif

/** Progress and failure during the march, when ranks do not wait for each other.
 *
 *  Every rank tells rank 0 how far it is, and why it must stop, in small messages that rank 0 reads
 *  between its own chunks; rank 0 tells all when to stop early and when all have finished. So there
 * is one progress line and, if several ranks fail at once (a full disk), one message. */
#ifndef GM_MPI_WATCH_H
#define GM_MPI_WATCH_H

#include "core/stop.h"
#include "mpi/comm.h"

/** How far a rank is. Seconds are of its engine and of writing. */
typedef struct gm_progress {
    int64_t points, point_steps;
    double march, up, down, disk;
    int64_t stopping; /* a gm_stop: why this rank wants all to end; 0: it does not */
    int64_t finished; /* 1: this rank has nothing left to do */
} gm_progress;

typedef struct gm_watch gm_watch;

gm_status gm_watch_create(const gm_comm *comm, gm_watch **out);
void gm_watch_destroy(gm_watch **watch);

/** Tell rank 0. On rank 0: take in what has arrived. Never waits. Not collective.
 *  @return GM_OK; on rank 0 a failing rank's status, with its message */
gm_status gm_watch_report(gm_watch *watch, const gm_progress *mine);

/** Why all ranks are to end at their next chunk; GM_STOP_NONE: they are not. One rank that reports
 * a reason is enough: rank 0 passes it on. Not collective. */
gm_stop gm_watch_stopping(const gm_watch *watch);

/** Take a look at whether all ranks have finished. To be called again and again, with a nap
 * between, by a rank that has: so nobody waits where a failure or a signal would not be heard. Not
 *  collective.
 *  @param mine  finished is 1
 *  @return as gm_watch_report */
gm_status gm_watch_ended(gm_watch *watch, const gm_progress *mine, bool *ended);

/** Rank 0: the sum over all ranks; *n_finished of them have finished. Not collective. */
void gm_watch_total(const gm_watch *watch, gm_progress *total, int *n_finished);

/** End the run on all ranks because of this thread's last message. Never returns.
 *  Ranks other than 0 leave it to rank 0 to print the one message; if rank 0 does not end the run
 * in time they do it themselves. Not collective.
 *  @param print  writes the message for the user */
_Noreturn void gm_watch_fail(gm_watch *watch, gm_status status, void (*print)(const char *message));

#endif

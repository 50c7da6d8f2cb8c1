/** Progress and failure during the march, when ranks do not wait for each other.
 *
 *  Every rank tells rank 0 how far it is, and why it must stop, in small messages that rank 0 reads
 *  between its own chunks. So there is one progress line and, if several ranks fail at once (a full
 *  disk), one message. */
#ifndef GM_MPI_WATCH_H
#define GM_MPI_WATCH_H

#include "mpi/comm.h"

/** How far a rank is. Seconds are of its engine and of writing. */
typedef struct gm_progress {
    int64_t points, point_steps;
    double march, up, down, disk;
    int64_t finished; /* 1: this rank has nothing left to do */
} gm_progress;

typedef struct gm_watch gm_watch;

gm_status gm_watch_create(const gm_comm *comm, gm_watch **out);
void gm_watch_destroy(gm_watch **watch);

/** Tell rank 0. On rank 0: take in what has arrived. Never waits. Not collective.
 *  @return GM_OK; on rank 0 a failing rank's status, with its message */
gm_status gm_watch_report(gm_watch *watch, const gm_progress *mine);

/** Rank 0: the sum over all ranks; *n_finished of them have finished. Not collective. */
void gm_watch_total(const gm_watch *watch, gm_progress *total, int *n_finished);

/** End the run on all ranks because of this thread's last message. Never returns.
 *  Ranks other than 0 leave it to rank 0 to print the one message; if rank 0 does not end the run
 * in time they do it themselves. Not collective.
 *  @param print  writes the message for the user */
_Noreturn void gm_watch_fail(gm_watch *watch, gm_status status, void (*print)(const char *message));

#endif

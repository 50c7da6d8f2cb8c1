/** Notices ranks that hang, and ends the run on all ranks with one message instead of leaving it to
 *  the walltime.
 *
 *  A thread of each rank sends signs of life: that of rank 0 to all, the others' to rank 0. A rank
 *  hangs if it is not heard of for `patience`, or if its main thread passes no mark (core/alive.h)
 *  for so long and does not wait for other ranks; the run hangs if all wait for each other. Time
 *  counts only while the rank that measures it runs itself: a job that is suspended as a whole goes
 *  on afterwards. Rank 0 speaks; if it is rank 0 that hangs, the lowest rank that does not.
 *
 *  Needs an MPI whose calls may come from several threads (gm_comm.threads); with any other each
 *  rank watches its own main thread alone. */
#ifndef GM_MPI_GUARD_H
#define GM_MPI_GUARD_H

#include "mpi/comm.h"

typedef struct gm_guard gm_guard;

typedef void gm_guard_print(const char *message);

/** Watch the main thread, before MPI is started. Not collective.
 *  @param rank        what the launcher says, to speak in turn
 *  @param patience_s  > 0; 0: no guard, *out is NULL, which the functions below take
 *  @param print       writes the message for the user; called by the guard's thread, which then
 *                     ends the process with the exit code of GM_E_HANG */
gm_status gm_guard_start(int rank, double patience_s, gm_guard_print *print, gm_guard **out);

/** Collective: watch all ranks from now on. */
gm_status gm_guard_join(gm_guard *guard, const gm_comm *comm);

/** Collective: back to watching the main thread alone. To be called before MPI is ended. */
void gm_guard_leave(gm_guard *guard);

/** End the watching. Not collective. */
void gm_guard_stop(gm_guard **guard);

#endif

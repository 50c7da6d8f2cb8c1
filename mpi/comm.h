/** The ranks of a run: start and end, agreement on errors, and sending the same to all.
 *
 *  Unless said otherwise a function here is collective over all ranks. */
#ifndef GM_MPI_COMM_H
#define GM_MPI_COMM_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

typedef struct gm_comm {
    MPI_Comm world;
    MPI_Comm local; /* the ranks of this host, in their order */
    int rank, n_rank;
    int local_rank, n_local; /* in local */
    char host[64];
    bool threads; /* several threads may call MPI */
} gm_comm;

/** GM_OK, or GM_E_MPI with what was tried and MPI's own words. Not collective. */
gm_status gm_mpi_check(int error, const char *what);

#define GM_MPI(what, call) gm_mpi_check((call), (what))

/** MPI_Init and the facts above. Errors of MPI return codes from here on instead of aborting. */
gm_status gm_comm_start(int *argc, char ***argv, gm_comm *comm);
void gm_comm_finish(gm_comm *comm);

/** Are there ranks on more than one host? Not collective. */
static inline bool gm_comm_spans_hosts(const gm_comm *comm)
{
    return comm->n_local < comm->n_rank;
}

/** What gm_comm_agree does when a rank fails. */
gm_status gm_comm_agree_all(const gm_comm *comm, gm_status mine);

/** Make a fault on one rank the same status on all: the lowest failing rank's status and message,
 *  which names rank and host when there are several ranks. GM_OK only if every rank passes GM_OK.
 */
static inline gm_status gm_comm_agree(const gm_comm *comm, gm_status mine)
{
    const gm_status all = gm_comm_agree_all(comm, mine);
    return mine != GM_OK && all == GM_OK ? mine : all; /* own fault stands, whatever MPI says */
}

/** Send n_byte bytes of rank 0 to all; any size. */
gm_status gm_comm_send(const gm_comm *comm, void *data, int64_t n_byte);

/** Send a block of rank 0 of a size only rank 0 knows: the others get it allocated (malloc, owned).
 *  A NULL block arrives as NULL. */
gm_status gm_comm_send_block(const gm_comm *comm, void **block, int64_t *n_byte);

/** The part of n_total things that a rank takes: contiguous, sizes differ by at most one, the
 * larger first. Ranks beyond n_total take nothing. Not collective. */
void gm_share(int64_t n_total, int rank, int n_rank, int64_t *begin, int64_t *n);

#endif

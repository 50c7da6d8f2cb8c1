/** Which device each rank uses, and what all of them are: one table, known to every rank. */
#ifndef GM_MPI_BINDING_H
#define GM_MPI_BINDING_H

#include "mpi/comm.h"
#include "mpi/device_match.h"

/** One rank's row of the table. */
typedef struct gm_binding {
    char host[64];
    char device[96];
    char uuid[48]; /* "" on a CPU */
    char architecture[24];
    int n_worker;
    int n_sharing; /* ranks on this same device, itself included (CPU: 1) */
} gm_binding;

/** Device index for a rank among those it sees: one of its own wherever the ranks of the host can
 *  each have one, whether they see all GPUs, the nearest ones, or one each.
 *  @param seen  n is 1 or more */
gm_status gm_binding_device(const gm_comm *comm, const gm_seen_devices *seen, int *index);

/** CPU threads for a rank when it may use n_processor processors: ranks of one host that may use
 *  the same ones share them out; ranks bound to their own keep them all. */
gm_status gm_binding_threads(const gm_comm *comm, int *n_thread);

/** Gather everybody's row and count who shares a device.
 *  @param[in,out] mine  n_sharing is filled in
 *  @param[out] table    [n_rank], owned by the caller (free); the same on all ranks */
gm_status gm_binding_gather(const gm_comm *comm, gm_binding *mine, gm_binding **table);

/** GM_E_MPI if several ranks share a GPU. Not collective; the same answer on all ranks. */
gm_status gm_binding_check_shared(const gm_comm *comm, const gm_binding *table);

/** GM_E_DEVICE if the ranks' devices differ in architecture: their numbers could differ too. */
gm_status gm_binding_check_mixed(const gm_comm *comm, const gm_binding *table);

#endif

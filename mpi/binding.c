#include "mpi/binding.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

gm_status gm_binding_device(const gm_comm *comm, const gm_seen_devices *seen, int *index)
{
    gm_status st = GM_OK;
    const size_t n = (size_t)comm->n_local;
    gm_seen_devices *all = malloc(n * sizeof *all);
    int *chosen = malloc(n * sizeof *chosen);
    if (!all || !chosen) st = GM_FAIL(GM_E_MEMORY, "out of memory");
    GM_TRY(st, gm_comm_agree(comm, st));
    GM_TRY(st, GM_MPI("telling the GPUs that each rank sees",
                      MPI_Allgather(seen, sizeof *seen, MPI_BYTE, all, sizeof *all, MPI_BYTE,
                                    comm->local)));
    GM_TRY(st, gm_device_match(comm->n_local, all, chosen));
    *index = chosen[comm->local_rank];
cleanup:
    free(chosen);
    free(all);
    return st;
}

gm_status gm_binding_threads(const gm_comm *comm, int *n_thread)
{
    gm_status st = GM_OK;
    cpu_set_t mine, first, all;
    int same = 0;
    CPU_ZERO(&mine);
    if (sched_getaffinity(0, sizeof mine, &mine) != 0) CPU_SET(0, &mine);
    first = mine;
    GM_TRY(st, GM_MPI("comparing processors",
                      MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, comm->local)));
    CPU_AND(&all, &mine, &first);
    same = CPU_EQUAL(&all, &mine) && CPU_EQUAL(&all, &first);
    GM_TRY(st, GM_MPI("comparing processors",
                      MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_LAND, comm->local)));
    int n = CPU_COUNT(&mine);
    if (same) {
        int64_t begin = 0, share = 0;
        gm_share(n, comm->local_rank, comm->n_local, &begin, &share);
        n = (int)share;
    }
    *n_thread = n > 0 ? n : 1;
cleanup:
    return st;
}

static bool same_device(const gm_binding *a, const gm_binding *b)
{
    return a->uuid[0] != '\0' && strcmp(a->uuid, b->uuid) == 0 && strcmp(a->host, b->host) == 0;
}

gm_status gm_binding_gather(const gm_comm *comm, gm_binding *mine, gm_binding **table)
{
    gm_status st = GM_OK;
    gm_binding *all = calloc((size_t)comm->n_rank, sizeof *all);
    if (!all) st = GM_FAIL(GM_E_MEMORY, "out of memory");
    GM_TRY(st, gm_comm_agree(comm, st));
    strcpy(mine->host, comm->host);
    GM_TRY(st, GM_MPI("gathering the devices of all ranks",
                      MPI_Allgather(mine, sizeof *mine, MPI_BYTE, all, sizeof *all, MPI_BYTE,
                                    comm->world)));
    for (int i = 0; i < comm->n_rank; i++) {
        all[i].n_sharing = 1;
        for (int j = 0; j < comm->n_rank; j++)
            all[i].n_sharing += j != i && same_device(&all[i], &all[j]);
    }
    mine->n_sharing = all[comm->rank].n_sharing;
    *table = all, all = NULL;
cleanup:
    free(all);
    return st;
}

gm_status gm_binding_check_shared(const gm_comm *comm, const gm_binding *table)
{
    for (int i = 0; i < comm->n_rank; i++)
        if (table[i].n_sharing > 1)
            return GM_FAIL(GM_E_MPI,
                           "%d ranks share one GPU (%s, %s, on %s): start one rank per GPU, or "
                           "allow it with --share-gpu",
                           table[i].n_sharing, table[i].device, table[i].uuid, table[i].host);
    return GM_OK;
}

gm_status gm_binding_check_mixed(const gm_comm *comm, const gm_binding *table)
{
    for (int i = 1; i < comm->n_rank; i++)
        if (strcmp(table[i].architecture, table[0].architecture) != 0)
            return GM_FAIL(GM_E_DEVICE,
                           "the ranks' devices differ: rank 0 has %s (%s), rank %d has %s (%s); "
                           "results could differ in the last digits. Use one kind, or allow it "
                           "with --allow-mixed",
                           table[0].device, table[0].architecture, i, table[i].device,
                           table[i].architecture);
    return GM_OK;
}

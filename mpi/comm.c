#include "mpi/comm.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/alive.h"

enum { PIECE_BYTES = 256 << 20 };

gm_status gm_mpi_check(int error, const char *what)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (error == MPI_SUCCESS) return GM_OK;
    MPI_Error_string(error, text, &length);
    return GM_FAIL(GM_E_MPI, "%s: %s", what, text);
}

gm_status gm_comm_start(int *argc, char ***argv, gm_comm *comm)
{
    gm_status st = GM_OK;
    int provided = 0;
    memset(comm, 0, sizeof *comm);
    comm->world = MPI_COMM_WORLD;
    comm->local = MPI_COMM_NULL;
    GM_TRY(st, GM_MPI("starting MPI", MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided)));
    comm->threads = provided == MPI_THREAD_MULTIPLE;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    GM_TRY(st, GM_MPI("asking for the rank", MPI_Comm_rank(comm->world, &comm->rank)));
    GM_TRY(st, GM_MPI("asking for the ranks", MPI_Comm_size(comm->world, &comm->n_rank)));
    GM_TRY(st, GM_MPI("finding the ranks of this host",
                      MPI_Comm_split_type(comm->world, MPI_COMM_TYPE_SHARED, comm->rank,
                                          MPI_INFO_NULL, &comm->local)));
    MPI_Comm_rank(comm->local, &comm->local_rank);
    MPI_Comm_size(comm->local, &comm->n_local);
    if (gethostname(comm->host, sizeof comm->host - 1) != 0) strcpy(comm->host, "unknown");
cleanup:
    return st;
}

void gm_comm_finish(gm_comm *comm)
{
    int initialized = 0, finalized = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (!initialized || finalized) return;
    if (comm->local != MPI_COMM_NULL) MPI_Comm_free(&comm->local);
    MPI_Finalize();
}

static gm_status agree(const gm_comm *comm, gm_status mine)
{
    char message[4096] = "";
    int first = mine == GM_OK ? INT_MAX : comm->rank;
    int code = (int)mine;
    gm_status st = GM_MPI("agreeing on errors",
                          MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm->world));
    if (st != GM_OK || first == INT_MAX) return st;
    if (comm->rank == first && first == 0)
        snprintf(message, sizeof message, "%s", gm_status_message());
    else if (comm->rank == first)
        snprintf(message, sizeof message, "rank %d on %s: %.3900s", comm->rank, comm->host,
                 gm_status_message());
    MPI_Bcast(&code, 1, MPI_INT, first, comm->world);
    MPI_Bcast(message, sizeof message, MPI_CHAR, first, comm->world);
    return GM_FAIL((gm_status)code, "%s", message);
}

gm_status gm_comm_agree_all(const gm_comm *comm, gm_status mine)
{
    if (comm->n_rank == 1) return mine;
    gm_alive_wait(true);
    const gm_status st = agree(comm, mine);
    gm_alive_wait(false);
    return st;
}

gm_status gm_comm_send(const gm_comm *comm, void *data, int64_t n_byte)
{
    gm_status st = GM_OK;
    gm_alive_wait(true);
    for (int64_t done = 0; done < n_byte && comm->n_rank > 1; done += PIECE_BYTES) {
        int n = (int)(n_byte - done < PIECE_BYTES ? n_byte - done : PIECE_BYTES);
        GM_TRY(st, GM_MPI("sending data to all ranks",
                          MPI_Bcast((char *)data + done, n, MPI_BYTE, 0, comm->world)));
    }
cleanup:
    gm_alive_wait(false);
    return st;
}

gm_status gm_comm_send_block(const gm_comm *comm, void **block, int64_t *n_byte)
{
    gm_status st = GM_OK;
    int64_t size = *block ? *n_byte : -1;
    if (comm->n_rank == 1) return GM_OK;
    GM_TRY(st, gm_comm_send(comm, &size, sizeof size));
    if (comm->rank != 0) {
        *n_byte = size < 0 ? 0 : size;
        *block = size < 0 ? NULL : malloc(size > 0 ? (size_t)size : 1);
        if (size >= 0 && !*block) st = GM_FAIL(GM_E_MEMORY, "out of memory");
    }
    GM_TRY(st, gm_comm_agree(comm, st));
    if (size > 0) GM_TRY(st, gm_comm_send(comm, *block, size));
cleanup:
    return st;
}

void gm_share(int64_t n_total, int rank, int n_rank, int64_t *begin, int64_t *n)
{
    int64_t each = n_total / n_rank;
    int64_t more = n_total % n_rank; /* ranks below this one take one more */
    *n = each + (rank < more);
    *begin = rank * each + (rank < more ? rank : more);
}

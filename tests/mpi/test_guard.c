/* Guards that have nothing to say: ranks that are late, or work long, and mark it. With an MPI for
 * several threads and with one for a single thread. For any number of ranks; that a guard ends a
 * run that hangs is tried on the whole program (test_hang.py). Prints what fails; exit code 1. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/alive.h"
#include "mpi/guard.h"

static const double patience = 1.5; /* s */

static void nap(long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

static void print(const char *message)
{
    fprintf(stderr, "FAILED: a guard speaks: %s\n", message);
}

static int expect(bool holds, const char *what)
{
    if (!holds) fprintf(stderr, "FAILED: %s (last message: %s)\n", what, gm_status_message());
    return !holds;
}

/* All wait for the last rank, which works for longer than the patience. */
static int work_long(const gm_comm *comm)
{
    gm_guard *guard = NULL;
    int n_failed = expect(gm_guard_start(comm->rank, patience, print, &guard) == GM_OK, "start");
    n_failed += expect(guard && gm_guard_join(guard, comm) == GM_OK, "join");
    gm_alive_mark("working long");
    for (int i = 0; comm->rank == comm->n_rank - 1 && i < 8; i++) {
        nap(250);
        gm_alive_mark(NULL);
    }
    n_failed += expect(gm_comm_agree(comm, GM_OK) == GM_OK, "agree");
    gm_guard_leave(guard);
    gm_guard_stop(&guard);
    n_failed += expect(guard == NULL, "stop sets NULL");
    return n_failed;
}

static int do_without(const gm_comm *comm)
{
    gm_guard *none = NULL;
    int n_failed = expect(gm_guard_start(comm->rank, 0, print, &none) == GM_OK && !none, "off");
    n_failed += expect(gm_guard_join(none, comm) == GM_OK, "nothing joins");
    gm_guard_leave(none);
    gm_guard_stop(&none);
    return n_failed;
}

int main(int argc, char **argv)
{
    gm_comm comm;
    int n_failed = 0;
    if (gm_comm_start(&argc, &argv, &comm) != GM_OK) return 1;
    n_failed += expect(comm.threads, "the MPI of the tests is for several threads");
    n_failed += work_long(&comm);
    comm.threads = false;
    n_failed += work_long(&comm);
    n_failed += do_without(&comm);
    MPI_Allreduce(MPI_IN_PLACE, &n_failed, 1, MPI_INT, MPI_SUM, comm.world);
    gm_comm_finish(&comm);
    return n_failed > 0;
}

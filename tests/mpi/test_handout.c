/* Ranks that take pieces of a common list: each thing goes to one rank, also those given back. For
 * any number of ranks. Prints what fails; exit code 1. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "mpi/board.h"
#include "mpi/handout.h"

enum { N_HELD = 3 };

static int n_failed;

static void expect(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "FAILED: %s (last message: %s)\n", what, gm_status_message());
    n_failed++;
}

static void nap(void)
{
    const struct timespec t = {0, 200000};
    nanosleep(&t, NULL);
}

static gm_handout *create(const gm_comm *comm, int64_t n_total)
{
    gm_handout *h = NULL;
    expect(gm_handout_create(comm, n_total, N_HELD, &h) == GM_OK, "create");
    if (!h) MPI_Abort(MPI_COMM_WORLD, 1);
    return h;
}

/* Take until all is over. @param[in,out] times  [n_total] how often this rank took each */
static void take_all(gm_handout *h, int64_t least, int64_t most, int *times)
{
    for (bool over = false; !over;) {
        gm_range piece;
        expect(gm_handout_take(h, least, most, &piece) == GM_OK, "take");
        for (int64_t i = 0; i < piece.n; i++) times[piece.begin + i]++;
        if (piece.n > 0) {
            expect(gm_handout_settle(h, piece.n) == GM_OK, "settle");
        } else {
            expect(gm_handout_over(h, &over) == GM_OK, "look");
            nap();
        }
    }
}

/* times: [n_total] of this rank. */
static void expect_each_once(const gm_comm *comm, int *times, int64_t n_total)
{
    MPI_Allreduce(MPI_IN_PLACE, times, (int)n_total, MPI_INT, MPI_SUM, comm->world);
    bool once = true;
    for (int64_t i = 0; i < n_total; i++) once = once && times[i] == 1;
    expect(once, "each thing is finished by one rank, once");
}

static int *zeros(int64_t n)
{
    int *times = calloc((size_t)n + 1, sizeof *times);
    if (!times) MPI_Abort(MPI_COMM_WORLD, 1);
    return times;
}

static void hand_out(const gm_comm *comm, int64_t n_total, int64_t least, int64_t most)
{
    gm_handout *h = create(comm, n_total);
    int *times = zeros(n_total);
    take_all(h, least, most, times);
    expect_each_once(comm, times, n_total);
    free(times);
    gm_handout_destroy(&h);
    expect(h == NULL, "destroy sets NULL");
    gm_handout_destroy(&h);
}

/* All ranks but the first take pieces and give them back. */
static void give_back(const gm_comm *comm, int n_piece)
{
    enum { N_TOTAL = 1000 };
    gm_handout *h = create(comm, N_TOTAL);
    int *times = zeros(N_TOTAL);
    if (comm->rank > 0) {
        gm_range piece[N_HELD];
        for (int i = 0; i < n_piece; i++)
            expect(gm_handout_take(h, 5, 20, &piece[i]) == GM_OK, "take");
        expect(gm_handout_give_back(h, piece, n_piece) == GM_OK, "give back");
    } else {
        take_all(h, 5, 20, times);
    }
    expect_each_once(comm, times, N_TOTAL);
    free(times);
    gm_handout_destroy(&h);
}

/* The others have found nothing more when the last rank gives back the only piece. */
static void give_back_the_last(const gm_comm *comm)
{
    const bool last = comm->rank == comm->n_rank - 1;
    gm_handout *h = create(comm, 10);
    gm_range piece = {0, 0};
    int *times = zeros(10);
    bool over = true;
    if (comm->n_rank == 1) goto cleanup;
    if (last) expect(gm_handout_take(h, 10, 10, &piece) == GM_OK && piece.n == 10, "take all");
    MPI_Barrier(comm->world);
    if (!last) {
        expect(gm_handout_take(h, 10, 10, &piece) == GM_OK && piece.n == 0, "nothing is left");
        expect(gm_handout_over(h, &over) == GM_OK && !over, "nothing is finished");
    }
    MPI_Barrier(comm->world);
    if (last)
        expect(gm_handout_give_back(h, &piece, 1) == GM_OK, "give back");
    else
        take_all(h, 10, 10, times);
    expect_each_once(comm, times, 10);
cleanup:
    free(times);
    gm_handout_destroy(&h);
}

static void try_all(const gm_comm *comm)
{
    hand_out(comm, 0, 1, 1);
    hand_out(comm, 1, 1, 1);
    hand_out(comm, 997, 1, 1);
    hand_out(comm, 5000, 3, 100);
    hand_out(comm, 7, 16, 128);
    for (int n = 0; n <= N_HELD; n++) give_back(comm, n);
    give_back_the_last(comm);
}

int main(int argc, char **argv)
{
    gm_comm comm;
    if (gm_comm_start(&argc, &argv, &comm) != GM_OK) return 1;
    try_all(&comm);
    expect(comm.threads, "this MPI lets several threads send");
    gm_board_always_answer(true);
    try_all(&comm);
    MPI_Allreduce(MPI_IN_PLACE, &n_failed, 1, MPI_INT, MPI_SUM, comm.world);
    gm_comm_finish(&comm);
    return n_failed > 0;
}

#include "mpi/board.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/answer.h"

struct gm_board {
    const gm_comm *comm;
    gm_answer *answer; /* owned; NULL: the window is used */
    MPI_Win window;
    bool locked;
};

static bool always_answer;

void gm_board_always_answer(bool always)
{
    always_answer = always;
}

static gm_status open_window(gm_board *b, int64_t n_word)
{
    gm_status st = GM_OK;
    int64_t *word = NULL;
    const int64_t n_byte = b->comm->rank == 0 ? n_word * (int64_t)sizeof *word : 0;
    GM_TRY(st, GM_MPI("opening the board of points",
                      MPI_Win_allocate((MPI_Aint)n_byte, sizeof *word, MPI_INFO_NULL,
                                       b->comm->world, &word, &b->window)));
    MPI_Win_set_errhandler(b->window, MPI_ERRORS_RETURN);
    GM_TRY(st, GM_MPI("opening the board of points", MPI_Win_lock_all(0, b->window)));
    b->locked = true;
    if (n_byte > 0) memset(word, 0, (size_t)n_byte);
    GM_TRY(st, GM_MPI("opening the board of points", MPI_Win_sync(b->window)));
cleanup:
    return st;
}

gm_status gm_board_create(const gm_comm *comm, int64_t n_word, gm_board **out)
{
    gm_status st = GM_OK;
    const bool answers = comm->threads && (gm_comm_spans_hosts(comm) || always_answer);
    gm_board *b = calloc(1, sizeof *b);
    *out = NULL;
    if (b) {
        b->comm = comm;
        b->window = MPI_WIN_NULL;
    } else {
        st = GM_FAIL(GM_E_MEMORY, "out of memory");
    }
    GM_TRY(st, gm_comm_agree(comm, st));
    st = answers ? gm_answer_start(comm, n_word, &b->answer) : open_window(b, n_word);
    GM_TRY(st, gm_comm_agree(comm, st)); /* and nobody adds before the board is clear */
    *out = b, b = NULL;
cleanup:
    gm_board_destroy(&b);
    return st;
}

void gm_board_destroy(gm_board **board)
{
    gm_board *b = *board;
    if (!b) return;
    gm_answer_stop(&b->answer);
    if (b->locked) MPI_Win_unlock_all(b->window);
    if (b->window != MPI_WIN_NULL) MPI_Win_free(&b->window);
    free(b);
    *board = NULL;
}

gm_status gm_board_add(gm_board *b, int64_t word, int64_t value, int64_t *before)
{
    gm_status st = GM_OK;
    if (b->answer) return gm_answer_add(b->answer, word, value, before);
    GM_TRY(st, GM_MPI("handing out points", MPI_Fetch_and_op(&value, before, MPI_INT64_T, 0,
                                                             (MPI_Aint)word, MPI_SUM, b->window)));
    GM_TRY(st, GM_MPI("handing out points", MPI_Win_flush(0, b->window)));
cleanup:
    return st;
}

gm_status gm_board_look(gm_board *b, int64_t word, int64_t n, int64_t *value)
{
    gm_status st = GM_OK;
    if (b->answer) return gm_answer_look(b->answer, word, n, value);
    GM_TRY(st,
           GM_MPI("handing out points",
                  MPI_Get_accumulate(NULL, 0, MPI_INT64_T, value, (int)n, MPI_INT64_T, 0,
                                     (MPI_Aint)word, (int)n, MPI_INT64_T, MPI_NO_OP, b->window)));
    GM_TRY(st, GM_MPI("handing out points", MPI_Win_flush(0, b->window)));
cleanup:
    return st;
}

/* The board is changed by atomic additions alone: so no rank waits for another, and none that dies
 * holds a lock. */
#include "mpi/handout.h"

#include <stdlib.h>

#include "mpi/board.h"

/* A rank takes 1/SLOWEST of its even share at a time: that long even a rank so much slower than the
 * others is busy with it until they have done the rest. */
enum { SLOWEST = 4 };

/* The board on rank 0: counts, then for each rank the pieces that it gave back. */
enum { NEXT, SETTLED, OFFERED, N_COUNT };
enum { BEGIN, SIZE, CLAIMS, N_PIECE_WORD };

struct gm_handout {
    const gm_comm *comm;
    gm_board *board; /* owned */
    int64_t n_total;
    int64_t n_word; /* of all pieces given back */
    int n_held;
};

int64_t gm_handout_size(int64_t left, int n_rank, int64_t least, int64_t most)
{
    int64_t n = left / (SLOWEST * (int64_t)n_rank);
    if (n > most) n = most;
    n = n > least ? n - n % least : least;
    return n < left ? n : left;
}

gm_status gm_handout_create(const gm_comm *comm, int64_t n_total, int n_held, gm_handout **out)
{
    gm_status st = GM_OK;
    gm_handout *h = calloc(1, sizeof *h);
    *out = NULL;
    if (h) {
        h->comm = comm;
        h->n_total = n_total;
        h->n_held = n_held;
        h->n_word = (int64_t)comm->n_rank * n_held * N_PIECE_WORD;
    }
    if (!h) st = GM_FAIL(GM_E_MEMORY, "out of memory");
    GM_TRY(st, gm_comm_agree(comm, st));
    GM_TRY(st, gm_board_create(comm, N_COUNT + h->n_word, &h->board));
    *out = h, h = NULL;
cleanup:
    gm_handout_destroy(&h);
    return st;
}

void gm_handout_destroy(gm_handout **handout)
{
    gm_handout *h = *handout;
    if (!h) return;
    gm_board_destroy(&h->board);
    free(h);
    *handout = NULL;
}

/* Claim one of the pieces that were given back; more ranks than one may try. */
static gm_status take_offered(gm_handout *h, gm_range *piece)
{
    gm_status st = GM_OK;
    int64_t before = 0;
    int64_t *offered = malloc((size_t)h->n_word * sizeof *offered);
    if (!offered) return GM_FAIL(GM_E_MEMORY, "out of memory");
    GM_TRY(st, gm_board_look(h->board, N_COUNT, h->n_word, offered));
    for (int64_t i = 0; i < h->n_word; i += N_PIECE_WORD) {
        if (offered[i + SIZE] == 0 || offered[i + CLAIMS] > 0) continue;
        GM_TRY(st, gm_board_add(h->board, N_COUNT + i + CLAIMS, 1, &before));
        if (before > 0) continue;
        *piece = (gm_range){offered[i + BEGIN], offered[i + SIZE]};
        GM_TRY(st, gm_board_add(h->board, OFFERED, -1, &before));
        break;
    }
cleanup:
    free(offered);
    return st;
}

gm_status gm_handout_take(gm_handout *h, int64_t least, int64_t most, gm_range *piece)
{
    gm_status st = GM_OK;
    int64_t count[N_COUNT] = {0};
    *piece = (gm_range){0, 0};
    GM_TRY(st, gm_board_look(h->board, 0, N_COUNT, count));
    if (count[NEXT] < h->n_total) {
        int64_t begin = 0;
        const int64_t n = gm_handout_size(h->n_total - count[NEXT], h->comm->n_rank, least, most);
        GM_TRY(st, gm_board_add(h->board, NEXT, n, &begin));
        if (begin < h->n_total)
            *piece = (gm_range){begin, n < h->n_total - begin ? n : h->n_total - begin};
    }
    if (piece->n == 0 && count[OFFERED] > 0) GM_TRY(st, take_offered(h, piece));
cleanup:
    return st;
}

gm_status gm_handout_settle(gm_handout *h, int64_t n)
{
    int64_t before = 0;
    return gm_board_add(h->board, SETTLED, n, &before);
}

gm_status gm_handout_give_back(gm_handout *h, const gm_range *piece, int n)
{
    gm_status st = GM_OK;
    int64_t before = 0;
    for (int i = 0; i < n; i++) {
        const int64_t word = N_COUNT + ((int64_t)h->comm->rank * h->n_held + i) * N_PIECE_WORD;
        GM_TRY(st, gm_board_add(h->board, word + BEGIN, piece[i].begin, &before));
        GM_TRY(st, gm_board_add(h->board, word + SIZE, piece[i].n,
                                &before)); /* from here on it can be claimed */
        GM_TRY(st, gm_board_add(h->board, OFFERED, 1, &before));
    }
cleanup:
    return st;
}

gm_status gm_handout_over(gm_handout *h, bool *over)
{
    int64_t count[N_COUNT] = {0};
    const gm_status st = gm_board_look(h->board, 0, N_COUNT, count);
    *over = count[SETTLED] >= h->n_total;
    return st;
}

/** Ranks take the next piece of a common list whenever they have room for it: a fast rank takes
 * more than a slow one.
 *
 *  What is left is written on a board (board.h), so no rank asks another's main thread. */
#ifndef GM_MPI_HANDOUT_H
#define GM_MPI_HANDOUT_H

#include "mpi/comm.h"

/** Things of the list: begin .. begin + n - 1. */
typedef struct gm_range {
    int64_t begin, n;
} gm_range;

typedef struct gm_handout gm_handout;

/** How large the next piece is: a part of what is left, so that pieces shrink towards the end and a
 *  rank four times slower than the others still ends with them; a multiple of least where it can
 * be.
 *  @param least, most  1 <= least <= most
 *  @return 1 .. left */
int64_t gm_handout_size(int64_t left, int n_rank, int64_t least, int64_t most);

/** Collective.
 *  @param n_total  things to hand out
 *  @param n_held   pieces that a rank holds at a time, at most */
gm_status gm_handout_create(const gm_comm *comm, int64_t n_total, int n_held, gm_handout **out);
/** Collective. */
void gm_handout_destroy(gm_handout **handout);

/** Take the next piece, or one that another rank gave back. Not collective, like all below.
 *  @param[out] piece  n is 0: there is none, as yet (see gm_handout_over) */
gm_status gm_handout_take(gm_handout *handout, int64_t least, int64_t most, gm_range *piece);

/** So many things that this rank took are finished: nobody will give them back. */
gm_status gm_handout_settle(gm_handout *handout, int64_t n);

/** This rank takes no more: others may have the pieces that it has not finished. Once.
 *  @param n  0 .. n_held */
gm_status gm_handout_give_back(gm_handout *handout, const gm_range *piece, int n);

/** Are all things settled? Until then a piece may still be given back. */
gm_status gm_handout_over(gm_handout *handout, bool *over);

#endif

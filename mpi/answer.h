/** The board of board.h by messages: a thread of rank 0 answers the other ranks. */
#ifndef GM_MPI_ANSWER_H
#define GM_MPI_ANSWER_H

#include "mpi/comm.h"

typedef struct gm_answer gm_answer;

/** Collective; MPI must allow several threads. *out may be set on failure: gm_answer_stop it. */
gm_status gm_answer_start(const gm_comm *comm, int64_t n_word, gm_answer **out);
/** Collective: nobody asks any more. Takes NULL on all ranks alike. */
void gm_answer_stop(gm_answer **answer);

/* As gm_board_add and gm_board_look. */
gm_status gm_answer_add(gm_answer *answer, int64_t word, int64_t value, int64_t *before);
gm_status gm_answer_look(gm_answer *answer, int64_t word, int64_t n, int64_t *value);

#endif

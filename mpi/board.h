/** Numbers on rank 0 that every rank reads and adds to whenever it likes, without asking the main
 *  thread of rank 0. A rank that dies leaves nothing locked.
 *
 *  Ranks of one host use MPI's one-sided operations, in memory that they share. Between hosts those
 *  wait until rank 0 enters MPI, and over TCP some MPIs lack them beside several threads: there a
 *  thread of rank 0 answers. */
#ifndef GM_MPI_BOARD_H
#define GM_MPI_BOARD_H

#include "mpi/comm.h"

typedef struct gm_board gm_board;

/** Collective: n_word zeros.
 *  @return GM_OK; GM_E_MPI where this MPI has neither way; GM_E_MEMORY */
gm_status gm_board_create(const gm_comm *comm, int64_t n_word, gm_board **out);
/** Collective. Takes NULL on all ranks alike. */
void gm_board_destroy(gm_board **board);

/** Add to a word. Not collective, as below.
 *  @param[out] before  what it held */
gm_status gm_board_add(gm_board *board, int64_t word, int64_t value, int64_t *before);

/** @param[out] value  [n] of the words from `word` on */
gm_status gm_board_look(gm_board *board, int64_t word, int64_t n, int64_t *value);

/** For tests: a thread answers on one host, too. */
void gm_board_always_answer(bool always);

#endif

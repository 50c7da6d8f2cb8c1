/** The points that a run is to compute, as runs of neighbours: small, so every rank has it. */
#ifndef GM_APP_MISSING_H
#define GM_APP_MISSING_H

#include "mpi/comm.h"

/** Points first, first + 1, ... up to the next piece's number of points before it. */
typedef struct gm_missing_piece {
    int64_t first, before;
} gm_missing_piece;

typedef struct gm_missing {
    int64_t n_point; /* missing, all ranks together */
    int64_t n_piece;
    gm_missing_piece *piece; /* owned [n_piece], rising */
} gm_missing;

/** Those that the ledger calls pending. Serial. Free with gm_missing_clear.
 *  @param status  [n_point] of the whole sweep */
gm_status gm_missing_find(const uint8_t *status, int64_t n_point, gm_missing *out);
void gm_missing_clear(gm_missing *missing);

/** Collective: rank 0's list to all. */
gm_status gm_missing_send(const gm_comm *comm, gm_missing *missing);

/** Numbers in the sweep of the missing points begin .. begin + n - 1.
 *  @param[out] point  [n], rising */
void gm_missing_points(const gm_missing *missing, int64_t begin, int64_t n, int64_t *point);

#endif

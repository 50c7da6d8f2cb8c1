/** Values of some points into the result file. */
#ifndef GM_APP_ROWS_H
#define GM_APP_ROWS_H

#include "io/store.h"

/** Write [n_point][n_byte] values of a variable, from byte row_begin of each point's row on; points
 *  that are neighbours in the file go in one piece. Not collective.
 *  @param point  [n_point] numbers in the sweep */
gm_status gm_rows_write(gm_store *store, int variable, int64_t n_point, const int64_t *point,
                        int64_t row_begin, int64_t n_byte, const void *value);

#endif

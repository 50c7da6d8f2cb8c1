/** The checksum of each point's values, taken as they leave the engine, chunk by chunk. */
#ifndef GM_APP_SUMS_H
#define GM_APP_SUMS_H

#include "core/layout.h"
#include "kernels/backend.h"

typedef struct gm_sums gm_sums;

/** @param n_thread  that may be used */
gm_status gm_sums_create(const gm_layout *layout, int64_t tile_points, int n_thread, gm_sums **out);
void gm_sums_destroy(gm_sums **sums);

/** Take in a chunk of a tile. Chunks come in order, one tile after the other.
 *  @param first, last  of the tile
 *  @param checksum     [n_point] filled with the last chunk: of the recorded variables in the
 * layout's order, then failed_step */
void gm_sums_add(gm_sums *sums, const gm_result *result, int64_t n_point, bool first, bool last,
                 int64_t *checksum);

#endif

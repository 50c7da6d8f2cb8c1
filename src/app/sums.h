/** The checksum of each point's values, taken as they leave the engine, chunk by chunk. */
#ifndef GM_APP_SUMS_H
#define GM_APP_SUMS_H

#include "core/layout.h"
#include "io/store.h"
#include "kernels/backend.h"

typedef struct gm_sums gm_sums;

/** @param n_thread  that may be used */
gm_status gm_sums_create(const gm_layout *layout, int64_t tile_points, int n_thread, gm_sums **out);
void gm_sums_destroy(gm_sums **sums);

/** Take in a chunk of a tile. Chunks come in order, one tile after the other.
 *  @param first  the tile begins at step 0
 *  @param last   of the tile
 *  @param checksum     [n_point] filled with the last chunk: of the recorded variables in the
 * layout's order, then failed_step */
void gm_sums_add(gm_sums *sums, const gm_result *result, int64_t n_point, bool first, bool last,
                 int64_t *checksum);

/** Running sums as they go into a checkpoint: gm_sums_bytes for a point, `stride` bytes apart. */
int64_t gm_sums_bytes(const gm_layout *layout);
void gm_sums_save(const gm_sums *sums, int64_t n_point, void *record, int64_t stride);

/** Go on from there: in the place of a tile's first chunk. */
void gm_sums_load(gm_sums *sums, int64_t n_point, const void *record, int64_t stride);

/** Does the file hold the point's first n_sample samples of which these are the sums?
 *  @return GM_OK; GM_E_IO; GM_E_MEMORY */
gm_status gm_sums_match(const gm_layout *layout, gm_store *store, int64_t point, int64_t n_sample,
                        const void *record, bool *match);

#endif

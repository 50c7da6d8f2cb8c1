/** Points that are computed already and are to be computed again. */
#ifndef GM_APP_RETRY_H
#define GM_APP_RETRY_H

#include "app/options.h"
#include "core/layout.h"
#include "io/store.h"

/** What the options want computed again becomes pending in status, the ledger as read from the
 * file: failed points, and those whose data are damaged (reads the whole file). Serial. */
gm_status gm_retry_choose(const gm_options *options, const char *path, int64_t n_point,
                          uint8_t *status);

/** Failed points alone, which takes no reading. */
void gm_retry_failed(const gm_options *options, int64_t n_point, uint8_t *status);

/** Enter in the file what is pending now, before the first of them is computed: so that after a
 * kill none of them counts as finished. Not collective. */
gm_status gm_retry_mark(const gm_options *options, gm_store *store, const gm_layout *layout,
                        const uint8_t *status);

#endif

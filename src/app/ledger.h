/** Points whose data are written and that the ledger of the file does not call done yet. */
#ifndef GM_APP_LEDGER_H
#define GM_APP_LEDGER_H

#include "app/checkpoint.h"
#include "core/layout.h"
#include "io/store.h"

typedef struct gm_ledger gm_ledger;

/** @param run         slot of this run in provenance/run
 *  @param checkpoint  borrowed: forgets the points that are marked */
gm_status gm_ledger_create(gm_store *store, const gm_layout *layout, int run,
                           gm_checkpoint *checkpoint, gm_ledger **out);
/** Points that are not marked stay pending. */
void gm_ledger_destroy(gm_ledger **ledger);

/** The data of these points are written, but perhaps not on the disk yet.
 *  @param failed_step  [n_point] step at which a point diverged, -1: it did not */
gm_status gm_ledger_add(gm_ledger *ledger, int64_t n_point, const int64_t *point,
                        const int64_t *failed_step, const int64_t *checksum);

/** Enter in the file what was added, after it is on the disk. */
gm_status gm_ledger_mark(gm_ledger *ledger);

/** The same if the last time is a second ago. */
gm_status gm_ledger_mark_now_and_then(gm_ledger *ledger);

#endif

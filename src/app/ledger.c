/* Flushing to the disk takes long, so points gather for a while; what a second brings bounds the
 * memory. */
#include "app/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "app/rows.h"
#include "core/clock.h"
#include "core/fault.h"

static const double mark_after_seconds = 1.0; /* how much work a killed run may lose */

struct gm_ledger {
    gm_store *store;
    const gm_layout *layout;
    gm_checkpoint *checkpoint;
    int run;
    double marked_at;
    int64_t n, capacity; /* points */
    /* owned [capacity] */
    int64_t *point, *failed_step, *checksum;
    uint8_t *status, *computed_by;
};

gm_status gm_ledger_create(gm_store *store, const gm_layout *layout, int run,
                           gm_checkpoint *checkpoint, gm_ledger **out)
{
    gm_ledger *l = calloc(1, sizeof *l);
    *out = l;
    if (!l) return GM_FAIL(GM_E_MEMORY, "out of memory");
    l->store = store;
    l->layout = layout;
    l->run = run;
    l->checkpoint = checkpoint;
    l->marked_at = gm_clock_seconds();
    return GM_OK;
}

void gm_ledger_destroy(gm_ledger **ledger)
{
    gm_ledger *l = *ledger;
    if (!l) return;
    free(l->point);
    free(l->failed_step);
    free(l->checksum);
    free(l->status);
    free(l->computed_by);
    free(l);
    *ledger = NULL;
}

static bool grow(void *array, size_t size)
{
    void *old = NULL;
    memcpy(&old, array, sizeof old);
    void *grown = realloc(old, size);
    if (grown) memcpy(array, &grown, sizeof grown);
    return grown != NULL;
}

static gm_status make_room(gm_ledger *l, int64_t n_point)
{
    const int64_t need = l->n + n_point;
    if (need <= l->capacity) return GM_OK;
    const size_t n = (size_t)(need > 2 * l->capacity ? need : 2 * l->capacity);
    if (!grow(&l->point, n * 8) || !grow(&l->failed_step, n * 8) || !grow(&l->checksum, n * 8) ||
        !grow(&l->status, n) || !grow(&l->computed_by, n))
        return GM_FAIL(GM_E_MEMORY, "out of memory");
    memset(l->computed_by, l->run, n);
    l->capacity = (int64_t)n;
    return GM_OK;
}

gm_status gm_ledger_add(gm_ledger *l, int64_t n_point, const int64_t *point,
                        const int64_t *failed_step, const int64_t *checksum)
{
    const size_t size = (size_t)n_point * 8;
    const gm_status st = make_room(l, n_point);
    if (st != GM_OK) return st;
    memcpy(l->point + l->n, point, size);
    memcpy(l->failed_step + l->n, failed_step, size);
    memcpy(l->checksum + l->n, checksum, size);
    for (int64_t p = 0; p < n_point; p++)
        l->status[l->n + p] = failed_step[p] >= 0 ? GM_POINT_DIVERGED : GM_POINT_DONE;
    l->n += n_point;
    return GM_OK;
}

static gm_status put(const gm_ledger *l, int variable, int64_t n_byte, const void *value)
{
    return gm_rows_write(l->store, variable, l->n, l->point, 0, n_byte, value);
}

gm_status gm_ledger_mark(gm_ledger *l)
{
    gm_status st = GM_OK;
    if (l->n == 0) return GM_OK;
    GM_TRY(st, put(l, l->layout->failed_step, 8, l->failed_step));
    GM_TRY(st, put(l, l->layout->run, 1, l->computed_by));
    GM_TRY(st, put(l, l->layout->checksum, 8, l->checksum));
    GM_TRY(st, gm_store_sync(l->store));
    if (gm_fault(GM_FAULT_MARK)) GM_TRY(st, GM_FAIL(GM_E_IO, "marking fails on purpose"));
    GM_TRY(st, put(l, l->layout->status, 1, l->status));
    GM_TRY(st, gm_checkpoint_forget(l->checkpoint, l->point, l->n));
    l->n = 0;
    l->marked_at = gm_clock_seconds();
cleanup:
    return st;
}

gm_status gm_ledger_mark_now_and_then(gm_ledger *l)
{
    return gm_clock_seconds() - l->marked_at > mark_after_seconds ? gm_ledger_mark(l) : GM_OK;
}

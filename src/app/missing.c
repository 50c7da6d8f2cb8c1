#include "app/missing.h"

#include <stdlib.h>
#include <string.h>

#include "core/layout.h"

static bool begins(const uint8_t *status, int64_t i)
{
    return status[i] == GM_POINT_PENDING && (i == 0 || status[i - 1] != GM_POINT_PENDING);
}

gm_status gm_missing_find(const uint8_t *status, int64_t n_point, gm_missing *out)
{
    int64_t n = 0;
    memset(out, 0, sizeof *out);
    for (int64_t i = 0; i < n_point; i++) n += begins(status, i);
    out->piece = malloc((size_t)(n + 1) * sizeof *out->piece);
    if (!out->piece) return GM_FAIL(GM_E_MEMORY, "out of memory");
    for (int64_t i = 0; i < n_point; i++) {
        if (begins(status, i)) out->piece[out->n_piece++] = (gm_missing_piece){i, out->n_point};
        out->n_point += status[i] == GM_POINT_PENDING;
    }
    return GM_OK;
}

void gm_missing_clear(gm_missing *missing)
{
    free(missing->piece);
    memset(missing, 0, sizeof *missing);
}

gm_status gm_missing_send(const gm_comm *comm, gm_missing *missing)
{
    gm_status st = GM_OK;
    int64_t n_byte = missing->n_piece * (int64_t)sizeof *missing->piece;
    GM_TRY(st, gm_comm_send(comm, &missing->n_point, sizeof missing->n_point));
    GM_TRY(st, gm_comm_send(comm, &missing->n_piece, sizeof missing->n_piece));
    GM_TRY(st, gm_comm_send_block(comm, (void **)&missing->piece, &n_byte));
cleanup:
    return st;
}

void gm_missing_points(const gm_missing *missing, int64_t begin, int64_t n, int64_t *point)
{
    int64_t low = 0, high = missing->n_piece; /* the last piece that begins at or before `begin` */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (missing->piece[middle].before <= begin)
            low = middle;
        else
            high = middle;
    }
    for (int64_t i = begin; i < begin + n; i++) {
        if (low + 1 < missing->n_piece && missing->piece[low + 1].before == i) low++;
        point[i - begin] = missing->piece[low].first + i - missing->piece[low].before;
    }
}

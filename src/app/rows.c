#include "app/rows.h"

gm_status gm_rows_write(gm_store *store, int variable, int64_t n_point, const int64_t *point,
                        int64_t row_begin, int64_t n_byte, const void *value)
{
    gm_status st = GM_OK;
    for (int64_t p = 0, n = 0; p < n_point; p += n) {
        for (n = 1; p + n < n_point && point[p + n] == point[p] + n; n++) continue;
        GM_TRY(st, gm_store_write(store, variable, point[p], n, row_begin, n_byte,
                                  (const char *)value + p * n_byte, n_byte));
    }
cleanup:
    return st;
}

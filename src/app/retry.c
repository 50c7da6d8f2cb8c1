#include "app/retry.h"

void gm_retry_failed(const gm_options *options, int64_t n_point, uint8_t *status)
{
    for (int64_t i = 0; options->retry_failed && i < n_point; i++)
        if (status[i] == GM_POINT_DIVERGED || status[i] == GM_POINT_FAILED)
            status[i] = GM_POINT_PENDING;
}

gm_status gm_retry_choose(const gm_options *options, const char *path, int64_t n_point,
                          uint8_t *status)
{
    gm_store_check check = {0};
    gm_retry_failed(options, n_point, status);
    if (!options->retry_damaged) return GM_OK;
    const gm_status st = gm_store_verify(path, &check);
    for (int64_t i = 0; st == GM_OK && i < n_point && i < check.n_point; i++)
        if (check.damaged[i]) status[i] = GM_POINT_PENDING;
    gm_store_check_clear(&check);
    return st;
}

gm_status gm_retry_mark(const gm_options *options, gm_store *store, const gm_layout *layout,
                        const uint8_t *status)
{
    gm_status st = GM_OK;
    if (!options->retry_failed && !options->retry_damaged) return GM_OK;
    for (int64_t i = 0, n = 0; i < layout->n_point; i += n) {
        for (n = 1; i + n < layout->n_point && status[i + n] == status[i]; n++) continue;
        if (status[i] == GM_POINT_PENDING)
            GM_TRY(st, gm_store_write(store, layout->status, i, n, 0, 1, status + i, 1));
    }
    st = gm_store_sync(store);
cleanup:
    return st;
}

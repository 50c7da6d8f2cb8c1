/** A result file made by one rank alone, as src/app/create.c makes one with all. */
#ifndef GM_TESTS_STORE_CREATE_H
#define GM_TESTS_STORE_CREATE_H

#include <stdio.h>
#include <stdlib.h>

#include "io/store.h"

static inline gm_status store_create(const char *path, const gm_layout *layout,
                                     const gm_attribute *attribute, int n_attribute, bool replace)
{
    gm_status st = GM_OK;
    gm_creation *c = NULL;
    gm_fill *fill = NULL;
    char *partial = NULL;
    int n_region = 0;
    if (asprintf(&partial, "%s.partial", path) < 0) return GM_FAIL(GM_E_MEMORY, "out of memory");
    GM_TRY(st, gm_store_begin(path, layout, attribute, n_attribute, replace, &c));
    const gm_region *region = gm_creation_regions(c, &n_region);
    GM_TRY(st, gm_fill_start(partial, path, region, n_region, 0, 1, &fill));
    GM_TRY(st, gm_fill_end(&fill, false));
    GM_TRY(st, gm_store_publish(&c));
cleanup:
    gm_store_abandon(&c);
    free(partial);
    return st;
}

#endif

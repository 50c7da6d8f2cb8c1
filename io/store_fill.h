/** Filling a new result file with its fill values, by all ranks at once. */
#ifndef GM_IO_STORE_FILL_H
#define GM_IO_STORE_FILL_H

#include "core/layout.h"

/** Bytes of a file that hold n_byte / size of one element, all the same value. */
typedef struct gm_region {
    int64_t offset;
    int64_t n_byte;
    gm_type type;
    double fill;
} gm_region;

/** The filling of a part of a file by a thread of its own. */
typedef struct gm_fill gm_fill;

/** Begin to write the fill values of part `part` of n_part into a file that is there: pieces in
 *  turn, so that all parts end at about the same time. Not collective.
 *  @param path    the file under construction; @param name  the result file, for messages
 *  @param region  [n_region] copied */
gm_status gm_fill_start(const char *path, const char *name, const gm_region *region, int n_region,
                        int part, int n_part, gm_fill **out);

/** Has it ended, well or not? Never waits. */
bool gm_fill_is_over(gm_fill *fill);

/** Wait for the end, at the latest after the piece in hand if `now`; frees.
 *  @return GM_OK: this part is filled and on the disk; GM_E_IO with the cause; GM_E_STOPPED after a
 *          signal or `now`. GM_OK for NULL */
gm_status gm_fill_end(gm_fill **fill, bool now);

/** Bytes written at a time; for tests. A multiple of 8. */
void gm_fill_limit_piece(int64_t n_byte);

#endif

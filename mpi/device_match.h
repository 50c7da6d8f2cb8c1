/** Which of the devices that it sees each rank of a host takes, so that no two take the same. */
#ifndef GM_MPI_DEVICE_MATCH_H
#define GM_MPI_DEVICE_MATCH_H

#include "core/status.h"

enum { GM_MATCH_DEVICES = 16, GM_MATCH_UUID = 48 };

/** What one rank sees, in its own order. */
typedef struct gm_seen_devices {
    int n; /* 1 .. GM_MATCH_DEVICES */
    char uuid[GM_MATCH_DEVICES][GM_MATCH_UUID];
} gm_seen_devices;

/** Give every rank a device of its own wherever that can be done, whatever subsets and orders the
 *  launcher shows; if all see all, rank r takes the r-th. Ranks for which none is left share: rank
 *  modulo the devices seen.
 *  @param seen        [n_rank] of one host
 *  @param[out] index  [n_rank] in each rank's own order
 *  @return GM_OK; GM_E_MEMORY */
gm_status gm_device_match(int n_rank, const gm_seen_devices *seen, int *index);

#endif

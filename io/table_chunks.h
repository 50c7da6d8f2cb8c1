/** Private to io/table_hdf5.c: is a dataset stored in a way that HDF5 reads safely? */
#ifndef GM_IO_TABLE_CHUNKS_H
#define GM_IO_TABLE_CHUNKS_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/problems.h"

/** HDF5 trusts a chunk to unpack to its nominal size, and reads past its buffer if a damaged one
 * does not. So each chunk is unpacked here before; filters that cannot be checked are refused.
 *  @param n_byte       of the file: it cannot hold more chunks than that
 *  @param compression  how much smaller than its values a file may be
 *  @return false with a problem added */
bool gm_table_check_storage(hid_t set, gm_place place, int64_t n_byte, int64_t compression,
                            gm_problems *problems);

#endif

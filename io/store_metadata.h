/** Private to io/store_*.c: everything in a result file but the values of its variables. */
#ifndef GM_IO_STORE_METADATA_H
#define GM_IO_STORE_METADATA_H

#include "store.h"
#include "store_fill.h"

/** Write groups, attributes, coordinates and empty variables of a new file.
 *  HDF5 crashes at its end if closing a file has ever failed, as it does on a full disk. So it
 *  writes to a file in memory; copying that to the disk is the caller's.
 *  @param partial      the file that HDF5 opens by name, and truncates
 *  @param path         of the result file, for messages
 *  @param memory       an empty file in memory that receives what HDF5 writes; borrowed
 *  @param[out] region  [layout->n_variable + 1] where the variables lie, then provenance/run;
 *                      holes still
 *  @return GM_OK; GM_E_IO; GM_E_MEMORY; GM_E_INPUT for more dimensions than HDF5 has */
gm_status gm_store_write_metadata(const char *partial, const char *path, int memory,
                                  const gm_layout *layout, const gm_attribute *attribute,
                                  int n_attribute, gm_region *region);

#endif

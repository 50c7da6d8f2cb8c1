/** Compiled kernels kept from run to run: $XDG_CACHE_HOME/gridmarch, else ~/.cache/gridmarch.
 *
 *  The folder is private (0700). An entry is written under a temporary name and renamed, so readers
 *  see all of it or nothing; it carries a hash of its content, which is checked on reading: what
 * does not fit is removed and counts as absent. The folder is kept below a size: the entries read
 * longest ago go first. Serial; safe with any number of processes at once, on one host or several.
 * No fault of the cache ever stops a run: without a usable folder everything is simply absent. */
#ifndef GM_IO_CACHE_H
#define GM_IO_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

/** Content under a key (32 hexadecimal digits).
 *  @param[out] data  owned by the caller (free), NUL added behind; untouched when absent
 *  @return true if there is a whole, unspoilt entry */
bool gm_cache_read(const char *key, void **data, int64_t *n_byte);

/** Keep content under a key. Best effort. */
void gm_cache_write(const char *key, const void *data, int64_t n_byte);

/** Largest size of the folder in bytes, 256 MiB unless set: for tests. */
void gm_cache_limit(int64_t n_byte);

#endif

/** The folder of io/cache.h: where it is, whether it may be trusted, how it stays small.
 *
 *  Private to the cache. Everything happens relative to the open folder, so that nobody can
 * exchange it between a check and a use. */
#ifndef GM_IO_CACHE_FOLDER_H
#define GM_IO_CACHE_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

enum { GM_CACHE_KEY_LENGTH = 32 };

/* A temporary's name: this prefix and 32 hexadecimal digits. */
#define GM_CACHE_TEMPORARY "tmp."

/** True for 32 lower-case hexadecimal digits. */
bool gm_cache_is_key(const char *name);

/** Open the folder.
 *  @param make  create it where it is missing
 *  @return a descriptor (close), or -1 if there is none that belongs to this user alone */
int gm_cache_folder_open(bool make);

/** Remove the entries read longest ago until the rest takes at most n_byte, and temporaries that
 *  their writer has left behind for an hour. */
void gm_cache_folder_trim(int folder, int64_t n_byte);

#endif

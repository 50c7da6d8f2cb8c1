/** Private to io: space on the disk, and why the operating system refuses it. */
#ifndef GM_IO_STORE_SPACE_H
#define GM_IO_STORE_SPACE_H

#include <stdint.h>

#include "core/status.h"

/** An errno in the words of a user: "no space left on device". Borrowed, valid until next call. */
const char *gm_posix_cause(int code);

/** Folder that holds path. Owned by the caller; NULL without memory. */
char *gm_space_folder(const char *path);

/** Make the new name of a file itself survive a power cut. File systems that cannot sync a folder,
 * and folders that may be written but not read, have nothing better to offer. */
gm_status gm_space_sync_folder(const char *path);

/** Make an empty file n_byte long and reserve its blocks, so that a full disk, a quota or a limit
 *  shows at once and not after minutes of writing. Where the file system cannot reserve, or does
 *  so by writing (tmpfs): the length only. */
gm_status gm_space_reserve(int fd, const char *path, int64_t n_byte);

/** Write all bytes at an offset. */
gm_status gm_space_write(int fd, const char *path, const void *value, int64_t n_byte,
                         int64_t offset);

#endif

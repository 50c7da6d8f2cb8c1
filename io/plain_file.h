/** Opening what a user names as input: a file, and nothing that may block, never end or hold no
 *  bytes of its own (a pipe, a device, a folder). */
#ifndef GM_IO_PLAIN_FILE_H
#define GM_IO_PLAIN_FILE_H

#include <stdio.h>

/** Open a regular file for reading; links are followed.
 *  @param[out] fd      the caller's to close; -1 on failure
 *  @return NULL; or why not, in words that follow "cannot read FILE: " (valid until the next call)
 */
const char *gm_plain_open(const char *path, int *fd);

/** The same as a stream; NULL in *stream on failure. */
const char *gm_plain_stream(const char *path, FILE **stream);

#endif

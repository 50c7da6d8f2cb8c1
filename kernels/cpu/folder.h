/** A private temporary folder: mode 0700, in $TMPDIR or /tmp, removed with all that is in it. */
#ifndef GM_KERNELS_CPU_FOLDER_H
#define GM_KERNELS_CPU_FOLDER_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

typedef struct gm_folder {
    char path[PATH_MAX]; /* "": there is none */
} gm_folder;

/** @return GM_OK; GM_E_IO */
gm_status gm_folder_create(gm_folder *folder);

/** Also on failure of what was done in it. */
void gm_folder_remove(gm_folder *folder);

/** Write a new file. Folders in its name are made.
 *  @return GM_OK; GM_E_IO */
gm_status gm_folder_write(const gm_folder *folder, const char *name, const void *data,
                          size_t n_byte);

/** @param[out] data  owned by the caller (free)
 *  @return GM_OK; GM_E_IO; GM_E_MEMORY */
gm_status gm_folder_read(const gm_folder *folder, const char *name, void **data, int64_t *n_byte);

#endif

/** Private to io/store_*.c: opening a result file, and finding what it holds. The file may be
 * anything, also made to harm: each object is held against what it must be, and against the file's
 * size. */
#ifndef GM_IO_STORE_FIND_H
#define GM_IO_STORE_FIND_H

#include "store_h5.h"

typedef struct gm_inspection {
    const char *path;
    int fd;
    int64_t n_byte; /* of the file */
    bool is_trial;  /* variables are found, and their data not read */
    hid_t file, group;
} gm_inspection;

typedef struct gm_found {
    int rank;
    hsize_t extent[GM_H5_MAX_RANK];
    int64_t n_element;
    int64_t size; /* bytes of an element */
    int64_t offset;
} gm_found;

/** Open a file that is one of ours. On failure nothing is left open. */
gm_status gm_find_open(const char *path, gm_inspection *in);
void gm_find_close(gm_inspection *in);

/** Is there a variable of this name? */
bool gm_find_has(const gm_inspection *in, const char *name);

/** Find a dataset that lies in one piece inside this file.
 *  @param type  that it must have; H5I_INVALID_HID: any number */
gm_status gm_find_dataset(const gm_inspection *in, hid_t parent, const char *name, hid_t type,
                          gm_found *out);

/** Read raw bytes of the file. */
gm_status gm_find_read(const gm_inspection *in, int64_t offset, int64_t n_byte, void *out);

/** Read the status of every point, and refuse values that mean nothing.
 *  @param[out] status  [n_point] */
gm_status gm_find_status(const gm_inspection *in, int64_t offset, int64_t n_point, uint8_t *status);

/** What the file says is shown to a person: control characters, which could command a terminal
 * (also those of 8 bits, in UTF-8), become '?'. Kept are line ends and tabs. */
void gm_find_make_plain(char *text);

/** A text attribute of fixed length (owned by the caller). It ends with NUL whatever the file
 * holds, and is plain. */
gm_status gm_find_text(const gm_inspection *in, hid_t object, const char *name, char **out);

#endif

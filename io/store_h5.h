/** Private to io/store_*.c: the border between HDF5 and gm_status, and names both sides need. */
#ifndef GM_IO_STORE_H5_H
#define GM_IO_STORE_H5_H

#include <hdf5.h>

#include "core/layout.h"

/* HDF5 allows this many dimensions (H5S_MAX_RANK). */
enum { GM_H5_MAX_RANK = 32 };

#define GM_STORE_GROUP    "provenance"
#define GM_STORE_RUN      "run" /* in the group */
#define GM_STORE_CHECKSUM "checksum"
#define GM_STORE_COVERS   "covers" /* attribute of checksum: names with blanks between */

/** HDF5's own printing of errors, switched off between begin and end. */
typedef struct gm_h5_quiet {
    H5E_auto2_t print;
    void *data;
} gm_h5_quiet;

void gm_h5_quiet_begin(gm_h5_quiet *quiet);
void gm_h5_quiet_end(const gm_h5_quiet *quiet);

/** GM_OK when code, an HDF5 return value or id, is not negative; else status with the message
 *  "'path': cannot <what> '<name>': cause", the cause being HDF5's innermost one. name may be "".
 */
gm_status gm_h5_check(int64_t code, gm_status status, const char *path, const char *what,
                      const char *name);

/** Close any kind of id but a file that was written to, and set it to H5I_INVALID_HID. */
void gm_h5_release(hid_t *id);

/** Type of an element as it lies in the file: the native one, as MPI-IO writes it. Borrowed. */
hid_t gm_h5_type(gm_type type);

/** Access properties: plain POSIX files; lock the file where the file system can, do not insist
 * where it cannot. */
hid_t gm_h5_access(void);

/** The coordinates that are a variable's dimensions, as indices into layout->coordinate.
 *  @param[out] dim  [GM_H5_MAX_RANK]
 *  @return their number, 0 when there are more than GM_H5_MAX_RANK */
int gm_h5_dimensions(const gm_layout *layout, const gm_variable *variable, int *dim);

#endif

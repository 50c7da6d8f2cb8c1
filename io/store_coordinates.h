/** Private to io/store_*.c: checksums of the coordinates that are numbers, so that a changed value
 * of an axis is noticed. One attribute of the provenance holds them: "G=1a2b3c4d seed=...", names
 * and CRC-32 of the values as they are stored. Files that have it have checksums of points too. */
#ifndef GM_IO_STORE_COORDINATES_H
#define GM_IO_STORE_COORDINATES_H

#include "store_find.h"

#define GM_STORE_COORDINATES "coordinate_checksums"

/** The text of the attribute, owned by the caller. */
gm_status gm_coordinates_describe(const gm_layout *layout, char **text);

/** Which coordinates of a file are no longer what they were.
 *  @param[out] known    false: the file is of a version that stored no such checksums
 *  @param[out] changed  names with blanks between, owned by the caller; NULL: none
 *  @return GM_OK; GM_E_RESULT where a coordinate is missing or of another kind; GM_E_IO;
 *          GM_E_MEMORY */
gm_status gm_coordinates_check(const gm_inspection *in, bool *known, char **changed);

#endif

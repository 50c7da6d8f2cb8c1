/** Who is writing a result file: a lock file beside it, so that two runs do not.
 *
 *  FILE.lock holds a record of its holder, and the holder's operating-system lock where the file
 *  system has those. Where it has none, and after a run that did not end in order, the record
 *  decides: on the same host by asking for the process, elsewhere by signs of life, which the
 * holder leaves every few seconds. Nothing here waits for a lock. Serial: one rank of a run holds
 * it. */
#ifndef GM_IO_LOCK_H
#define GM_IO_LOCK_H

#include <stdbool.h>

#include "core/status.h"

typedef struct gm_lock gm_lock;

enum { GM_LOCK_NOTE_SIZE = 512 };

/** Take the lock of a result file.
 *  @param take_over  also from a holder that has no lock and cannot be asked whether it is alive;
 * else its lock file is watched for signs of life, up to 16 s
 *  @param[out] note  what a user should know, "" if nothing: a dead holder's lock was taken over,
 * or the folder allows no lock file (then *out is NULL, and GM_OK)
 *  @return GM_OK; GM_E_RESULT when another run holds it: says who, where and since when;
 * GM_E_MEMORY
 */
gm_status gm_lock_take(const char *result, bool take_over, char note[GM_LOCK_NOTE_SIZE],
                       gm_lock **out);

/** Is another run that lives writing the result? Takes no lock and waits for nothing, so a holder
 * that cannot be asked is taken for none.
 *  @return GM_OK; GM_E_RESULT with who, where and since when */
gm_status gm_lock_look(const char *result);

/** Remove the lock file of a run that was killed after its last point. One of a run that lives, or
 *  may live, is left. Waits for nothing. */
void gm_lock_tidy(const char *result);

/** Give it back and remove the lock file. Takes NULL. */
void gm_lock_release(gm_lock **lock);

#endif

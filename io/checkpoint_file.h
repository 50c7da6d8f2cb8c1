/** Points that a run has not finished, and how far they are: a file beside the result.
 *
 *  RESULT.checkpoint has room for two records of each point, of which the newer valid one counts,
 *  so that one is whole at any moment. It is sparse: only points that were saved take space. A
 *  record carries its point, step, kernel and a CRC-32 of all of it; one that is torn, damaged or
 *  of another kernel is as good as none. Ranks write the records of their own points. Not
 *  collective. */
#ifndef GM_IO_CHECKPOINT_FILE_H
#define GM_IO_CHECKPOINT_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

enum { GM_CHECKPOINT_LABEL_BYTES = 32 }; /* that a record takes beside its state */

/** What a file of checkpoints is for. Borrowed. */
typedef struct gm_checkpoint_shape {
    const char *sweep;       /* gm_sweep_canonical */
    const char *kernel;      /* identity of what marches on this rank */
    int64_t n_point, n_step; /* of the sweep */
    int64_t n_byte;          /* of a point's state */
} gm_checkpoint_shape;

/** A record. */
typedef struct gm_checkpoint_entry {
    int64_t point, step; /* step > 0 */
    int64_t copy;        /* 0 or 1: which of the two */
} gm_checkpoint_entry;

typedef struct gm_checkpoint_file gm_checkpoint_file;

/** Is there a file of checkpoints beside a result?
 *  @return GM_OK; GM_E_RESULT if there is something in its place that is not ours */
gm_status gm_checkpoint_file_look(const char *result, bool *there);

/** Remove it, if there is one. */
void gm_checkpoint_file_remove(const char *result);

/** Take up what is there; without a file the first write makes one.
 *  @param[out] fits  false: the file is damaged or of another sweep, and *out is NULL
 *  @return GM_OK; GM_E_IO; GM_E_MEMORY */
gm_status gm_checkpoint_file_open(const char *result, const gm_checkpoint_shape *shape, bool *fits,
                                  gm_checkpoint_file **out);
void gm_checkpoint_file_close(gm_checkpoint_file **file);

/** Records of points that the ledger calls pending: by point, the newer one first. They are not
 *  checked yet.
 *  @param[out] out  owned by the caller (free)
 *  @return GM_OK; GM_E_IO; GM_E_MEMORY */
gm_status gm_checkpoint_file_list(const gm_checkpoint_file *file, const uint8_t *status,
                                  gm_checkpoint_entry **out, int64_t *n);

/** Read a record.
 *  @param[out] state  [n_byte]
 *  @param[out] good   it is whole, undamaged, and of this kernel
 *  @return GM_OK; GM_E_IO */
gm_status gm_checkpoint_file_read(const gm_checkpoint_file *file, const gm_checkpoint_entry *entry,
                                  void *state, bool *good);

/** Write records and wait until they are on the disk.
 *  @param entry  [n] by rising point
 *  @param state  [n][n_byte]
 *  @return GM_OK; GM_E_IO; GM_E_MEMORY */
gm_status gm_checkpoint_file_write(gm_checkpoint_file *file, const gm_checkpoint_entry *entry,
                                   int64_t n, const void *state);

/** Forget the records of points, and give back their space where the file system can. */
gm_status gm_checkpoint_file_erase(gm_checkpoint_file *file, const int64_t *point, int64_t n);

/** How far the pending points of a result are. */
typedef struct gm_checkpoint_survey {
    int64_t n;           /* points with a valid record */
    int64_t least, most; /* steps done by those */
    int64_t n_step;      /* of the sweep */
} gm_checkpoint_survey;

/** For those who only look. Without a file, n is 0.
 *  @return GM_OK; GM_E_IO; GM_E_MEMORY */
gm_status gm_checkpoint_file_survey(const char *result, const uint8_t *status, int64_t n_point,
                                    gm_checkpoint_survey *out);

#endif

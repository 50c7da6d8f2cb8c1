/** Private to io: what writing with several ranks takes. */
#ifndef GM_IO_STORE_WRITE_H
#define GM_IO_STORE_WRITE_H

#include <mpi.h>
#include <stdint.h>

#include "core/status.h"

/** Bytes that one MPI-IO call moves at most; below 1 GiB. For tests. */
void gm_store_limit_piece(int64_t n_byte);

/** Collective: the first failing rank's status and message become those of all ranks. */
gm_status gm_store_agree(MPI_Comm comm, gm_status st);

/** Collective: MPI_File_open for writing and MPI_File_close, with MPI's codes. */
int gm_store_open_file(MPI_Comm comm, const char *path, MPI_File *file);
int gm_store_close_file(MPI_File *file);

/** Remove files that Open MPI makes beside PATH when it opens it, and leaves behind if it is
 * killed: it tries the file system's locks on one, and keeps two for shared file pointers, which
 * are not used here. Each rank its own. */
void gm_store_remove_litter(const char *path, int rank);

#endif

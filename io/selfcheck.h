/** Does the folder keep what several ranks write into one file? Tried before a result is made.
 *
 *  All ranks write pieces that lie between each other's into FILE.selfcheck, as they will into the
 *  result, and each reads back what another has written. Takes milliseconds. */
#ifndef GM_IO_SELFCHECK_H
#define GM_IO_SELFCHECK_H

#include <mpi.h>

#include "core/status.h"

/** Collective. The file is removed again.
 *  @param path  of the result; the same on all ranks
 *  @return GM_OK; on all ranks alike GM_E_IO with what went wrong, on which rank and host, and what
 *          to do; GM_E_MPI; GM_E_MEMORY */
gm_status gm_selfcheck_run(MPI_Comm comm, const char *path);

#endif

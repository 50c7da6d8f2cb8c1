/** HDF5 files from elsewhere are tried in a process of their own before this one opens them: on
 *  damaged files the HDF5 library itself may crash, never end or take all memory.
 *
 *  The process is this program again, `gridmarch --probe KIND FILE [DATASET]`, with limits on time
 *  and memory. It makes the same calls of the library that are made here afterwards, says nothing,
 *  and ends with 0 whatever it found in the file: what is wrong there is for the reader to say. No
 *  shell, no fork: posix_spawn copies no memory, so MPI and devices that are open are not touched.
 *  Where the program cannot be started again, files are opened without. */
#ifndef GM_IO_PROBE_H
#define GM_IO_PROBE_H

#include <stdbool.h>

#include "core/status.h"

/** The word that follows the program's name in such a process. */
#define GM_PROBE_WORD "--probe"

/** From now on files are tried. For a program whose main answers GM_PROBE_WORD with
 *  gm_probe_answer; in any other, nothing is tried. */
void gm_probe_begin(void);

/** Before a table or a result file is opened. Serial. A file that was found sound is not tried
 *  again until it changes; one that is not there is left to its reader.
 *  @param dataset  NULL: the file's only one
 *  @return GM_OK; else, with the message, GM_E_INPUT for a table and GM_E_RESULT for a result */
gm_status gm_probe_table(const char *path, const char *dataset);
gm_status gm_probe_result(const char *path);

/** This process has made the file itself: it is not tried until another writes it. */
void gm_probe_trust(const char *path);

/** What main does in the process that tries, first of all.
 *  @return exit code */
int gm_probe_answer(int argc, char **argv);

#endif

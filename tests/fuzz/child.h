/** For readers that hand their file to the HDF5 library, whose own faults are not the program's:
 *  gridmarch tries such files in a process of their own first (io/probe.h), and so do the
 * harnesses. */
#ifndef GM_TESTS_FUZZ_CHILD_H
#define GM_TESTS_FUZZ_CHILD_H

#include "fuzz.h"

/** Read a file in a child; if that lives, read it here as well, where libFuzzer sees what is
 *  reached. A fault inside a call of the HDF5 library is told on standard error and is no failure;
 *  any other ends the program. */
void gm_fuzz_guarded(void (*read_file)(const char *path, int64_t n_byte), const char *path,
                     int64_t n_byte);

#endif

/** The system's C compiler: where it is, and one run of it. No shell is involved. */
#ifndef GM_KERNELS_CPU_COMPILER_H
#define GM_KERNELS_CPU_COMPILER_H

#include <limits.h>
#include <stdbool.h>

#include "core/status.h"

enum { GM_REASON_SIZE = PATH_MAX + 64 };

/** Path of the compiler: the first word of $CC if that is set, else the first of cc, gcc and clang
 *  that lies on PATH.
 *  @param[out] reason  where there is none: what was looked for
 *  @return is there one? */
bool gm_compiler_find(char path[PATH_MAX], char reason[GM_REASON_SIZE]);

/** Run it to its end.
 *  @param argument  the vector for the program, NULL-terminated; argument[0] is its path
 *  @param scratch   folder for its own temporary files; NULL: where it likes
 *  @param[out] output  what it wrote to both its outputs, the beginning if it is very long; owned
 * by the caller (free)
 *  @return GM_OK whatever its exit code; GM_E_DEVICE if it cannot be started, crashes or takes
 * longer than the limit (it is killed); GM_E_MEMORY */
gm_status gm_compiler_run(char *const *argument, const char *scratch, int *exit_code,
                          char **output);

/** Longest that a run may take in seconds, 120 unless set: for tests. */
void gm_compiler_limit(double seconds);

#endif

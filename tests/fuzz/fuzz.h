/** What the fuzz harnesses share. Each harness is one file; it is linked with
 *  libFuzzer (where clang builds it) or with replay.c, which feeds it files. */
#ifndef GM_TESTS_FUZZ_H
#define GM_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/** Read one hostile input. Ends the program only if a reader breaks its promise. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_byte);

/** A copy with a NUL behind it, so that a sanitizer sees each byte read too far. Ends the program
 *  without memory. Free it. */
char *gm_fuzz_copy(const uint8_t *data, size_t n_byte);

/** The input as a file in $TMPDIR, else /tmp, until the next call or the end. */
const char *gm_fuzz_file(const uint8_t *data, size_t n_byte);

/** End the program, as a crash, if something does not hold. */
void gm_fuzz_check(int holds, const char *what);

#endif

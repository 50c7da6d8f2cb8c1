/* Copies and files for the harnesses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

void gm_fuzz_check(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "fuzz: does not hold: %s\n", what);
    abort();
}

char *gm_fuzz_copy(const uint8_t *data, size_t n_byte)
{
    char *copy = malloc(n_byte + 1);
    gm_fuzz_check(copy != NULL, "memory for a copy");
    if (n_byte > 0) memcpy(copy, data, n_byte);
    copy[n_byte] = '\0';
    return copy;
}

static char path[256]; /* of the last file; "" without one */

static void remove_file(void)
{
    if (path[0]) unlink(path);
}

/* A file of its own each time: readers may know files by their number. */
const char *gm_fuzz_file(const uint8_t *data, size_t n_byte)
{
    const char *folder = getenv("TMPDIR");
    if (path[0])
        unlink(path);
    else
        atexit(remove_file);
    snprintf(path, sizeof path, "%s/gridmarch_fuzz.XXXXXX", folder ? folder : "/tmp");
    const int fd = mkstemp(path);
    gm_fuzz_check(fd >= 0 && write(fd, data, n_byte) == (ssize_t)n_byte && close(fd) == 0, path);
    return path;
}

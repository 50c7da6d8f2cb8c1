/** A folder for the files of a test: made before the group of tests, removed after it. */
#ifndef GM_TESTS_SCRATCH_H
#define GM_TESTS_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[] = "/tmp/gm_test_reader.XXXXXX";
static char path[256]; /* the file under test, made by at() */

static inline char *at(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static inline void put(const char *name, const void *byte, size_t n)
{
    FILE *file = fopen(at(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(byte, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static inline void put_text(const char *name, const char *text)
{
    put(name, text, strlen(text));
}

static inline int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

#endif

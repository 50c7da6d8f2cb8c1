/* Compiled code in a file: a line of text that says what it is, then the bytes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/code.h"
#include "core/hash.h"
#include "io/plain_file.h"

#define MAGIC "gridmarch-kernel-1"

enum { MAX_BYTES = 256 << 20 };

static void hash_bytes(const gm_code *code, char hash[GM_HASH_TEXT_SIZE])
{
    gm_hash h = gm_hash_begin();
    gm_hash_add_bytes(&h, code->data, code->n_byte);
    gm_hash_format(h, hash);
}

gm_status gm_code_default_path(const char *sweep_path, const char *architecture, char **path)
{
    if (asprintf(path, "%s.%s.kernel", sweep_path, architecture) >= 0) return GM_OK;
    *path = NULL;
    return GM_FAIL(GM_E_MEMORY, "out of memory");
}

/* Nothing but an older kernel is replaced. */
static gm_status check_replaceable(const char *path)
{
    char start[sizeof MAGIC - 1];
    struct stat target;
    if (stat(path, &target) != 0 || !S_ISREG(target.st_mode) || target.st_size == 0) return GM_OK;
    FILE *file = fopen(path, "rb");
    if (!file) return GM_FAIL(GM_E_IO, "cannot read %s: %s", path, strerror(errno));
    const bool is_kernel = fread(start, 1, sizeof start, file) == sizeof start &&
                           memcmp(start, MAGIC, sizeof start) == 0;
    fclose(file);
    if (is_kernel) return GM_OK;
    return GM_FAIL(GM_E_USAGE,
                   "%s is there already and no compiled kernel: name another file, or remove it",
                   path);
}

gm_status gm_code_write(const char *path, const char *key, const gm_code *code)
{
    char hash[GM_HASH_TEXT_SIZE];
    struct stat target;
    const gm_status st = check_replaceable(path);
    if (st != GM_OK) return st;
    FILE *file = fopen(path, "wb");
    if (!file) return GM_FAIL(GM_E_IO, "cannot write %s: %s", path, strerror(errno));
    hash_bytes(code, hash);
    const bool good =
        fprintf(file, "%s %s %s %lld\n", MAGIC, key, hash, (long long)code->n_byte) > 0 &&
        fwrite(code->data, 1, (size_t)code->n_byte, file) == (size_t)code->n_byte;
    const int code_of_failure = errno;
    const bool is_file = fstat(fileno(file), &target) == 0 && S_ISREG(target.st_mode);
    if (fclose(file) == 0 && good) return GM_OK;
    if (is_file) remove(path); /* never a device */
    return GM_FAIL(GM_E_IO, "cannot write %s: %s", path, strerror(good ? errno : code_of_failure));
}

gm_status gm_code_read(const char *path, const char *key, gm_code *code)
{
    gm_status st = GM_OK;
    char of_key[GM_HASH_TEXT_SIZE], of_content[GM_HASH_TEXT_SIZE], content[GM_HASH_TEXT_SIZE];
    long long n_byte = 0;
    gm_code read = {0};
    FILE *file = NULL;
    const char *fault = gm_plain_stream(path, &file);
    if (fault) return GM_FAIL(GM_E_INPUT, "%s: %s", path, fault);
    if (fscanf(file, MAGIC " %32s %32s %lld", of_key, of_content, &n_byte) != 3 ||
        fgetc(file) != '\n' || n_byte < 1 || n_byte > MAX_BYTES) {
        st = GM_FAIL(GM_E_INPUT, "%s is no file of `gridmarch compile`", path);
        goto cleanup;
    }
    if (strcmp(of_key, key) != 0) {
        st = GM_FAIL(GM_E_INPUT,
                     "%s was compiled for another sweep, model, architecture or program version; "
                     "compile this sweep again",
                     path);
        goto cleanup;
    }
    read.n_byte = n_byte;
    read.data = malloc((size_t)n_byte);
    if (!read.data) {
        st = GM_FAIL(GM_E_MEMORY, "out of memory");
        goto cleanup;
    }
    const bool whole = fread(read.data, 1, (size_t)n_byte, file) == (size_t)n_byte;
    if (whole) hash_bytes(&read, content);
    if (!whole || strcmp(content, of_content) != 0) {
        st = GM_FAIL(GM_E_INPUT, "%s is spoilt; compile this sweep again", path);
        goto cleanup;
    }
    code->data = read.data, read.data = NULL;
    code->n_byte = read.n_byte;
cleanup:
    free(read.data);
    fclose(file);
    return st;
}

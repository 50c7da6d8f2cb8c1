/** gm_read_table: opens a file once, tells its format by its first bytes, and hands it on. */
#include "io/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/plain_file.h"
#include "io/probe.h"

void gm_table_clear(gm_table *table)
{
    free(table->value);
    *table = (gm_table){0};
}

void gm_bytes_clear(gm_bytes *bytes)
{
    free(bytes->byte);
    *bytes = (gm_bytes){0};
}

static bool ends_with(const char *path, const char *ending)
{
    size_t n = strlen(path);
    size_t n_ending = strlen(ending);
    return n > n_ending && strcasecmp(path + n - n_ending, ending) == 0;
}

/* First bytes decide; a name that promises one of the other formats keeps its reader's message. */
static gm_format format_of(const char *path, const char *start, size_t n)
{
    if (n >= 6 && memcmp(start, "\x93NUMPY", 6) == 0) return GM_FORMAT_NPY;
    if (n >= 8 && memcmp(start, "\x89HDF\r\n\x1a\n", 8) == 0) return GM_FORMAT_HDF5;
    if (ends_with(path, ".npy")) return GM_FORMAT_NPY;
    if (ends_with(path, ".h5") || ends_with(path, ".hdf5") || ends_with(path, ".nc"))
        return GM_FORMAT_HDF5;
    return GM_FORMAT_TEXT;
}

gm_status gm_file_open(gm_place named, const char *path, gm_problems *problems, int *fd,
                       gm_format *format)
{
    char start[8];
    int file = -1;
    const char *fault = gm_plain_open(path, &file);
    if (!fault) {
        ssize_t n = pread(file, start, sizeof start, 0);
        if (n < 0) fault = strerror(errno);
        if (n == 0) fault = "it is empty";
        if (n > 0) *format = format_of(path, start, (size_t)n);
    }
    if (!fault) {
        *fd = file;
        return GM_OK;
    }
    gm_problems_add(problems, named, "cannot read '%s': %s", path, fault);
    if (file >= 0) close(file);
    return GM_E_INPUT;
}

gm_status gm_file_load(int fd, const char *path, gm_problems *problems, gm_bytes *out)
{
    struct stat info;
    int64_t n = 0;
    if (fstat(fd, &info) != 0) {
        gm_problems_add(problems, (gm_place){path, 0, 0}, "cannot be read: %s", strerror(errno));
        return GM_E_INPUT;
    }
    char *byte = malloc((size_t)info.st_size + 1);
    if (!byte)
        return GM_FAIL(GM_E_MEMORY, "not enough memory for '%s' (%lld bytes)", path,
                       (long long)info.st_size);
    while (n < info.st_size) {
        ssize_t got = pread(fd, byte + n, (size_t)(info.st_size - n), n);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            gm_problems_add(problems, (gm_place){path, 0, 0},
                            "reading stopped after %lld bytes: %s", (long long)n,
                            got < 0 ? strerror(errno) : "the file has shrunk");
            free(byte);
            return GM_E_INPUT;
        }
        n += got;
    }
    byte[n] = '\0';
    *out = (gm_bytes){byte, n};
    return GM_OK;
}

gm_status gm_text_load(gm_place named, const char *path, gm_problems *problems, gm_bytes *out)
{
    gm_status st = GM_OK;
    gm_bytes bytes = {0};
    gm_format format;
    int fd = -1;
    GM_TRY(st, gm_file_open(named, path, problems, &fd, &format));
    GM_TRY(st, gm_file_load(fd, path, problems, &bytes));
    GM_TRY(st, gm_text_check(&bytes, path, problems));
    *out = bytes, bytes = (gm_bytes){0};
cleanup:
    gm_bytes_clear(&bytes);
    if (fd >= 0) close(fd);
    return st;
}

static gm_status read_open_file(int fd, gm_format format, gm_place named, const char *path,
                                const char *dataset, gm_problems *problems, gm_table *out)
{
    gm_status st = GM_OK;
    gm_bytes bytes = {0};
    if (format == GM_FORMAT_HDF5) {
        const gm_status st = gm_probe_table(path, dataset);
        if (st == GM_OK)
            return gm_table_read_hdf5(named, path, lseek(fd, 0, SEEK_END), dataset, problems, out);
        gm_problems_add(problems, named, "%s", gm_status_message());
        return st;
    }
    if (dataset) {
        gm_problems_add(problems, named, "dataset '%s' is asked for, but '%s' is not an HDF5 file",
                        dataset, path);
        return GM_E_INPUT;
    }
    GM_TRY(st, gm_file_load(fd, path, problems, &bytes));
    if (format == GM_FORMAT_NPY)
        GM_TRY(st, gm_table_read_npy(path, &bytes, problems, out));
    else
        GM_TRY(st, gm_table_read_text(path, &bytes, problems, out));
cleanup:
    gm_bytes_clear(&bytes);
    return st;
}

gm_status gm_read_table(const char *sweep_path, const gm_source *source, const char *dataset,
                        gm_problems *problems, gm_table *out)
{
    gm_status st = GM_OK;
    gm_place named = {sweep_path, source->line, source->column};
    gm_format format = GM_FORMAT_TEXT;
    int fd = -1;
    GM_TRY(st, gm_file_open(named, source->path, problems, &fd, &format));
    GM_TRY(st, read_open_file(fd, format, named, source->path, dataset, problems, out));
cleanup:
    if (fd >= 0) close(fd);
    return st == GM_E_INPUT ? gm_problems_status(problems) : st;
}

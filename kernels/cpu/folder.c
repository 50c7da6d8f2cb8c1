#include "kernels/cpu/folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N_OPEN = 8 }; /* descriptors that removing may use */

static bool make_in(const char *parent, gm_folder *folder)
{
    const int n = snprintf(folder->path, sizeof folder->path, "%s/gridmarch.XXXXXX", parent);
    if (n < (int)sizeof folder->path && mkdtemp(folder->path)) return true;
    folder->path[0] = '\0';
    return false;
}

gm_status gm_folder_create(gm_folder *folder)
{
    const char *wish = getenv("TMPDIR");
    if (wish && wish[0] == '/' && make_in(wish, folder)) return GM_OK;
    if (make_in("/tmp", folder)) return GM_OK;
    return GM_FAIL(GM_E_IO, "cannot make a temporary folder in %s%s/tmp: %s (TMPDIR names another)",
                   wish ? wish : "", wish ? " or " : "", strerror(errno));
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info, (void)kind, (void)place;
    remove(path);
    return 0;
}

void gm_folder_remove(gm_folder *folder)
{
    if (folder->path[0]) nftw(folder->path, remove_one, N_OPEN, FTW_DEPTH | FTW_PHYS);
    folder->path[0] = '\0';
}

/* Full path of a file of the folder. */
static gm_status locate(const gm_folder *folder, const char *name, char path[PATH_MAX])
{
    if (snprintf(path, PATH_MAX, "%s/%s", folder->path, name) < PATH_MAX) return GM_OK;
    return GM_FAIL(GM_E_IO, "the path of the temporary folder is too long: %s", folder->path);
}

gm_status gm_folder_write(const gm_folder *folder, const char *name, const void *data,
                          size_t n_byte)
{
    char path[PATH_MAX];
    gm_status st = locate(folder, name, path);
    if (st != GM_OK) return st;
    char *part = path + strlen(folder->path) + 1;
    for (char *end = strchr(part, '/'); end; end = strchr(end + 1, '/')) {
        *end = '\0';
        mkdir(path, 0700);
        *end = '/';
    }
    FILE *file = fopen(path, "wxe");
    bool whole = file && fwrite(data, 1, n_byte, file) == n_byte;
    if (file) whole = fclose(file) == 0 && whole;
    return whole ? GM_OK : GM_FAIL(GM_E_IO, "cannot write %s: %s", path, strerror(errno));
}

gm_status gm_folder_read(const gm_folder *folder, const char *name, void **data, int64_t *n_byte)
{
    char path[PATH_MAX];
    struct stat info;
    gm_status st = locate(folder, name, path);
    if (st != GM_OK) return st;
    FILE *file = fopen(path, "re");
    if (!file || fstat(fileno(file), &info) != 0) {
        st = GM_FAIL(GM_E_IO, "cannot read %s: %s", path, strerror(errno));
        goto cleanup;
    }
    *data = malloc((size_t)info.st_size + 1);
    *n_byte = info.st_size;
    if (!*data)
        st = GM_FAIL(GM_E_MEMORY, "out of memory");
    else if (fread(*data, 1, (size_t)info.st_size, file) != (size_t)info.st_size)
        st = GM_FAIL(GM_E_IO, "cannot read %s", path);
    if (st != GM_OK) {
        free(*data);
        *data = NULL;
    }
cleanup:
    if (file) fclose(file);
    return st;
}

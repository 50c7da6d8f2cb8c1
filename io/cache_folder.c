#include "io/cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ABANDONED_AFTER = 3600 }; /* s; no writer takes as long */

bool gm_cache_is_key(const char *name)
{
    return strlen(name) == GM_CACHE_KEY_LENGTH &&
           strspn(name, "0123456789abcdef") == GM_CACHE_KEY_LENGTH;
}

/* --- finding it ----------------------------------------------------------------------------------
 */

/* As the XDG base directory specification says: paths that are not absolute do not count. */
static bool find_path(char path[PATH_MAX])
{
    const char *base = getenv("XDG_CACHE_HOME");
    const char *below = "/gridmarch";
    if (!base || base[0] != '/') {
        base = getenv("HOME");
        below = "/.cache/gridmarch";
    }
    if (!base || base[0] != '/') return false;
    return snprintf(path, PATH_MAX, "%s%s", base, below) < PATH_MAX;
}

/* Make a folder and those above it; what is there stays as it is. */
static void make_folders(const char *path)
{
    char part[PATH_MAX];
    for (const char *end = strchr(path + 1, '/'); end; end = strchr(end + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(end - path), path);
        mkdir(part, 0700);
    }
    mkdir(path, 0700);
}

/* Code is loaded from here: whoever else could write here could run as this user. */
static bool is_private(int folder)
{
    struct stat info;
    return fstat(folder, &info) == 0 && info.st_uid == geteuid() &&
           (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

int gm_cache_folder_open(bool make)
{
    char path[PATH_MAX];
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    if (!find_path(path)) return -1;
    int folder = open(path, flags);
    if (folder < 0 && errno == ENOENT && make) {
        make_folders(path);
        folder = open(path, flags);
    }
    if (folder >= 0 && !is_private(folder)) {
        close(folder);
        folder = -1;
    }
    return folder;
}

/* --- keeping it small ----------------------------------------------------------------------------
 */

typedef struct entry {
    char name[GM_CACHE_KEY_LENGTH + 1];
    int64_t n_byte;
    struct timespec read; /* last time */
} entry;

typedef struct entries {
    entry *list; /* owned [n] */
    size_t n, capacity;
    int64_t n_byte;
} entries;

static int older_first(const void *a, const void *b)
{
    const struct timespec *x = &((const entry *)a)->read, *y = &((const entry *)b)->read;
    if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static void add(entries *all, const char *name, const struct stat *info)
{
    if (all->n == all->capacity) {
        const size_t capacity = all->capacity ? 2 * all->capacity : 64;
        entry *list = realloc(all->list, capacity * sizeof *list);
        if (!list) return; /* trimmed another time */
        all->list = list;
        all->capacity = capacity;
    }
    entry *e = &all->list[all->n++];
    memcpy(e->name, name, sizeof e->name); /* a key, so it fits */
    e->n_byte = info->st_size;
    e->read = info->st_mtim;
    all->n_byte += e->n_byte;
}

/* Take stock of one name in the folder. Names that are not the cache's are left alone. */
static void look_at(int folder, const char *name, time_t now, entries *all)
{
    struct stat info;
    const bool temporary = !strncmp(name, GM_CACHE_TEMPORARY, strlen(GM_CACHE_TEMPORARY));
    if (!temporary && !gm_cache_is_key(name)) return;
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return; /* gone meanwhile */
    if (!temporary)
        add(all, name, &info);
    else if (now - info.st_mtim.tv_sec > ABANDONED_AFTER)
        unlinkat(folder, name, 0);
}

void gm_cache_folder_trim(int folder, int64_t n_byte)
{
    entries all = {0};
    const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = copy >= 0 ? fdopendir(copy) : NULL;
    if (!names) {
        if (copy >= 0) close(copy);
        return;
    }
    const time_t now = time(NULL);
    for (struct dirent *d = readdir(names); d; d = readdir(names))
        look_at(folder, d->d_name, now, &all);
    closedir(names);
    if (all.n > 1) qsort(all.list, all.n, sizeof *all.list, older_first);
    for (size_t i = 0; i < all.n && all.n_byte > n_byte; i++) {
        unlinkat(folder, all.list[i].name, 0);
        all.n_byte -= all.list[i].n_byte;
    }
    free(all.list);
}

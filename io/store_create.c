/* Creation of a result file: built and filled under a temporary name, on the disk before it gets
 * its own. So whoever finds the final name finds a whole file.
 *
 * HDF5 writes the metadata into a file in memory, whose variables are holes. It is copied to the
 * disk here, where a full disk is an ordinary error (HDF5 crashes after one). */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/fault.h"
#include "probe.h"
#include "store_metadata.h"
#include "store_space.h"

static gm_status refuse_existing(const char *path, bool replace)
{
    struct stat info;
    if (lstat(path, &info) != 0) return GM_OK; /* other reasons than absence show on creating */
    if (S_ISDIR(info.st_mode)) return GM_FAIL(GM_E_IO, "cannot write '%s': is a folder", path);
    if (!replace) return GM_FAIL(GM_E_RESULT, "'%s' exists", path);
    return GM_OK;
}

static gm_status being_created(const char *path)
{
    return GM_FAIL(GM_E_IO, "cannot create '%s': another program is creating it", path);
}

/* Mark an open file as ours while we build it. False only if another program has it so marked: file
 * systems without locks hinder no one. */
static bool claim(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
}

/* What an interrupted creation left, unless a program is still at it. */
static gm_status remove_stale(const char *path, const char *partial)
{
    const int fd = open(partial, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    const bool stale = fd < 0 || claim(fd);
    if (stale && unlink(partial) != 0 && errno != ENOENT) {
        const int code = errno;
        if (fd >= 0) close(fd);
        return GM_FAIL(GM_E_IO, "cannot remove the unfinished '%s': %s", partial,
                       gm_posix_cause(code));
    }
    if (fd >= 0) close(fd);
    return stale ? GM_OK : being_created(path);
}

static gm_status open_partial(const char *path, const char *partial, int *fd)
{
    gm_status st = remove_stale(path, partial);
    if (st != GM_OK) return st;
    *fd = open(partial, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (*fd >= 0) return claim(*fd) ? GM_OK : being_created(path);
    if (errno == EEXIST) return being_created(path);
    return GM_FAIL(GM_E_IO, "cannot create '%s': %s", path,
                   errno == ENOENT ? "no such folder" : gm_posix_cause(errno));
}

/* Does the name still lead to the file we opened? Not if another program removed it as stale. */
static bool is_ours(int fd, const char *partial)
{
    struct stat by_fd, by_name;
    return fstat(fd, &by_fd) == 0 && stat(partial, &by_name) == 0 &&
           by_fd.st_dev == by_name.st_dev && by_fd.st_ino == by_name.st_ino;
}

static gm_status publish(int fd, const char *partial, const char *path, bool replace)
{
    errno = EIO;
    if (gm_fault(GM_FAULT_SYNC) || fsync(fd) != 0)
        return GM_FAIL(GM_E_IO, "cannot save '%s': %s", path, gm_posix_cause(errno));
    if (!is_ours(fd, partial)) return being_created(path);
    gm_status st = refuse_existing(path, replace); /* filling may have taken minutes */
    if (st != GM_OK) return st;
    if (rename(partial, path) != 0)
        return GM_FAIL(GM_E_IO, "cannot create '%s': %s", path, gm_posix_cause(errno));
    return GM_OK;
}

/* At least what the file will need, by little: a full disk is better found before the work. */
static int64_t upper_bound(const gm_layout *layout, const gm_attribute *attribute, int n_attribute)
{
    int64_t n_byte = 1 << 20;
    for (int i = 0; i < layout->n_variable; i++)
        n_byte += layout->n_point * layout->variable[i].row_bytes + (16 << 10);
    for (int i = 0; i < layout->n_coordinate; i++) {
        const gm_coordinate *c = &layout->coordinate[i];
        n_byte += 16 * c->n;
        for (int64_t k = 0; c->text != NULL && k < c->n; k++)
            n_byte += 64 + (int64_t)strlen(c->text[k]);
    }
    for (int i = 0; i < n_attribute; i++) n_byte += 2 * (int64_t)strlen(attribute[i].value);
    return n_byte;
}

static gm_status open_memory(const char *path, int *fd)
{
    *fd = (int)syscall(SYS_memfd_create, "gridmarch", MFD_CLOEXEC);
    if (*fd < 0) { /* an old kernel */
        char name[] = "/dev/shm/gridmarch.XXXXXX";
        *fd = mkostemp(name, O_CLOEXEC);
        if (*fd >= 0) unlink(name);
    }
    if (*fd >= 0) return GM_OK;
    return GM_FAIL(GM_E_MEMORY, "cannot build '%s' in memory: %s", path, gm_posix_cause(errno));
}

static gm_status copy_data(int from, int to, const char *path)
{
    gm_status st = GM_OK;
    char buffer[1 << 14];
    off_t at = 0;
    while ((at = lseek(from, at, SEEK_DATA)) >= 0) {
        const off_t end = lseek(from, at, SEEK_HOLE);
        while (at < end) {
            const size_t n = end - at < (off_t)sizeof buffer ? (size_t)(end - at) : sizeof buffer;
            const ssize_t n_read = pread(from, buffer, n, at);
            if (n_read <= 0) return GM_FAIL(GM_E_IO, "cannot copy into '%s'", path);
            GM_TRY(st, gm_space_write(to, path, buffer, n_read, at));
            at += n_read;
        }
    }
    if (errno != ENXIO) /* that one says: nothing but a hole up to the end */
        st = GM_FAIL(GM_E_IO, "cannot copy into '%s': %s", path, gm_posix_cause(errno));
cleanup:
    return st;
}

/* @param[out] region  [layout->n_variable + 1] */
static gm_status write_metadata(int fd, const char *partial, const char *path,
                                const gm_layout *layout, const gm_attribute *attribute,
                                int n_attribute, gm_region *region)
{
    gm_status st = GM_OK;
    int memory = -1;
    struct stat info;
    GM_TRY(st, open_memory(path, &memory));
    GM_TRY(st,
           gm_store_write_metadata(partial, path, memory, layout, attribute, n_attribute, region));
    if (fstat(memory, &info) != 0) {
        st = GM_FAIL(GM_E_IO, "cannot create '%s': %s", path, gm_posix_cause(errno));
        goto cleanup;
    }
    GM_TRY(st, gm_space_reserve(fd, path, info.st_size));
    GM_TRY(st, copy_data(memory, fd, path));
cleanup:
    if (memory >= 0) close(memory);
    return st;
}

struct gm_creation {
    char *path, *partial; /* owned */
    bool replace;
    int fd; /* of partial; -1: none */
    int n_region;
    gm_region *region; /* owned */
};

static void creation_free(gm_creation *c)
{
    if (c == NULL) return;
    if (c->fd >= 0) close(c->fd);
    free(c->path);
    free(c->partial);
    free(c->region);
    free(c);
}

gm_status gm_store_begin(const char *path, const gm_layout *layout, const gm_attribute *attribute,
                         int n_attribute, bool replace, gm_creation **out)
{
    gm_status st = GM_OK;
    gm_creation *c = calloc(1, sizeof *c);
    *out = NULL;
    if (c != NULL) {
        c->fd = -1;
        c->replace = replace;
        c->n_region = layout->n_variable + 1;
        c->path = strdup(path);
        c->region = calloc((size_t)c->n_region, sizeof *c->region);
        if (asprintf(&c->partial, "%s.partial", path) < 0) c->partial = NULL;
    }
    if (c == NULL || !c->path || !c->region || !c->partial) {
        st = GM_FAIL(GM_E_MEMORY, "not enough memory to create '%s'", path);
        goto cleanup;
    }
    GM_TRY(st, refuse_existing(path, replace));
    GM_TRY(st, open_partial(path, c->partial, &c->fd));
    GM_TRY(st, gm_space_reserve(c->fd, path, upper_bound(layout, attribute, n_attribute)));
    GM_TRY(st, write_metadata(c->fd, c->partial, path, layout, attribute, n_attribute, c->region));
    *out = c, c = NULL;
cleanup:
    gm_store_abandon(&c);
    return st;
}

const gm_region *gm_creation_regions(const gm_creation *creation, int *n_region)
{
    *n_region = creation->n_region;
    return creation->region;
}

gm_status gm_store_publish(gm_creation **creation)
{
    gm_creation *c = *creation;
    gm_status st = publish(c->fd, c->partial, c->path, c->replace);
    if (st != GM_OK) {
        gm_store_abandon(creation);
        return st;
    }
    st = gm_space_sync_folder(c->path);
    gm_probe_trust(c->path);
    creation_free(c);
    *creation = NULL;
    return st;
}

void gm_store_abandon(gm_creation **creation)
{
    gm_creation *c = *creation;
    if (c != NULL && c->fd >= 0 && c->partial && is_ours(c->fd, c->partial)) unlink(c->partial);
    creation_free(c);
    *creation = NULL;
}

/* Space on the disk: how much is free, and claiming it. */
#include "store_space.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/fault.h"
#include "store.h"

const char *gm_posix_cause(int code)
{
    switch (code) {
    case ENOSPC: return "no space left on device";
    case EDQUOT: return "disk quota exceeded";
    case EFBIG: return "larger than the limit on file sizes (see ulimit -f)";
    case EACCES:
    case EPERM: return "permission denied";
    case EROFS: return "the file system is read-only";
    case EIO: return "the device reports an input/output error";
    case ENOENT: return "no such file or folder";
    case ENOTDIR: return "a part of the path is not a folder";
    case EISDIR: return "is a folder";
    case ESTALE: return "the file server no longer knows this file";
    default: return strerror(code);
    }
}

char *gm_space_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) return strdup(".");
    if (slash == path) return strdup("/");
    return strndup(path, (size_t)(slash - path));
}

gm_status gm_space_sync_folder(const char *path)
{
    gm_status st = GM_OK;
    char *folder = gm_space_folder(path);
    if (folder == NULL) return GM_FAIL(GM_E_MEMORY, "not enough memory for a file name");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && fsync(fd) != 0 && errno == EIO)
        st = GM_FAIL(GM_E_IO, "cannot save the folder '%s': %s", folder, gm_posix_cause(errno));
    if (fd >= 0) close(fd);
    free(folder);
    return st;
}

gm_status gm_store_free_space(const char *path, int64_t *n_byte)
{
    gm_status st = GM_OK;
    struct stat info;
    struct statvfs space;
    char *folder = gm_space_folder(path);
    if (folder == NULL) return GM_FAIL(GM_E_MEMORY, "not enough memory for a file name");

    if (stat(folder, &info) != 0) {
        st = GM_FAIL(GM_E_IO, "cannot write '%s': folder '%s': %s", path, folder,
                     errno == ENOENT ? "no such folder" : gm_posix_cause(errno));
    } else if (!S_ISDIR(info.st_mode)) {
        st = GM_FAIL(GM_E_IO, "cannot write '%s': '%s' is not a folder", path, folder);
    } else if (access(folder, W_OK | X_OK) != 0) {
        st = GM_FAIL(GM_E_IO, "cannot write '%s': folder '%s' is not writable: %s", path, folder,
                     gm_posix_cause(errno));
    } else if (statvfs(folder, &space) != 0) {
        st = GM_FAIL(GM_E_IO, "cannot tell the free space of folder '%s': %s", folder,
                     gm_posix_cause(errno));
    } else if (__builtin_mul_overflow(space.f_bavail, space.f_frsize, n_byte)) {
        *n_byte = INT64_MAX;
    }
    free(folder);
    return st;
}

/* In memory, reserving sets every page to zero: as long as writing them, which is to follow. */
static bool is_in_memory(int fd)
{
    struct statfs info;
    return fstatfs(fd, &info) == 0 && info.f_type == TMPFS_MAGIC;
}

gm_status gm_space_reserve(int fd, const char *path, int64_t n_byte)
{
    int code = ftruncate(fd, n_byte) == 0 ? 0 : errno;
    if (code == 0 && !is_in_memory(fd)) {
        int refused = 0;
        do {
            refused = fallocate(fd, 0, 0, n_byte);
        } while (refused != 0 && errno == EINTR);
        if (refused != 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)) code = errno;
    }
    if (code == 0) return GM_OK;
    return GM_FAIL(GM_E_IO, "cannot create '%s' of %lld bytes: %s", path, (long long)n_byte,
                   gm_posix_cause(code));
}

gm_status gm_space_write(int fd, const char *path, const void *value, int64_t n_byte,
                         int64_t offset)
{
    for (int64_t done = 0; done < n_byte;) {
        ssize_t n = -1;
        errno = ENOSPC;
        if (!gm_fault(GM_FAULT_WRITE))
            n = pwrite(fd, (const char *)value + done, (size_t)(n_byte - done), offset + done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            return GM_FAIL(GM_E_IO, "cannot write '%s': %s", path,
                           gm_posix_cause(n < 0 ? errno : ENOSPC));
        done += n;
    }
    return GM_OK;
}

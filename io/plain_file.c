#include "io/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* O_NONBLOCK: opening a pipe that nobody writes to must not hang. */
const char *gm_plain_open(const char *path, int *fd)
{
    struct stat info;
    const char *fault = NULL;
    *fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (*fd < 0 || fstat(*fd, &info) != 0)
        fault = strerror(errno);
    else if (S_ISDIR(info.st_mode))
        fault = "it is a folder";
    else if (!S_ISREG(info.st_mode))
        fault = "it is not a regular file";
    if (fault && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    return fault;
}

const char *gm_plain_stream(const char *path, FILE **stream)
{
    int fd = -1;
    const char *fault = gm_plain_open(path, &fd);
    *stream = NULL;
    if (fault) return fault;
    *stream = fdopen(fd, "rb");
    if (*stream) return NULL;
    fault = strerror(errno);
    close(fd);
    return fault;
}

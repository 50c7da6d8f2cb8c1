/* Taking, keeping and giving back a lock file. */
#include "io/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/thread.h"
#include "io/lock_holder.h"
#include "io/store_space.h"

enum { WHO_SIZE = 4 * GM_HOLDER_TEXT + 64, TRIES = 10 };

struct gm_lock {
    char *path; /* owned */
    int fd;
    bool beats;
    pthread_t heart;
    pthread_mutex_t guard;
    pthread_cond_t wake;
    bool ends; /* under guard */
};

static gm_status refuse(const char *result, const gm_holder *holder)
{
    char who[WHO_SIZE];
    gm_holder_name(holder, who, sizeof who);
    if (!holder->host[0]) return GM_FAIL(GM_E_RESULT, "%s is being written by another run", result);
    return GM_FAIL(GM_E_RESULT,
                   "%s is being written by another run (%s): wait for it, or end it first", result,
                   who);
}

typedef enum { TAKEN, HELD, NO_LOCKS } attempt;

static attempt try_lock(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    errno = ENOLCK;
    if (!gm_fault(GM_FAULT_LOCK) && fcntl(fd, F_OFD_SETLK, &lock) == 0) return TAKEN;
    return errno == EAGAIN || errno == EACCES ? HELD : NO_LOCKS;
}

/* Does the name still lead to the file that was opened? Not if its holder has just removed it. */
static bool is_current(int fd, const char *path)
{
    struct stat by_fd, by_name;
    return fstat(fd, &by_fd) == 0 && stat(path, &by_name) == 0 && by_fd.st_dev == by_name.st_dev &&
           by_fd.st_ino == by_name.st_ino;
}

/* Not so if it is someone's own file that has the name by chance, or a pipe. */
static bool is_empty(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0;
}

/* Without locks two runs may have written their record at once: the later one stands. */
static bool record_stands(int fd, const gm_holder *self)
{
    const struct timespec nap = {0, 300000000L};
    gm_holder now;
    nanosleep(&nap, NULL);
    return gm_holder_read(fd, &now) && strcmp(now.place, self->place) == 0 &&
           strcmp(now.pid, self->pid) == 0;
}

/* Decide about an open lock file. On GM_OK it is ours. */
static gm_status contend(int fd, const char *path, const char *result, bool take_over, char *note)
{
    gm_holder self, holder;
    char who[WHO_SIZE];
    const attempt got = try_lock(fd);
    const bool has_holder = gm_holder_read(fd, &holder);
    gm_holder_self(&self);
    if (got == HELD) return refuse(result, &holder);
    if (!has_holder && !is_empty(fd))
        return GM_FAIL(GM_E_RESULT,
                       "'%s' is in the place where a run keeps its lock, and is none: rename it",
                       path);
    if (got == NO_LOCKS)
        snprintf(note, GM_LOCK_NOTE_SIZE,
                 "the file system of %.200s has no locks: another run of it is noticed by its lock "
                 "file alone",
                 result);
    if (has_holder) {
        gm_holder_life alive = gm_holder_ask(&holder, &self, fd);
        if (alive == GM_HOLDER_UNKNOWN && !take_over) alive = gm_holder_watch(path);
        if (alive == GM_HOLDER_ALIVE) return refuse(result, &holder);
        gm_holder_name(&holder, who, sizeof who);
        snprintf(note, GM_LOCK_NOTE_SIZE,
                 "taking over from a run that did not end in order (%.400s)", who);
    }
    if (!gm_holder_write(fd, &self))
        return GM_FAIL(GM_E_IO, "cannot write the lock file of '%s': %s", result,
                       gm_posix_cause(errno));
    if (got == NO_LOCKS && !record_stands(fd, &self)) {
        gm_holder_read(fd, &holder);
        return refuse(result, &holder);
    }
    return GM_OK;
}

/* The holder's signs of life. No signal is handled here. */
static void *beat(void *argument)
{
    gm_lock *lock = argument;
    struct timespec until;
    pthread_mutex_lock(&lock->guard);
    while (!lock->ends) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += GM_HOLDER_BEAT_SECONDS;
        pthread_cond_timedwait(&lock->wake, &lock->guard, &until);
        if (!lock->ends) futimens(lock->fd, NULL);
    }
    pthread_mutex_unlock(&lock->guard);
    return NULL;
}

static void start_beating(gm_lock *lock)
{
    pthread_mutex_init(&lock->guard, NULL);
    pthread_cond_init(&lock->wake, NULL);
    lock->beats = gm_thread_start(&lock->heart, beat, lock);
}

/* Open and contend until the file is neither removed by its holder meanwhile, nor ours by mistake.
 */
static gm_status open_and_contend(const char *path, const char *result, bool take_over, char *note,
                                  int *fd)
{
    for (int i = 0; i < TRIES; i++) {
        *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0666);
        if (*fd < 0) {
            snprintf(
                note, GM_LOCK_NOTE_SIZE,
                "cannot make the lock file %.200s (%s): another run of this result would not be "
                "noticed",
                path, gm_posix_cause(errno));
            return GM_OK;
        }
        note[0] = '\0';
        const gm_status st = contend(*fd, path, result, take_over, note);
        if (is_current(*fd, path)) return st;
        close(*fd);
        *fd = -1;
    }
    return GM_FAIL(GM_E_RESULT, "%s is being written by other runs, which come and go", result);
}

gm_status gm_lock_take(const char *result, bool take_over, char note[GM_LOCK_NOTE_SIZE],
                       gm_lock **out)
{
    gm_status st = GM_OK;
    gm_lock *lock = calloc(1, sizeof *lock);
    *out = NULL;
    note[0] = '\0';
    if (lock) lock->fd = -1;
    if (!lock || asprintf(&lock->path, "%s.lock", result) < 0) {
        free(lock);
        return GM_FAIL(GM_E_MEMORY, "out of memory");
    }
    GM_TRY(st, open_and_contend(lock->path, result, take_over, note, &lock->fd));
    if (lock->fd < 0) goto cleanup;
    start_beating(lock);
    *out = lock, lock = NULL;
cleanup:
    if (lock) {
        if (lock->fd >= 0) close(lock->fd);
        free(lock->path);
        free(lock);
    }
    return st;
}

static bool is_held(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

gm_status gm_lock_look(const char *result)
{
    gm_status st = GM_OK;
    char *path = NULL;
    gm_holder self, holder;
    if (asprintf(&path, "%s.lock", result) < 0) return GM_FAIL(GM_E_MEMORY, "out of memory");
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd >= 0) {
        const bool held = is_held(fd);
        const bool has_holder = gm_holder_read(fd, &holder);
        gm_holder_self(&self);
        if (held || (has_holder && gm_holder_ask(&holder, &self, fd) == GM_HOLDER_ALIVE))
            st = refuse(result, &holder);
        close(fd);
    }
    free(path);
    return st;
}

void gm_lock_tidy(const char *result)
{
    char *path = NULL;
    gm_holder self, holder;
    if (asprintf(&path, "%s.lock", result) < 0) return;
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd >= 0 && try_lock(fd) != HELD && gm_holder_read(fd, &holder)) {
        gm_holder_self(&self);
        if (gm_holder_ask(&holder, &self, fd) == GM_HOLDER_DEAD && is_current(fd, path))
            unlink(path);
    }
    if (fd >= 0) close(fd);
    free(path);
}

void gm_lock_release(gm_lock **lock)
{
    gm_lock *l = *lock;
    if (!l) return;
    if (l->beats) {
        pthread_mutex_lock(&l->guard);
        l->ends = true;
        pthread_cond_signal(&l->wake);
        pthread_mutex_unlock(&l->guard);
        pthread_join(l->heart, NULL);
    }
    pthread_cond_destroy(&l->wake);
    pthread_mutex_destroy(&l->guard);
    if (is_current(l->fd, l->path)) unlink(l->path);
    close(l->fd);
    free(l->path);
    free(l);
    *lock = NULL;
}

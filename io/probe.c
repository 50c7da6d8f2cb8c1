/* The parent's side: start the child, wait for its end, and put its end into words. */
#include "io/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/alive.h"
#include "core/child.h"
#include "core/clock.h"
#include "io/probe_limit.h"

enum { MAX_KNOWN = 16, SLICE_MS = 1000 };

/* Files that are sound. One that changes is another. */
typedef struct known {
    dev_t device;
    ino_t number;
    off_t n_byte;
    struct timespec changed;
} known;

static bool is_begun;
static known sound[MAX_KNOWN];
static int n_sound; /* ever noted: the oldest is given up */

static bool is_sound(const struct stat *info)
{
    for (int i = 0; i < n_sound && i < MAX_KNOWN; i++) {
        const known *k = &sound[i];
        if (k->device == info->st_dev && k->number == info->st_ino && k->n_byte == info->st_size &&
            k->changed.tv_sec == info->st_mtim.tv_sec &&
            k->changed.tv_nsec == info->st_mtim.tv_nsec)
            return true;
    }
    return false;
}

static void note_sound(const struct stat *info)
{
    sound[n_sound++ % MAX_KNOWN] =
        (known){info->st_dev, info->st_ino, info->st_size, info->st_mtim};
}

void gm_probe_begin(void)
{
    is_begun = true;
}

void gm_probe_trust(const char *path)
{
    struct stat info;
    if (is_begun && stat(path, &info) == 0) note_sound(&info);
}

/* False when time is up.
 * @param[out] has_begun  it was this program, and not something that starts programs */
static bool wait_for_end(int input, double seconds, bool *has_begun)
{
    char sign = 0;
    const double last = gm_clock_seconds() + seconds;
    struct pollfd end = {.fd = input, .events = POLLIN};
    for (;;) {
        gm_alive_mark(NULL);
        if (poll(&end, 1, SLICE_MS) > 0) {
            if (read(input, &sign, 1) <= 0) return true;
            *has_begun = true;
        }
        if (gm_clock_seconds() >= last) return false;
    }
}

typedef enum { SURVIVED, CRASHED, TOO_LONG } verdict;

/* Of a child's end. Signals that are meant for the whole job (Ctrl-C) say nothing of the file. */
static verdict judge(int state)
{
    static const int of_a_fault[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGKILL, SIGTRAP};
    if (WIFEXITED(state)) return WEXITSTATUS(state) == 0 ? SURVIVED : CRASHED;
    const int number = WTERMSIG(state);
    if (number == SIGXCPU || number == SIGALRM) return TOO_LONG;
    for (size_t i = 0; i < sizeof of_a_fault / sizeof *of_a_fault; i++)
        if (number == of_a_fault[i]) return CRASHED;
    return SURVIVED;
}

/* The child writes one byte to its standard output, as it begins; that it closes tells of its end.
 * What cannot be tried counts as survived. */
static verdict try(char *const *argument, double seconds)
{
    int end[2];
    int state = 0;
    pid_t child = -1;
    bool has_begun = false;
    if (pipe2(end, O_CLOEXEC) != 0) return SURVIVED;
    const gm_child wanted = {"/proc/self/exe", argument, environ, end[1], -1, false};
    const int fault = gm_child_start(&wanted, &child);
    close(end[1]);
    const bool is_late = fault == 0 && !wait_for_end(end[0], seconds, &has_begun);
    close(end[0]);
    if (fault != 0) return SURVIVED;
    if (is_late) kill(child, SIGKILL);
    while (waitpid(child, &state, 0) < 0)
        if (errno != EINTR) return SURVIVED;
    if (!has_begun) return SURVIVED;
    return is_late ? TOO_LONG : judge(state);
}

static gm_status probe(const char *path, char *const *argument, gm_status status,
                       const char *remedy)
{
    struct stat info;
    if (!is_begun || stat(path, &info) != 0 || !S_ISREG(info.st_mode) || is_sound(&info))
        return GM_OK;
    const int seconds = gm_probe_seconds(info.st_size);
    switch (try(argument, seconds)) {
    case CRASHED:
        return GM_FAIL(status, "'%s' is damaged: reading it crashes the HDF5 library; %s", path,
                       remedy);
    case TOO_LONG:
        return GM_FAIL(status,
                       "'%s' is damaged, or its disk does not answer: the HDF5 library does not "
                       "get done with it in %d s; %s",
                       path, seconds, remedy);
    case SURVIVED: break;
    }
    note_sound(&info);
    return GM_OK;
}

gm_status gm_probe_table(const char *path, const char *dataset)
{
    char *const argument[] = {"gridmarch",  GM_PROBE_WORD,   "table",
                              (char *)path, (char *)dataset, NULL};
    return probe(path, argument, GM_E_INPUT, "save it again, or get it again from where it came");
}

gm_status gm_probe_result(const char *path)
{
    char *const argument[] = {"gridmarch", GM_PROBE_WORD, "result", (char *)path, NULL};
    return probe(path, argument, GM_E_RESULT,
                 "take a copy from before, or move it away and compute it again");
}

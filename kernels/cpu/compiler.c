#include "kernels/cpu/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/child.h"
#include "core/clock.h"

enum { OUTPUT_SIZE = 1 << 17, NAP_MS = 2 };

static const char *const usual_names[] = {"cc", "gcc", "clang"};
static double limit = 120; /* s */

void gm_compiler_limit(double seconds)
{
    limit = seconds;
}

/* --- finding it ----------------------------------------------------------------------------------
 */

static bool is_program(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

/* Entries of PATH that depend on the working folder are passed over. */
static bool find_on_path(const char *name, char path[PATH_MAX])
{
    const char *next = getenv("PATH");
    while (next && *next) {
        const int n = (int)strcspn(next, ":");
        if (next[0] == '/' && snprintf(path, PATH_MAX, "%.*s/%s", n, next, name) < PATH_MAX &&
            is_program(path))
            return true;
        next += n + (next[n] == ':');
    }
    return false;
}

bool gm_compiler_find(char path[PATH_MAX], char reason[GM_REASON_SIZE])
{
    char name[PATH_MAX];
    const char *wish = getenv("CC");
    wish = wish ? wish + strspn(wish, " \t") : "";
    for (size_t i = 0; !wish[0] && i < sizeof usual_names / sizeof *usual_names; i++)
        if (find_on_path(usual_names[i], path)) return true;
    if (!wish[0]) {
        snprintf(reason, GM_REASON_SIZE, "none of cc, gcc and clang is on PATH");
        return false;
    }
    snprintf(name, sizeof name, "%.*s", (int)strcspn(wish, " \t"), wish);
    const bool is_path = strchr(name, '/') != NULL;
    if (is_path) memcpy(path, name, sizeof name);
    if (is_path ? is_program(path) : find_on_path(name, path)) return true;
    snprintf(reason, GM_REASON_SIZE, "CC names \"%s\", which is %s", name,
             is_path ? "no program" : "not on PATH");
    return false;
}

/* --- running it ----------------------------------------------------------------------------------
 */

static bool sets(const char *variable, const char *name)
{
    const size_t n = strlen(name);
    return !strncmp(variable, name, n) && variable[n] == '=';
}

/* This process's environment, with messages in English; scratch_setting ("TMPDIR=...", or NULL)
 * replaces its like. Borrows all texts. */
static char **make_environment(char *scratch_setting)
{
    static char english[] = "LC_ALL=C";
    size_t n = 0, kept = 0;
    while (environ[n]) n++;
    char **list = calloc(n + 3, sizeof *list);
    if (!list) return NULL;
    list[kept++] = english;
    if (scratch_setting) list[kept++] = scratch_setting;
    for (size_t i = 0; i < n; i++)
        if (!sets(environ[i], "LC_ALL") && !sets(environ[i], "LANGUAGE") &&
            !(scratch_setting && sets(environ[i], "TMPDIR")))
            list[kept++] = environ[i];
    return list;
}

/* Read until all writers are gone; what does not fit is dropped. False when time is up. */
static bool drain(int input, double deadline, char text[OUTPUT_SIZE])
{
    size_t n = 0;
    char rest[4096];
    for (;;) {
        const double left = deadline - gm_clock_seconds();
        struct pollfd ready = {.fd = input, .events = POLLIN};
        if (left <= 0) return false;
        if (poll(&ready, 1, (int)(left * 1e3) + 1) <= 0) continue;
        const bool fits = n + 1 < OUTPUT_SIZE;
        const ssize_t got =
            fits ? read(input, text + n, OUTPUT_SIZE - 1 - n) : read(input, rest, sizeof rest);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        if (fits) n += (size_t)got;
        text[n] = '\0';
    }
    return true;
}

/* Wait for the end. False when time is up. */
static bool await(pid_t child, double deadline, int *wait_status)
{
    const struct timespec nap = {0, NAP_MS * 1000000L};
    for (;;) {
        const pid_t got = waitpid(child, wait_status, WNOHANG);
        if (got == child) return true;
        if (got < 0 && errno != EINTR) return false;
        if (gm_clock_seconds() > deadline) return false;
        nanosleep(&nap, NULL);
    }
}

static gm_status follow(pid_t child, const char *name, int input, int *exit_code, char *text)
{
    const double deadline = gm_clock_seconds() + limit;
    int wait_status = 0;
    if (!drain(input, deadline, text) || !await(child, deadline, &wait_status)) {
        kill(-child, SIGKILL);
        waitpid(child, &wait_status, 0);
        return GM_FAIL(GM_E_DEVICE, "the C compiler %s was ended: it took longer than %g s", name,
                       limit);
    }
    if (WIFSIGNALED(wait_status))
        return GM_FAIL(GM_E_DEVICE, "the C compiler %s was ended by signal %d (%s)", name,
                       WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
    *exit_code = WEXITSTATUS(wait_status);
    return GM_OK;
}

gm_status gm_compiler_run(char *const *argument, const char *scratch, int *exit_code, char **output)
{
    gm_status st = GM_OK;
    pid_t child = 0;
    int ends[2] = {-1, -1}, fault = 0;
    char setting[PATH_MAX + 16];
    snprintf(setting, sizeof setting, "TMPDIR=%s", scratch ? scratch : "");
    char **environment = make_environment(scratch ? setting : NULL);
    char *text = calloc(1, OUTPUT_SIZE);
    if (!environment || !text) {
        st = GM_FAIL(GM_E_MEMORY, "out of memory");
        goto cleanup;
    }
    if (pipe2(ends, O_CLOEXEC) != 0) {
        fault = errno;
    } else {
        const gm_child wanted = {argument[0], argument, environment, ends[1], ends[1], true};
        fault = gm_child_start(&wanted, &child);
    }
    if (fault) {
        st = GM_FAIL(GM_E_DEVICE, "cannot start the C compiler %s: %s", argument[0],
                     strerror(fault));
        goto cleanup;
    }
    close(ends[1]); /* so that reading ends with the child */
    ends[1] = -1;
    GM_TRY(st, follow(child, argument[0], ends[0], exit_code, text));
    *output = text, text = NULL;
cleanup:
    if (ends[0] >= 0) close(ends[0]);
    if (ends[1] >= 0) close(ends[1]);
    free(text);
    free(environment);
    return st;
}

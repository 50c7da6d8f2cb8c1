/* The record is lines "key value". A process is told apart from a later one of the same number by
 * its start time; hosts by the identity of their boot and of the process namespace, since
 * containers share names and numbers. */
#include "io/lock_holder.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_SIZE = GM_HOLDER_TEXT, RECORD_SIZE = 1024, SILENT_SECONDS = 600 };

static const struct {
    const char *key;
    size_t offset;
} field[] = {
    {"host", offsetof(gm_holder, host)}, {"place", offsetof(gm_holder, place)},
    {"pid", offsetof(gm_holder, pid)},   {"start", offsetof(gm_holder, start)},
    {"job", offsetof(gm_holder, job)},   {"since", offsetof(gm_holder, since)},
};
enum { N_FIELD = sizeof field / sizeof *field };

static void read_line(const char *path, char text[TEXT_SIZE])
{
    FILE *file = fopen(path, "re");
    text[0] = '\0';
    if (!file) return;
    if (fgets(text, TEXT_SIZE, file)) text[strcspn(text, "\n")] = '\0';
    fclose(file);
}

/* When a process started, in ticks since boot: field 22 of its stat, counted from behind its name.
 * "" if there is no such process, or only its remains. */
static void read_start(const char *pid, char start[TEXT_SIZE])
{
    char path[TEXT_SIZE + 16], line[RECORD_SIZE] = "";
    start[0] = '\0';
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file) return;
    if (!fgets(line, sizeof line, file)) line[0] = '\0';
    fclose(file);
    const char *at = strrchr(line, ')');
    if (!at || at[1] == '\0' || at[2] == 'Z' || at[2] == 'X') return;
    for (int i = 0; at && i < 20; i++) at = strchr(at + 1, ' ');
    if (at) snprintf(start, TEXT_SIZE, "%.*s", (int)strcspn(at + 1, " "), at + 1);
}

void gm_holder_self(gm_holder *out)
{
    static const char *const variable[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID"};
    char boot[TEXT_SIZE], space[64] = "";
    time_t now = time(NULL);
    struct tm utc;
    memset(out, 0, sizeof *out);
    if (gethostname(out->host, sizeof out->host - 1) != 0) strcpy(out->host, "unknown");
    read_line("/proc/sys/kernel/random/boot_id", boot);
    if (readlink("/proc/self/ns/pid", space, sizeof space - 1) < 0) space[0] = '\0';
    snprintf(out->place, sizeof out->place, "%.60s/%.60s", boot, space);
    snprintf(out->pid, sizeof out->pid, "%ld", (long)getpid());
    read_start(out->pid, out->start);
    for (size_t i = 0; i < sizeof variable / sizeof *variable && !out->job[0]; i++)
        if (getenv(variable[i])) snprintf(out->job, sizeof out->job, "%s", getenv(variable[i]));
    gmtime_r(&now, &utc);
    strftime(out->since, sizeof out->since, "%Y-%m-%d %H:%M:%S UTC", &utc);
}

bool gm_holder_write(int fd, const gm_holder *holder)
{
    char text[RECORD_SIZE] = "";
    for (int i = 0; i < N_FIELD; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s %s\n", field[i].key,
                 (const char *)holder + field[i].offset);
    }
    return ftruncate(fd, 0) == 0 && pwrite(fd, text, strlen(text), 0) == (ssize_t)strlen(text);
}

/* Anyone may have written the record, and it is shown to a person. */
static void make_plain(char *text)
{
    for (; *text; text++)
        if (!isprint((unsigned char)*text)) *text = '?';
}

bool gm_holder_read(int fd, gm_holder *holder)
{
    char text[RECORD_SIZE] = "";
    memset(holder, 0, sizeof *holder);
    if (pread(fd, text, sizeof text - 1, 0) <= 0) return false;
    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        for (int i = 0; i < N_FIELD; i++) {
            const size_t n = strlen(field[i].key);
            if (strncmp(line, field[i].key, n) == 0 && line[n] == ' ' && length - n < TEXT_SIZE)
                snprintf((char *)holder + field[i].offset, TEXT_SIZE, "%.*s", (int)(length - n - 1),
                         line + n + 1);
        }
        line += length + (line[length] == '\n');
    }
    for (int i = 0; i < N_FIELD; i++) make_plain((char *)holder + field[i].offset);
    return holder->host[0] != '\0';
}

/* As a part of a path it must not lead elsewhere. */
static bool is_number(const char *pid)
{
    return pid[0] != '\0' && pid[strspn(pid, "0123456789")] == '\0';
}

gm_holder_life gm_holder_ask(const gm_holder *holder, const gm_holder *self, int fd)
{
    struct stat info;
    char start[TEXT_SIZE];
    if (strcmp(holder->place, self->place) == 0 && is_number(holder->pid)) {
        read_start(holder->pid, start);
        return start[0] && strcmp(start, holder->start) == 0 ? GM_HOLDER_ALIVE : GM_HOLDER_DEAD;
    }
    /* A job that was put into the queue again has its number, and ended before. */
    if (holder->job[0] && strcmp(holder->job, self->job) == 0) return GM_HOLDER_DEAD;
    const bool silent = fstat(fd, &info) == 0 && time(NULL) - info.st_mtime > SILENT_SECONDS;
    return silent ? GM_HOLDER_DEAD : GM_HOLDER_UNKNOWN;
}

/* Opened anew each time: that makes network file systems ask their server. */
static bool read_beat(const char *path, struct timespec *beat)
{
    struct stat info;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool found = fd >= 0 && fstat(fd, &info) == 0;
    if (fd >= 0) close(fd);
    if (found) *beat = info.st_mtim;
    return found;
}

gm_holder_life gm_holder_watch(const char *path)
{
    const struct timespec nap = {1, 0};
    struct timespec first, now;
    if (!read_beat(path, &first)) return GM_HOLDER_DEAD;
    for (int i = 0; i < 3 * GM_HOLDER_BEAT_SECONDS + 1; i++) {
        nanosleep(&nap, NULL);
        if (!read_beat(path, &now)) return GM_HOLDER_DEAD;
        if (now.tv_sec != first.tv_sec || now.tv_nsec != first.tv_nsec) return GM_HOLDER_ALIVE;
    }
    return GM_HOLDER_DEAD;
}

void gm_holder_name(const gm_holder *holder, char *text, size_t size)
{
    snprintf(text, size, "process %s on %s%s%s, since %s", holder->pid, holder->host,
             holder->job[0] ? ", job " : "", holder->job, holder->since);
}

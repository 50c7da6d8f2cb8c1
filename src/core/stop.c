#include "core/stop.h"

#include <ctype.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"

static const double one_wish_seconds = 1.0; /* signals within belong to the same wish */
static const double most_seconds = 1e9;

static volatile sig_atomic_t noted; /* a gm_stop */
static volatile double noted_at;

const char *gm_stop_text(gm_stop stop)
{
    static const char *const text[] = {
#define X(id, text) text,
        GM_STOP_LIST(X)
#undef X
    };
    return text[stop];
}

static void note(int number)
{
    if (noted == GM_STOP_NONE) {
        noted_at = gm_clock_seconds();
        noted = number == SIGTERM  ? GM_STOP_SIGTERM
                : number == SIGINT ? GM_STOP_SIGINT
                                   : GM_STOP_SIGUSR1;
    } else if (gm_clock_seconds() - noted_at > one_wish_seconds) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

void gm_stop_listen(void)
{
    static const int number[] = {SIGTERM, SIGINT, SIGUSR1};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) sigaction(number[i], &action, NULL);
}

gm_stop gm_stop_signal(void)
{
    return (gm_stop)noted;
}

gm_stop gm_stop_check(gm_stop_rule *rule)
{
    if (noted != GM_STOP_NONE) return gm_stop_signal();
    if (rule->at <= 0 && !rule->file) return GM_STOP_NONE;
    const double now = gm_clock_seconds();
    if (rule->at > 0 && now >= rule->at) return GM_STOP_TIME;
    if (!rule->file || (rule->looked_at > 0 && now - rule->looked_at < 1)) return GM_STOP_NONE;
    rule->looked_at = now;
    return access(rule->file, F_OK) == 0 ? GM_STOP_FILE : GM_STOP_NONE;
}

/* H:MM:SS */
static bool read_clock(const char *text, double *seconds)
{
    double part[3] = {0};
    for (int i = 0; i < 3; i++) {
        char *end = NULL;
        if (!isdigit((unsigned char)*text)) return false;
        part[i] = (double)strtoull(text, &end, 10);
        if (*end != (i < 2 ? ':' : '\0') || (i > 0 && part[i] > 59)) return false;
        text = end + 1;
    }
    *seconds = 3600 * part[0] + 60 * part[1] + part[2];
    return true;
}

/* 2h30m: numbers with units that get smaller; a number alone is in seconds. */
static bool read_units(const char *text, double *seconds)
{
    static const char letter[] = "dhms";
    static const double unit[] = {86400, 3600, 60, 1};
    ptrdiff_t next = 0;
    *seconds = 0;
    do {
        char *end = NULL;
        if (!isdigit((unsigned char)*text)) return false;
        const double value = (double)strtoull(text, &end, 10);
        const bool bare = *end == '\0' && *seconds == 0 && next == 0;
        const char *found = bare ? letter + 3 : *end ? strchr(letter + next, *end) : NULL;
        if (!found) return false;
        *seconds += value * unit[found - letter];
        next = found - letter + 1;
        text = bare ? end : end + 1;
    } while (*text);
    return true;
}

bool gm_stop_read_span(const char *text, double *seconds)
{
    const bool is_span = strchr(text, ':') ? read_clock(text, seconds) : read_units(text, seconds);
    return is_span && *seconds >= 1 && *seconds <= most_seconds;
}

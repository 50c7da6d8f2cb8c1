#include "core/fault.h"

#include <ctype.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_RULES = 16, FAIL = -1, KILL = -2, EXIT = -3 };
enum { MOST_MS = 3600000, MOST_TIMES = 1000000000 }; /* of a rule */

typedef struct rule {
    double chance;
    long at;     /* 0: by chance */
    long action; /* FAIL, KILL, EXIT, or ms */
    gm_fault_site site;
    bool onward; /* at this time and all later ones */
} rule;

bool gm_fault_armed;

static rule rules[MAX_RULES];
static int n_rule;
/* Several threads may come by: changed by atomic operations alone. */
static long n_time[GM_N_FAULT];
static uint64_t random_state;

static const char *const site_name[] = {
#define X(id, name) name,
    GM_FAULT_LIST(X)
#undef X
};

/* Digits alone, and a number up to most; *at moves behind it. */
static bool read_whole(const char **at, long most, long *out)
{
    *out = 0;
    if (!isdigit((unsigned char)**at)) return false;
    for (; isdigit((unsigned char)**at); (*at)++) {
        *out = 10 * *out + (**at - '0');
        if (*out > most) return false;
    }
    return true;
}

/* One rule. *skip: it is another rank's. Advances *at to the comma or the end. */
static bool read_rule(const char **at, int rank, rule *r, bool *skip)
{
    char *end = NULL;
    const char *p = *at;
    const size_t n = strcspn(p, "#@%=,");
    *r = (rule){.site = GM_N_FAULT};
    *skip = false;
    for (int i = 0; i < GM_N_FAULT; i++)
        if (strlen(site_name[i]) == n && strncmp(site_name[i], p, n) == 0)
            r->site = (gm_fault_site)i;
    if (r->site == GM_N_FAULT) return false;
    p += n;
    if (*p == '#') {
        long of_rank = 0;
        p++;
        if (!read_whole(&p, MOST_TIMES, &of_rank)) return false;
        *skip = of_rank != rank;
    }
    if (*p == '@') {
        p++;
        if (!read_whole(&p, MOST_TIMES, &r->at) || r->at < 1) return false;
        r->onward = *p == '+';
        p += r->onward;
    } else if (*p == '%') {
        r->chance = strtod(p + 1, &end) / 100;
        p = end;
        if (!(r->chance > 0 && r->chance <= 1)) return false;
    }
    if (*p++ != '=') return false;
    const size_t n_action = strcspn(p, ",");
    if (n_action == 4 && strncmp(p, "fail", 4) == 0) {
        r->action = FAIL;
    } else if (n_action == 4 && strncmp(p, "kill", 4) == 0) {
        r->action = KILL;
    } else if (n_action == 4 && strncmp(p, "exit", 4) == 0) {
        r->action = EXIT;
    } else {
        const char *digit = p;
        if (!read_whole(&digit, MOST_MS, &r->action) || digit != p + n_action || r->action < 1)
            return false;
    }
    *at = p + n_action;
    return r->at > 0 || r->chance > 0;
}

bool gm_fault_begin(int rank, const char **bad)
{
    const char *at = getenv("GRIDMARCH_FAULT");
    uint64_t seed = 1;
    *bad = NULL;
    while (at && *at) {
        rule r;
        bool skip = true;
        const char *begin = at;
        if (strncmp(at, "seed=", 5) == 0) {
            char *end = NULL;
            seed = strtoull(at + 5, &end, 10);
            at = end;
        } else if (n_rule == MAX_RULES || !read_rule(&at, rank, &r, &skip)) {
            *bad = begin;
            return false;
        }
        if (!skip) rules[n_rule++] = r;
        if (*at != ',' && *at != '\0') {
            *bad = begin;
            return false;
        }
        at += *at == ',';
    }
    random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)rank + 1;
    gm_fault_armed = n_rule > 0;
    return true;
}

/* In [0, 1): splitmix64, the same for a seed and rank. */
static double next_random(void)
{
    uint64_t z = __atomic_add_fetch(&random_state, UINT64_C(0x9e3779b97f4a7c15), __ATOMIC_RELAXED);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

bool gm_fault_strike(gm_fault_site site)
{
    bool fails = false;
    const long now = __atomic_add_fetch(&n_time[site], 1, __ATOMIC_RELAXED);
    for (int i = 0; i < n_rule; i++) {
        const rule *r = &rules[i];
        if (r->site != site) continue;
        const bool strikes =
            r->at > 0 ? now == r->at || (r->onward && now > r->at) : next_random() < r->chance;
        if (!strikes) continue;
        if (r->action == KILL) kill(getpid(), SIGKILL);
        if (r->action == EXIT) exit(EXIT_FAILURE);
        if (r->action == FAIL) fails = true;
        if (r->action > 0) {
            const struct timespec t = {r->action / 1000, r->action % 1000 * 1000000L};
            nanosleep(&t, NULL);
        }
    }
    return fails;
}

/* The guard's thread: sign, listen, judge, nap. Only this thread uses the channel. */
#include "mpi/guard.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/alive.h"
#include "core/clock.h"
#include "core/thread.h"

enum { TAG_SIGN = 21, MESSAGE_SIZE = 1024, TURN_SECONDS = 3, MAX_TURNS = 10, ABORT_SECONDS = 10 };

static const double longest_nap = 1, longest_beat = 15; /* s */

/* What a rank says of its main thread. */
typedef struct sign {
    double idle;   /* s of its own running time since its last mark, waiting left out */
    double waited; /* s that it has waited for other ranks without a pause; 0: it does not */
    char what[52];
} sign;

/* What is known of a rank. */
typedef struct peer {
    sign last;
    double heard; /* when, by this rank's running time */
} peer;

typedef char host_name[sizeof((gm_comm *)NULL)->host];

struct gm_guard {
    double patience, nap, beat;
    gm_guard_print *print;
    pthread_t thread;
    pthread_mutex_t guard;
    pthread_cond_t wake;
    bool ends, talks; /* under guard; talks: with the other ranks */

    /* From here on the thread's own while it talks. Times are of running time. */
    double now, clock; /* clock: gm_clock_seconds at the last look */
    double signed_at, judges_from, idle, waited;
    uint64_t n_mark, n_wait;
    int rank, n_rank;
    MPI_Comm world, channel;
    int n_peer; /* rank 0: all ranks; else rank 0 and this one */
    peer *peer; /* owned [n_peer] */
    sign outgoing;
    MPI_Request *sending; /* owned [n_peer]: to each of them */
    host_name *host;      /* owned [n_rank]; NULL: not known yet */
};

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* --- the end of the run --------------------------------------------------------------------------
 */

/* Never returns. Whatever hangs may hold what printing or MPI needs: the alarm ends the process. */
static _Noreturn void end_run(const gm_guard *g, const char *message)
{
    const int code = gm_status_exit_code(GM_E_HANG);
    signal(SIGALRM, SIG_DFL);
    alarm(ABORT_SECONDS);
    g->print(message);
    if (g->talks) MPI_Abort(g->world, code);
    _exit(code);
}

static void name_rank(const gm_guard *g, int rank, char text[128])
{
    if (g->n_rank == 1)
        snprintf(text, 128, "this process");
    else if (g->host)
        snprintf(text, 128, "rank %d on %s", rank, g->host[rank]);
    else
        snprintf(text, 128, "rank %d", rank);
}

#define GM_GUARD_REMEDY                                                                            \
    "All ranks end; the same command again goes on from what is saved (--patience T waits longer)"

static _Noreturn void end_silent(const gm_guard *g, int rank, double silence)
{
    char who[128], message[MESSAGE_SIZE];
    name_rank(g, rank, who);
    snprintf(message, sizeof message,
             "%s has not been heard of for %.0f s: its process is stopped, or its host or the "
             "network is down. " GM_GUARD_REMEDY,
             who, silence);
    end_run(g, message);
}

static _Noreturn void end_stuck(const gm_guard *g, int rank, const sign *s)
{
    char who[128], message[MESSAGE_SIZE];
    name_rank(g, rank, who);
    snprintf(message, sizeof message,
             "%s hangs: %.0f s without progress while %s, probably in a call of the driver, the "
             "file system or MPI. " GM_GUARD_REMEDY,
             who, s->idle, s->what);
    end_run(g, message);
}

static _Noreturn void end_waiting(const gm_guard *g)
{
    char message[MESSAGE_SIZE];
    const sign *s = &g->peer[0].last;
    snprintf(message, sizeof message,
             "all %d ranks have waited for each other for %.0f s while %s: MPI does not deliver "
             "their messages. " GM_GUARD_REMEDY,
             g->n_rank, s->waited, s->what);
    end_run(g, message);
}

/* --- judging -------------------------------------------------------------------------------------
 */

static bool is_stuck(const gm_guard *g, const sign *s, double grace)
{
    return s->waited == 0 && s->idle > g->patience + grace;
}

/* Rank 0, of all. A rank that is silent may be why others do not get on: it is looked for first. */
static void judge_all(const gm_guard *g)
{
    const double grace = 2 * g->beat;
    int n_waiting = 0;
    for (int i = 0; i < g->n_rank; i++)
        if (g->now - g->peer[i].heard > g->patience) end_silent(g, i, g->now - g->peer[i].heard);
    for (int i = 0; i < g->n_rank; i++) {
        const sign *s = &g->peer[i].last;
        if (is_stuck(g, s, grace)) end_stuck(g, i, s);
        n_waiting += s->waited > g->patience + grace;
    }
    if (n_waiting == g->n_rank) end_waiting(g);
}

/* Another rank, of rank 0 and itself. It leaves it to rank 0 and the ranks between to speak. */
static void judge_some(const gm_guard *g, const sign *mine)
{
    const int turn = g->rank < MAX_TURNS ? g->rank : MAX_TURNS;
    const double grace = 2 * g->beat + TURN_SECONDS * turn;
    if (g->talks && g->now - g->peer[0].heard > g->patience + grace)
        end_silent(g, 0, g->now - g->peer[0].heard);
    if (is_stuck(g, mine, grace)) end_stuck(g, g->rank, mine);
}

/* --- signs ---------------------------------------------------------------------------------------
 */

/* passed: s of running time since the last look. */
static sign look_at_self(gm_guard *g, double passed)
{
    const gm_alive alive = gm_alive_look();
    const bool same_wait = alive.waits && alive.n_wait == g->n_wait;
    if (!alive.waits) g->idle += passed;
    if (alive.n_mark != g->n_mark) g->idle = 0;
    g->waited = same_wait ? g->waited + passed : 0;
    g->n_mark = alive.n_mark;
    g->n_wait = alive.n_wait;
    sign s = {.idle = g->idle, .waited = g->waited};
    snprintf(s.what, sizeof s.what, "%s", alive.what);
    return s;
}

/* Unless the last one is still on its way to somebody. */
static void send_signs(gm_guard *g, const sign *mine)
{
    int sent = 0;
    if (g->now - g->signed_at < g->beat) return;
    MPI_Testall(g->n_peer, g->sending, &sent, MPI_STATUSES_IGNORE);
    if (!sent) return;
    g->outgoing = *mine;
    g->signed_at = g->now;
    const int first = g->rank == 0 ? 1 : 0;
    const int n = g->rank == 0 ? g->n_rank : 1;
    for (int i = first; i < n; i++)
        MPI_Isend(&g->outgoing, sizeof g->outgoing, MPI_BYTE, i, TAG_SIGN, g->channel,
                  &g->sending[i]);
}

static void receive_signs(gm_guard *g)
{
    for (;;) {
        int here = 0;
        MPI_Status from;
        sign s;
        if (MPI_Iprobe(MPI_ANY_SOURCE, TAG_SIGN, g->channel, &here, &from) != MPI_SUCCESS || !here)
            return;
        if (MPI_Recv(&s, sizeof s, MPI_BYTE, from.MPI_SOURCE, TAG_SIGN, g->channel,
                     MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return;
        s.what[sizeof s.what - 1] = '\0';
        if (from.MPI_SOURCE < g->n_peer) g->peer[from.MPI_SOURCE] = (peer){s, g->now};
    }
}

static void look(gm_guard *g)
{
    const double clock = gm_clock_seconds();
    const double gap = clock - g->clock;
    const double passed = least(gap, 2 * g->nap); /* longer: this process did not run */
    g->clock = clock;
    g->now += passed;
    if (gap > 2 * g->nap + 1) g->judges_from = g->now + TURN_SECONDS;
    const sign mine = look_at_self(g, passed);
    if (g->talks) {
        send_signs(g, &mine);
        receive_signs(g);
    }
    if (g->talks && g->rank == 0) g->peer[0] = (peer){mine, g->now};
    if (g->now < g->judges_from) return; /* what is known is of before the process was stopped */
    if (g->talks && g->rank == 0) {
        judge_all(g);
    } else {
        judge_some(g, &mine);
    }
}

/* --- the thread ----------------------------------------------------------------------------------
 */

static void *watch(void *argument)
{
    gm_guard *g = argument;
    struct timespec until;
    pthread_mutex_lock(&g->guard);
    while (!g->ends) {
        look(g);
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += (long)(g->nap * 1e9);
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&g->wake, &g->guard, &until);
    }
    pthread_mutex_unlock(&g->guard);
    return NULL;
}

static bool start_thread(gm_guard *g)
{
    pthread_condattr_t monotonic;
    pthread_mutex_init(&g->guard, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&g->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return gm_thread_start(&g->thread, watch, g);
}

static void give_memory(gm_guard *g)
{
    free(g->peer);
    free(g->sending);
    free(g->host);
    g->peer = NULL, g->sending = NULL, g->host = NULL;
}

gm_status gm_guard_start(int rank, double patience_s, gm_guard_print *print, gm_guard **out)
{
    *out = NULL;
    if (patience_s <= 0) return GM_OK;
    gm_guard *g = calloc(1, sizeof *g);
    if (!g) return GM_FAIL(GM_E_MEMORY, "out of memory");
    g->patience = patience_s;
    g->nap = least(longest_nap, patience_s / 20);
    g->beat = least(longest_beat, patience_s / 20);
    g->print = print;
    g->rank = rank;
    g->channel = MPI_COMM_NULL;
    g->clock = gm_clock_seconds();
    if (!start_thread(g)) {
        pthread_cond_destroy(&g->wake);
        pthread_mutex_destroy(&g->guard);
        free(g);
        return GM_FAIL(GM_E_MEMORY, "cannot start a thread: is there a limit (ulimit -u)?");
    }
    *out = g;
    return GM_OK;
}

gm_status gm_guard_join(gm_guard *g, const gm_comm *comm)
{
    gm_status st = GM_OK;
    MPI_Comm channel = MPI_COMM_NULL;
    const size_t n = (size_t)comm->n_rank;
    if (!g) return GM_OK;
    const int n_peer = comm->rank == 0 ? comm->n_rank : 1;
    host_name *host = calloc(n, sizeof *host);
    peer *peers = calloc((size_t)n_peer, sizeof *peers);
    MPI_Request *sending = malloc((size_t)n_peer * sizeof *sending);
    if (!host || !peers || !sending) st = GM_FAIL(GM_E_MEMORY, "out of memory");
    GM_TRY(st, gm_comm_agree(comm, st));
    for (int i = 0; i < n_peer; i++) sending[i] = MPI_REQUEST_NULL;
    GM_TRY(st,
           GM_MPI("opening the channel for signs of life", MPI_Comm_dup(comm->world, &channel)));
    MPI_Comm_set_errhandler(channel, MPI_ERRORS_RETURN);
    GM_TRY(st, GM_MPI("telling the names of hosts",
                      MPI_Allgather(comm->host, sizeof *host, MPI_CHAR, host, sizeof *host,
                                    MPI_CHAR, comm->world)));
    pthread_mutex_lock(&g->guard);
    g->rank = comm->rank;
    g->n_rank = comm->n_rank;
    g->world = comm->world;
    g->channel = channel, channel = MPI_COMM_NULL;
    g->n_peer = n_peer;
    g->peer = peers, peers = NULL;
    g->sending = sending, sending = NULL;
    g->host = host, host = NULL;
    g->signed_at = g->now - g->beat;
    for (int i = 0; i < n_peer; i++) g->peer[i].heard = g->now;
    g->talks = comm->threads && comm->n_rank > 1;
    pthread_mutex_unlock(&g->guard);
cleanup:
    if (channel != MPI_COMM_NULL) MPI_Comm_free(&channel);
    free(host);
    free(peers);
    free(sending);
    return st;
}

void gm_guard_leave(gm_guard *g)
{
    if (!g || g->channel == MPI_COMM_NULL) return;
    gm_alive_wait(true);
    MPI_Barrier(g->world); /* who does not come is named: all still talk */
    gm_alive_wait(false);
    pthread_mutex_lock(&g->guard);
    const bool talked = g->talks;
    g->talks = false;
    pthread_mutex_unlock(&g->guard);
    if (talked) {
        MPI_Barrier(g->world); /* nobody sends any more */
        receive_signs(g);
        MPI_Waitall(g->n_peer, g->sending, MPI_STATUSES_IGNORE);
    }
    MPI_Comm_free(&g->channel);
}

void gm_guard_stop(gm_guard **guard)
{
    gm_guard *g = *guard;
    if (!g) return;
    pthread_mutex_lock(&g->guard);
    g->ends = true;
    pthread_cond_signal(&g->wake);
    pthread_mutex_unlock(&g->guard);
    pthread_join(g->thread, NULL);
    pthread_cond_destroy(&g->wake);
    pthread_mutex_destroy(&g->guard);
    give_memory(g);
    free(g);
    *guard = NULL;
}

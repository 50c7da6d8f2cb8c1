#include "mpi/watch.h"

#include "core/alive.h"
#include "core/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG_PROGRESS = 11, TAG_FAILURE = 12, TAG_ORDER = 13 };
enum { MESSAGE_SIZE = 4096, PATIENCE_MS = 15000, NAP_MS = 50 };

/* What rank 0 tells the others. */
typedef enum { ORDER_STOP, ORDER_END, N_ORDER } order;

typedef struct failure {
    int code;
    char message[MESSAGE_SIZE];
} failure;

struct gm_watch {
    const gm_comm *comm;
    MPI_Comm channel;      /* own context: no tag of anyone else */
    gm_progress *progress; /* rank 0: [n_rank] */
    gm_progress outgoing;
    MPI_Request sending;
    int order[N_ORDER];             /* [ORDER_STOP]: a gm_stop, [ORDER_END]: -1; 0: not given */
    MPI_Request *ordering[N_ORDER]; /* rank 0: owned [n_rank] */
};

static bool take_memory(gm_watch *w, int n_rank)
{
    w->progress = calloc((size_t)n_rank, sizeof *w->progress);
    bool all = w->progress != NULL;
    for (int i = 0; i < N_ORDER; i++) {
        w->ordering[i] = malloc((size_t)n_rank * sizeof **w->ordering);
        for (int k = 0; w->ordering[i] && k < n_rank; k++) w->ordering[i][k] = MPI_REQUEST_NULL;
        all = all && w->ordering[i];
    }
    return all;
}

static void give_memory(gm_watch *w)
{
    if (!w) return;
    for (int i = 0; i < N_ORDER; i++) free(w->ordering[i]);
    free(w->progress);
    free(w);
}

gm_status gm_watch_create(const gm_comm *comm, gm_watch **out)
{
    gm_status st = GM_OK;
    gm_watch *watch = calloc(1, sizeof *watch);
    *out = NULL;
    if (!watch || !take_memory(watch, comm->n_rank)) st = GM_FAIL(GM_E_MEMORY, "out of memory");
    GM_TRY(st, gm_comm_agree(comm, st));
    watch->comm = comm;
    watch->channel = MPI_COMM_NULL;
    watch->sending = MPI_REQUEST_NULL;
    GM_TRY(st, GM_MPI("opening the progress channel", MPI_Comm_dup(comm->world, &watch->channel)));
    MPI_Comm_set_errhandler(watch->channel, MPI_ERRORS_RETURN);
    *out = watch, watch = NULL;
cleanup:
    give_memory(watch);
    return st;
}

void gm_watch_destroy(gm_watch **watch)
{
    gm_watch *w = *watch;
    if (!w) return;
    MPI_Wait(&w->sending, MPI_STATUS_IGNORE);
    for (int i = 0; i < N_ORDER; i++)
        MPI_Waitall(w->comm->n_rank, w->ordering[i], MPI_STATUSES_IGNORE);
    if (w->channel != MPI_COMM_NULL) MPI_Comm_free(&w->channel);
    give_memory(w);
    *watch = NULL;
}

static gm_status receive_failure(gm_watch *w, int source)
{
    failure f;
    MPI_Recv(&f, sizeof f, MPI_BYTE, source, TAG_FAILURE, w->channel, MPI_STATUS_IGNORE);
    f.message[MESSAGE_SIZE - 1] = '\0';
    return GM_FAIL((gm_status)f.code, "%s", f.message);
}

/* Rank 0: tell all the others, once. */
static gm_status give_order(gm_watch *w, order what, int value)
{
    gm_status st = GM_OK;
    if (w->order[what] != 0) return GM_OK;
    w->order[what] = value;
    for (int i = 1; i < w->comm->n_rank; i++)
        GM_TRY(st, GM_MPI("telling the ranks to end",
                          MPI_Isend(&w->order[what], 1, MPI_INT, i, TAG_ORDER, w->channel,
                                    &w->ordering[what][i])));
cleanup:
    return st;
}

/* The other ranks: take in what rank 0 has told. */
static gm_status hear_orders(gm_watch *w)
{
    gm_status st = GM_OK;
    for (;;) {
        int here = 0, value = 0;
        GM_TRY(st, GM_MPI("listening to rank 0",
                          MPI_Iprobe(0, TAG_ORDER, w->channel, &here, MPI_STATUS_IGNORE)));
        if (!here) break;
        GM_TRY(st, GM_MPI("listening to rank 0", MPI_Recv(&value, 1, MPI_INT, 0, TAG_ORDER,
                                                          w->channel, MPI_STATUS_IGNORE)));
        w->order[value < 0 ? ORDER_END : ORDER_STOP] = value;
    }
cleanup:
    return st;
}

/* Rank 0: everything that has arrived. */
static gm_status receive_all(gm_watch *w)
{
    gm_status st = GM_OK;
    for (;;) {
        int here = 0;
        MPI_Status from;
        GM_TRY(st, GM_MPI("listening to the ranks",
                          MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, w->channel, &here, &from)));
        if (!here) break;
        if (from.MPI_TAG == TAG_FAILURE) return receive_failure(w, from.MPI_SOURCE);
        GM_TRY(st, GM_MPI("listening to the ranks",
                          MPI_Recv(&w->progress[from.MPI_SOURCE], sizeof(gm_progress), MPI_BYTE,
                                   from.MPI_SOURCE, TAG_PROGRESS, w->channel, MPI_STATUS_IGNORE)));
    }
cleanup:
    return st;
}

gm_status gm_watch_report(gm_watch *w, const gm_progress *mine)
{
    int sent = 0;
    gm_status st = GM_OK;
    gm_alive_mark(NULL);
    if (gm_fault(GM_FAULT_MESSAGE)) return GM_FAIL(GM_E_MPI, "the message fails on purpose");
    if (w->comm->rank == 0) {
        w->progress[0] = *mine;
        st = receive_all(w);
        for (int i = 0; i < w->comm->n_rank && st == GM_OK; i++)
            if (w->progress[i].stopping)
                st = give_order(w, ORDER_STOP, (int)w->progress[i].stopping);
        return st;
    }
    st = hear_orders(w);
    if (st != GM_OK) return st;
    st = GM_MPI("reporting progress", MPI_Test(&w->sending, &sent, MPI_STATUS_IGNORE));
    if (st != GM_OK) return st;
    if (!sent && !mine->finished) return GM_OK; /* the last one is still on its way: skip this */
    MPI_Wait(&w->sending, MPI_STATUS_IGNORE);
    w->outgoing = *mine;
    return GM_MPI("reporting progress", MPI_Isend(&w->outgoing, sizeof w->outgoing, MPI_BYTE, 0,
                                                  TAG_PROGRESS, w->channel, &w->sending));
}

gm_stop gm_watch_stopping(const gm_watch *w)
{
    return (gm_stop)w->order[ORDER_STOP];
}

gm_status gm_watch_ended(gm_watch *w, const gm_progress *mine, bool *ended)
{
    gm_status st = GM_OK;
    gm_progress all;
    int n_finished = 0;
    gm_alive_mark(NULL);
    if (w->comm->rank == 0) {
        GM_TRY(st, gm_watch_report(w, mine));
        gm_watch_total(w, &all, &n_finished);
        if (n_finished == w->comm->n_rank) GM_TRY(st, give_order(w, ORDER_END, -1));
    } else {
        GM_TRY(st, hear_orders(w));
    }
    *ended = w->order[ORDER_END] != 0;
cleanup:
    return st;
}

void gm_watch_total(const gm_watch *w, gm_progress *total, int *n_finished)
{
    memset(total, 0, sizeof *total);
    for (int i = 0; i < w->comm->n_rank; i++) {
        const gm_progress *p = &w->progress[i];
        total->points += p->points;
        total->point_steps += p->point_steps;
        total->march += p->march;
        total->up += p->up;
        total->down += p->down;
        total->disk += p->disk;
        total->finished += p->finished;
    }
    *n_finished = (int)total->finished;
}

static void nap(void)
{
    struct timespec t = {0, NAP_MS * 1000000L};
    nanosleep(&t, NULL);
}

_Noreturn void gm_watch_fail(gm_watch *w, gm_status status, void (*print)(const char *message))
{
    failure f = {.code = (int)status};
    if (w->comm->rank == 0) {
        snprintf(f.message, sizeof f.message, "%s", gm_status_message());
    } else {
        MPI_Request request;
        snprintf(f.message, sizeof f.message, "rank %d on %s: %.3900s", w->comm->rank,
                 w->comm->host, gm_status_message());
        MPI_Isend(&f, sizeof f, MPI_BYTE, 0, TAG_FAILURE, w->channel, &request);
        for (int waited = 0; waited < PATIENCE_MS; waited += NAP_MS) {
            int sent = 0;
            MPI_Test(&request, &sent, MPI_STATUS_IGNORE); /* keeps the message moving */
            nap();
        }
    }
    print(f.message);
    MPI_Abort(w->comm->world, gm_status_exit_code(status));
    abort();
}

/* Rank 0's two threads and nobody else touch the words: by atomic operations alone. */
#include "mpi/answer.h"

#include <stdlib.h>
#include <time.h>

#include "core/alive.h"
#include "core/thread.h"

enum { TAG_ASK = 1, TAG_ANSWER, NAP_US = 200 };

/* n of the words from `word` on are wanted; value is added to the first before. */
typedef struct question {
    int64_t word, n, value;
} question;

struct gm_answer {
    MPI_Comm channel;
    int rank;
    int64_t *word; /* owned [n_word]; rank 0's */
    int64_t *copy; /* owned [n_word]; the thread's */
    pthread_t thread;
    bool has_thread;
    int ends; /* atomic */
};

/* @param[out] value  [q->n] what the words held before the addition */
static void reply(gm_answer *a, const question *q, int64_t *value)
{
    for (int64_t i = 0; i < q->n; i++)
        value[i] = i == 0 && q->value != 0
                       ? __atomic_fetch_add(&a->word[q->word], q->value, __ATOMIC_SEQ_CST)
                       : __atomic_load_n(&a->word[q->word + i], __ATOMIC_SEQ_CST);
}

static void *serve(void *argument)
{
    gm_answer *a = argument;
    const struct timespec nap = {0, NAP_US * 1000L};
    while (!__atomic_load_n(&a->ends, __ATOMIC_ACQUIRE)) {
        question q;
        MPI_Status from;
        int found = 0;
        if (MPI_Iprobe(MPI_ANY_SOURCE, TAG_ASK, a->channel, &found, &from) != MPI_SUCCESS) break;
        if (!found) {
            nanosleep(&nap, NULL);
            continue;
        }
        if (MPI_Recv(&q, sizeof q, MPI_BYTE, from.MPI_SOURCE, TAG_ASK, a->channel,
                     MPI_STATUS_IGNORE) != MPI_SUCCESS)
            break;
        reply(a, &q, a->copy);
        if (MPI_Send(a->copy, (int)q.n, MPI_INT64_T, from.MPI_SOURCE, TAG_ANSWER, a->channel) !=
            MPI_SUCCESS)
            break;
    }
    return NULL;
}

gm_status gm_answer_start(const gm_comm *comm, int64_t n_word, gm_answer **out)
{
    gm_status st = GM_OK;
    gm_answer *a = *out = calloc(1, sizeof *a);
    if (a) {
        a->channel = MPI_COMM_NULL;
        a->rank = comm->rank;
    } else {
        st = GM_FAIL(GM_E_MEMORY, "out of memory");
    }
    GM_TRY(st, gm_comm_agree(comm, st));
    GM_TRY(st, GM_MPI("opening the board of points", MPI_Comm_dup(comm->world, &a->channel)));
    MPI_Comm_set_errhandler(a->channel, MPI_ERRORS_RETURN);
    if (a->rank > 0) goto cleanup;
    a->word = calloc((size_t)n_word, sizeof *a->word);
    a->copy = calloc((size_t)n_word, sizeof *a->copy);
    if (!a->word || !a->copy)
        st = GM_FAIL(GM_E_MEMORY, "out of memory");
    else
        a->has_thread = gm_thread_start(&a->thread, serve, a);
    if (st == GM_OK && !a->has_thread)
        st = GM_FAIL(GM_E_MEMORY, "cannot start a thread: is there a limit (ulimit -u)?");
cleanup:
    return st;
}

void gm_answer_stop(gm_answer **answer)
{
    gm_answer *a = *answer;
    if (!a) return;
    if (a->channel != MPI_COMM_NULL) MPI_Barrier(a->channel); /* all answers have arrived */
    __atomic_store_n(&a->ends, 1, __ATOMIC_RELEASE);
    if (a->has_thread) pthread_join(a->thread, NULL);
    if (a->channel != MPI_COMM_NULL) MPI_Comm_free(&a->channel);
    free(a->word);
    free(a->copy);
    free(a);
    *answer = NULL;
}

static gm_status ask(gm_answer *a, const question *q, int64_t *value)
{
    gm_status st = GM_OK;
    if (a->rank == 0) {
        reply(a, q, value);
        return GM_OK;
    }
    gm_alive_wait(true);
    GM_TRY(st,
           GM_MPI("handing out points", MPI_Send(q, sizeof *q, MPI_BYTE, 0, TAG_ASK, a->channel)));
    GM_TRY(st, GM_MPI("handing out points", MPI_Recv(value, (int)q->n, MPI_INT64_T, 0, TAG_ANSWER,
                                                     a->channel, MPI_STATUS_IGNORE)));
cleanup:
    gm_alive_wait(false);
    return st;
}

gm_status gm_answer_add(gm_answer *a, int64_t word, int64_t value, int64_t *before)
{
    return ask(a, &(question){.word = word, .n = 1, .value = value}, before);
}

gm_status gm_answer_look(gm_answer *a, int64_t word, int64_t n, int64_t *value)
{
    return ask(a, &(question){.word = word, .n = n}, value);
}

/* Ranks that agree on errors, send each other blocks, share out processors and GPUs, and report
 * progress. For any number of ranks. Prints what fails; exit code 1. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpi/binding.h"
#include "mpi/watch.h"

static int n_failed;

static void expect(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "FAILED: %s (last message: %s)\n", what, gm_status_message());
    n_failed++;
}

/* --- errors -------------------------------------------------------------------------------------
 */

static bool message_is(const gm_comm *comm, int failing, const char *text)
{
    char wanted[256];
    if (failing == 0)
        snprintf(wanted, sizeof wanted, "%s", text);
    else
        snprintf(wanted, sizeof wanted, "rank %d on %s: %s", failing, comm->host, text);
    return strcmp(gm_status_message(), wanted) == 0;
}

static void agree_on_nothing(const gm_comm *comm)
{
    expect(gm_comm_agree(comm, GM_OK) == GM_OK, "no fault is agreed on");
}

static void agree_on_a_fault_of_one_rank(const gm_comm *comm)
{
    for (int failing = 0; failing < comm->n_rank; failing++) {
        gm_status st = GM_OK;
        if (comm->rank == failing) st = GM_FAIL(GM_E_IO, "disk %d is full", failing);
        char text[32];
        snprintf(text, sizeof text, "disk %d is full", failing);
        expect(gm_comm_agree(comm, st) == GM_E_IO, "the fault of one rank is that of all");
        expect(message_is(comm, failing, text), "all ranks have the message of the failing one");
        agree_on_nothing(comm); /* and go on */
    }
}

static void agree_on_the_lowest_of_several(const gm_comm *comm)
{
    const int lowest = comm->n_rank > 2 ? 1 : 0;
    gm_status st = GM_OK;
    if (comm->rank == lowest)
        st = GM_FAIL(GM_E_MEMORY, "%s", "out of memory");
    else if (comm->rank > lowest)
        st = GM_FAIL(GM_E_DEVICE, "%s", "no GPU");
    expect(gm_comm_agree(comm, st) == GM_E_MEMORY, "the lowest failing rank's status");
    expect(message_is(comm, lowest, "out of memory"), "the lowest failing rank's message");
}

/* --- blocks -------------------------------------------------------------------------------------
 */

/* Rank 0 has n_byte bytes, or NULL when it is negative. */
static void send_a_block(const gm_comm *comm, int64_t n_byte)
{
    unsigned char *block = NULL;
    void *sent = NULL;
    int64_t size = -7;
    if (comm->rank == 0 && n_byte >= 0) {
        block = malloc((size_t)n_byte + 1);
        if (block == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
        for (int64_t i = 0; i < n_byte; i++) block[i] = (unsigned char)(i * 7 + i / 251);
    }
    if (comm->rank == 0) {
        sent = block;
        size = n_byte;
    }
    expect(gm_comm_send_block(comm, &sent, &size) == GM_OK, "a block is sent");
    expect((sent == NULL) == (n_byte < 0), "NULL arrives as NULL, an empty block as a block");
    if (comm->rank != 0) expect(size == (n_byte < 0 ? 0 : n_byte), "its size arrives");
    bool equal = true;
    for (int64_t i = 0; sent != NULL && i < n_byte; i++)
        equal = equal && ((unsigned char *)sent)[i] == (unsigned char)(i * 7 + i / 251);
    expect(equal, "its bytes arrive");
    free(sent);
}

/* --- devices ------------------------------------------------------------------------------------
 */

static void number_the_ranks(const gm_comm *comm)
{
    expect(comm->rank >= 0 && comm->rank < comm->n_rank, "rank lies in range");
    expect(comm->n_local == comm->n_rank && comm->local_rank == comm->rank,
           "all ranks of this test are on one host");
    expect(comm->host[0] != '\0', "the host has a name");
}

/* All see as many devices as there are ranks, or each sees one alone. */
static void choose_devices(const gm_comm *comm)
{
    gm_seen_devices all = {.n = comm->n_local}, one = {.n = 1};
    int index = -1;
    for (int k = 0; k < all.n; k++) snprintf(all.uuid[k], GM_MATCH_UUID, "GPU-%d", k);
    snprintf(one.uuid[0], GM_MATCH_UUID, "GPU-%d", comm->rank);
    expect(gm_binding_device(comm, &all, &index) == GM_OK, "choose");
    expect(index == comm->local_rank, "one device per rank");
    expect(gm_binding_device(comm, &one, &index) == GM_OK, "choose");
    expect(index == 0, "a launcher that shows one device");
}

static void share_out_processors(const gm_comm *comm)
{
    cpu_set_t all, own;
    int n = 0, n_thread = 0;
    int64_t begin = 0, share = 0;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) CPU_SET(cpu, &all);
    expect(sched_setaffinity(0, sizeof all, &all) == 0, "unbind");
    expect(sched_getaffinity(0, sizeof all, &all) == 0, "look");
    n = CPU_COUNT(&all);
    gm_share(n, comm->local_rank, comm->n_local, &begin, &share);
    expect(gm_binding_threads(comm, &n_thread) == GM_OK, "count threads");
    expect(n_thread == (share > 0 ? share : 1),
           "ranks that may use the same processors share them");

    /* Each rank two processors, if there are enough: all of them its own. */
    CPU_ZERO(&own);
    if (n < 2 * comm->n_rank || comm->n_rank == 1) return;
    int i = 0;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && i++ / 2 == comm->local_rank) CPU_SET(cpu, &own);
    expect(sched_setaffinity(0, sizeof own, &own) == 0, "bind");
    expect(gm_binding_threads(comm, &n_thread) == GM_OK, "count threads");
    expect(n_thread == 2, "ranks with processors of their own keep them");
    expect(sched_setaffinity(0, sizeof all, &all) == 0, "unbind again");
}

static gm_binding *gather(const gm_comm *comm, const char *uuid, const char *architecture)
{
    gm_binding mine = {0}, *table = NULL;
    snprintf(mine.device, sizeof mine.device, "device of %d", comm->rank);
    snprintf(mine.uuid, sizeof mine.uuid, "%s", uuid);
    snprintf(mine.architecture, sizeof mine.architecture, "%s", architecture);
    mine.n_worker = 10 + comm->rank;
    expect(gm_binding_gather(comm, &mine, &table) == GM_OK, "gather");
    if (table == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < comm->n_rank; i++) {
        char device[32];
        snprintf(device, sizeof device, "device of %d", i);
        expect(strcmp(table[i].device, device) == 0 && table[i].n_worker == 10 + i,
               "every row of the table is its rank's");
    }
    expect(mine.n_sharing == table[comm->rank].n_sharing, "the own row is complete");
    return table;
}

static void gather_devices(const gm_comm *comm)
{
    char uuid[16];
    gm_comm elsewhere = *comm;
    gm_binding *table = gather(comm, "", "x86-64-v3");
    for (int i = 0; i < comm->n_rank; i++) expect(table[i].n_sharing == 1, "no CPU is shared");
    expect(gm_binding_check_shared(comm, table) == GM_OK, "CPUs may be many");
    expect(gm_binding_check_mixed(comm, table) == GM_OK, "one kind");
    free(table);

    snprintf(uuid, sizeof uuid, "GPU-%d", comm->rank);
    table = gather(comm, uuid, "sm_90");
    expect(gm_binding_check_shared(comm, table) == GM_OK, "one GPU per rank");
    free(table);

    table = gather(comm, "GPU-7", "sm_90");
    expect(table[0].n_sharing == comm->n_rank, "all share one GPU");
    if (comm->n_rank > 1) {
        expect(gm_binding_check_shared(comm, table) == GM_E_MPI, "a shared GPU is refused");
        expect(strstr(gm_status_message(), "GPU-7") != NULL, "by its name");
    }
    free(table);

    snprintf(uuid, sizeof uuid, "GPU-%d", comm->rank / 2);
    table = gather(comm, uuid, "sm_90");
    for (int i = 0; i < comm->n_rank; i++)
        expect(table[i].n_sharing == (i / 2 * 2 + 1 < comm->n_rank ? 2 : 1), "pairs on each GPU");
    free(table);

    snprintf(elsewhere.host, sizeof elsewhere.host, "host%d", comm->rank);
    table = gather(&elsewhere, "GPU-7", "sm_90");
    for (int i = 0; i < comm->n_rank; i++)
        expect(table[i].n_sharing == 1, "the same name on another host is another GPU");
    free(table);
}

static void refuse_mixed_devices(const gm_comm *comm)
{
    const bool last = comm->rank == comm->n_rank - 1;
    gm_binding *table = gather(comm, "", last ? "sm_90" : "sm_80");
    if (comm->n_rank > 1) {
        char rank[32];
        snprintf(rank, sizeof rank, "rank %d has", comm->n_rank - 1);
        expect(gm_binding_check_mixed(comm, table) == GM_E_DEVICE, "two kinds are refused");
        expect(strstr(gm_status_message(), "sm_80") != NULL &&
                   strstr(gm_status_message(), "sm_90") != NULL &&
                   strstr(gm_status_message(), rank) != NULL,
               "with both kinds and the rank");
    } else {
        expect(gm_binding_check_mixed(comm, table) == GM_OK, "one rank is one kind");
    }
    free(table);
}

/* --- progress -----------------------------------------------------------------------------------
 */

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Every rank reports often, its last report as finished; rank 0 listens until all have. */
static void report_progress(const gm_comm *comm)
{
    enum { N_REPORT = 1000 };
    gm_watch *watch = NULL;
    gm_progress mine = {0}, total = {0};
    const int n = comm->n_rank;
    int n_finished = 0;
    expect(gm_watch_create(comm, &watch) == GM_OK, "create a watch");
    if (watch == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    gm_watch_total(watch, &total, &n_finished);
    expect(total.points == 0 && n_finished == 0, "nothing is done at first");
    for (int i = 1; i <= N_REPORT; i++) {
        mine = (gm_progress){.points = (int64_t)i * (comm->rank + 1),
                             .point_steps = INT64_C(10000000000) * i,
                             .march = 0.5 * i,
                             .up = 1,
                             .down = 2,
                             .disk = 4,
                             .finished = i == N_REPORT};
        expect(gm_watch_report(watch, &mine) == GM_OK, "report");
    }
    const double start = seconds_now();
    while (comm->rank == 0 && n_finished < n && seconds_now() - start < 30) {
        expect(gm_watch_report(watch, &mine) == GM_OK, "listen");
        gm_watch_total(watch, &total, &n_finished);
        expect(total.points <= (int64_t)N_REPORT * n * (n + 1) / 2, "never more than there is");
    }
    if (comm->rank == 0) {
        expect(n_finished == n, "all have finished");
        expect(total.points == (int64_t)N_REPORT * n * (n + 1) / 2, "points add up");
        expect(total.point_steps == INT64_C(10000000000) * N_REPORT * n, "steps add up");
        expect(total.march == 0.5 * N_REPORT * n && total.up == n && total.down == 2 * n &&
                   total.disk == 4 * n,
               "seconds add up");
    }
    gm_watch_destroy(&watch);
    expect(watch == NULL, "destroy sets NULL");
    gm_watch_destroy(&watch);
}

/* The last rank wants an end: all hear of it, and then that all have finished. */
static void stop_together(const gm_comm *comm)
{
    gm_watch *watch = NULL;
    gm_progress mine = {0};
    const bool last = comm->rank == comm->n_rank - 1;
    const double start = seconds_now();
    bool ended = false;
    expect(gm_watch_create(comm, &watch) == GM_OK, "create a watch");
    if (watch == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    expect(gm_watch_report(watch, &mine) == GM_OK, "report");
    MPI_Barrier(comm->world);
    expect(gm_watch_stopping(watch) == GM_STOP_NONE, "nobody has asked for an end");
    if (last) mine.stopping = GM_STOP_SIGUSR1;
    while (gm_watch_stopping(watch) == GM_STOP_NONE && seconds_now() - start < 30)
        expect(gm_watch_report(watch, &mine) == GM_OK, "report until told to stop");
    expect(gm_watch_stopping(watch) == GM_STOP_SIGUSR1, "all stop, and know why");
    mine.finished = 1;
    expect(gm_watch_report(watch, &mine) == GM_OK, "report the end");
    while (!ended && seconds_now() - start < 30)
        expect(gm_watch_ended(watch, &mine, &ended) == GM_OK, "look for the others");
    expect(ended, "all hear that all have finished");
    gm_watch_destroy(&watch);
}

int main(int argc, char **argv)
{
    gm_comm comm;
    if (gm_comm_start(&argc, &argv, &comm) != GM_OK) return 1;
    expect(gm_mpi_check(MPI_SUCCESS, "x") == GM_OK, "success is no fault");
    expect(gm_mpi_check(MPI_ERR_RANK, "calling rank 9") == GM_E_MPI &&
               strncmp(gm_status_message(), "calling rank 9: ", 16) == 0,
           "a fault of MPI says what was tried");
    number_the_ranks(&comm);
    choose_devices(&comm);
    agree_on_nothing(&comm);
    agree_on_a_fault_of_one_rank(&comm);
    agree_on_the_lowest_of_several(&comm);
    send_a_block(&comm, -1);
    send_a_block(&comm, 0);
    send_a_block(&comm, 1);
    send_a_block(&comm, 3000017);
    share_out_processors(&comm);
    gather_devices(&comm);
    refuse_mixed_devices(&comm);
    report_progress(&comm);
    stop_together(&comm);
    MPI_Allreduce(MPI_IN_PLACE, &n_failed, 1, MPI_INT, MPI_SUM, comm.world);
    gm_comm_finish(&comm);
    return n_failed > 0;
}

/* Bipartite matching by augmenting paths, breadth first: a rank that finds its devices taken asks
 * their owners to move on, and those the owners of theirs, until one is free. */
#include "mpi/device_match.h"

#include <stdlib.h>
#include <string.h>

typedef struct match {
    int n_rank;
    const gm_seen_devices *seen;
    int *id;    /* [n_rank][GM_MATCH_DEVICES] number of each device, the same for all who see it */
    int *owner; /* [id] rank; -1: free */
    int *from;  /* [id] rank that would take it on the way found; -1: not reached */
    int *index; /* [n_rank] -1: none yet */
    int *queue; /* [n_rank] */
} match;

static int slot(int rank, int k)
{
    return rank * GM_MATCH_DEVICES + k;
}

static void number_devices(match *m)
{
    for (int i = 0; i < m->n_rank * GM_MATCH_DEVICES; i++) {
        const int rank = i / GM_MATCH_DEVICES, k = i % GM_MATCH_DEVICES;
        m->id[i] = m->owner[i] = -1;
        if (k >= m->seen[rank].n) continue;
        m->id[i] = i;
        for (int j = 0; j < i && m->id[i] == i; j++)
            if (m->id[j] == j && strcmp(m->seen[j / GM_MATCH_DEVICES].uuid[j % GM_MATCH_DEVICES],
                                        m->seen[rank].uuid[k]) == 0)
                m->id[i] = j;
    }
}

static int index_of(const match *m, int rank, int id)
{
    int k = 0;
    while (m->id[slot(rank, k)] != id) k++;
    return k;
}

/* A free device that `rank` gets if owners on the way move on; -1: none. */
static int find_way(match *m, int rank)
{
    int n_queue = 0;
    for (int i = 0; i < m->n_rank * GM_MATCH_DEVICES; i++) m->from[i] = -1;
    m->queue[n_queue++] = rank;
    for (int q = 0; q < n_queue; q++) {
        const int r = m->queue[q], n = m->seen[r].n;
        for (int k = 0; k < n; k++) {
            const int id = m->id[slot(r, (r + k) % n)];
            if (m->from[id] >= 0) continue;
            m->from[id] = r;
            if (m->owner[id] < 0) return id;
            m->queue[n_queue++] = m->owner[id];
        }
    }
    return -1;
}

/* From the free end of the way back to the rank that asked. */
static void move_on(match *m, int rank, int id)
{
    for (int r = -1; r != rank;) {
        r = m->from[id];
        const int before = m->index[r] < 0 ? -1 : m->id[slot(r, m->index[r])];
        m->owner[id] = r;
        m->index[r] = index_of(m, r, id);
        id = before;
    }
}

gm_status gm_device_match(int n_rank, const gm_seen_devices *seen, int *index)
{
    gm_status st = GM_OK;
    const size_t n_slot = (size_t)n_rank * GM_MATCH_DEVICES;
    match m = {.n_rank = n_rank, .seen = seen, .index = index};
    m.id = calloc(n_slot, sizeof *m.id);
    m.owner = calloc(n_slot, sizeof *m.owner);
    m.from = malloc(n_slot * sizeof *m.from);
    m.queue = malloc(((size_t)n_rank + 1) * sizeof *m.queue);
    if (!m.id || !m.owner || !m.from || !m.queue) {
        st = GM_FAIL(GM_E_MEMORY, "out of memory");
        goto cleanup;
    }
    number_devices(&m);
    for (int r = 0; r < n_rank; r++) index[r] = -1;
    for (int r = 0; r < n_rank; r++) {
        const int id = find_way(&m, r);
        if (id >= 0) move_on(&m, r, id);
    }
    for (int r = 0; r < n_rank; r++)
        if (index[r] < 0) index[r] = r % seen[r].n;
cleanup:
    free(m.id);
    free(m.owner);
    free(m.from);
    free(m.queue);
    return st;
}

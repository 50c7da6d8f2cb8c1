#include "app/create.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/alive.h"

/* Texts of the provenance, and the file with all its metadata. Rank 0. */
static gm_status build(const gm_request *request, const char *kernel, bool replace,
                       gm_creation **creation)
{
    gm_status st = GM_OK;
    const gm_sweep *sweep = request->sweep;
    char *overrides = calloc(1, 1);
    char seed[32];
    for (int i = 0; i < sweep->n_override && overrides; i++) {
        size_t size = strlen(overrides) + strlen(sweep->override[i]) + 2;
        char *grown = realloc(overrides, size);
        if (!grown) {
            st = GM_FAIL(GM_E_MEMORY, "out of memory");
            goto cleanup;
        }
        overrides = grown;
        if (i > 0) strcat(overrides, "\n");
        strcat(overrides, sweep->override[i]);
    }
    if (!overrides) return GM_FAIL(GM_E_MEMORY, "out of memory");
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)sweep->seed);
    const gm_attribute attribute[] = {
        {GM_PROVENANCE_SWEEP, sweep->text},
        {"overrides", overrides},
        {GM_PROVENANCE_CANONICAL, request->canonical},
        {GM_PROVENANCE_KERNEL, kernel},
        {"model", sweep->model->name},
        {"model_source", sweep->model->source},
        {"model_hash", sweep->model->source_hash},
        {"precision", gm_precision_name(sweep->precision)},
        {"integrator", gm_integrator_name(sweep->integrator)},
        {"seed", seed},
        {"program", "gridmarch " GM_VERSION},
    };
    GM_TRY(st, gm_store_begin(request->path, request->layout, attribute,
                              sizeof attribute / sizeof attribute[0], replace, creation));
cleanup:
    free(overrides);
    return st;
}

/* Every rank fills its part of the regions that rank 0 knows. */
static gm_status start_fill(const gm_comm *comm, const gm_request *request, gm_create *c)
{
    gm_status st = GM_OK;
    int n_region = request->layout->n_variable + 1;
    char *partial = NULL;
    gm_region *region = calloc((size_t)n_region, sizeof *region);
    if (!region || asprintf(&partial, "%s.partial", request->path) < 0) {
        partial = NULL;
        st = GM_FAIL(GM_E_MEMORY, "out of memory");
    }
    GM_TRY(st, gm_comm_agree(comm, st));
    if (comm->rank == 0)
        memcpy(region, gm_creation_regions(c->creation, &n_region),
               (size_t)n_region * sizeof *region);
    GM_TRY(st, gm_comm_send(comm, region, n_region * (int64_t)sizeof *region));
    st =
        gm_fill_start(partial, request->path, region, n_region, comm->rank, comm->n_rank, &c->fill);
    GM_TRY(st, gm_comm_agree(comm, st));
cleanup:
    free(region);
    free(partial);
    return st;
}

gm_status gm_create_begin(const gm_comm *comm, const gm_request *request, const char *kernel,
                          bool replace, gm_create *create)
{
    gm_status st = GM_OK;
    if (comm->rank == 0) st = build(request, kernel, replace, &create->creation);
    GM_TRY(st, gm_comm_agree(comm, st));
    GM_TRY(st, start_fill(comm, request, create));
cleanup:
    if (st != GM_OK) gm_create_abandon(create);
    return st;
}

/* Until all parts are filled, or one has failed. Short naps first: most files are small. */
static gm_status wait_for_fill(const gm_comm *comm, gm_fill **fill)
{
    enum { SHORTEST_NS = 50000, LONGEST_NS = 20000000 };
    gm_status filled = GM_OK;
    struct timespec nap = {0, SHORTEST_NS};
    for (;;) {
        const bool is_over = !*fill || gm_fill_is_over(*fill);
        if (*fill && is_over) filled = gm_fill_end(fill, false);
        if (!*fill) gm_alive_mark(NULL); /* else the filling does */
        int all[] = {is_over, filled == GM_OK};
        const int code = MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_INT, MPI_MIN, comm->world);
        if (code != MPI_SUCCESS) return GM_MPI("waiting for the new file", code);
        if (all[0] || !all[1]) return gm_comm_agree(comm, filled);
        nanosleep(&nap, NULL);
        nap.tv_nsec = 2 * nap.tv_nsec < LONGEST_NS ? 2 * nap.tv_nsec : LONGEST_NS;
    }
}

gm_status gm_create_end(const gm_comm *comm, gm_create *create)
{
    gm_status st = GM_OK;
    GM_TRY(st, wait_for_fill(comm, &create->fill));
    if (comm->rank == 0) st = gm_store_publish(&create->creation);
    GM_TRY(st, gm_comm_agree(comm, st));
cleanup:
    gm_create_abandon(create);
    return st;
}

void gm_create_abandon(gm_create *create)
{
    gm_fill_end(&create->fill, true);
    gm_store_abandon(&create->creation);
}

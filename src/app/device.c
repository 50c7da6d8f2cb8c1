#include "app/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"

/* The backend that all ranks can use, and how many of its devices this rank sees. */
static gm_status choose_backend(const gm_comm *comm, const gm_options *options, gm_rank_device *d,
                                int *n_device)
{
    gm_status st = GM_OK;
    const char *reason = "";
    int n_gpu = options->backend == GM_BACKEND_CPU ? 0 : gm_backend_cuda.count(&reason);
    int fewest = n_gpu;
    d->why_cpu = "";
    if (options->backend == GM_BACKEND_CUDA && n_gpu == 0)
        st = GM_FAIL(GM_E_DEVICE, "--backend cuda: %s; `gridmarch doctor` says more", reason);
    GM_TRY(st, gm_comm_agree(comm, st));
    GM_TRY(st, GM_MPI("comparing GPUs",
                      MPI_Allreduce(MPI_IN_PLACE, &fewest, 1, MPI_INT, MPI_MIN, comm->world)));
    d->backend = fewest > 0 ? &gm_backend_cuda : &gm_backend_cpu;
    if (fewest == 0 && options->backend == GM_BACKEND_AUTO)
        d->why_cpu = n_gpu > 0 ? "some ranks see no GPU" : reason;
    *n_device = fewest > 0 ? n_gpu : d->backend->count(&reason);
cleanup:
    return st;
}

static gm_status choose_device(const gm_comm *comm, const gm_backend *backend, int n_device,
                               int *index)
{
    gm_seen_devices seen = {.n = n_device < GM_MATCH_DEVICES ? n_device : GM_MATCH_DEVICES};
    *index = 0;
    if (!backend->uuid) return GM_OK;
    for (int k = 0; k < seen.n; k++) backend->uuid(k, seen.uuid[k]);
    return gm_binding_device(comm, &seen, index);
}

static gm_status open_mine(int index, int n_thread, gm_rank_device *d, gm_binding *mine)
{
    gm_status st = GM_OK;
    GM_TRY(st, d->backend->open(index, n_thread, &d->device));
    GM_TRY(st, d->backend->describe(d->device, &d->info));
    snprintf(mine->device, sizeof mine->device, "%s", d->info.name);
    snprintf(mine->uuid, sizeof mine->uuid, "%s", d->info.uuid);
    snprintf(mine->architecture, sizeof mine->architecture, "%s", d->info.architecture);
    mine->n_worker = d->info.n_worker;
cleanup:
    return st;
}

gm_status gm_rank_device_open(const gm_comm *comm, const gm_options *options, gm_rank_device *d)
{
    gm_status st = GM_OK;
    int n_device = 0, index = 0, n_thread = options->n_thread;
    gm_binding mine = {.n_sharing = 1};
    memset(d, 0, sizeof *d);
    GM_TRY(st, choose_backend(comm, options, d, &n_device));
    if (n_thread == 0) {
        st = gm_binding_threads(comm, &n_thread);
        GM_TRY(st, gm_comm_agree(comm, st));
    }
    d->n_spare = d->backend == &gm_backend_cpu ? 1 : n_thread;
    st = choose_device(comm, d->backend, n_device, &index);
    GM_TRY(st, gm_comm_agree(comm, st));
    st = open_mine(index, n_thread, d, &mine);
    GM_TRY(st, gm_comm_agree(comm, st));
    GM_TRY(st, gm_binding_gather(comm, &mine, &d->table));
    if (!options->share_gpu) GM_TRY(st, gm_binding_check_shared(comm, d->table));
    if (!options->allow_mixed) GM_TRY(st, gm_binding_check_mixed(comm, d->table));
cleanup:
    if (st != GM_OK) gm_rank_device_close(d);
    return st;
}

void gm_rank_device_close(gm_rank_device *d)
{
    if (d->device) d->backend->close(&d->device);
    free(d->table);
    d->table = NULL;
}

int64_t gm_rank_device_bytes(const gm_comm *comm, const gm_rank_device *d)
{
    const bool is_cpu = d->backend == &gm_backend_cpu;
    const int n_sharing = is_cpu ? comm->n_local : d->table[comm->rank].n_sharing;
    return d->info.free_bytes / 10 * 9 / n_sharing; /* a tenth is left to others */
}

gm_status gm_rank_device_engine(const gm_rank_device *d, const gm_request *request,
                                const gm_code *code, gm_tiling *tiling, gm_engine **out)
{
    for (;;) {
        gm_status st = GM_OK;
        if (gm_fault(GM_FAULT_DEVICE_MEMORY))
            st = GM_FAIL(GM_E_MEMORY, "the device's memory is taken on purpose");
        else
            st = d->backend->engine_create(d->device, request->sweep, request->data, *tiling, code,
                                           out);
        if (st != GM_E_MEMORY || tiling->tile_points == 1) return st;
        tiling->tile_points /= 2;
    }
}

/** The device of each rank, chosen and opened. */
#ifndef GM_APP_DEVICE_H
#define GM_APP_DEVICE_H

#include "app/options.h"
#include "app/request.h"
#include "kernels/backend.h"
#include "mpi/binding.h"

typedef struct gm_rank_device {
    const gm_backend *backend;
    gm_device *device;
    gm_device_info info;
    int n_spare;         /* threads of the host that the device leaves to others */
    gm_binding *table;   /* owned [n_rank] */
    const char *why_cpu; /* static; why no GPU is used, "" if one is or none was wanted */
} gm_rank_device;

/** Collective. The same backend on all ranks: CUDA only if every rank sees a GPU.
 *  @return GM_OK; GM_E_DEVICE; GM_E_MPI for a shared GPU that was not allowed */
gm_status gm_rank_device_open(const gm_comm *comm, const gm_options *options,
                              gm_rank_device *device);
void gm_rank_device_close(gm_rank_device *device);

/** Memory of the device that this rank may use: its part when several ranks share it. */
int64_t gm_rank_device_bytes(const gm_comm *comm, const gm_rank_device *device);

/** Make the engine. Memory that was free may be another process's by now: then with half the tile,
 * and again. Not collective.
 *  @param code           NULL: the built-in kernel
 *  @param[in,out] tiling what it came to
 *  @return GM_OK; GM_E_MEMORY: not even a tile of one point; GM_E_DEVICE */
gm_status gm_rank_device_engine(const gm_rank_device *device, const gm_request *request,
                                const gm_code *code, gm_tiling *tiling, gm_engine **out);

#endif

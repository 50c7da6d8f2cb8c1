/** A sweep's constants as text: what turns the general CUDA kernel into one made for it. */
#ifndef GM_KERNELS_CUDA_SPECIALISE_H
#define GM_KERNELS_CUDA_SPECIALISE_H

#include "core/data.h"

/** Why a sweep is not one for matrix.cu (compiled at run time only) but for march.cu, in words for
 *  a user (static); NULL: it is one for matrix.cu. From the sweep alone and the architecture: a
 *  network whose states fit the registers of a few warps. */
const char *gm_cuda_not_matrix(const gm_sweep *sweep, const gm_data *data,
                               const char *architecture);
bool gm_cuda_is_matrix(const gm_sweep *sweep, const gm_data *data, const char *architecture);

/** The file that the kernels include as GM_SPECIALISED: node count, integrator, time step, what is
 *  recorded, and the value of every knob that is the same for all points and nodes.
 *  @param architecture  "sm_90"
 *  @return text owned by the caller (free), or NULL: out of memory */
char *gm_cuda_specialise(const gm_sweep *sweep, const gm_data *data, const char *architecture);

/** Threads of a block of march.cu. */
int gm_cuda_threads(const gm_sweep *sweep, int64_t n_node);

/** Bytes that the weights take in the order of fragments (see fragment.cuh). */
int64_t gm_cuda_fragment_bytes(int64_t n_node);

#endif

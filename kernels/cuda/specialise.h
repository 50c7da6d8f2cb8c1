/** A sweep's constants as text: what turns the general CUDA kernel into one made for it. */
#ifndef GM_KERNELS_CUDA_SPECIALISE_H
#define GM_KERNELS_CUDA_SPECIALISE_H

#include "core/data.h"

/** The file that march.cu includes as GM_SPECIALISED: node count, integrator, time step, what is
 *  recorded, and the value of every knob that is the same for all points and nodes.
 *  @return text owned by the caller (free), or NULL: out of memory */
char *gm_cuda_specialise(const gm_sweep *sweep, const gm_data *data);

/** Threads of a block. */
int gm_cuda_threads(const gm_sweep *sweep, int64_t n_node);

#endif

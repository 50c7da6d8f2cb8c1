/** A model's CUDA kernel compiled for one sweep and one architecture. */
#ifndef GM_KERNELS_CUDA_COMPILE_H
#define GM_KERNELS_CUDA_COMPILE_H

#include "kernels/code.h"

/** @param architecture  "sm_90"
 *  @return as gm_nvrtc_compile */
gm_status gm_cuda_compile(const gm_sweep *sweep, const gm_data *data, const char *architecture,
                          gm_code *out);

/** Everything that changes what gm_cuda_compile makes, as one text to hash (owned by the caller).
 */
gm_status gm_cuda_compile_key(const gm_sweep *sweep, const gm_data *data, const char *architecture,
                              char **key_text);

#endif

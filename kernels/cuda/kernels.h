/** The kernels that march one sweep: where their code is from, how they are launched. */
#ifndef GM_KERNELS_CUDA_KERNELS_H
#define GM_KERNELS_CUDA_KERNELS_H

#include "kernels/cuda/args.h"
#include "kernels/cuda/cuda.h"

typedef struct gm_cuda_kernels {
    cudaLibrary_t library; /* owned */
    cudaKernel_t begin, march, end;
    cudaKernel_t layout; /* plain ODE only */
    cudaKernel_t pack;   /* matrix.cu only */
    void *fragment;      /* owned, on the device; matrix.cu only */
    unsigned block_points, threads;
    size_t shared; /* bytes of a block of march */
    unsigned n_node, n_fragment, n_trajectory;
    bool is_coupled;
} gm_cuda_kernels;

/** Load code compiled for this sweep, or (NULL) what is embedded in the program, and check that the
 *  device can run it.
 *  @param[out] out  zeroed by the caller; gm_cuda_kernels_unload frees, also after an error */
gm_status gm_cuda_kernels_load(const gm_device *device, const gm_sweep *sweep, const gm_data *data,
                               const gm_code *code, gm_cuda_kernels *out);
void gm_cuda_kernels_unload(gm_cuda_kernels *kernels);

/** Once, when args has all that lasts: bring the weights into the order that march wants. */
gm_status gm_cuda_kernels_prepare(const gm_cuda_kernels *kernels, gm_cuda_args *args,
                                  cudaStream_t stream);

/** Queue one chunk. */
gm_status gm_cuda_kernels_launch(const gm_cuda_kernels *kernels, gm_cuda_args *args,
                                 const gm_work *work, cudaStream_t stream);

#endif

/** Device and pinned memory of a CUDA engine, and a sweep's constants on the device. */
#ifndef GM_KERNELS_CUDA_BUFFERS_H
#define GM_KERNELS_CUDA_BUFFERS_H

#include "kernels/cuda/args.h"
#include "kernels/cuda/cuda.h"

/** The same bytes on both sides; one copy moves them. */
typedef struct gm_cuda_pair {
    void *host; /* pinned */
    void *device;
    size_t size;
} gm_cuda_pair;

gm_status gm_cuda_pair_create(gm_cuda_pair *pair, int64_t n_byte);
void gm_cuda_pair_destroy(gm_cuda_pair *pair);

/** Everything on the device that lasts as long as the engine. */
typedef struct gm_cuda_constants {
    void *weight, *strength, *node_value;
    double *axis_value; /* of all axes, one behind the other */
} gm_cuda_constants;

/** Upload weights (transposed: [source][target]), strengths, per-node values and axes, and enter
 * them in args with all else that does not change during the sweep. */
gm_status gm_cuda_constants_create(const gm_sweep *sweep, const gm_data *data,
                                   gm_cuda_constants *constants, gm_cuda_args *args);
void gm_cuda_constants_destroy(gm_cuda_constants *constants);

/** Device memory, zeroed. */
gm_status gm_cuda_take(int64_t n_byte, void *out);

#endif

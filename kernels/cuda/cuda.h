/** Private to the CUDA backend: the border to the CUDA API, the device, and the embedded kernels.
 */
#ifndef GM_KERNELS_CUDA_CUDA_H
#define GM_KERNELS_CUDA_CUDA_H

#include <cuda_runtime_api.h>

#include "kernels/backend.h"

struct gm_device {
    int index;
    struct cudaDeviceProp property;
};

/** GM_OK, or GM_E_DEVICE / GM_E_MEMORY with what was tried and CUDA's own words. */
gm_status gm_cuda_check(cudaError_t error, const char *what);

#define GM_CUDA(what, call) gm_cuda_check((call), (what))

int gm_cuda_count(const char **reason);
void gm_cuda_uuid(int index, char text[48]);
gm_status gm_cuda_open(int index, int n_thread, gm_device **out);
void gm_cuda_close(gm_device **device);
gm_status gm_cuda_describe(gm_device *device, gm_device_info *info);

/** "sm_90". */
void gm_cuda_architecture(const gm_device *device, char text[24]);

/** Device code of one model and precision, embedded in the program. */
typedef struct gm_cuda_image {
    const char *model;
    gm_precision precision;
    const unsigned char *code;
} gm_cuda_image;

/** Ended by a NULL model. */
extern const gm_cuda_image gm_cuda_images[];

/** Identity of the device sources that the images were compiled from. */
extern const char gm_cuda_source_hash[];

#endif

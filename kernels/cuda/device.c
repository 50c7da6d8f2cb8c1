#include "kernels/cuda/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

gm_status gm_cuda_check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return GM_OK;
    gm_status st = error == cudaErrorMemoryAllocation ? GM_E_MEMORY : GM_E_DEVICE;
    return GM_FAIL(st, "%s: %s (%s)", what, cudaGetErrorString(error), cudaGetErrorName(error));
}

int gm_cuda_count(const char **reason)
{
    int n = 0, driver = 0, runtime = 0;
    *reason = "";
    cudaError_t error = cudaGetDeviceCount(&n);
    if (error == cudaSuccess && n > 0) return n;
    cudaGetLastError();
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (driver == 0)
        *reason = "no NVIDIA driver is loaded";
    else if (error == cudaErrorInsufficientDriver)
        *reason = "the NVIDIA driver is older than this program's CUDA runtime";
    else
        *reason = "the NVIDIA driver shows no GPU to this process";
    return 0;
}

static void put_uuid(const struct cudaDeviceProp *property, char *text, size_t size)
{
    const unsigned char *b = (const unsigned char *)property->uuid.bytes;
    snprintf(text, size, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
             b[14], b[15]);
}

void gm_cuda_uuid(int index, char text[48])
{
    struct cudaDeviceProp property;
    text[0] = '\0';
    if (cudaGetDeviceProperties(&property, index) == cudaSuccess) put_uuid(&property, text, 48);
}

gm_status gm_cuda_open(int index, int n_thread, gm_device **out)
{
    gm_status st = GM_OK;
    gm_device *device = calloc(1, sizeof *device);
    (void)n_thread;
    *out = NULL;
    if (!device) return GM_FAIL(GM_E_MEMORY, "out of memory");
    device->index = index;
    GM_TRY(st, GM_CUDA("choosing a GPU", cudaSetDevice(index)));
    GM_TRY(st, GM_CUDA("reading a GPU's properties",
                       cudaGetDeviceProperties(&device->property, index)));
    GM_TRY(st, GM_CUDA("starting a GPU", cudaInitDevice(index, cudaDeviceScheduleBlockingSync,
                                                        cudaInitDeviceFlagsAreValid)));
    *out = device, device = NULL;
cleanup:
    gm_cuda_close(&device);
    return st;
}

void gm_cuda_close(gm_device **device)
{
    free(*device);
    *device = NULL;
}

void gm_cuda_architecture(const gm_device *device, char text[24])
{
    snprintf(text, 24, "sm_%d%d", device->property.major, device->property.minor);
}

gm_status gm_cuda_describe(gm_device *device, gm_device_info *info)
{
    size_t free_bytes = 0, total = 0;
    const struct cudaDeviceProp *property = &device->property;
    memset(info, 0, sizeof *info);
    snprintf(info->name, sizeof info->name, "%.95s", property->name);
    gm_cuda_architecture(device, info->architecture);
    put_uuid(property, info->uuid, sizeof info->uuid);
    info->n_worker = property->multiProcessorCount;
    gm_status st = GM_CUDA("asking for free memory", cudaMemGetInfo(&free_bytes, &total));
    info->free_bytes = (int64_t)free_bytes;
    return st;
}

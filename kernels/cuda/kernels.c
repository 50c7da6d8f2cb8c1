#include "kernels/cuda/kernels.h"

#include <stdio.h>
#include <string.h>

#include "kernels/cuda/specialise.h"
#include "kernels/shape.h"

enum { POINT_THREADS = 128, NARROW_NODES = 256, LAYOUT_TILE = 32, LAYOUT_ROWS = 8, WARP = 32 };

/* --- load ----------------------------------------------------------------------------------------
 */

/* Code embedded in the program for the sweep's model and precision, and the entry in it that suits.
 */
static gm_status find_image(const gm_sweep *sweep, const gm_data *data, const void **image,
                            char name[64])
{
    const gm_cuda_image *i = gm_cuda_images;
    while (i->model &&
           (strcmp(i->model, sweep->model->name) != 0 || i->precision != gm_real_precision(sweep)))
        i++;
    if (!i->model) return GM_FAIL(GM_E_INTERNAL, "no GPU code for model %s", sweep->model->name);
    *image = i->code;
    snprintf(name, 64, "gm_march_%s%s%s", gm_integrator_name(sweep->integrator),
             gm_derived_mask(sweep) != 0      ? "_derived"
             : gm_statistics_mask(sweep) != 0 ? "_statistics"
                                              : "",
             data->n_node > NARROW_NODES ? "_wide" : "");
    return GM_OK;
}

static gm_status find_kernel(gm_cuda_kernels *k, const char *name, cudaKernel_t *kernel)
{
    return GM_CUDA("loading GPU code", cudaLibraryGetKernel(kernel, k->library, name));
}

/* How matrix.cu was cut: it says so itself. */
static gm_status read_shape(gm_cuda_kernels *k)
{
    gm_status st = GM_OK;
    void *at = NULL;
    size_t size = 0;
    int32_t shape[5] = {0};
    GM_TRY(st, GM_CUDA("loading GPU code",
                       cudaLibraryGetGlobal(&at, &size, k->library, "gm_matrix_shape")));
    if (size != sizeof shape) return GM_FAIL(GM_E_INTERNAL, "gm_matrix_shape has %zu bytes", size);
    GM_TRY(st, GM_CUDA("reading the shape of GPU code",
                       cudaMemcpy(shape, at, size, cudaMemcpyDeviceToHost)));
    k->block_points = (unsigned)shape[0];
    k->threads = (unsigned)shape[1];
    k->shared = (size_t)shape[2];
cleanup:
    return st;
}

/* A block per point has two halves of what couples, in rows of whole packs of four. */
static void block_shape(const gm_sweep *sweep, const gm_data *data, gm_cuda_kernels *k)
{
    const int64_t stride = (data->n_node + 3) / 4 * 4;
    k->threads = (unsigned)gm_cuda_threads(sweep, data->n_node);
    k->block_points = k->is_coupled ? 1 : k->threads;
    k->shared = (size_t)(2 * sweep->model->n_coupling * stride * gm_real_size(sweep));
}

static gm_status allow_shared(const gm_device *device, const gm_sweep *sweep, gm_cuda_kernels *k)
{
    if (k->shared > device->property.sharedMemPerBlockOptin)
        return GM_FAIL(GM_E_DEVICE,
                       "%u nodes with %d couplings need %zu bytes of shared memory; %s has %zu",
                       k->n_node, sweep->model->n_coupling, k->shared, device->property.name,
                       device->property.sharedMemPerBlockOptin);
    if (k->shared <= device->property.sharedMemPerBlock) return GM_OK;
    return GM_CUDA("reserving shared memory",
                   cudaFuncSetAttribute((const void *)k->march,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        (int)k->shared));
}

gm_status gm_cuda_kernels_load(const gm_device *device, const gm_sweep *sweep, const gm_data *data,
                               const gm_code *code, gm_cuda_kernels *out)
{
    gm_status st = GM_OK;
    gm_cuda_kernels *k = out;
    char name[64] = "gm_march", architecture[24];
    const void *image = code ? code->data : NULL;
    gm_cuda_architecture(device, architecture);
    k->n_node = (unsigned)data->n_node;
    k->n_trajectory = (unsigned)gm_n_trajectory(sweep);
    k->is_coupled = sweep->model->n_coupling > 0;
    if (!code) GM_TRY(st, find_image(sweep, data, &image, name));
    GM_TRY(st, GM_CUDA("loading GPU code",
                       cudaLibraryLoadData(&k->library, image, NULL, NULL, 0, NULL, NULL, 0)));
    GM_TRY(st, find_kernel(k, name, &k->march));
    GM_TRY(st, find_kernel(k, "gm_begin", &k->begin));
    GM_TRY(st, find_kernel(k, "gm_end", &k->end));
    if (code && gm_cuda_is_matrix(sweep, data, architecture)) {
        const int64_t n_byte = gm_cuda_fragment_bytes(data->n_node);
        const unsigned tiles = (k->n_node + 7) / 8;
        k->n_fragment = tiles * ((tiles + 1) / 2);
        GM_TRY(st, find_kernel(k, "gm_pack", &k->pack));
        GM_TRY(st, read_shape(k));
        GM_TRY(st, GM_CUDA("taking GPU memory", cudaMalloc(&k->fragment, (size_t)n_byte)));
    } else {
        GM_TRY(st, find_kernel(k, "gm_layout", &k->layout));
        block_shape(sweep, data, k);
    }
    GM_TRY(st, allow_shared(device, sweep, k));
cleanup:
    return st;
}

void gm_cuda_kernels_unload(gm_cuda_kernels *kernels)
{
    cudaFree(kernels->fragment);
    if (kernels->library) cudaLibraryUnload(kernels->library);
    memset(kernels, 0, sizeof *kernels);
}

/* --- launch --------------------------------------------------------------------------------------
 */

static gm_status launch(cudaKernel_t kernel, gm_cuda_args *args, dim3 grid, dim3 block,
                        size_t shared, cudaStream_t stream)
{
    void *list[] = {args};
    return GM_CUDA("launching GPU code",
                   cudaLaunchKernel((const void *)kernel, grid, block, list, shared, stream));
}

static unsigned ceiling(int64_t n, int64_t unit)
{
    return (unsigned)((n + unit - 1) / unit);
}

static dim3 dim(unsigned x, unsigned y, unsigned z)
{
    dim3 d = {x, y, z};
    return d;
}

gm_status gm_cuda_kernels_prepare(const gm_cuda_kernels *k, gm_cuda_args *args, cudaStream_t stream)
{
    args->fragment = k->fragment;
    if (!k->pack) return GM_OK;
    return launch(k->pack, args, dim(k->n_fragment, 1, 1), dim(WARP, 1, 1), 0, stream);
}

gm_status gm_cuda_kernels_launch(const gm_cuda_kernels *k, gm_cuda_args *args, const gm_work *work,
                                 cudaStream_t stream)
{
    gm_status st = GM_OK;
    const dim3 all = dim(ceiling(work->n_point, POINT_THREADS), k->n_node, 1);
    const dim3 line = dim(POINT_THREADS, 1, 1);
    const dim3 blocks = dim(ceiling(work->n_point, k->block_points), 1, 1);
    if (work->first && !work->state) GM_TRY(st, launch(k->begin, args, all, line, 0, stream));
    GM_TRY(st, launch(k->march, args, blocks, dim(k->threads, 1, 1), k->shared, stream));
    if (!k->is_coupled && args->n_sample > 0 && args->trajectory_mask) {
        const unsigned rows = ceiling(args->n_sample, LAYOUT_TILE);
        GM_TRY(st, launch(k->layout, args,
                          dim(ceiling(work->n_point, LAYOUT_TILE), rows < 1024 ? rows : 1024,
                              k->n_trajectory),
                          dim(LAYOUT_TILE, LAYOUT_ROWS, 1), 0, stream));
    }
    if (work->last) GM_TRY(st, launch(k->end, args, all, line, 0, stream));
cleanup:
    return st;
}

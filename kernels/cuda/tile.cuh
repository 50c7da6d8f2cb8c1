/* Kernels at both ends of a tile, whatever marches it. Grid: x over points, y over nodes. */
#ifndef GM_KERNELS_CUDA_TILE_CUH
#define GM_KERNELS_CUDA_TILE_CUH

#include "kernels/cuda/observe.cuh"
#include "kernels/cuda/sweep.cuh"
#include "kernels/noise.h"

extern "C" {

/* Initial states. */
__global__ void gm_begin(const __grid_constant__ gm_cuda_args a)
{
    Place p;
    p.point = blockIdx.x * blockDim.x + threadIdx.x;
    p.node = blockIdx.y;
    p.active = p.point < a.n_point;
    if (!p.active) return;
    if (p.node == 0) a.failed[p.point] = -1;
    for (int s = 0; s < GM_N_STATE; s++) {
        gm_real value = knob(a, p, GM_N_PARAM + s);
        if (a.uniform_mask >> s & 1)
            value = (gm_real)gm_draw_initial(seed_of(a, p), (uint64_t)point_of(a, p), p.node, s,
                                             a.uniform_low[s], a.uniform_high[s]);
        ((gm_real *)a.x)[at(a, p, s)] = recorded(s, value);
    }
}

/* Final values and statistics, laid out as the file has them. */
__global__ void gm_end(const __grid_constant__ gm_cuda_args a)
{
    Place p;
    p.point = blockIdx.x * blockDim.x + threadIdx.x;
    p.node = blockIdx.y;
    p.active = p.point < a.n_point;
    if (!p.active) return;
    const double n = (double)(a.step_begin + a.n_step - FIXED(a, n_transient));
    int64_t row = 0;
    for (int o = 0; o < GM_CUDA_N_FINAL; o++) {
        for (int s = 0; s < GM_N_QUANTITY; s++) {
            if (!(a.final_mask[o] >> s & 1)) continue;
            const int64_t i = at(a, p, s);
            gm_real value;
            if (o == 0) {
                value = recorded(s, ((const gm_real *)a.x)[i]);
            } else {
                const gm_statistic t = {a.sum[i], a.square[i], ((const gm_real *)a.first)[i],
                                        ((const gm_real *)a.low)[i], ((const gm_real *)a.high)[i]};
                value = o == 1   ? gm_statistic_mean(&t, n)
                        : o == 2 ? gm_statistic_variance(&t, n)
                        : o == 3 ? t.low
                                 : t.high;
            }
            ((gm_real *)a.final_value)[(row * a.n_point + p.point) * FIXED(a, n_node) + p.node] =
                value;
            row++;
        }
    }
}
}

#endif

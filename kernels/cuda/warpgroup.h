/** Products of a warpgroup (PTX ISA, wgmma): the instruction names each of its registers, so its
 *  text depends on the number of nodes and is written for the sweep. */
#ifndef GM_KERNELS_CUDA_WARPGROUP_H
#define GM_KERNELS_CUDA_WARPGROUP_H

#include <stdio.h>

/** Write gm_wgmma_tf32_first and so on: d += a * weights for 64 points and the first or second half
 *  of n_tile * 8 nodes, from 8 (tf32) or 16 (bf16) sources in registers; with add = 0, d = a *
 *  weights. See warpgroup.cuh. */
void gm_cuda_put_warpgroup(FILE *file, int n_tile);

#endif

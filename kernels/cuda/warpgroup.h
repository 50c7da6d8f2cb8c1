/** Products of a warpgroup (PTX ISA, wgmma): the instruction names each of its registers, so its
 *  text depends on the number of nodes and is written for the sweep. */
#ifndef GM_KERNELS_CUDA_WARPGROUP_H
#define GM_KERNELS_CUDA_WARPGROUP_H

#include <stdio.h>

/** Write gm_wgmma_tf32 and gm_wgmma_bf16: d += a * weights for 64 points and n_tile * 8 nodes, from
 *  8 or 16 sources in registers; with add = 0, d = a * weights. See warpgroup.cuh. */
void gm_cuda_put_warpgroup(FILE *file, int n_tile);

#endif

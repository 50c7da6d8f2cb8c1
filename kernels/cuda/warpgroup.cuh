/* The coupling of four warps at once (sm_90): 64 points, sources from registers, weights straight
 * from shared memory. The layout of a lane's values is that of fragment.cuh.
 *
 * In shared memory the weights lie in core matrices of 8 target nodes x 16 bytes of sources, two a
 * step of the product (PTX ISA, matrix descriptor, no swizzling): first those of the step, then
 * those of the next 8 targets.
 *   fp32  x = t + l, W = T + L + ..: t T and t L in tf32, where t is x cut off by the unit itself,
 *         and l T in bf16.
 *   fast  one product in bf16. */
#ifndef GM_KERNELS_CUDA_WARPGROUP_CUH
#define GM_KERNELS_CUDA_WARPGROUP_CUH

#include "kernels/cuda/matrix_shape.cuh"

#if GM_FIXED_warpgroup && !GM_DOUBLE

static constexpr int CORE_BYTES = 128, STEP_BYTES = NT * 2 * CORE_BYTES;

struct WarpgroupWeights {
    static constexpr int TF32 = GM_FAST ? 0 : NT * STEP_BYTES;
    static constexpr int HIGH_AT = 2 * TF32, BYTES = HIGH_AT + KP * STEP_BYTES;
    uint64_t descriptor;

    __device__ void point_at(const char *shared)
    {
        const uint64_t at = (uint64_t)__cvta_generic_to_shared(shared);
        descriptor =
            at >> 4 | (uint64_t)(CORE_BYTES >> 4) << 16 | (uint64_t)(2 * CORE_BYTES >> 4) << 32;
    }

    __device__ __forceinline__ uint64_t step(int offset, int i) const
    {
        return descriptor + ((offset + i * STEP_BYTES) >> 4);
    }

    /* The weights from 16 source nodes, tiles 2 k and 2 k + 1, to 8 target nodes, tile t: what lane
     * (g, q) of fragment.cuh holds of them. */
    static __device__ void store(char *memory, int k, int t, const gm_real w[4])
    {
        const int g = threadIdx.x / 4, q = threadIdx.x % 4;
        char *const core = memory + t * 2 * CORE_BYTES + g * 16 + q * 4;
        for (int i = 0; i < 4; i++) {
            const int tile = 2 * k + i / 2;
            char *const at = core + tile * STEP_BYTES + i % 2 * CORE_BYTES;
            if (GM_FAST || tile >= NT) continue;
            *(float *)at = tf32_of(w[i]);
            *(float *)(at + TF32) = tf32_of(w[i] - tf32_of(w[i]));
        }
        *(uint32_t *)(core + HIGH_AT + k * STEP_BYTES) = bf16_pair(w[0], w[1]);
        *(uint32_t *)(core + HIGH_AT + k * STEP_BYTES + CORE_BYTES) = bf16_pair(w[2], w[3]);
    }
};

/* Couplings of all nodes: sum[c][i] = what the sources x[c] bring to the lane's value i. All 4
 * warps call it. */
static __device__ __forceinline__ void couple_warpgroup(const WarpgroupWeights &weights,
                                                        const gm_real x[GM_N_COUPLING][4 * NT],
                                                        gm_real sum[GM_N_COUPLING][EL])
{
    uint32_t pair[GM_N_COUPLING][2 * KP][2] = {};
#pragma unroll
    for (int i = 0; i < GM_N_COUPLING * NT; i++) {
        const float *v = x[i / NT] + i % NT * PER;
        uint32_t *const p = pair[i / NT][i % NT];
        if (GM_FAST) {
            p[0] = bf16_pair(v[0], v[1]);
            p[1] = bf16_pair(v[2], v[3]);
        } else {
            p[0] = bf16_pair(v[0] - cut_off(v[0]), v[1] - cut_off(v[1]));
            p[1] = bf16_pair(v[2] - cut_off(v[2]), v[3] - cut_off(v[3]));
        }
    }
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int c = 0; c < GM_N_COUPLING; c++) {
#pragma unroll
        for (int k = 0; k < KP; k++) {
            const uint32_t(*p)[2] = &pair[c][2 * k];
            const uint32_t a[4] = {p[0][0], p[0][1], p[1][0], p[1][1]};
            gm_wgmma_bf16(sum[c], a, weights.step(WarpgroupWeights::HIGH_AT, k), k > 0);
        }
#pragma unroll
        for (int t = 0; !GM_FAST && t < NT; t++) {
            const float *v = x[c] + t * PER;
            const uint32_t a[4] = {bits(v[0]), bits(v[2]), bits(v[1]), bits(v[3])};
            gm_wgmma_tf32(sum[c], a, weights.step(WarpgroupWeights::TF32, t), 1);
            gm_wgmma_tf32(sum[c], a, weights.step(0, t), 1);
        }
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int i = 0; i < GM_N_COUPLING * EL; i++) /* nothing that reads a sum moves up past here */
        asm volatile("" : "+f"(sum[i / EL][i % EL])::"memory");
}

#endif

#endif

/* Normal numbers of a node and the kicks that they give its states. */
#ifndef GM_KERNELS_CUDA_NOISE_CUH
#define GM_KERNELS_CUDA_NOISE_CUH

#include "kernels/cuda/sweep.cuh"
#include "kernels/noise.h"

static constexpr int NOISE_WORDS = GM_NOISE_WORDS(GM_N_NOISE);
static constexpr int NOISE_STEPS = 4 / NOISE_WORDS;
static constexpr int NOISE_GROUPS = (GM_N_NOISE + 3) / 4;

/* Normal numbers of a node: a Philox block serves NOISE_STEPS steps. */
struct Normals {
    gm_real value[NOISE_GROUPS > 0 ? 4 * NOISE_GROUPS : 1];
};

static __device__ void draw(int64_t point, uint64_t seed, int node, int64_t step, Normals *normals)
{
    for (int group = 0; group < NOISE_GROUPS; group++)
        gm_draw_normals(seed, (uint64_t)point, node, group, (uint64_t)step / NOISE_STEPS,
                        normals->value + 4 * group);
}

/* The same numbers, where all points have the sweep's seed: ten rounds of Philox whose keys the
 * host has worked out. */
[[maybe_unused]] static __device__ void draw_keyed(const gm_cuda_args &a, int64_t point, int node,
                                                   int64_t step, Normals *normals)
{
    const uint64_t block = (uint64_t)step / NOISE_STEPS;
#pragma unroll
    for (int group = 0; group < NOISE_GROUPS; group++) {
        uint32_t v[4] = {(uint32_t)block,
                         (uint32_t)(block >> 32 & 0xffff) | (uint32_t)group << 16 |
                             (uint32_t)GM_DRAW_NOISE << 24,
                         (uint32_t)point, (uint32_t)(point >> 32 & 0xffff) | (uint32_t)node << 16};
#pragma unroll
        for (int round = 0; round < 10; round++) {
            const uint64_t left = (uint64_t)0xD2511F53u * v[0],
                           right = (uint64_t)0xCD9E8D57u * v[2];
            v[0] = (uint32_t)(right >> 32) ^ v[1] ^ a.round_key[2 * round];
            v[1] = (uint32_t)right;
            v[2] = (uint32_t)(left >> 32) ^ v[3] ^ a.round_key[2 * round + 1];
            v[3] = (uint32_t)left;
        }
        gm_normal_pair(v[0], v[1], &normals->value[4 * group], &normals->value[4 * group + 1]);
        gm_normal_pair(v[2], v[3], &normals->value[4 * group + 2], &normals->value[4 * group + 3]);
    }
}

/* The normal that noise k uses at a step; written so that the array stays in registers. */
[[maybe_unused]] static __device__ gm_real normal_of(const Normals *normals, int k, int64_t step)
{
    const int turn = (int)(step % NOISE_STEPS);
    gm_real value = normals->value[4 * (k / 4) + k % 4];
#pragma unroll
    for (int i = 1; i < NOISE_STEPS; i++)
        value = turn == i ? normals->value[4 * (k / 4) + i * NOISE_WORDS + k % 4] : value;
    return value;
}

static __device__ void load_kick(const gm_cuda_args &a, const gm_params *m, const Normals *normals,
                                 gm_real root_dt, int64_t step, gm_state *kick)
{
#define X(name, ...) kick->name = 0;
    GM_STATES(X)
#undef X
    if (!FIXED(a, noise)) return;
#define X(name, amplitude)                                                                         \
    kick->name = root_dt * (amplitude)*normal_of(normals, GM_NOISE_##name, step);
    GM_NOISES(X)
#undef X
}

#endif

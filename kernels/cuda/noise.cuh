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

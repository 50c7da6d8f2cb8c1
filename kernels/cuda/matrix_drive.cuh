/* What a lane's points and nodes have of their own: parameters, strength, inputs, noise. */
#ifndef GM_KERNELS_CUDA_MATRIX_DRIVE_CUH
#define GM_KERNELS_CUDA_MATRIX_DRIVE_CUH

#include "kernels/cuda/matrix_couple.cuh"

/* The points of a lane, and what differs between them. */
struct Row {
    Place place;
    gm_params params;
    int64_t point;
    uint64_t seed;
    int32_t failed; /* steps of this chunk until a state was not finite, 0: none */

    __device__ void load(const gm_cuda_args &a, int first)
    {
        place = {least(first, a.n_point - 1), 0, first < a.n_point};
        load_params(a, place, &params);
        point = point_of(a, place);
        seed = seed_of(a, place);
        failed = 0;
    }
};

/* Per-node values in shared memory, filled up to whole fragments; the last row is the strength. */
static __device__ void load_table(const gm_cuda_args &a, gm_real *table)
{
    for (int i = threadIdx.x; i < (N_NODE_KNOB + 1) * PADDED; i += THREADS) {
        const int row = i / PADDED, node = i % PADDED;
        const void *from = row < N_NODE_KNOB ? a.node_value : a.strength;
        const int offset = row < N_NODE_KNOB ? row * N : 0;
        table[i] = node < N ? ((const gm_real *)from)[offset + node] : 0;
    }
}

static __device__ __forceinline__ void params_of(const Row &row, const gm_real *table, int node,
                                                 gm_params *m)
{
    *m = row.params;
#define X(name, ...)                                                                               \
    if (gm_node_knob(GM_PARAM_##name) >= 0)                                                        \
        m->name = table[gm_node_knob(GM_PARAM_##name) * PADDED + node];
    GM_PARAMS(X)
#undef X
}

/* Inputs of a lane's two nodes in a fragment. The array has room behind it for a whole fragment. */
struct Pair {
    gm_real value[2];
};

static __device__ __forceinline__ Pair load_pair(const gm_real *at)
{
    Pair p;
    if (N % 2) return {__ldg(at), __ldg(at + 1)};
#if GM_DOUBLE
    asm volatile("ld.global.nc.v2.f64 {%0, %1}, [%2];"
                 : "=d"(p.value[0]), "=d"(p.value[1])
                 : "l"(at));
#else
    asm volatile("ld.global.nc.v2.f32 {%0, %1}, [%2];"
                 : "=f"(p.value[0]), "=f"(p.value[1])
                 : "l"(at));
#endif
    return p;
}

struct InputRow {
    const gm_real *now, *next;

    __device__ __forceinline__ Pair at(int input, bool linear, gm_real time, int node) const
    {
        double fixed = 0;
        if (gm_fixed_input(input, &fixed)) return {(gm_real)fixed, (gm_real)fixed};
        const Pair here = load_pair(now + input * N + node);
        if (!linear) return here;
        const Pair there = load_pair(next + input * N + node);
        return {gm_stage_input(1, time, here.value[0], there.value[0]),
                gm_stage_input(1, time, here.value[1], there.value[1])};
    }
};

/* All inputs of the lane's nodes at one stage, read before the coupling if they fit in registers.
 */
static constexpr int N_INPUT = GM_N_INPUT > 0 ? GM_N_INPUT : 1;
static constexpr bool EARLY = GM_N_INPUT * NTW <= 6;

struct StageInputs {
    Pair value[N_INPUT][EARLY ? NTW : 1];

    __device__ __forceinline__ void read(const InputRow &row, gm_real time, const Lane &lane, int t)
    {
#pragma unroll
        for (int k = 0; k < GM_N_INPUT; k++)
            value[k][EARLY ? t : 0] = row.at(k, GM_FIXED_linear >> k & 1, time, lane.node(t));
    }
};

/* --- noise: drawn in a loop that keeps the code short, held in shared memory
 * ----------------------- */

struct Kicks {
    gm_real *memory; /* [value][group][turn][lane][word] */

    /* Draws of so many fragments hide each other's latency, where registers allow. */
    static constexpr int AT_ONCE = EL * GM_N_STATE * REAL_WORDS <= 100 ? least(12 / PER, NTW) : 1;

    __device__ __forceinline__ gm_real *at(int i, int group, int turn) const
    {
        return memory +
               (((i * NOISE_GROUPS + group) * NOISE_STEPS + turn) * WARP + threadIdx.x % WARP) *
                   NOISE_WORDS;
    }

    __device__ void draw_all(const gm_cuda_args &a, const Lane &lane, const Row *row,
                             int64_t step) const
    {
#pragma unroll AT_ONCE
        for (int t = 0; t < NTW; t++) {
#pragma unroll
            for (int e = 0; e < PER; e++) {
                Normals normals;
                const Row &r = row[e / 2];
                if (GM_FIXED_seed_axis < 0)
                    draw_keyed(a, r.point, lane.node(t) + e % 2, step, &normals);
                else
                    draw(r.point, r.seed, lane.node(t) + e % 2, step, &normals);
#pragma unroll
                for (int w = 0; w < 4 * NOISE_GROUPS; w++)
                    at(t * PER + e, w / 4, w % 4 / NOISE_WORDS)[w % NOISE_WORDS] = normals.value[w];
            }
        }
    }

    __device__ __forceinline__ void get(int i, int turn, Normals *normals) const
    {
#pragma unroll
        for (int group = 0; group < NOISE_GROUPS; group++)
#pragma unroll
            for (int w = 0; w < NOISE_WORDS; w++)
                normals->value[4 * group + w] = at(i, group, turn)[w];
    }
};

#endif

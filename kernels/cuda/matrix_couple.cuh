/* The couplings of a team's points: sources change hands, products are taken. What it leaves lies
 * as the states do (see fragment.cuh). */
#ifndef GM_KERNELS_CUDA_MATRIX_COUPLE_CUH
#define GM_KERNELS_CUDA_MATRIX_COUPLE_CUH

#include "kernels/cuda/matrix_shape.cuh"
#include "kernels/cuda/warpgroup.cuh"

/* Which part of the work is this warp's, and which of a fragment this lane's. */
struct Lane {
    int team, split, g, q;

    __device__ Lane()
    {
        const int warp = threadIdx.x / WARP;
        team = warp / SPLITS;
        split = warp % SPLITS;
        g = threadIdx.x % WARP / 4;
        q = threadIdx.x % 4;
    }

    /* First of the lane's two nodes in a fragment; nodes from N on only fill up. */
    __device__ __forceinline__ int node(int t) const { return (split * NTW + t) * TILE + 2 * q; }

    __device__ __forceinline__ bool holds(int t, int e) const
    {
        return t < SURE || node(t) + e % 2 < N;
    }
};

struct Links {
    gm_real of[GM_N_COUPLING][EL];
};

struct Weights {
    const char *memory;
    Right mine[WEIGHTS_IN_REGISTERS ? KP * NTW : 1];

    __device__ void load(const gm_cuda_args &a, const Lane &lane, char *shared)
    {
        memory = WEIGHTS_SHARED ? shared : (const char *)a.fragment;
        if (WEIGHTS_SHARED)
            for (int i = threadIdx.x; i < WEIGHT_BYTES / 16; i += THREADS)
                ((uint4 *)shared)[i] = ((const uint4 *)a.fragment)[i];
        if (WARPGROUP) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#pragma unroll
        for (int i = 0; WEIGHTS_IN_REGISTERS && i < KP * NTW; i++)
            mine[i] = Packed<KP * NT>::load(memory, index(lane, i / NTW, i % NTW));
    }

    static __device__ __forceinline__ int index(const Lane &lane, int k, int t)
    {
        return k * NT + least(lane.split * NTW + t, NT - 1);
    }

    __device__ __forceinline__ Right get(const Lane &lane, int k, int t) const
    {
        if (WEIGHTS_IN_REGISTERS) return mine[WEIGHTS_IN_REGISTERS ? k * NTW + t : 0];
        if (WEIGHTS_SHARED) return Packed<KP * NT>::load_shared(memory, index(lane, k, t));
        return Packed<KP * NT>::load(memory, index(lane, k, t));
    }
};

/* What a fragment of the warp's own nodes sends through each coupling. */
static __device__ __forceinline__ void sources(const Lane &lane, const gm_state *x, int t,
                                               gm_real source[GM_N_COUPLING][PER])
{
#pragma unroll
    for (int e = 0; e < PER; e++) {
        const gm_state *s = &x[t * PER + e];
        const bool holds = lane.holds(t, e);
#define X(name, expression, ...)                                                                   \
    source[GM_COUPLING_##name][e] = (expression);                                                  \
    if (!holds) source[GM_COUPLING_##name][e] = 0;
        GM_COUPLINGS(X)
#undef X
    }
}

static __device__ __forceinline__ void send(const Lane &lane, const gm_state *x, int t,
                                            Left left[GM_N_COUPLING])
{
    gm_real source[GM_N_COUPLING][PER];
    sources(lane, x, t, source);
#pragma unroll
    for (int c = 0; c < GM_N_COUPLING; c++) left[c].set(source[c]);
}

/* Sources in shared memory, two halves by turns: one barrier a stage is enough. */
struct Exchange {
    char *memory;

    /* Parts of a Left lie a whole warp apart, so that neighbouring lanes touch neighbouring words.
     */
    static constexpr int PART = least((int)sizeof(Left), 16), N_PART = (int)sizeof(Left) / PART;

    __device__ __forceinline__ char *at(int half, int c, int tile, int part) const
    {
        return memory + (((half * GM_N_COUPLING + c) * NT + tile) * N_PART + part) * WARP * PART +
               threadIdx.x % WARP * PART;
    }

    static __device__ __forceinline__ void move(char *to, const char *from)
    {
        if (PART == 16)
            *(uint4 *)to = *(const uint4 *)from;
        else
            *(uint2 *)to = *(const uint2 *)from;
    }

    __device__ __forceinline__ void put(const Lane &lane, const gm_state *x, int half) const
    {
        if (HALVES == 1) meet(lane);
#pragma unroll
        for (int t = 0; t < NTW; t++) {
            Left left[GM_N_COUPLING];
            const int tile = lane.split * NTW + t;
            if (t >= SURE && tile >= NT) continue;
            send(lane, x, t, left);
#pragma unroll
            for (int i = 0; i < GM_N_COUPLING * N_PART; i++)
                move(at(half, i / N_PART, tile, i % N_PART),
                     (const char *)&left[i / N_PART] + i % N_PART * PART);
        }
        meet(lane);
    }

    static __device__ __forceinline__ void meet(const Lane &lane)
    {
        asm volatile("bar.sync %0, %1;" ::"r"(lane.team + 1), "n"(SPLITS * WARP) : "memory");
    }

    __device__ __forceinline__ void get(int half, int tile, Left left[GM_N_COUPLING]) const
    {
#pragma unroll
        for (int i = 0; i < GM_N_COUPLING * N_PART; i++)
            move((char *)&left[i / N_PART] + i % N_PART * PART,
                 at(half, i / N_PART, tile, i % N_PART));
    }
};

/* Products that wait for each other are slow: where a warp has few fragments, partial products get
 * sums of their own; where it has many, fragments take turns. */
static constexpr int TURN = DOUBLED ? 4 : 3;
static constexpr bool FEW = NTW * GM_N_COUPLING < TURN;
static constexpr int CHAINS = !FEW ? 1 : PRODUCTS > 1 ? PRODUCTS : 2;

static __device__ __forceinline__ void couple(const Lane &lane, const Weights &weights,
                                              const Exchange &exchange, const gm_state *x, int half,
                                              Links *links)
{
    constexpr int UNROLL = SPLITS == 1 || WEIGHTS_IN_REGISTERS || KP <= 8 ? KP : 2;
    gm_real sum[CHAINS][GM_N_COUPLING][EL] = {};
    if (SPLITS > 1) exchange.put(lane, x, half);
#pragma unroll UNROLL
    for (int k = 0; k < KP; k++) {
        const bool both = NT % 2 == 0 || k < KP - 1;
        Left a[GM_N_COUPLING], b[GM_N_COUPLING] = {};
        if (SPLITS > 1) {
            exchange.get(half, 2 * k, a);
            if (both) exchange.get(half, 2 * k + 1, b);
        } else {
            send(lane, x, 2 * k, a);
            if (both) send(lane, x, 2 * k + 1, b);
        }
#pragma unroll
        for (int first = 0; first < NTW; first += TURN) {
            Right w[TURN];
#pragma unroll
            for (int i = 0; i < TURN && first + i < NTW; i++)
                w[i] = weights.get(lane, k, first + i);
#pragma unroll
            for (int p = 0; p < PRODUCTS; p++) {
                const int chain = CHAINS == 1 ? 0 : PRODUCTS > 1 ? p : k % CHAINS;
#pragma unroll
                for (int i = 0; i < TURN && first + i < NTW; i++)
#pragma unroll
                    for (int c = 0; c < GM_N_COUPLING; c++)
                        multiply(p, both, sum[chain][c] + (first + i) * PER, a[c], b[c], w[i]);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < GM_N_COUPLING * EL; i++) {
        gm_real *total = &links->of[i / EL][i % EL];
        *total = sum[0][i / EL][i % EL];
#pragma unroll
        for (int chain = 1; chain < CHAINS; chain++) *total += sum[chain][i / EL][i % EL];
    }
}

#if GM_FIXED_warpgroup && !GM_DOUBLE
static __device__ __forceinline__ void couple_all(const Lane &lane, const WarpgroupWeights &weights,
                                                  const gm_state *x, Links *links)
{
    gm_real source[NT][GM_N_COUPLING][PER], all[GM_N_COUPLING][4 * NT];
#pragma unroll
    for (int t = 0; t < NT; t++) sources(lane, x, t, source[t]);
#pragma unroll
    for (int i = 0; i < GM_N_COUPLING * 4 * NT; i++)
        all[i / (4 * NT)][i % (4 * NT)] = source[i % (4 * NT) / PER][i / (4 * NT)][i % PER];
    couple_warpgroup(weights, all, links->of);
}
#endif

#endif

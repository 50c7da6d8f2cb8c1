/* The CUDA kernels of one model: compiled once per precision, and at run time for one sweep.
 *
 * A network takes a block per point and a thread per node: states stay in registers, what couples
 * goes through shared memory, and the weights, shared by all points, come from cache or, for a
 * small network known to the compiler, stay in registers too. A plain ODE takes a thread per point.
 * Both march a whole chunk in one launch. Sums have the same order in either form. */
#include "kernels/cuda/noise.cuh"
#include "kernels/cuda/observe.cuh"
#include "kernels/cuda/sweep.cuh"
#include "kernels/cuda/tile.cuh"

static __device__ Place place_of_thread(const gm_cuda_args &a)
{
    Place p;
    p.node = COUPLED ? threadIdx.x : 0;
    p.point = COUPLED ? blockIdx.x : blockIdx.x * blockDim.x + threadIdx.x;
    p.active = COUPLED ? p.node < FIXED(a, n_node) : p.point < a.n_point;
    return p;
}

/* --- coupling through shared memory ----------------------------------------------------------- */

static constexpr int PARTS = 4; /* independent sums, so that their latencies overlap */

#ifdef GM_SPECIALISED
static constexpr int N_WEIGHT = GM_FIXED_n_node * (int)sizeof(gm_real) <= 512 ? GM_FIXED_n_node : 0;
#else
static constexpr int N_WEIGHT = 0;
#endif

/* The row of the weights that a node needs: in registers where its length is known and small. */
struct Weights {
    const gm_real *row;
    gm_real value[N_WEIGHT > 0 ? N_WEIGHT : 1];

    __device__ void load(const gm_cuda_args &a, const Place &p)
    {
        row = (const gm_real *)a.weight + p.node;
#pragma unroll
        for (int j = 0; j < N_WEIGHT; j++) value[j] = row[j * FIXED(a, n_node)];
    }

    __device__ gm_real at(const gm_cuda_args &a, int j) const
    {
        return N_WEIGHT > 0 ? value[N_WEIGHT > 0 ? j : 0] : row[j * FIXED(a, n_node)];
    }
};

/* Sources of one coupling in shared memory: rows begin at multiples of PARTS. */
static __device__ int source_stride(const gm_cuda_args &a)
{
    return (FIXED(a, n_node) + PARTS - 1) / PARTS * PARTS;
}

struct alignas(PARTS * sizeof(gm_real) > 16 ? 16 : PARTS * sizeof(gm_real)) Pack {
    gm_real value[PARTS];
};

/* Two halves of shared memory take turns, so one barrier per coupling is enough. */
static __device__ void couple(const gm_cuda_args &a, const Place &p, const Weights &weights,
                              const gm_state *s, int *half, gm_drive *c)
{
    extern __shared__ Pack shared_memory[];
    const int stride = source_stride(a);
    gm_real *source = (gm_real *)shared_memory + *half * GM_N_COUPLING * stride;
    *half ^= 1;
    if (p.active) {
#define X(name, expression, ...) source[GM_COUPLING_##name * stride + p.node] = (expression);
        GM_COUPLINGS(X)
#undef X
    }
    __syncthreads();
    if (!p.active) return;
    constexpr int N = GM_N_COUPLING > 0 ? GM_N_COUPLING : 1;
    constexpr int UNROLL = N_WEIGHT > 0 ? N_WEIGHT : 4;
    gm_real part[N][PARTS] = {};
    int j = 0;
#pragma unroll UNROLL
    for (; j + PARTS <= FIXED(a, n_node); j += PARTS) {
#pragma unroll
        for (int k = 0; k < GM_N_COUPLING; k++) {
            const Pack pack = *(const Pack *)(source + k * stride + j);
#pragma unroll
            for (int i = 0; i < PARTS; i++) part[k][i] += weights.at(a, j + i) * pack.value[i];
        }
    }
#pragma unroll PARTS
    for (; j < FIXED(a, n_node); j++)
        for (int k = 0; k < GM_N_COUPLING; k++)
            part[k][0] += weights.at(a, j) * source[k * stride + j];
#define X(name, ...)                                                                               \
    c->name = (part[GM_COUPLING_##name][0] + part[GM_COUPLING_##name][1]) +                        \
              (part[GM_COUPLING_##name][2] + part[GM_COUPLING_##name][3]);
    GM_COUPLINGS(X)
#undef X
}

/* The earliest failure of any node of the point. */
static __device__ void note_failure(const gm_cuda_args &a, const Place &p, int64_t failed)
{
    __shared__ unsigned long long earliest; /* -1 is the largest */
    if (!COUPLED) {
        if (a.failed[p.point] < 0) a.failed[p.point] = failed;
        return;
    }
    if (threadIdx.x == 0) earliest = ~0ull;
    __syncthreads();
    if (p.active && failed >= 0) atomicMin(&earliest, (unsigned long long)failed);
    __syncthreads();
    if (threadIdx.x == 0 && a.failed[p.point] < 0) a.failed[p.point] = (int64_t)earliest;
}

/* --- march ---------------------------------------------------------------------------------------
 */

/* Steps of a plain ODE are so short that the loop around them would show. */
#ifdef GM_SPECIALISED
static constexpr int STEPS_AT_ONCE = COUPLED || GM_FIXED_noise ? 1 : 8;
#else
static constexpr int STEPS_AT_ONCE = 1;
#endif

template <int INTEGRATOR, bool STATISTICS, bool DERIVES>
static __device__ void march(const gm_cuda_args &a)
{
    const Place p = place_of_thread(a);
    gm_params m = {};
    gm_state s = {};
    gm_drive c = {};
    Normals normals = {};
    Inputs inputs = {};
    Weights weights;
    Observer<STATISTICS, DERIVES> observer;
    Sampling sampling(a);
    Health health = {};
    int64_t point = 0;
    uint64_t seed = 0;
    const gm_real dt = (gm_real)FIXED(a, dt), root_dt = (gm_real)sqrt(FIXED(a, dt));
    int half = 0;
    bool coupled = false; /* c holds the couplings of the state at hand */

    if (!COUPLED && !p.active) return;
    if (p.active) {
        load_params(a, p, &m);
        load_state(a, p, &s);
        observer.load(a, p);
        c.strength = ((const gm_real *)a.strength)[p.node];
        point = point_of(a, p);
        seed = seed_of(a, p);
        inputs.fetch(a, p, 0);
        if (COUPLED) weights.load(a, p);
    }
#pragma unroll STEPS_AT_ONCE
    for (int32_t i = 0; i < (int32_t)a.n_step; i++) { /* a chunk has fewer than 2^31 steps */
        const int64_t step = a.step_begin + i;
        gm_state base, slopes, kick;
        if (p.active) inputs.fetch(a, p, i + 1);
        if (GM_N_NOISE > 0 && FIXED(a, noise) && p.active && (i == 0 || step % NOISE_STEPS == 0))
            draw(point, seed, p.node, step, &normals);
        load_kick(a, &m, &normals, root_dt, step, &kick);
#pragma unroll
        for (int stage = 0; stage < gm_step_n_stage(INTEGRATOR); stage++) {
            gm_state k;
            if (COUPLED && !(stage == 0 && coupled)) couple(a, p, weights, &s, &half, &c);
            if (!p.active) continue;
            inputs.give(a, gm_stage_time(INTEGRATOR, stage), &c);
            gm_drift(&m, &s, &c, &k);
            gm_stage_finish(INTEGRATOR, stage, dt, &k,
                            GM_N_NOISE > 0 && FIXED(a, noise) ? &kick : nullptr, &s, &base,
                            &slopes);
        }
        if (p.active) gm_turn_phases(&s);
        const bool sampled = sampling.due(a);
        const bool derived = DERIVES && derives(a, step + 1, sampled);
        coupled = COUPLED && derived && FIXED(a, derived_couples);
        if (coupled) couple(a, p, weights, &s, &half, &c);
        if (p.active) {
            health.add(&s);
            observe(a, p, &s, step + 1, sampled, sampling.sample, &observer);
            inputs.give_end(&c);
            if (derived)
                observe_derived(a, p, &m, &s, &c, step + 1, sampled, sampling.sample, &observer);
        }
        if (sampled) sampling.next(a);
    }
    note_failure(a, p, health.failed(a));
    if (!p.active) return;
    store_state(a, p, &s);
    observer.store(a, p);
}

#define ENTRY(bound) __global__ void __launch_bounds__(bound)
#define ARGS         const __grid_constant__ gm_cuda_args a

extern "C" {

#ifdef GM_SPECIALISED

ENTRY(GM_FIXED_threads) gm_march(ARGS)
{
    march<GM_FIXED_integrator, GM_FIXED_statistics != 0, GM_FIXED_derived != 0>(a);
}

#else

/* Blocks of up to 256 threads may use all registers they like; wide blocks, up to 1,024 nodes, may
 * not. */
static constexpr int NARROW = 256, WIDE = 1024;

/* clang-format off */
ENTRY(NARROW) gm_march_euler(ARGS) { march<GM_STEP_EULER, false, false>(a); }
ENTRY(NARROW) gm_march_heun(ARGS) { march<GM_STEP_HEUN, false, false>(a); }
ENTRY(NARROW) gm_march_rk4(ARGS) { march<GM_STEP_RK4, false, false>(a); }
ENTRY(NARROW) gm_march_euler_statistics(ARGS) { march<GM_STEP_EULER, true, false>(a); }
ENTRY(NARROW) gm_march_heun_statistics(ARGS) { march<GM_STEP_HEUN, true, false>(a); }
ENTRY(NARROW) gm_march_rk4_statistics(ARGS) { march<GM_STEP_RK4, true, false>(a); }
ENTRY(WIDE) gm_march_euler_wide(ARGS) { march<GM_STEP_EULER, false, false>(a); }
ENTRY(WIDE) gm_march_heun_wide(ARGS) { march<GM_STEP_HEUN, false, false>(a); }
ENTRY(WIDE) gm_march_rk4_wide(ARGS) { march<GM_STEP_RK4, false, false>(a); }
ENTRY(WIDE) gm_march_euler_statistics_wide(ARGS) { march<GM_STEP_EULER, true, false>(a); }
ENTRY(WIDE) gm_march_heun_statistics_wide(ARGS) { march<GM_STEP_HEUN, true, false>(a); }
ENTRY(WIDE) gm_march_rk4_statistics_wide(ARGS) { march<GM_STEP_RK4, true, false>(a); }

#if GM_HAS_DERIVED /* whatever of the rest is recorded */
ENTRY(NARROW) gm_march_euler_derived(ARGS) { march<GM_STEP_EULER, true, true>(a); }
ENTRY(NARROW) gm_march_heun_derived(ARGS) { march<GM_STEP_HEUN, true, true>(a); }
ENTRY(NARROW) gm_march_rk4_derived(ARGS) { march<GM_STEP_RK4, true, true>(a); }
ENTRY(WIDE) gm_march_euler_derived_wide(ARGS) { march<GM_STEP_EULER, true, true>(a); }
ENTRY(WIDE) gm_march_heun_derived_wide(ARGS) { march<GM_STEP_HEUN, true, true>(a); }
ENTRY(WIDE) gm_march_rk4_derived_wide(ARGS) { march<GM_STEP_RK4, true, true>(a); }
#endif

/* clang-format on */

#endif

/* Plain ODE: [state][sample][point] -> [state][point][sample], through a tile in shared memory.
 * Block 32 x 8. Grid: x over points, y over samples (strided), z over recorded states. */
__global__ void gm_layout(const __grid_constant__ gm_cuda_args a)
{
    __shared__ gm_real tile[32][33];
    const int64_t offset = (int64_t)blockIdx.z * a.n_sample * a.n_point;
    const gm_real *from = (const gm_real *)a.raw + offset;
    gm_real *to = (gm_real *)a.trajectory + offset;
    const int64_t point = (int64_t)blockIdx.x * 32;
    for (int64_t sample = (int64_t)blockIdx.y * 32; sample < a.n_sample;
         sample += (int64_t)gridDim.y * 32) {
        for (int r = threadIdx.y; r < 32; r += 8)
            if (sample + r < a.n_sample && point + threadIdx.x < a.n_point)
                tile[r][threadIdx.x] = from[(sample + r) * a.n_point + point + threadIdx.x];
        __syncthreads();
        for (int r = threadIdx.y; r < 32; r += 8)
            if (point + r < a.n_point && sample + threadIdx.x < a.n_sample)
                to[(point + r) * a.n_sample + sample + threadIdx.x] = tile[threadIdx.x][r];
        __syncthreads();
    }
}
}

/* The CUDA kernel of a network swept over many points, compiled at run time for one sweep.
 *
 * All points share the weights, so one step's coupling is a matrix product, and tensor cores take
 * it: see fragment.cuh for the layout and the precision, matrix_shape.cuh for how warps share the
 * work. States stay in registers for a whole chunk; a product leaves them where the next one needs
 * them. Nodes and points that only fill up a fragment are marched along, never looked at. */
#include "kernels/cuda/matrix_drive.cuh"
#include "kernels/cuda/observe.cuh"
#include "kernels/cuda/tile.cuh"

static constexpr bool STATISTICS = GM_FIXED_statistics != 0, DERIVES = GM_FIXED_derived != 0;
static constexpr int INTEGRATOR = GM_FIXED_integrator;

/* Values of the lane, in registers: `x` is where slopes are taken, the others are what the
 * integrator carries from stage to stage (see step.h). */
struct Values {
    gm_state x[EL], base[BASE_SHARED ? 1 : EL], sum[EL];
};

struct Kernel {
    const gm_cuda_args &a;
    Lane lane;
    Weights weights;
#if GM_FIXED_warpgroup && !GM_DOUBLE
    WarpgroupWeights together;
#endif
    Exchange exchange;
    Kicks kicks;
    gm_real *base_memory; /* [value][state][lane] */
    const gm_real *table;
    Row row[LANE_ROWS];
    Observer<STATISTICS, DERIVES> observer[EL];

    __device__ Kernel(const gm_cuda_args &args) : a(args)
    {
        extern __shared__ uint4 shared_memory[];
        char *const shared = (char *)shared_memory;
        char *const team = shared + TEAMS_AT + lane.team * TEAM_BYTES;
        exchange.memory = team;
        kicks.memory = (gm_real *)(team + EXCHANGE_BYTES) +
                       lane.split * (NORMALS_BYTES / SPLITS / (int)sizeof(gm_real));
        base_memory = (gm_real *)(team + EXCHANGE_BYTES + NORMALS_BYTES) +
                      lane.split * EL * GM_N_STATE * WARP + threadIdx.x % WARP;
        table = (gm_real *)(shared + TABLE_AT);
        weights.load(a, lane, shared);
#if GM_FIXED_warpgroup && !GM_DOUBLE
        together.point_at(shared);
#endif
        load_table(a, (gm_real *)(shared + TABLE_AT));
        const int first = (blockIdx.x * GROUPS + lane.team) * ROWS + lane.g;
#pragma unroll
        for (int r = 0; r < LANE_ROWS; r++) row[r].load(a, first + 8 * r);
        __syncthreads();
    }

    __device__ __forceinline__ Place place(int t, int e) const
    {
        const Row &r = row[e / 2];
        return {r.place.point, lane.node(t) + e % 2, r.place.active && lane.holds(t, e)};
    }

    __device__ void load(Values *v)
    {
#pragma unroll
        for (int i = 0; i < EL; i++) {
            Place p = place(i / PER, i % PER);
            p.node = least(p.node, N - 1);
            load_state(a, p, &v->x[i]);
            observer[i].load(a, p);
        }
    }

    __device__ void store(const Values &v) const
    {
#pragma unroll
        for (int i = 0; i < EL; i++) {
            const Place p = place(i / PER, i % PER);
            if (!p.active) continue;
            store_state(a, p, &v.x[i]);
            observer[i].store(a, p);
        }
    }

    /* Couplings of all values. Halves of the exchange take turns. */
    __device__ __forceinline__ void join(const gm_state *x, int *half, Links *links) const
    {
#if GM_FIXED_warpgroup && !GM_DOUBLE
        if (WARPGROUP) return couple_all(lane, together, x, links);
#endif
        couple(lane, weights, exchange, x, *half, links);
        *half ^= HALVES - 1;
    }

    /* What value i depends on beside its states and inputs. */
    __device__ __forceinline__ void surround(int i, const Links &links, gm_params *m,
                                             gm_drive *c) const
    {
        const int node = lane.node(i / PER) + i % 2;
        params_of(row[i % PER / 2], table, node, m);
#define X(name, ...) c->name = links.of[GM_COUPLING_##name][i];
        GM_COUPLINGS(X)
#undef X
        c->strength = table[N_NODE_KNOB * PADDED + node];
    }

    /* What the step of value i started from, where it is kept in shared memory. */
    __device__ __forceinline__ void base_of(int i, gm_state *base, bool put) const
    {
        gm_real *at = base_memory + i * GM_N_STATE * WARP;
#define X(name, ...)                                                                               \
    if (put)                                                                                       \
        at[GM_STATE_##name * WARP] = base->name;                                                   \
    else                                                                                           \
        base->name = at[GM_STATE_##name * WARP];
        GM_STATES(X)
#undef X
    }

    /* One integration stage of all the lane's values. */
    __device__ __forceinline__ void advance(int stage, const InputRow &input, StageInputs *inputs,
                                            int turn, const Links &links, Values *v) const
    {
        const gm_real dt = (gm_real)GM_FIXED_dt, root_dt = (gm_real)sqrt(GM_FIXED_dt);
        const gm_real time = gm_stage_time(INTEGRATOR, stage);
#pragma unroll
        for (int t = 0; t < NTW; t++) {
            if (!EARLY) inputs->read(input, time, lane, t);
#pragma unroll
            for (int e = 0; e < PER; e++) {
                const int i = t * PER + e;
                gm_params m;
                gm_drive c;
                gm_state k, kick = {};
                Normals normals = {};
                surround(i, links, &m, &c);
#define X(name, ...) c.name = inputs->value[GM_INPUT_##name][EARLY ? t : 0].value[e % 2];
                GM_INPUTS(X)
#undef X
                if (NOISY && stage == 0) {
                    kicks.get(i, turn, &normals);
                    load_kick(a, &m, &normals, root_dt, 0, &kick);
                }
                gm_drift(&m, &v->x[i], &c, &k);
                gm_state base = v->base[BASE_SHARED ? 0 : i];
                if (BASE_SHARED && stage > 0) base_of(i, &base, false);
                gm_stage_finish(INTEGRATOR, stage, dt, &k, NOISY ? &kick : nullptr, &v->x[i], &base,
                                &v->sum[i]);
                if (BASE_SHARED && stage == 0) base_of(i, &base, true);
                v->base[BASE_SHARED ? 0 : i] = base;
            }
        }
    }

    /* Is one of the states of a lane's point not finite? Never says no in error, seldom yes. In
     * single precision by the sum of the products of each value's states; in double precision,
     * where sums are dear, by the largest exponent. */
    __device__ __forceinline__ bool suspect(const Values &v, int r) const
    {
        gm_real sum = 0;
        uint32_t largest = 0;
#pragma unroll
        for (int i = 0; i < EL; i++) {
            if (i % PER / 2 != r || !lane.holds(i / PER, i)) continue;
            gm_real product = 1;
#if GM_DOUBLE
#define X(name, ...) largest = max(largest, (uint32_t)__double2hiint(v.x[i].name) & 0x7fffffffu);
#else
#define X(name, ...) product *= v.x[i].name;
#endif
            GM_STATES(X)
#undef X
            sum += product;
        }
        return GM_DOUBLE ? largest >= 0x7ff00000u : sum * 0 != 0;
    }

    __device__ __forceinline__ void check(const Values &v, int32_t step)
    {
#pragma unroll
        for (int r = 0; r < LANE_ROWS; r++) {
            if (!suspect(v, r) || row[r].failed) continue;
#pragma unroll
            for (int i = 0; i < EL; i++)
                if (i % PER / 2 == r && lane.holds(i / PER, i) && not_finite(&v.x[i]))
                    row[r].failed = step;
        }
    }

    __device__ __forceinline__ void observe_all(const Values &v, int64_t done, bool sampled,
                                                int64_t sample)
    {
#pragma unroll
        for (int i = 0; i < EL; i++)
            observe(a, place(i / PER, i % PER), &v.x[i], done, sampled, sample, &observer[i]);
    }

    /* input: that at the end of the step */
    __device__ __forceinline__ void derive_all(const Values &v, const Links &links,
                                               const gm_real *input, int64_t done, bool sampled,
                                               int64_t sample)
    {
        const InputRow at_end = {input, input};
#pragma unroll
        for (int i = 0; i < EL; i++) {
            gm_params m;
            gm_drive c;
            surround(i, links, &m, &c);
#define X(name, ...) c.name = at_end.at(GM_INPUT_##name, false, 0, lane.node(i / PER)).value[i % 2];
            GM_INPUTS(X)
#undef X
            observe_derived(a, place(i / PER, i % PER), &m, &v.x[i], &c, done, sampled, sample,
                            &observer[i]);
        }
    }

    __device__ __forceinline__ void march()
    {
        Values v;
        Links links;
        Sampling sampling(a);
        load(&v);
        const gm_real *input = (const gm_real *)a.input;
        int half = 0;
        bool coupled = false; /* links are those of the state at hand */
#pragma unroll 1
        for (int32_t i = 0; i < (int32_t)a.n_step; i++) {
            const int64_t step = a.step_begin + i;
            const int turn = (int)(step % NOISE_STEPS);
            if (NOISY && (turn == 0 || i == 0)) kicks.draw_all(a, lane, row, step);
            const InputRow now = {input, input + a.input_stride};
#pragma unroll
            for (int stage = 0; stage < gm_step_n_stage(INTEGRATOR); stage++) {
                StageInputs inputs;
#pragma unroll
                for (int t = 0; EARLY && t < NTW; t++)
                    inputs.read(now, gm_stage_time(INTEGRATOR, stage), lane, t);
                if (stage > 0 || !coupled) join(v.x, &half, &links);
                advance(stage, now, &inputs, turn, links, &v);
            }
            input += a.input_stride;
#pragma unroll
            for (int e = 0; e < EL; e++) gm_turn_phases(&v.x[e]);
            check(v, i + 1);
            const bool sampled = sampling.due(a);
            const bool derived = DERIVES && derives(a, step + 1, sampled);
            coupled = derived && GM_FIXED_derived_couples;
            observe_all(v, step + 1, sampled, sampling.sample);
            if (coupled) join(v.x, &half, &links);
            if (derived) derive_all(v, links, input, step + 1, sampled, sampling.sample);
            if (sampled) sampling.next(a);
        }
        store(v);
#pragma unroll
        for (int r = 0; r < LANE_ROWS; r++)
            if (row[r].failed && row[r].place.active) /* -1, none so far, is the largest */
                atomicMin((unsigned long long *)&a.failed[row[r].place.point],
                          (unsigned long long)(a.step_begin + row[r].failed));
    }
};

extern "C" {

/* What the host must know to launch gm_march: points of a block, its threads, its shared memory.
 * And for who reads the machine code (tests/bench): points of a warp, its fragments of nodes. */
__device__ int32_t gm_matrix_shape[5] = {GROUPS * ROWS, THREADS, SHARED_BYTES, ROWS, NTW};

__global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    gm_march(const __grid_constant__ gm_cuda_args a)
{
    Kernel kernel(a);
    kernel.march();
}

/* Weights in the order of fragments. Grid: x over fragments; a warp each. */
__global__ void gm_pack(const __grid_constant__ gm_cuda_args a)
{
    const int target_tile = blockIdx.x % NT, k = blockIdx.x / NT;
    const int g = threadIdx.x / 4, q = threadIdx.x % 4;
    gm_real value[4];
    for (int i = 0; i < 4; i++) {
        const int source = (2 * k + i / 2) * TILE + 2 * q + i % 2, target = target_tile * TILE + g;
        value[i] = source < N && target < N ? ((const gm_real *)a.weight)[source * N + target] : 0;
    }
#if GM_FIXED_warpgroup && !GM_DOUBLE
    if (WARPGROUP) return WarpgroupWeights::store((char *)a.fragment, k, target_tile, value);
#endif
    Right w;
    w.set(value);
    Packed<KP * NT>::store((char *)a.fragment, blockIdx.x, w);
}
}

/* The CUDA kernel of a network swept over many points, compiled at run time for one sweep.
 *
 * All points share the weights, so one step's coupling is a matrix product, and tensor cores take
 * it: see fragment.cuh for the layout and the precision, matrix_shape.cuh for how warps share the
 * work. States stay in registers for a whole chunk; a product leaves them where the next one needs
 * them. Nodes and points that only fill up a fragment are marched along, never looked at. */
#include "kernels/cuda/matrix_shape.cuh"
#include "kernels/cuda/observe.cuh"
#include "kernels/cuda/tile.cuh"
#include "kernels/cuda/warpgroup.cuh"

static constexpr bool STATISTICS = GM_FIXED_statistics != 0, DERIVES = GM_FIXED_derived != 0;
static constexpr int INTEGRATOR = GM_FIXED_integrator;

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

/* Values of the lane, in registers: `x` is where slopes are taken, the others are what the
 * integrator carries from stage to stage (see step.h). */
struct Values {
    gm_state x[EL], base[BASE_SHARED ? 1 : EL], sum[EL];
};

struct Links {
    gm_real of[GM_N_COUPLING][EL];
};

/* --- coupling -----------------------------------------------------------------------------------
 */

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

/* --- what nodes do not share: parameters, strength, inputs
 * ---------------------------------------- */

/* Per-node values in shared memory, filled up to whole fragments; the last row is the strength. */
static __device__ void load_table(const gm_cuda_args &a, gm_real *table)
{
    for (int i = threadIdx.x; i < (N_NODE_KNOB + 1) * NT * TILE; i += THREADS) {
        const int row = i / (NT * TILE), node = i % (NT * TILE);
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
        m->name = table[gm_node_knob(GM_PARAM_##name) * NT * TILE + node];
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

/* --- march
 * ---------------------------------------------------------------------------------------- */

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

    /* Couplings of all values; a warpgroup only begins them here. Halves of the exchange take
     * turns. */
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
        c->strength = table[N_NODE_KNOB * NT * TILE + node];
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

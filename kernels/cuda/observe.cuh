/* What is recorded while marching: running statistics and trajectory samples. */
#ifndef GM_KERNELS_CUDA_OBSERVE_CUH
#define GM_KERNELS_CUDA_OBSERVE_CUH

#include "kernels/cuda/sweep.cuh"
#include "kernels/observables/derived.h"

/* Running statistics of one node. DERIVES: of its derived quantities too, behind those of states.
 */
template <bool STATISTICS, bool DERIVES = false> struct Observer {
    static constexpr int N_ROW = DERIVES ? (int)GM_N_QUANTITY : (int)GM_N_STATE;
    gm_statistic statistic[N_ROW];

    __device__ void load(const gm_cuda_args &a, const Place &p)
    {
        for (int s = 0; STATISTICS && s < N_ROW; s++) {
            if (!(FIXED(a, statistics) >> s & 1)) continue;
            const int64_t i = at(a, p, s);
            statistic[s] = {a.sum[i], a.square[i], ((const gm_real *)a.first)[i],
                            ((const gm_real *)a.low)[i], ((const gm_real *)a.high)[i]};
        }
    }

    __device__ void store(const gm_cuda_args &a, const Place &p) const
    {
        for (int s = 0; STATISTICS && s < N_ROW; s++) {
            if (!(FIXED(a, statistics) >> s & 1)) continue;
            const int64_t i = at(a, p, s);
            a.sum[i] = statistic[s].sum;
            a.square[i] = statistic[s].square;
            ((gm_real *)a.first)[i] = statistic[s].first;
            ((gm_real *)a.low)[i] = statistic[s].low;
            ((gm_real *)a.high)[i] = statistic[s].high;
        }
    }

    __device__ void add(const gm_cuda_args &a, int s, gm_real x, bool start)
    {
        if (!STATISTICS || !(FIXED(a, statistics) >> s & 1)) return;
        if (start)
            gm_statistic_start(&statistic[s], x);
        else
            gm_statistic_add(&statistic[s], x);
    }
};

static __device__ gm_real recorded(int s, gm_real x)
{
    return (unsigned)GM_PHASE_MASK >> s & 1 ? gm_wrap_phase(x) : x;
}

/* Row of state s among the recorded ones. */
static __device__ int row_of(uint32_t mask, int s)
{
    return __popc(mask & ((1u << s) - 1));
}

static __device__ void record_sample(const gm_cuda_args &a, const Place &p, int s, gm_real x,
                                     int64_t sample)
{
    if (!(FIXED(a, trajectory_mask) >> s & 1)) return;
    const int64_t row = row_of(FIXED(a, trajectory_mask), s);
    if (COUPLED)
        ((gm_real *)
             a.trajectory)[((row * a.n_point + p.point) * a.n_sample + sample) * FIXED(a, n_node) +
                           p.node] = recorded(s, x);
    else
        ((gm_real *)a.raw)[(row * a.n_sample + sample) * a.n_point + p.point] = recorded(s, x);
}

/* A sample of all recorded states. */
static __device__ void record(const gm_cuda_args &a, const Place &p, const gm_state *s,
                              int64_t sample)
{
#define X(name, ...) record_sample(a, p, GM_STATE_##name, s->name, sample);
    GM_STATES(X)
#undef X
}

/* Countdown to the next sample, so that the loop divides nothing. */
struct Sampling {
    int64_t wait, sample;

    __device__ explicit Sampling(const gm_cuda_args &a)
    {
        const int64_t after = a.step_begin - FIXED(a, n_transient);
        wait = after >= 0 ? FIXED(a, every) - after % FIXED(a, every) : FIXED(a, every) - after;
        sample = 0;
    }

    /* Once a step: is it one to be recorded? */
    __device__ bool due(const gm_cuda_args &a) { return FIXED(a, trajectory_mask) && --wait <= 0; }

    __device__ void next(const gm_cuda_args &a)
    {
        wait = FIXED(a, every);
        sample++;
    }
};

template <bool STATISTICS, bool DERIVES>
static __device__ void accumulate(const gm_cuda_args &a, const gm_state *s, int64_t done,
                                  Observer<STATISTICS, DERIVES> *observer)
{
    if (!STATISTICS || done <= FIXED(a, n_transient)) return;
    const bool start = done == FIXED(a, n_transient) + 1;
#define X(name, ...) observer->add(a, GM_STATE_##name, s->name, start);
    GM_STATES(X)
#undef X
}

/* A node's states after `done` steps; sampled: they are sample number `sample`, too. */
template <bool STATISTICS, bool DERIVES>
static __device__ void observe(const gm_cuda_args &a, const Place &p, const gm_state *s,
                               int64_t done, bool sampled, int64_t sample,
                               Observer<STATISTICS, DERIVES> *observer)
{
    accumulate(a, s, done, observer);
    if (sampled && p.active) record(a, p, s, sample);
}

/* --- derived quantities -------------------------------------------------------------------------
 */

/* Is one recorded after `done` steps? Then the couplings of the state at hand are needed, if
 * derived_couples says so; the next step begins with them. The same for all threads. */
static __device__ bool derives(const gm_cuda_args &a, int64_t done, bool sampled)
{
    if (done <= FIXED(a, n_transient)) return false;
    uint32_t rows = FIXED(a, statistics);
    if (sampled) rows |= FIXED(a, trajectory_mask);
    if (done == a.n_total) rows |= a.final_mask[0];
    return (rows & FIXED(a, derived)) != 0;
}

/* The same of its derived quantities; c: couplings of s, and the inputs at its time. */
template <bool STATISTICS, bool DERIVES>
static __device__ void observe_derived(const gm_cuda_args &a, const Place &p, const gm_params *m,
                                       const gm_state *s, const gm_drive *c, int64_t done,
                                       bool sampled, int64_t sample,
                                       Observer<STATISTICS, DERIVES> *observer)
{
    gm_real value[GM_DERIVED_SIZE];
    gm_derive(m, s, c, value);
#pragma unroll
    for (int k = 0; k < GM_N_DERIVED; k++) {
        observer->add(a, GM_N_STATE + k, value[k], done == FIXED(a, n_transient) + 1);
        if (!p.active) continue;
        if (sampled) record_sample(a, p, GM_N_STATE + k, value[k], sample);
        if (done == a.n_total) ((gm_real *)a.x)[at(a, p, GM_N_STATE + k)] = value[k];
    }
}

#endif

/* What is recorded while marching: running statistics and trajectory samples. */
#ifndef GM_KERNELS_CUDA_OBSERVE_CUH
#define GM_KERNELS_CUDA_OBSERVE_CUH

#include "kernels/cuda/sweep.cuh"
#include "kernels/observables/statistics.h"

template <bool STATISTICS> struct Observer {
    gm_statistic statistic[GM_N_STATE];

    __device__ void load(const gm_cuda_args &a, const Place &p)
    {
        for (int s = 0; STATISTICS && s < GM_N_STATE; s++) {
            if (!(FIXED(a, statistics) >> s & 1)) continue;
            const int64_t i = at(a, p, s);
            statistic[s] = {a.sum[i], a.square[i], ((const gm_real *)a.first)[i],
                            ((const gm_real *)a.low)[i], ((const gm_real *)a.high)[i]};
        }
    }

    __device__ void store(const gm_cuda_args &a, const Place &p) const
    {
        for (int s = 0; STATISTICS && s < GM_N_STATE; s++) {
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

template <bool STATISTICS>
static __device__ void accumulate(const gm_cuda_args &a, const gm_state *s, int64_t done,
                                  Observer<STATISTICS> *observer)
{
    if (!STATISTICS || done <= FIXED(a, n_transient)) return;
    const bool start = done == FIXED(a, n_transient) + 1;
#define X(name, ...) observer->add(a, GM_STATE_##name, s->name, start);
    GM_STATES(X)
#undef X
}

#endif

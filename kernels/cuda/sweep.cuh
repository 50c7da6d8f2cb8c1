/* What a kernel knows of its sweep: where a point's values lie, its parameters, inputs and seed.
 *
 * First of the device headers: it includes the model. The including file gives GM_MODEL_HEADER,
 * GM_DOUBLE and, compiled for one sweep at run time, GM_SPECIALISED, a file that turns what the
 * sweep leaves constant into constants of the code. */
#ifndef GM_KERNELS_CUDA_SWEEP_CUH
#define GM_KERNELS_CUDA_SWEEP_CUH

#include "kernels/cuda/args.h"
#ifdef GM_SPECIALISED
#include GM_SPECIALISED
#define FIXED(a, field) GM_FIXED_##field
#else
#define FIXED(a, field) ((a).field)
#endif
#include GM_MODEL_HEADER
#include "kernels/step.h"

static constexpr bool COUPLED = GM_N_COUPLING > 0;

/* The node and point that a thread owns. */
struct Place {
    int point, node;
    bool active;
};

static __device__ int64_t at(const gm_cuda_args &a, const Place &p, int quantity)
{
    return ((int64_t)quantity * FIXED(a, n_node) + p.node) * a.capacity + p.point;
}

/* Index of the point in the whole sweep. */
static __device__ int64_t point_of(const gm_cuda_args &a, const Place &p)
{
    return a.point ? a.point[p.point] : a.point_begin + p.point;
}

static __device__ double axis_value(const gm_cuda_args &a, const Place &p, int axis)
{
    const gm_cuda_axis &x = a.axis[axis];
    return x.value[point_of(a, p) / x.stride % x.n];
}

static __device__ gm_real knob(const gm_cuda_args &a, const Place &p, int k)
{
#ifdef GM_SPECIALISED
    double fixed = 0;
    if (gm_fixed_knob(k, &fixed)) return (gm_real)fixed;
#endif
    if (a.node_row[k] >= 0)
        return ((const gm_real *)a.node_value)[a.node_row[k] * FIXED(a, n_node) + p.node];
    return (gm_real)(a.knob_axis[k] >= 0 ? axis_value(a, p, a.knob_axis[k]) : a.knob[k]);
}

static __device__ uint64_t seed_of(const gm_cuda_args &a, const Place &p)
{
    return FIXED(a, seed_axis) >= 0 ? (uint64_t)axis_value(a, p, FIXED(a, seed_axis)) : a.seed;
}

static __device__ void load_params(const gm_cuda_args &a, const Place &p, gm_params *m)
{
#define X(name, ...) m->name = knob(a, p, GM_PARAM_##name);
    GM_PARAMS(X)
#undef X
}

static __device__ void load_state(const gm_cuda_args &a, const Place &p, gm_state *s)
{
#define X(name, ...) s->name = ((const gm_real *)a.x)[at(a, p, GM_STATE_##name)];
    GM_STATES(X)
#undef X
}

static __device__ void store_state(const gm_cuda_args &a, const Place &p, const gm_state *s)
{
#define X(name, ...) ((gm_real *)a.x)[at(a, p, GM_STATE_##name)] = s->name;
    GM_STATES(X)
#undef X
}

/* Inputs of a node at both ends of a step. The far end is fetched a step ahead: its way from memory
 * is hidden behind the coupling. */
struct Inputs {
    gm_real now[GM_N_INPUT > 0 ? GM_N_INPUT : 1], next[GM_N_INPUT > 0 ? GM_N_INPUT : 1];

    __device__ void fetch(const gm_cuda_args &a, const Place &p, int64_t i)
    {
        const gm_real *row = (const gm_real *)a.input + i * a.input_stride + p.node;
        for (int k = 0; k < GM_N_INPUT; k++) {
            now[k] = next[k];
            next[k] = row[k * FIXED(a, n_node)];
        }
    }

    __device__ void give(const gm_cuda_args &a, gm_real time, gm_drive *c) const
    {
#define X(name, ...)                                                                               \
    c->name = gm_stage_input(FIXED(a, linear) >> GM_INPUT_##name & 1, time, now[GM_INPUT_##name],  \
                             next[GM_INPUT_##name]);
        GM_INPUTS(X)
#undef X
    }

    /* Those at the end of the step, however they are held within it. */
    __device__ void give_end(gm_drive *c) const
    {
#define X(name, ...) c->name = next[GM_INPUT_##name];
        GM_INPUTS(X)
#undef X
    }
};

static __device__ bool not_finite(const gm_state *s)
{
    gm_real total = 0;
#define X(name, ...) total += s->name * 0;
    GM_STATES(X)
#undef X
    return total != 0;
}

/* Counts the steps from that on at which a state is not finite, without a branch: 0 x is 0 of
 * finite x alone, and what is no number stays none. Bit 30 of the upper word tells: few exponents
 * have it. */
struct Health {
    gm_real poison;
    uint32_t bad;

    __device__ void add(const gm_state *s)
    {
#define X(name, ...) poison += s->name * 0;
        GM_STATES(X)
#undef X
#if GM_DOUBLE
        bad += (uint32_t)__double2hiint(poison) << 1 >> 31;
#else
        bad += __float_as_uint(poison) >> 30; /* what is no number has the one form 0x7fffffff */
#endif
    }

    /* The first bad step of a chunk, or -1. */
    __device__ int64_t failed(const gm_cuda_args &a) const
    {
        return bad > 0 ? a.step_begin + a.n_step - bad + 1 : -1;
    }
};

#endif

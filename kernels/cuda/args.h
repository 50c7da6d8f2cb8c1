/** What the host hands to a CUDA kernel, by value. Read by C (engine) and by device code.
 *
 *  Arrays on the device end in [point]: neighbouring threads or copies touch neighbouring points.
 *  `real` arrays are float or double, as the kernel was compiled; hence the untyped pointers. */
#ifndef GM_KERNELS_CUDA_ARGS_H
#define GM_KERNELS_CUDA_ARGS_H

#include <stdint.h>

enum { GM_CUDA_MAX_KNOB = 80, GM_CUDA_MAX_STATE = 16, GM_CUDA_MAX_AXIS = 32, GM_CUDA_N_FINAL = 5 };

/* A swept axis: point p has value[(p / stride) % n]. */
typedef struct gm_cuda_axis {
    int64_t stride, n;
    const double *value; /* [n] */
} gm_cuda_axis;

typedef struct gm_cuda_args {
    int32_t n_node, n_point, capacity; /* capacity: the [point] extent of every array */
    int32_t noise;
    double dt;
    int64_t n_transient, n_total, every; /* steps of the whole run */

    /* A row is a state or, behind these where one is recorded, a derived quantity. */
    void *x;                  /* real [n_row][n_node][point] */
    double *sum, *square;     /* [n_row][n_node][point]; NULL without statistics */
    void *first, *low, *high; /* real [n_row][n_node][point] */
    int64_t *failed;          /* [point] first step not finite, -1: none */

    const void *weight;                  /* real [n_node source][n_node target] */
    const void *strength;                /* real [n_node] */
    void *fragment;                      /* matrix.cu: the weights as gm_pack leaves them */
    const void *node_value;              /* real [row][n_node] */
    double knob[GM_CUDA_MAX_KNOB];       /* value of a knob that neither nodes nor points change */
    int16_t node_row[GM_CUDA_MAX_KNOB];  /* its row in node_value, or -1 */
    int16_t knob_axis[GM_CUDA_MAX_KNOB]; /* its axis, or -1 */
    gm_cuda_axis axis[GM_CUDA_MAX_AXIS];
    int32_t seed_axis; /* or -1: every point has `seed` */
    uint64_t seed;
    uint32_t round_key[20]; /* of Philox for `seed`: where an instruction can name them */
    const int64_t *point;   /* [point] index in the sweep; NULL: point_begin + i */
    int64_t point_begin;
    uint32_t uniform_mask; /* bit s: initial value of state s is drawn */
    double uniform_low[GM_CUDA_MAX_STATE], uniform_high[GM_CUDA_MAX_STATE];

    int64_t step_begin, n_step;
    const void *input;    /* real [n_step + 1][n_input][n_node] */
    int64_t input_stride; /* elements from step to step; 0: constant */
    uint32_t linear;      /* bit i: input i is interpolated */

    uint32_t statistics;                  /* rows with running statistics, a bit each */
    uint32_t trajectory_mask;             /* rows in the trajectory */
    uint32_t derived;                     /* derived quantities that are recorded */
    int32_t derived_couples;              /* one of these needs the couplings */
    int64_t sample_begin, n_sample;       /* of this chunk */
    void *trajectory;                     /* real [recorded row][n_point][n_sample][n_node] */
    void *raw;                            /* plain ODE: real [recorded row][n_sample][n_point] */
    uint32_t final_mask[GM_CUDA_N_FINAL]; /* last, mean, variance, min, max: rows */
    void *final_value;                    /* real [recorded][n_point][n_node] */
} gm_cuda_args;

#endif

/** What the CPU engine hands to a compiled kernel: one chunk of one block of points.
 *
 *  A block is GM_LANES points side by side in one 64-byte vector. Every array of a block ends in
 *  [lane], so that all arithmetic is on whole vectors; lanes beyond the last point repeat it. */
#ifndef GM_KERNELS_CPU_TASK_H
#define GM_KERNELS_CPU_TASK_H

#include "core/model.h"
#include "core/sweep.h"

/** State of a block that lives from chunk to chunk; kernels know the element types. */
typedef struct gm_cpu_block {
    int n_lane;      /* points in it, 1 .. lanes */
    int64_t first;   /* index of its first point in the tile */
    uint64_t *point; /* [lane] index in the sweep */
    uint64_t *seed;  /* [lane] */
    int64_t *failed; /* [lane] first step not finite, -1: none */
    void *x;         /* [n_row][n_node][lane] states, then derived quantities as last evaluated */
    void *param;     /* [n_param][lane] */
    void *initial;   /* [n_state][lane] */
    double *sum;     /* [n_row][n_node][lane]; NULL without statistics */
    double *square;  /* like sum */
    void *extreme;   /* [3: first, low, high][n_row][n_node][lane]; NULL without statistics */
} gm_cpu_block;

/** Working arrays of one thread. */
typedef struct gm_cpu_scratch {
    void *base, *slope; /* [n_state][n_node][lane] */
    void *source;       /* [n_coupling][n_node][lane] */
    void *coupled;      /* [n_coupling][n_node_padded][lane] */
    void *normal;       /* [n_noise_padded][n_node][lane] */
    void *probe;        /* [lane] 0, or NaN once a state is not finite */
} gm_cpu_scratch;

typedef struct gm_cpu_task {
    int integrator;
    bool noise;
    int64_t n_node, n_node_padded; /* padded to whole row blocks */
    double dt;
    int64_t n_transient, n_total, every;    /* steps of the whole run */
    int n_row;                              /* states, and derived quantities if any is recorded */
    bool derived_couples;                   /* one of these needs the couplings */
    const void *weight;                     /* [n_node_padded / rows][n_node][rows] */
    const void *strength;                   /* [n_node] */
    const void *node_param[GM_MAX_PARAM];   /* [n_node][lane], or NULL: the block's param */
    const void *node_initial[GM_MAX_STATE]; /* [n_node], or NULL */
    gm_uniform uniform[GM_MAX_STATE];
    uint32_t record[GM_N_OBSERVABLE]; /* bit q: state or derived quantity q */
    uint32_t statistics;              /* those with any of mean .. max */
    uint32_t linear;                  /* bit i: input i is interpolated */

    int64_t step_begin, n_step;
    const void *input;    /* [n_step + 1][n_input][n_node] */
    int64_t input_stride; /* elements from step to step; 0: constant */
    int64_t sample_begin, n_sample;
    void *trajectory[GM_MAX_QUANTITY];                 /* [n_point][n_sample][n_node] */
    void *statistic[GM_N_OBSERVABLE][GM_MAX_QUANTITY]; /* [n_point][n_node] */
} gm_cpu_task;

/** A model compiled for one precision and one instruction set. */
typedef struct gm_cpu_kernel {
    const char *model;
    gm_precision precision;
    int lanes; /* points in a block */
    int rows;  /* rows of the weights that are multiplied together */
    void (*begin)(const gm_cpu_task *task, gm_cpu_block *block);
    void (*march)(const gm_cpu_task *task, gm_cpu_block *block, gm_cpu_scratch *scratch);
    void (*end)(const gm_cpu_task *task, const gm_cpu_block *block);
} gm_cpu_kernel;

/** The kernels of each instruction set, best first, ended by a NULL name. */
typedef struct gm_cpu_level {
    const char *name;  /* "x86-64-v4"; "native" elsewhere */
    const char *flags; /* of the compiler, separated by blanks */
    const gm_cpu_kernel *const *kernel;
    int n_kernel;
} gm_cpu_level;

extern const gm_cpu_level gm_cpu_levels[];

#endif

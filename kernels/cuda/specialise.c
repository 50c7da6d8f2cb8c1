#include "kernels/cuda/specialise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/warpgroup.h"
#include "kernels/shape.h"

enum { POINT_THREADS = 128, WARP = 32 };
enum {
    MATRIX_ARCHITECTURE = 80,  /* the first with tf32 and fp64 on tensor cores */
    MATRIX_VALUES = 44 << 10,  /* 4-byte registers that the values of a warp's points may take */
    MOST_WARPGROUP_TILES = 16, /* of 8 nodes: more do not fit the registers of a warp */
    FULL_POINTS = 1 << 15      /* more of them change nothing in how a kernel is cut */
};

static int architecture_number(const char *architecture)
{
    return strncmp(architecture, "sm_", 3) == 0 ? atoi(architecture + 3) : 0;
}

/* Registers that the values of 16 points take; fp64: of 8 points (see matrix_shape.cuh). */
static int64_t value_registers(const gm_sweep *sweep, const gm_data *data)
{
    static const int arrays[] = {[GM_EULER] = 1, [GM_HEUN] = 2, [GM_RK4] = 3};
    const gm_model_info *model = sweep->model;
    const int statistics = 8 * __builtin_popcount(gm_statistics_mask(sweep));
    const int values = model->n_state * arrays[sweep->integrator] + model->n_coupling;
    return 16 * data->n_node * (values + statistics);
}

/* Shared memory that a block can have (CUDA C++ Programming Guide, compute capabilities). */
static int shared_limit(const char *architecture)
{
    switch (architecture_number(architecture)) {
    case 80:
    case 87: return 163 << 10;
    case 90:
    case 100:
    case 103: return 227 << 10;
    default: return 99 << 10;
    }
}

/* Shared memory that 16 points take at least (fp64: 8): sources, normal numbers, per-node values.
 */
static int64_t least_shared(const gm_sweep *sweep, const gm_data *data)
{
    const gm_model_info *model = sweep->model;
    const int64_t padded = (data->n_node + 7) / 8 * 8, real = gm_real_size(sweep);
    const int64_t sources = model->n_coupling * padded * 16 * 16;
    const int64_t normals = sweep->noise ? (model->n_noise + 3) / 4 * padded * 16 * 16 : 0;
    return sources + normals + (model->n_param + 1) * padded * real;
}

/* Points from which on the matrix engine is the faster one, measured on a card of 132
 * multiprocessors: below, a block per point answers sooner. It is good only while a node's weights
 * fit into registers. */
static int64_t many_points(const gm_sweep *sweep, const gm_data *data)
{
    static const int64_t small_network[] = {
        [GM_FP32] = 1056, [GM_FP64] = 264, [GM_FAST_FP32] = 396};
    return data->n_node * gm_real_size(sweep) <= 512 ? small_network[sweep->precision] : 1;
}

const char *gm_cuda_not_matrix(const gm_sweep *sweep, const gm_data *data, const char *architecture)
{
    if (sweep->model->n_coupling == 0) return "no network";
    if (sweep->engine == GM_ENGINE_BLOCK) return "asked for by --engine";
    if (architecture_number(architecture) < MATRIX_ARCHITECTURE)
        return "this GPU's tensor cores do not take such numbers";
    if (value_registers(sweep, data) > MATRIX_VALUES)
        return "too many nodes and variables for the registers of a few warps";
    if (least_shared(sweep, data) > shared_limit(architecture))
        return "too many nodes for shared memory";
    if (sweep->engine == GM_ENGINE_AUTO && sweep->n_point < many_points(sweep, data))
        return "few points";
    return NULL;
}

bool gm_cuda_is_matrix(const gm_sweep *sweep, const gm_data *data, const char *architecture)
{
    return !gm_cuda_not_matrix(sweep, data, architecture);
}

int64_t gm_cuda_fragment_bytes(int64_t n_node)
{
    const int64_t tiles = (n_node + 7) / 8;
    return tiles * ((tiles + 1) / 2) * 1536;
}

int gm_cuda_threads(const gm_sweep *sweep, int64_t n_node)
{
    if (sweep->model->n_coupling == 0) return POINT_THREADS;
    return (int)((n_node + WARP - 1) / WARP * WARP);
}

static bool is_swept(const gm_sweep *sweep, int knob)
{
    for (int i = 0; i < sweep->n_axis; i++)
        if (sweep->axis[i].kind == GM_AXIS_KNOB && sweep->axis[i].knob == knob) return true;
    return false;
}

static int seed_axis(const gm_sweep *sweep)
{
    for (int i = 0; i < sweep->n_axis; i++)
        if (sweep->axis[i].kind == GM_AXIS_SEED) return i;
    return -1;
}

/* Hexadecimal floating point: exact, and the same in every locale. */
static void put_knobs(FILE *file, const gm_sweep *sweep, const gm_data *data)
{
    fprintf(file, "static __device__ __forceinline__ bool gm_fixed_knob(int k, double *value)\n"
                  "{\n    switch (k) {\n");
    for (int k = 0; k < sweep->model->n_param; k++)
        if (!is_swept(sweep, k) && !data->node_value[k])
            fprintf(file, "    case %d: *value = %a; return true;\n", k, sweep->knob[k]);
    fprintf(file, "    default: return false;\n    }\n}\n");
}

static void put_inputs(FILE *file, const gm_sweep *sweep)
{
    fprintf(file, "static __device__ __forceinline__ bool gm_fixed_input(int k, double *value)\n"
                  "{\n    switch (k) {\n");
    for (int k = 0; k < sweep->model->n_input; k++)
        if (sweep->input[k].kind == GM_INPUT_CONSTANT)
            fprintf(file, "    case %d: *value = %a; return true;\n", k, sweep->input[k].constant);
    fprintf(file, "    default: return false;\n    }\n}\n");
}

/* Rows of per-node values, in the order in which buffers.c puts them. */
static void put_node_knobs(FILE *file, const gm_sweep *sweep, const gm_data *data)
{
    int row = 0;
    fprintf(file, "static __device__ constexpr int gm_node_knob(int k)\n{\n    switch (k) {\n");
    for (int k = 0; k < sweep->model->n_param; k++)
        if (data->node_value[k]) fprintf(file, "    case %d: return %d;\n", k, row++);
    fprintf(file, "    default: return -1;\n    }\n}\n");
    fprintf(file, "static __device__ constexpr int gm_n_node_knob() { return %d; }\n", row);
}

static void put_warpgroup(FILE *file, const gm_data *data, const char *architecture)
{
    const int64_t n_tile = (data->n_node + 7) / 8;
    const bool has = architecture_number(architecture) == 90 && n_tile <= MOST_WARPGROUP_TILES;
    fprintf(file, "#define GM_FIXED_warpgroup %d\n", has);
    if (has) gm_cuda_put_warpgroup(file, (int)n_tile);
}

char *gm_cuda_specialise(const gm_sweep *sweep, const gm_data *data, const char *architecture)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file) return NULL;
    fprintf(file, "#define GM_FIXED_n_node %lld\n", (long long)data->n_node);
    fprintf(file, "#define GM_FIXED_threads %d\n", gm_cuda_threads(sweep, data->n_node));
    fprintf(file, "#define GM_FIXED_integrator %d\n", (int)sweep->integrator);
    fprintf(file, "#define GM_FIXED_noise %d\n", sweep->noise);
    fprintf(file, "#define GM_FIXED_seed_axis %d\n", seed_axis(sweep));
    fprintf(file, "#define GM_FIXED_linear %uu\n", gm_linear_mask(sweep));
    fprintf(file, "#define GM_FIXED_statistics %uu\n", gm_statistics_mask(sweep));
    fprintf(file, "#define GM_FIXED_trajectory_mask %uu\n", gm_record_mask(sweep, GM_TRAJECTORY));
    fprintf(file, "#define GM_FIXED_derived %uu\n", gm_derived_mask(sweep));
    fprintf(file, "#define GM_FIXED_derived_couples %d\n", gm_derived_couples(sweep));
    fprintf(file, "#define GM_FIXED_every INT64_C(%lld)\n", (long long)sweep->every);
    fprintf(file, "#define GM_FIXED_n_transient INT64_C(%lld)\n", (long long)sweep->n_transient);
    fprintf(file, "#define GM_FIXED_dt %a\n", sweep->dt);
    fprintf(file, "#define GM_FIXED_n_point %lld\n",
            (long long)(sweep->n_point < FULL_POINTS ? sweep->n_point : FULL_POINTS));
    fprintf(file, "#define GM_FIXED_shared_limit %d\n", shared_limit(architecture));
    put_warpgroup(file, data, architecture);
    put_knobs(file, sweep, data);
    put_node_knobs(file, sweep, data);
    put_inputs(file, sweep);
    if (fclose(file) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

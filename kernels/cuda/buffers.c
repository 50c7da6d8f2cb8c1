#include "kernels/cuda/buffers.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/shape.h"

_Static_assert((int)GM_CUDA_MAX_KNOB == (int)GM_MAX_PARAM + (int)GM_MAX_STATE &&
                   (int)GM_CUDA_MAX_STATE == (int)GM_MAX_STATE &&
                   (int)GM_CUDA_N_FINAL == (int)GM_TRAJECTORY,
               "args.h and core/ disagree");

gm_status gm_cuda_take(int64_t n_byte, void *out)
{
    gm_status st = GM_OK;
    void *memory = NULL;
    const size_t size = n_byte > 0 ? (size_t)n_byte : 1;
    GM_TRY(st, GM_CUDA("taking GPU memory", cudaMalloc(&memory, size)));
    memcpy(out, &memory, sizeof memory);
    GM_TRY(st, GM_CUDA("clearing GPU memory", cudaMemset(memory, 0, size)));
cleanup:
    return st;
}

gm_status gm_cuda_pair_create(gm_cuda_pair *pair, int64_t n_byte)
{
    gm_status st = GM_OK;
    pair->size = n_byte > 0 ? (size_t)n_byte : 1;
    GM_TRY(st, GM_CUDA("taking pinned memory", cudaMallocHost(&pair->host, pair->size)));
    GM_TRY(st, gm_cuda_take((int64_t)pair->size, &pair->device));
cleanup:
    return st;
}

void gm_cuda_pair_destroy(gm_cuda_pair *pair)
{
    cudaFreeHost(pair->host);
    cudaFree(pair->device);
    memset(pair, 0, sizeof *pair);
}

/* Convert values to the sweep's precision and put them on the device. */
static gm_status upload(const gm_sweep *sweep, const double *value, int64_t n, void *out)
{
    gm_status st = GM_OK;
    void *device = NULL;
    const size_t size = (size_t)(n * gm_real_size(sweep));
    void *host = malloc(size);
    if (!host) return GM_FAIL(GM_E_MEMORY, "out of memory");
    for (int64_t i = 0; i < n; i++) gm_put_real(sweep->precision, host, i, value[i]);
    GM_TRY(st, gm_cuda_take((int64_t)size, &device));
    memcpy(out, &device, sizeof device);
    GM_TRY(st, GM_CUDA("copying the sweep's data to the GPU",
                       cudaMemcpy(device, host, size, cudaMemcpyHostToDevice)));
cleanup:
    free(host);
    return st;
}

static gm_status upload_network(const gm_sweep *sweep, const gm_data *data,
                                gm_cuda_constants *constants)
{
    gm_status st = GM_OK;
    const int64_t n = data->n_node;
    double *turned = calloc((size_t)(n * n), sizeof *turned);
    double *strength = calloc((size_t)n, sizeof *strength);
    if (!turned || !strength) {
        st = GM_FAIL(GM_E_MEMORY, "out of memory");
        goto cleanup;
    }
    for (int64_t i = 0; data->weight && i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            turned[j * n + i] = data->weight[i * n + j];
            strength[i] += data->weight[i * n + j];
        }
    GM_TRY(st, upload(sweep, turned, n * n, &constants->weight));
    GM_TRY(st, upload(sweep, strength, n, &constants->strength));
cleanup:
    free(strength);
    free(turned);
    return st;
}

static gm_status upload_node_values(const gm_sweep *sweep, const gm_data *data,
                                    gm_cuda_constants *constants, gm_cuda_args *args)
{
    gm_status st = GM_OK;
    const int n_knob = gm_model_n_knob(sweep->model);
    int16_t n_row = 0;
    double *rows = calloc((size_t)(n_knob * data->n_node), sizeof *rows);
    if (!rows) return GM_FAIL(GM_E_MEMORY, "out of memory");
    for (int k = 0; k < n_knob; k++) {
        args->node_row[k] = -1;
        if (!data->node_value[k]) continue;
        memcpy(rows + n_row * data->n_node, data->node_value[k],
               (size_t)data->n_node * sizeof *rows);
        args->node_row[k] = n_row++;
    }
    GM_TRY(st, upload(sweep, rows, n_row > 0 ? n_row * data->n_node : 1, &constants->node_value));
cleanup:
    free(rows);
    return st;
}

/* Axes go up once; the device finds a point's values itself. */
static gm_status upload_axes(const gm_sweep *sweep, gm_cuda_constants *constants,
                             gm_cuda_args *args)
{
    gm_status st = GM_OK;
    int64_t n_value = 0, stride = 1, used = 0;
    if (sweep->n_axis > GM_CUDA_MAX_AXIS)
        return GM_FAIL(GM_E_DEVICE, "%d axes; on a GPU at most %d are possible", sweep->n_axis,
                       GM_CUDA_MAX_AXIS);
    for (int i = 0; i < sweep->n_axis; i++) n_value += sweep->axis[i].n;
    GM_TRY(st, gm_cuda_take(n_value * (int64_t)sizeof(double), &constants->axis_value));
    memset(args->knob_axis, -1, sizeof args->knob_axis);
    args->seed_axis = -1;
    args->seed = sweep->seed;
    for (uint32_t round = 0; round < 10; round++) { /* Salmon et al. 2011 */
        args->round_key[2 * round] = (uint32_t)sweep->seed + round * 0x9E3779B9u;
        args->round_key[2 * round + 1] = (uint32_t)(sweep->seed >> 32) + round * 0xBB67AE85u;
    }
    memcpy(args->knob, sweep->knob, (size_t)gm_model_n_knob(sweep->model) * sizeof(double));
    for (int i = sweep->n_axis - 1; i >= 0; i--) {
        const gm_axis *axis = &sweep->axis[i];
        args->axis[i] = (gm_cuda_axis){stride, axis->n, constants->axis_value + used};
        GM_TRY(st, GM_CUDA("copying an axis to the GPU",
                           cudaMemcpy(constants->axis_value + used, axis->value,
                                      (size_t)axis->n * sizeof(double), cudaMemcpyHostToDevice)));
        used += axis->n;
        if (sweep->design == GM_DESIGN_GRID) stride *= axis->n;
        if (axis->kind == GM_AXIS_SEED)
            args->seed_axis = i;
        else
            args->knob_axis[axis->knob] = (int16_t)i;
    }
cleanup:
    return st;
}

static void set_masks(const gm_sweep *sweep, gm_cuda_args *args)
{
    for (int s = 0; s < sweep->model->n_state; s++) {
        args->uniform_mask |= (uint32_t)sweep->uniform[s].on << s;
        args->uniform_low[s] = sweep->uniform[s].low;
        args->uniform_high[s] = sweep->uniform[s].high;
    }
    for (int o = 0; o < GM_TRAJECTORY; o++) args->final_mask[o] = gm_record_mask(sweep, o);
    args->trajectory_mask = gm_record_mask(sweep, GM_TRAJECTORY);
    args->statistics = gm_statistics_mask(sweep);
    args->derived = gm_derived_mask(sweep);
    args->derived_couples = gm_derived_couples(sweep);
    args->linear = gm_linear_mask(sweep);
}

gm_status gm_cuda_constants_create(const gm_sweep *sweep, const gm_data *data,
                                   gm_cuda_constants *constants, gm_cuda_args *args)
{
    gm_status st = GM_OK;
    args->n_node = (int32_t)data->n_node;
    args->noise = sweep->noise;
    args->dt = sweep->dt;
    args->n_transient = sweep->n_transient;
    args->n_total = sweep->n_step;
    args->every = sweep->every;
    set_masks(sweep, args);
    GM_TRY(st, upload_network(sweep, data, constants));
    GM_TRY(st, upload_node_values(sweep, data, constants, args));
    GM_TRY(st, upload_axes(sweep, constants, args));
    args->weight = constants->weight;
    args->strength = constants->strength;
    args->node_value = constants->node_value;
cleanup:
    return st;
}

void gm_cuda_constants_destroy(gm_cuda_constants *constants)
{
    cudaFree(constants->weight);
    cudaFree(constants->strength);
    cudaFree(constants->node_value);
    cudaFree(constants->axis_value);
    memset(constants, 0, sizeof *constants);
}

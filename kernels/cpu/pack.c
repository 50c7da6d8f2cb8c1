#include "kernels/cpu/pack.h"

#include "kernels/shape.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { VECTOR_BYTES = 64 };

gm_status gm_arena_take(gm_arena *arena, int64_t n_byte, void *out)
{
    void *memory = NULL;
    if (arena->n == arena->capacity) {
        int64_t capacity = arena->capacity ? 2 * arena->capacity : 64;
        void **block = realloc(arena->block, (size_t)capacity * sizeof *block);
        if (!block) return GM_FAIL(GM_E_MEMORY, "out of memory");
        arena->block = block;
        arena->capacity = capacity;
    }
    size_t size = n_byte < VECTOR_BYTES ? VECTOR_BYTES : (size_t)n_byte;
    if (posix_memalign(&memory, VECTOR_BYTES, size) != 0)
        return GM_FAIL(GM_E_MEMORY, "out of memory: %.1f MiB asked for", (double)size / 1048576.0);
    memset(memory, 0, size);
    arena->block[arena->n++] = memory;
    memcpy(out, &memory, sizeof memory);
    return GM_OK;
}

void gm_arena_clear(gm_arena *arena)
{
    for (int64_t i = 0; i < arena->n; i++) free(arena->block[i]);
    free(arena->block);
    memset(arena, 0, sizeof *arena);
}

int gm_cpu_thread(void)
{
    return omp_get_thread_num();
}

/* Weights in groups of rows: [group][source node][row in group], zero beyond the last row. */
static gm_status pack_weight(const gm_sweep *sweep, const gm_data *data, int rows, gm_arena *arena,
                             gm_cpu_task *task)
{
    gm_status st = GM_OK;
    const int64_t n = data->n_node;
    const int64_t real = gm_real_size(sweep);
    void *weight = NULL, *strength = NULL;
    task->n_node_padded = (n + rows - 1) / rows * rows;
    GM_TRY(st, gm_arena_take(arena, task->n_node_padded * n * real, &weight));
    GM_TRY(st, gm_arena_take(arena, n * real, &strength));
    for (int64_t i = 0; data->weight && i < n; i++) {
        double total = 0;
        for (int64_t j = 0; j < n; j++) {
            double w = data->weight[i * n + j];
            total += w;
            gm_put_real(sweep->precision, weight, ((i / rows) * n + j) * rows + i % rows, w);
        }
        gm_put_real(sweep->precision, strength, i, total);
    }
    task->weight = weight;
    task->strength = strength;
cleanup:
    return st;
}

/* Per-node values: parameters repeated over the lanes, initial values as they are. */
static gm_status pack_node_values(const gm_sweep *sweep, const gm_data *data, int lanes,
                                  gm_arena *arena, gm_cpu_task *task)
{
    gm_status st = GM_OK;
    const gm_model_info *model = sweep->model;
    const int64_t real = gm_real_size(sweep);
    for (int k = 0; k < gm_model_n_knob(model); k++) {
        const bool is_param = k < model->n_param;
        const int width = is_param ? lanes : 1;
        void *array = NULL;
        if (!data->node_value[k]) continue;
        GM_TRY(st, gm_arena_take(arena, data->n_node * width * real, &array));
        for (int64_t i = 0; i < data->n_node * width; i++)
            gm_put_real(sweep->precision, array, i, data->node_value[k][i / width]);
        if (is_param)
            task->node_param[k] = array;
        else
            task->node_initial[k - model->n_param] = array;
    }
cleanup:
    return st;
}

gm_status gm_cpu_pack(const gm_sweep *sweep, const gm_data *data, const gm_cpu_kernel *kernel,
                      gm_arena *arena, gm_cpu_task *task)
{
    gm_status st = GM_OK;
    task->integrator = (int)sweep->integrator;
    task->noise = sweep->noise;
    task->n_node = data->n_node;
    task->dt = sweep->dt;
    task->n_transient = sweep->n_transient;
    task->n_total = sweep->n_step;
    task->every = sweep->every;
    task->n_row = gm_n_row(sweep);
    task->derived_couples = gm_derived_couples(sweep);
    for (int s = 0; s < sweep->model->n_state; s++) task->uniform[s] = sweep->uniform[s];
    for (int o = 0; o < GM_N_OBSERVABLE; o++) task->record[o] = gm_record_mask(sweep, o);
    task->statistics = gm_statistics_mask(sweep);
    task->linear = gm_linear_mask(sweep);
    GM_TRY(st, pack_weight(sweep, data, kernel->rows, arena, task));
    GM_TRY(st, pack_node_values(sweep, data, kernel->lanes, arena, task));
cleanup:
    return st;
}

#include "kernels/cuda/specialise.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels/shape.h"

enum { POINT_THREADS = 128, WARP = 32 };

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

char *gm_cuda_specialise(const gm_sweep *sweep, const gm_data *data)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file) return NULL;
    fprintf(file, "#define GM_FIXED_n_node %lld\n", (long long)data->n_node);
    fprintf(file, "#define GM_FIXED_threads %d\n", gm_cuda_threads(sweep, data->n_node));
    fprintf(file, "#define GM_FIXED_integrator %d\n", (int)sweep->integrator);
    fprintf(file, "#define GM_FIXED_noise %d\n", sweep->noise);
    fprintf(file, "#define GM_FIXED_linear %uu\n", gm_linear_mask(sweep));
    fprintf(file, "#define GM_FIXED_statistics %uu\n", gm_statistics_mask(sweep));
    fprintf(file, "#define GM_FIXED_trajectory_mask %uu\n", gm_record_mask(sweep, GM_TRAJECTORY));
    fprintf(file, "#define GM_FIXED_every INT64_C(%lld)\n", (long long)sweep->every);
    fprintf(file, "#define GM_FIXED_n_transient INT64_C(%lld)\n", (long long)sweep->n_transient);
    fprintf(file, "#define GM_FIXED_dt %a\n", sweep->dt);
    put_knobs(file, sweep, data);
    if (fclose(file) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

#include "kernels/cuda/warpgroup.h"

/* A lane has four accumulators a tile of 8 nodes. */
static void put_product(FILE *file, const char *name, int n_tile, const char *types,
                        const char *tail, int depth)
{
    const int n_accumulator = 4 * n_tile, n_column = 8 * n_tile;
    fprintf(file,
            "static __device__ __forceinline__ void gm_wgmma_%s(float *d, const uint32_t a[4],\n"
            "    uint64_t weights, int add)\n{\n    asm volatile(\"{\\n.reg .pred p;\\n\"\n"
            "        \"setp.ne.b32 p, %%%d, 0;\\n\"\n"
            "        \"wgmma.mma_async.sync.aligned.m64n%dk%d.f32.%s {",
            name, n_accumulator + 5, n_column, depth, types);
    for (int i = 0; i < n_accumulator; i++) fprintf(file, "%s%%%d", i ? ", " : "", i);
    fprintf(file,
            "}, {%%%d, %%%d, %%%d, %%%d}, %%%d, p, 1, 1%s;\\n}\\n\"\n        : ", n_accumulator,
            n_accumulator + 1, n_accumulator + 2, n_accumulator + 3, n_accumulator + 4, tail);
    for (int i = 0; i < n_accumulator; i++) fprintf(file, "%s\"+f\"(d[%d])", i ? ", " : "", i);
    fprintf(file, "\n        : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), "
                  "\"l\"(weights), \"r\"(add));\n}\n");
}

void gm_cuda_put_warpgroup(FILE *file, int n_tile)
{
    put_product(file, "tf32", n_tile, "tf32.tf32", "", 8);
    put_product(file, "bf16", n_tile, "bf16.bf16", ", 0", 16);
}

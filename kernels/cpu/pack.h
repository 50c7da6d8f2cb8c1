/** Memory of a CPU engine, and a sweep's constants in the form and precision of its kernels. */
#ifndef GM_KERNELS_CPU_PACK_H
#define GM_KERNELS_CPU_PACK_H

#include "core/data.h"
#include "kernels/cpu/task.h"

/** Blocks of memory that are freed together; aligned to 64 bytes and zeroed. */
typedef struct gm_arena {
    void **block; /* owned */
    int64_t n, capacity;
} gm_arena;

/** @param out address of any pointer; receives n_byte bytes (at least one vector) */
gm_status gm_arena_take(gm_arena *arena, int64_t n_byte, void *out);
void gm_arena_clear(gm_arena *arena);

/** Fill the parts of a task that stay the same through the whole sweep. */
gm_status gm_cpu_pack(const gm_sweep *sweep, const gm_data *data, const gm_cpu_kernel *kernel,
                      gm_arena *arena, gm_cpu_task *task);

/** Index of the calling thread in its team. */
int gm_cpu_thread(void);

#endif

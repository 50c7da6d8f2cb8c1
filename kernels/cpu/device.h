/** The CPU as a device: which instruction set, how many threads. */
#ifndef GM_KERNELS_CPU_DEVICE_H
#define GM_KERNELS_CPU_DEVICE_H

#include "kernels/backend.h"
#include "kernels/cpu/task.h"

struct gm_device {
    const gm_cpu_level *level;
    int n_thread;
};

int gm_cpu_count(const char **reason);
gm_status gm_cpu_open(int index, int n_thread, gm_device **out);
void gm_cpu_close(gm_device **device);
gm_status gm_cpu_describe(gm_device *device, gm_device_info *info);

/** Can this processor run code of the level? */
bool gm_cpu_runs_level(const char *level);

/** The compiled kernel of a model, or NULL. */
const gm_cpu_kernel *gm_cpu_find(const gm_cpu_level *level, const char *model,
                                 gm_precision precision);

#endif

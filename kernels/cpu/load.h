/** A compiled CPU kernel as code that can be called. */
#ifndef GM_KERNELS_CPU_LOAD_H
#define GM_KERNELS_CPU_LOAD_H

#include "kernels/code.h"
#include "kernels/cpu/task.h"

/** Load a shared object that gm_cpu_compile made, here or elsewhere.
 *  @param[out] kernel  lives until the handle is unloaded
 *  @param[out] handle  gm_cpu_unload
 *  @return GM_OK; GM_E_DEVICE if it is not such an object, belongs to another version of gridmarch,
 * or is for another kind of processor; GM_E_MEMORY; GM_E_IO */
gm_status gm_cpu_load(const gm_code *code, const gm_cpu_kernel **kernel, void **handle);

/** Takes a NULL handle, sets NULL. */
void gm_cpu_unload(void **handle);

#endif

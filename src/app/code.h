/** Kernels compiled for a run: found in the cache, in a file, or made by one rank for all. */
#ifndef GM_APP_CODE_H
#define GM_APP_CODE_H

#include "app/device.h"
#include "app/options.h"
#include "app/request.h"
#include "kernels/code.h"

/** Collective. The code that this run's engines load, the same on all ranks; code->data is NULL
 * when the kernels built into the program are used: always for built-in models on a CPU, on a GPU
 * when there is no run-time compiler or --no-compile was given. On the first rank of all, in this
 * order: the file of --kernel; the cache; the compiler; a file that `gridmarch compile` left beside
 * the sweep file. So nothing is compiled twice.
 *  @param[out] note  what was done, for the user; "" for nothing worth saying
 *  @return GM_OK; GM_E_INPUT: the model does not compile, or --kernel is for another sweep;
 *          GM_E_DEVICE: a user's model and no way to compile it */
gm_status gm_run_code(const gm_comm *comm, const gm_options *options, const gm_request *request,
                      const gm_rank_device *device, gm_code *code, char note[256]);

/** Would a run on this device use code compiled for the sweep? As gm_run_code decides, but nothing
 *  is read or compiled; --kernel does not count. Not collective. */
gm_status gm_code_is_expected(const gm_options *options, const gm_request *request,
                              const gm_rank_device *device, bool *expected);

/** Name of the file that `gridmarch compile` writes by default: "SWEEP.sm_90.kernel". */
gm_status gm_code_default_path(const char *sweep_path, const char *architecture, char **path);

/** Write compiled code, with what it was compiled from, to a file; and read it back.
 *  @param key  gm_hash of the backend's compile_key text
 *  @return GM_OK; GM_E_IO; on reading GM_E_INPUT if the file is not one of these, is spoilt, or was
 *          compiled from something else */
gm_status gm_code_write(const char *path, const char *key, const gm_code *code);
gm_status gm_code_read(const char *path, const char *key, gm_code *code);

#endif

/** NVIDIA's run-time compiler, found when it is wanted and never linked: next to the program, under
 *  CUDA_HOME, or where the loader looks. GRIDMARCH_NVRTC in the environment names the library to
 * take in place of all these, or says "none". */
#ifndef GM_KERNELS_CUDA_NVRTC_H
#define GM_KERNELS_CUDA_NVRTC_H

#include "kernels/code.h"

/** A file for the compiler: the name under which others include it, and its text. */
typedef gm_source_file gm_nvrtc_file;

/** Is it here? On true *version is "13.0", on false *reason says where was looked (static). */
bool gm_nvrtc_find(const char **version, const char **reason);

/** Compile a program to machine code of one architecture.
 *  @param main     the program
 *  @param header   [n_header] all that it may include
 *  @param option   [n_option]
 *  @param out      the cubin; free with gm_code_clear
 *  @return GM_OK; GM_E_INPUT with the compiler's first messages; GM_E_DEVICE if there is no NVRTC
 * or it failed otherwise; GM_E_MEMORY */
gm_status gm_nvrtc_compile(gm_nvrtc_file main, const gm_nvrtc_file *header, int n_header,
                           const char *const *option, int n_option, gm_code *out);

#endif

/** CPU kernels compiled at run time: what goes into one, and what its loader checks. */
#ifndef GM_KERNELS_CPU_COMPILE_H
#define GM_KERNELS_CPU_COMPILE_H

#include "core/hash.h"

/* Symbols of the shared object. */
#define GM_USER_KERNEL "gm_user_kernel" /* the gm_cpu_kernel */
#define GM_USER_ENGINE "gm_user_engine" /* text: the engine it was compiled from */
#define GM_USER_LEVEL  "gm_user_level"  /* text: the instruction set */

/** Hash of everything of the engine that goes into a CPU kernel. Kernels of another engine are laid
 *  out differently and cannot be used. */
void gm_cpu_engine_hash(char text[GM_HASH_TEXT_SIZE]);

#endif

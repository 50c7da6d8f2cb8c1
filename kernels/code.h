/** A kernel compiled at run time, for one sweep: bytes that can be kept, sent to other ranks,
 * loaded.
 *
 *  Compiling needs the text of the engine, which the program carries (gm_source_*), and of the
 * model. It happens on one rank only. */
#ifndef GM_KERNELS_CODE_H
#define GM_KERNELS_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "core/data.h"
#include "core/sweep.h"

/** Compiled code. */
typedef struct gm_code {
    void *data; /* owned: a cubin, or a shared object */
    int64_t n_byte;
    char identity[64]; /* short text that names it in results; given by who keeps it */
} gm_code;

void gm_code_clear(gm_code *code);

/** A file of the engine, embedded in the program: its name as the others include it, and its text.
 */
typedef struct gm_source_file {
    const char *name; /* "kernels/math.h", "Random123/philox.h" */
    const char *text; /* NUL-terminated */
} gm_source_file;

/** Ended by a NULL name. Made by the build. */
extern const gm_source_file gm_source_files[];

/** Text of an embedded file, or NULL. */
const char *gm_source_find(const char *name);

/** Compile the CPU kernel of a model into a shared object, with the system's C compiler: $CC, cc,
 * gcc or clang, started directly (no shell), its output caught. All embedded sources are written to
 * a private temporary folder that is removed afterwards.
 *  @param model_path, model_text  the header; compiler messages name this path with its own lines
 *  @param level       "x86-64-v3" and so on: sets -march
 *  @param out         free with gm_code_clear
 *  @return GM_OK; GM_E_INPUT if the compiler refuses the model (message: the compiler's, its first
 *          lines, with the user's file and line); GM_E_DEVICE if there is no compiler (says what to
 *          do); GM_E_IO; GM_E_MEMORY */
gm_status gm_cpu_compile(const char *model_path, const char *model_text, gm_precision precision,
                         const char *level, gm_code *out);

/** The system's C compiler with its version, as a name: what gm_cpu_compile would use. On false
 * *reason says what is missing (both static). */
bool gm_cpu_compiler(const char **version, const char **reason);

/** Everything but the compiler that changes what gm_cpu_compile makes, as one text (owned by the
 *  caller): engine, model, flags. */
gm_status gm_cpu_source_key(const char *model_text, gm_precision precision, const char *level,
                            char **key_text);

#endif

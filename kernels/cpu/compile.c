/* A user's model becomes a shared object: the engine's embedded text and the model are written to a
 * temporary folder and go through the system's compiler with the flags of the built-in kernels. */
#include "kernels/cpu/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/code.h"
#include "kernels/cpu/compiler.h"
#include "kernels/cpu/folder.h"
#include "kernels/cpu/task.h"

enum { FLAGS_SIZE = 1024, MAX_ARGUMENT = 64, MAX_MESSAGE_LINE = 20 };

#define MODEL_FILE  "user_model.h"
#define KERNEL_FILE "user_kernel.c"
#define OBJECT_FILE "user_kernel.so"

/* Faults that C compilers only warn of: each would end in wrong numbers or in a failing load. */
#define STRICT_FLAGS                                                                               \
    "-Werror=implicit-function-declaration -Werror=int-conversion "                                \
    "-Werror=incompatible-pointer-types -Werror=div-by-zero -Wno-unknown-pragmas -Wl,-z,defs"

typedef struct compiler {
    char path[PATH_MAX];
    char flags[FLAGS_SIZE]; /* separated by blanks */
    const char *level;      /* borrowed */
} compiler;

/* Embedded files that a CPU kernel is made of. The built-in models are not: a model that includes
 * one would change with it unnoticed. */
static bool is_needed(const char *name)
{
    if (!strncmp(name, "kernels/models/", 15)) return !strcmp(name + 15, "gm_model.h");
    return strncmp(name, "kernels/cuda/", 13) != 0;
}

void gm_cpu_engine_hash(char text[GM_HASH_TEXT_SIZE])
{
    gm_hash hash = gm_hash_begin();
    for (const gm_source_file *file = gm_source_files; file->name; file++) {
        if (!is_needed(file->name)) continue;
        gm_hash_add_text(&hash, file->name);
        gm_hash_add_text(&hash, file->text);
    }
    gm_hash_format(hash, text);
}

/* --- which compiler, and how it is called --------------------------------------------------------
 */

static gm_status fail_unknown_level(const char *level)
{
    char all[256] = "";
    for (const gm_cpu_level *known = gm_cpu_levels; known->name; known++)
        snprintf(all + strlen(all), sizeof all - strlen(all), " %s,", known->name);
    return GM_FAIL(
        GM_E_USAGE,
        "no architecture is called '%s'; there are%s and for GPUs sm_80, sm_90 and so on", level,
        all);
}

static gm_status choose_flags(gm_precision precision, const char *level, char flags[FLAGS_SIZE])
{
    const gm_cpu_level *known = gm_cpu_levels;
    while (known->name && strcmp(known->name, level) != 0) known++;
    if (!known->name) return fail_unknown_level(level);
    snprintf(flags, FLAGS_SIZE,
             "-std=c11 -D_GNU_SOURCE -shared -fPIC %s %s %s -DGM_DOUBLE=%d "
             "-DGM_MODEL_HEADER=\"%s\" -DGM_KERNEL_SYMBOL=%s",
             GM_KERNEL_FLAGS, known->flags, STRICT_FLAGS, precision == GM_FP64, MODEL_FILE,
             GM_USER_KERNEL);
    return GM_OK;
}

static gm_status choose_compiler(gm_precision precision, const char *level, compiler *out)
{
    char reason[GM_REASON_SIZE];
    const gm_status st = choose_flags(precision, level, out->flags);
    out->level = level;
    if (st != GM_OK || gm_compiler_find(out->path, reason)) return st;
    return GM_FAIL(GM_E_DEVICE,
                   "a C compiler is needed for this model, but %s: install one, load its module or "
                   "set CC; or run `gridmarch compile` on a machine that has one and bring the "
                   "kernel here",
                   reason);
}

/* What it says about itself: two compilers under one path differ here. */
static gm_status read_version(const char *compiler_path, char **version)
{
    char path[PATH_MAX], option[] = "--version";
    int exit_code = 0;
    snprintf(path, sizeof path, "%s", compiler_path);
    char *const argument[] = {path, option, NULL};
    const gm_status st = gm_compiler_run(argument, NULL, &exit_code, version);
    if (st != GM_OK || exit_code == 0) return st;
    free(*version);
    *version = NULL;
    return GM_FAIL(GM_E_DEVICE, "the C compiler %s cannot tell its version", path);
}

bool gm_cpu_compiler(const char **version, const char **reason)
{
    static char text[GM_REASON_SIZE];
    char path[PATH_MAX];
    char *says = NULL;
    *version = *reason = text;
    if (!gm_compiler_find(path, text)) return false;
    const bool works = read_version(path, &says) == GM_OK;
    snprintf(text, sizeof text, "%s", works ? says : gm_status_message());
    free(says);
    return works;
}

gm_status gm_cpu_source_key(const char *model_text, gm_precision precision, const char *level,
                            char **key_text)
{
    char flags[FLAGS_SIZE], engine[GM_HASH_TEXT_SIZE];
    const gm_status st = choose_flags(precision, level, flags);
    *key_text = NULL;
    if (st != GM_OK) return st;
    gm_cpu_engine_hash(engine);
    if (asprintf(key_text, "engine %s\n%s\n%s\n", engine, flags, model_text) >= 0) return GM_OK;
    *key_text = NULL;
    return GM_FAIL(GM_E_MEMORY, "out of memory");
}

/* --- sources -------------------------------------------------------------------------------------
 */

/* A path as a C string literal's inside. */
static void escape(const char *text, char *out, size_t size)
{
    size_t n = 0;
    for (; *text && n + 3 < size; text++) {
        if (strchr("\"\\?", *text)) out[n++] = '\\';
        out[n++] = *text == '\n' || *text == '\r' ? ' ' : *text;
    }
    out[n] = '\0';
}

/* The model with its own name and lines; the kernel, with what the loader checks. */
static gm_status write_sources(const gm_folder *folder, const compiler *c, const char *model_path,
                               const char *model_text)
{
    gm_status st = GM_OK;
    char name[2 * PATH_MAX], engine[GM_HASH_TEXT_SIZE];
    char *model = NULL, *kernel = NULL;
    for (const gm_source_file *file = gm_source_files; file->name; file++)
        if (is_needed(file->name))
            GM_TRY(st, gm_folder_write(folder, file->name, file->text, strlen(file->text)));
    escape(model_path, name, sizeof name);
    gm_cpu_engine_hash(engine);
    if (asprintf(&model,
                 "#line 1 \"%s\"\n%s\n"
                 "#ifndef GM_MODEL_NAME\n#define GM_MODEL_NAME \"\"\n#endif\n",
                 name, model_text) < 0)
        model = NULL;
    if (asprintf(&kernel,
                 "#include \"kernels/cpu/march.c\"\n"
                 "const char " GM_USER_ENGINE "[] = \"%s\";\n"
                 "const char " GM_USER_LEVEL "[] = \"%s\";\n",
                 engine, c->level) < 0)
        kernel = NULL;
    if (!model || !kernel) {
        st = GM_FAIL(GM_E_MEMORY, "out of memory");
        goto cleanup;
    }
    GM_TRY(st, gm_folder_write(folder, MODEL_FILE, model, strlen(model)));
    GM_TRY(st, gm_folder_write(folder, KERNEL_FILE, kernel, strlen(kernel)));
cleanup:
    free(model);
    free(kernel);
    return st;
}

/* --- what the compiler says ----------------------------------------------------------------------
 */

/* Copy a line without the temporary folder's name. */
static size_t copy_line(const char *line, size_t n, const char *prefix, char *out)
{
    const size_t n_prefix = strlen(prefix);
    size_t n_out = 0;
    for (size_t i = 0; i < n;) {
        if (n - i >= n_prefix && !strncmp(line + i, prefix, n_prefix))
            i += n_prefix;
        else
            out[n_out++] = line[i++];
    }
    return n_out;
}

/* Lines that only say through which files of the engine the model was reached. */
static bool is_include_trail(const char *line)
{
    const char *word = line + strspn(line, " ");
    return !strncmp(line, "In file included from ", 22) ||
           (word > line && !strncmp(word, "from ", 5));
}

/* The first lines, in place, as the user should see them. */
static void tidy_output(const gm_folder *folder, char *text)
{
    char prefix[PATH_MAX + 1];
    char *out = text;
    int n_line = 0;
    snprintf(prefix, sizeof prefix, "%s/", folder->path);
    for (const char *line = text; *line;) {
        const size_t n = strcspn(line, "\n");
        const char *next = line + n + (line[n] == '\n');
        if (n > 0 && !is_include_trail(line) && n_line++ < MAX_MESSAGE_LINE) {
            if (out > text) *out++ = '\n';
            out += copy_line(line, n, prefix, out);
        }
        line = next;
    }
    *out = '\0';
}

static gm_status refuse(const gm_folder *folder, const compiler *c, const char *model_path,
                        char *output)
{
    tidy_output(folder, output);
    /* Anything else is a compiler too old for the flags, or without its headers. */
    if (strstr(output, model_path) || strstr(output, "undefined reference"))
        return GM_FAIL(GM_E_INPUT, "the C compiler refuses this model:\n%s", output);
    return GM_FAIL(GM_E_DEVICE, "the C compiler %s does not work here (CC names another):\n%s",
                   c->path, output);
}

/* --- compiling -----------------------------------------------------------------------------------
 */

/* Cuts c->flags into the vector, in place. */
static gm_status run_compiler(const gm_folder *folder, compiler *c, const char *model_path)
{
    gm_status st = GM_OK;
    int n = 0, exit_code = 0;
    char *argument[MAX_ARGUMENT + 8], *rest = NULL, *output = NULL;
    char include[PATH_MAX + 2], object[2 * PATH_MAX], source[2 * PATH_MAX];
    char to[] = "-o", libm[] = "-lm";
    snprintf(include, sizeof include, "-I%s", folder->path);
    snprintf(object, sizeof object, "%s/" OBJECT_FILE, folder->path);
    snprintf(source, sizeof source, "%s/" KERNEL_FILE, folder->path);
    argument[n++] = c->path;
    for (char *flag = strtok_r(c->flags, " ", &rest); flag && n < MAX_ARGUMENT;
         flag = strtok_r(NULL, " ", &rest))
        argument[n++] = flag;
    argument[n++] = include;
    argument[n++] = to;
    argument[n++] = object;
    argument[n++] = source;
    argument[n++] = libm;
    argument[n] = NULL;
    GM_TRY(st, gm_compiler_run(argument, folder->path, &exit_code, &output));
    if (exit_code != 0) st = refuse(folder, c, model_path, output);
cleanup:
    free(output);
    return st;
}

gm_status gm_cpu_compile(const char *model_path, const char *model_text, gm_precision precision,
                         const char *level, gm_code *out)
{
    gm_status st = GM_OK;
    gm_folder folder = {""};
    compiler c;
    gm_code code = {0};
    GM_TRY(st, choose_compiler(precision, level, &c));
    GM_TRY(st, gm_folder_create(&folder));
    GM_TRY(st, write_sources(&folder, &c, model_path, model_text));
    GM_TRY(st, run_compiler(&folder, &c, model_path));
    GM_TRY(st, gm_folder_read(&folder, OBJECT_FILE, &code.data, &code.n_byte));
    *out = code;
    memset(&code, 0, sizeof code); /* given away */
cleanup:
    gm_folder_remove(&folder);
    gm_code_clear(&code);
    return st;
}

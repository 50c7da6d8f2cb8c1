#include "kernels/cuda/nvrtc.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_LINES = 20, SUCCESS = 0, INVALID_OPTION = 5, COMPILE_ERROR = 6 };

/* The part of NVRTC's C interface that is used; nvrtcProgram is an opaque pointer. */
typedef struct nvrtc {
    void *library;
    char version_text[16];
    int (*version)(int *major, int *minor);
    const char *(*error_string)(int result);
    int (*create)(void **program, const char *source, const char *name, int n_header,
                  const char *const *header, const char *const *header_name);
    int (*destroy)(void **program);
    int (*compile)(void *program, int n_option, const char *const *option);
    int (*log_size)(void *program, size_t *size);
    int (*log)(void *program, char *log);
    int (*cubin_size)(void *program, size_t *size);
    int (*cubin)(void *program, char *cubin);
    int (*n_architecture)(int *n);
    int (*architectures)(int *number);
} nvrtc;

static nvrtc loaded;

static const char wish_variable[] = "GRIDMARCH_NVRTC";

/* dlsym gives an object pointer; a function pointer is what is wanted. */
static bool bind_function(const char *name, void *function)
{
    void *found = dlsym(loaded.library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static bool bind_all(void)
{
    int major = 0, minor = 0;
    const bool whole = bind_function("nvrtcVersion", &loaded.version) &&
                       bind_function("nvrtcGetErrorString", &loaded.error_string) &&
                       bind_function("nvrtcCreateProgram", &loaded.create) &&
                       bind_function("nvrtcDestroyProgram", &loaded.destroy) &&
                       bind_function("nvrtcCompileProgram", &loaded.compile) &&
                       bind_function("nvrtcGetProgramLogSize", &loaded.log_size) &&
                       bind_function("nvrtcGetProgramLog", &loaded.log) &&
                       bind_function("nvrtcGetCUBINSize", &loaded.cubin_size) &&
                       bind_function("nvrtcGetCUBIN", &loaded.cubin) &&
                       bind_function("nvrtcGetNumSupportedArchs", &loaded.n_architecture) &&
                       bind_function("nvrtcGetSupportedArchs", &loaded.architectures);
    if (!whole || loaded.version(&major, &minor) != SUCCESS) return false;
    snprintf(loaded.version_text, sizeof loaded.version_text, "%d.%d", major, minor);
    return true;
}

static bool try_library(const char *folder, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s%s", folder, folder[0] ? "/" : "", name);
    loaded.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!loaded.library) return false;
    if (bind_all()) return true;
    dlclose(loaded.library);
    memset(&loaded, 0, sizeof loaded);
    return false;
}

/* Folder of the running program, "" if unknown. */
static void program_folder(char folder[PATH_MAX])
{
    const ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    folder[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash) *slash = '\0';
}

static const char *wish(void)
{
    const char *text = getenv(wish_variable);
    return text && text[0] ? text : NULL;
}

static bool find_library(void)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    char program[PATH_MAX], beside[PATH_MAX + 8], cuda[PATH_MAX] = "";
    const char *home = getenv("CUDA_HOME");
    if (wish()) return strcmp(wish(), "none") != 0 && try_library("", wish());
    program_folder(program);
    snprintf(beside, sizeof beside, "%s/../lib", program);
    if (home) snprintf(cuda, sizeof cuda, "%s/lib64", home);
    const char *const folders[] = {program, beside, cuda, "", "/usr/local/cuda/lib64"};
    for (size_t f = 0; f < sizeof folders / sizeof folders[0]; f++)
        for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
            if ((folders[f][0] || f == 3) && try_library(folders[f], names[n])) return true;
    return false;
}

/* Why it is not here, in words for a user. */
static const char *describe_absence(void)
{
    static char text[PATH_MAX + 128];
    if (!wish())
        snprintf(text, sizeof text,
                 "libnvrtc (of the CUDA Toolkit) is not beside the program, under "
                 "$CUDA_HOME/lib64, in /usr/local/cuda or where the loader looks");
    else if (strcmp(wish(), "none") == 0)
        snprintf(text, sizeof text, "%s is none, so NVRTC is not used", wish_variable);
    else
        snprintf(text, sizeof text, "%s names \"%s\", which cannot be loaded as NVRTC",
                 wish_variable, wish());
    return text;
}

bool gm_nvrtc_find(const char **version, const char **reason)
{
    static bool searched;
    if (!searched) find_library();
    searched = true;
    *version = loaded.version_text;
    *reason = loaded.library ? "" : describe_absence();
    return loaded.library != NULL;
}

/* The log's first lines, as the message. */
static gm_status fail_with_log(void *program)
{
    size_t size = 0;
    char *log = NULL;
    if (loaded.log_size(program, &size) == SUCCESS) log = calloc(size + 1, 1);
    if (log) loaded.log(program, log);
    char *end = log;
    for (int i = 0; end && *end && i < MAX_LINES; i++) end += strcspn(end, "\n") + 1;
    if (end && end > log) end[-1] = '\0';
    gm_status st = GM_FAIL(GM_E_INPUT, "the model does not compile for the GPU:\n%s",
                           log ? log : "(no message)");
    free(log);
    return st;
}

/* The architecture is the only option that a user chooses. */
static gm_status fail_with_architectures(const char *option)
{
    enum { MOST = 64 };
    char all[MOST * 8] = " cannot be told";
    int number[MOST];
    int n = 0;
    if (loaded.n_architecture(&n) != SUCCESS || n > MOST || loaded.architectures(number) != SUCCESS)
        n = 0;
    if (n > 0) all[0] = '\0';
    for (int i = 0; i < n; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s sm_%d", i ? "," : ":", number[i]);
    const char *name = strchr(option, '=');
    return GM_FAIL(GM_E_USAGE, "NVRTC %s compiles for no architecture '%s'; those it knows%s",
                   loaded.version_text, name ? name + 1 : option, all);
}

static gm_status take_cubin(void *program, gm_code *out)
{
    size_t size = 0;
    int result = loaded.cubin_size(program, &size);
    void *data = result == SUCCESS ? malloc(size) : NULL;
    if (data) result = loaded.cubin(program, data);
    if (!data || result != SUCCESS) {
        free(data);
        return GM_FAIL(GM_E_DEVICE, "taking the compiled GPU code: %s",
                       loaded.error_string(result));
    }
    out->data = data;
    out->n_byte = (int64_t)size;
    return GM_OK;
}

gm_status gm_nvrtc_compile(gm_nvrtc_file main, const gm_nvrtc_file *header, int n_header,
                           const char *const *option, int n_option, gm_code *out)
{
    gm_status st = GM_OK;
    void *program = NULL;
    const char *version = "", *reason = "";
    const char **text = calloc((size_t)n_header + 1, sizeof *text);
    const char **name = calloc((size_t)n_header + 1, sizeof *name);
    int result = SUCCESS;
    if (!text || !name) {
        st = GM_FAIL(GM_E_MEMORY, "out of memory");
        goto cleanup;
    }
    if (!gm_nvrtc_find(&version, &reason)) {
        st = GM_FAIL(GM_E_DEVICE, "%s", reason);
        goto cleanup;
    }
    for (int i = 0; i < n_header; i++) {
        text[i] = header[i].text;
        name[i] = header[i].name;
    }
    result = loaded.create(&program, main.text, main.name, n_header, text, name);
    if (result == SUCCESS) result = loaded.compile(program, n_option, option);
    if (result == COMPILE_ERROR)
        st = fail_with_log(program);
    else if (result == INVALID_OPTION)
        st = fail_with_architectures(option[0]);
    else if (result != SUCCESS)
        st = GM_FAIL(GM_E_DEVICE, "compiling GPU code: %s", loaded.error_string(result));
    else
        st = take_cubin(program, out);
cleanup:
    if (program) loaded.destroy(&program);
    free(text);
    free(name);
    return st;
}

/* The object goes through memory, not through a file: temporary folders may forbid execution. */
#include "kernels/cpu/load.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernels/cpu/compile.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/folder.h"

typedef struct library {
    void *object; /* of dlopen */
    int file; /* its memory; -1: none. Open as long as the object is: the loader knows objects by
                 their names, and this one's name is the descriptor's number */
} library;

static int put_in_memory(const gm_code *code)
{
    const char *next = code->data;
    int64_t left = code->n_byte;
    const int file = (int)syscall(SYS_memfd_create, "gridmarch kernel", MFD_CLOEXEC);
    while (file >= 0 && left > 0) {
        const ssize_t n = write(file, next, (size_t)left);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            close(file);
            return -1;
        }
        next += n;
        left -= n;
    }
    return file;
}

static void open_from_memory(const gm_code *code, library *l)
{
    char path[64];
    l->file = put_in_memory(code);
    if (l->file < 0) return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", l->file);
    l->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (l->object) return;
    close(l->file);
    l->file = -1;
}

/* Where the system has no such memory, or forbids to run it. */
static gm_status open_from_file(const gm_code *code, library *l)
{
    gm_status st = GM_OK;
    gm_folder folder = {""};
    char path[PATH_MAX + 16];
    GM_TRY(st, gm_folder_create(&folder));
    GM_TRY(st, gm_folder_write(&folder, "kernel.so", code->data, (size_t)code->n_byte));
    snprintf(path, sizeof path, "%s/kernel.so", folder.path);
    l->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!l->object)
        st = GM_FAIL(GM_E_DEVICE, "the compiled kernel cannot be loaded: %s", dlerror());
cleanup:
    gm_folder_remove(&folder);
    return st;
}

static gm_status check(const library *l, const gm_cpu_kernel **kernel)
{
    char here[GM_HASH_TEXT_SIZE];
    const gm_cpu_kernel *k = dlsym(l->object, GM_USER_KERNEL);
    const char *engine = dlsym(l->object, GM_USER_ENGINE);
    const char *level = dlsym(l->object, GM_USER_LEVEL);
    if (!k || !engine || !level)
        return GM_FAIL(GM_E_DEVICE, "this is no kernel that gridmarch compiled");
    gm_cpu_engine_hash(here);
    if (strcmp(engine, here) != 0)
        return GM_FAIL(GM_E_DEVICE, "this kernel was compiled by another version of gridmarch; "
                                    "compile it again with this one");
    if (!gm_cpu_runs_level(level))
        return GM_FAIL(GM_E_DEVICE,
                       "this kernel was compiled for %s, which this processor cannot run", level);
    const int lanes = k->precision == GM_FP64 ? 8 : 16;
    if (!k->model || (k->precision != GM_FP32 && k->precision != GM_FP64) || k->lanes != lanes ||
        k->rows < 1 || !k->begin || !k->march || !k->end)
        return GM_FAIL(GM_E_DEVICE, "this kernel is damaged; compile it again");
    *kernel = k;
    return GM_OK;
}

gm_status gm_cpu_load(const gm_code *code, const gm_cpu_kernel **kernel, void **handle)
{
    gm_status st = GM_OK;
    void *opened = NULL;
    library *l = calloc(1, sizeof *l);
    if (!l) return GM_FAIL(GM_E_MEMORY, "out of memory");
    opened = l;
    open_from_memory(code, l);
    if (!l->object) GM_TRY(st, open_from_file(code, l));
    GM_TRY(st, check(l, kernel));
    *handle = opened, opened = NULL;
cleanup:
    gm_cpu_unload(&opened);
    return st;
}

void gm_cpu_unload(void **handle)
{
    library *l = *handle;
    if (!l) return;
    if (l->object) dlclose(l->object);
    if (l->file >= 0) close(l->file);
    free(l);
    *handle = NULL;
}

/* gridmarch doctor: which layer works on this machine, and what to do about one that does not. */
#include "app/commands.h"

#include <gnu/libc-version.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "app/report.h"
#include "io/store.h"
#include "kernels/backend.h"

static void describe(const gm_backend *backend, int index)
{
    gm_device *device = NULL;
    gm_device_info info;
    char bytes[32];
    gm_status st = backend->open(index, 0, &device);
    if (st == GM_OK) st = backend->describe(device, &info);
    if (st != GM_OK)
        printf("          device %d: NOT USABLE: %s\n", index, gm_status_message());
    else
        printf("          %s%s%s, %s, %d %s, %s free\n", info.name, info.uuid[0] ? ", " : "",
               info.uuid, info.architecture, info.n_worker,
               info.uuid[0] ? "multiprocessors" : "threads", gm_text_bytes(info.free_bytes, bytes));
    if (device) backend->close(&device);
}

/* What compiles models of one's own, and kernels for a sweep. */
static void describe_compiler(const char *title, const gm_backend *backend, const char *prefix)
{
    const char *version = "", *reason = "";
    if (!backend->compiler) return;
    if (backend->compiler(&version, &reason))
        printf("%s ok: %s%.*s\n", title, prefix, (int)strcspn(version, "\n"), version);
    else
        printf("%s none: %s\n", title, reason);
}

gm_status gm_command_doctor(const gm_options *options)
{
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    char hdf5[32];
    const char *reason = "";
    (void)options;
    printf("gridmarch %s\n", GM_VERSION);
    printf("C library ok: glibc %s\n", gnu_get_libc_version());
    MPI_Get_library_version(mpi, &length);
    mpi[strcspn(mpi, ",\n")] = '\0';
    printf("MPI       ok: %s\n", mpi);
    printf("HDF5      ok: %s\n", gm_store_library(hdf5));
    printf("CPU       ok\n");
    describe(&gm_backend_cpu, 0);
    describe_compiler("Compiler ", &gm_backend_cpu, "");
    describe_compiler("NVRTC    ", &gm_backend_cuda, "of CUDA ");
    const int n = gm_backend_cuda.count(&reason);
    if (n == 0) {
        printf("GPU       none: %s\n", reason);
        printf(
            "          Runs use the CPU. To use a GPU: a node that has one (in a job, ask for it), "
            "its\n          NVIDIA driver, and a gridmarch built where nvcc is found.\n");
        return GM_OK;
    }
    printf("GPU       ok: %d visible\n", n);
    for (int i = 0; i < n; i++) describe(&gm_backend_cuda, i);
    return GM_OK;
}

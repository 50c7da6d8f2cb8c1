/* gridmarch doctor: which layer works on this machine, and what to do about one that does not. */
#include "app/commands.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/report.h"
#include "core/clock.h"
#include "io/file_system.h"
#include "io/selfcheck.h"
#include "io/store.h"
#include "io/store_space.h"
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

static void describe_gpus(void)
{
    const char *reason = "";
    const int n = gm_backend_cuda.count(&reason);
    if (n == 0) {
        printf("GPU       none: %s\n", reason);
        printf(
            "          Runs use the CPU. To use a GPU: a node that has one (in a job, ask for it), "
            "its\n          NVIDIA driver, and a gridmarch built where nvcc is found.\n");
        return;
    }
    printf("GPU       ok: %d visible\n", n);
    for (int i = 0; i < n; i++) describe(&gm_backend_cuda, i);
}

static void describe_machine(void)
{
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    char hdf5[32];
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
    describe_gpus();
}

/* Whether the ranks can write a result in the folder. Collective. */
static gm_status check_folder(const gm_comm *comm, const char *folder)
{
    gm_status st = GM_OK;
    char *path = NULL;
    const bool speaks = comm->rank == 0;
    const double begin = gm_clock_seconds();
    struct stat info;
    if (stat(folder, &info) != 0)
        st = GM_FAIL(GM_E_IO, "cannot look at '%s': %s", folder, gm_posix_cause(errno));
    else if (!S_ISDIR(info.st_mode))
        st = GM_FAIL(GM_E_IO, "%s is no folder: name the one that results are to lie in", folder);
    else if (asprintf(&path, "%s/gridmarch-doctor", folder) < 0) {
        path = NULL;
        st = GM_FAIL(GM_E_MEMORY, "out of memory");
    }
    GM_TRY(st, gm_comm_agree(comm, st));
    const int64_t magic = gm_file_system_of(path);
    const char *concern = gm_file_system_concern(magic, gm_comm_spans_hosts(comm));
    if (speaks)
        printf("Folder    %s is on %s\n", folder,
               magic && gm_file_system_name(magic)[0] ? gm_file_system_name(magic)
                                                      : "a file system not known here");
    if (speaks && concern[0]) printf("          NOTE: %s\n", concern);
    GM_TRY(st, gm_selfcheck_run(comm->world, path));
    if (speaks)
        printf("          ok: %d rank%s wrote one file and read it back, %.1f ms\n", comm->n_rank,
               comm->n_rank == 1 ? "" : "s", 1e3 * (gm_clock_seconds() - begin));
cleanup:
    if (speaks) fflush(stdout);
    free(path);
    return st;
}

gm_status gm_command_doctor(const gm_comm *comm, const gm_options *options)
{
    if (!comm || comm->rank == 0) describe_machine();
    if (!comm) return GM_OK;
    return check_folder(comm, options->target);
}

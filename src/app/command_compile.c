/* gridmarch compile: the kernel of a sweep, made on a machine that has a compiler for one that has
 * none. */
#include "app/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/code.h"
#include "app/request.h"
#include "core/hash.h"
#include "kernels/backend.h"

/* "sm_90" asks for CUDA, anything else for the CPU; nothing: this machine's GPU, else its CPU. */
static gm_status choose(const gm_options *options, const gm_backend **backend,
                        char architecture[24])
{
    gm_status st = GM_OK;
    const char *reason = "";
    gm_device *device = NULL;
    gm_device_info info;
    const char *wish = options->architecture;
    if (wish) {
        *backend = strncmp(wish, "sm_", 3) == 0 ? &gm_backend_cuda : &gm_backend_cpu;
        snprintf(architecture, 24, "%s", wish);
        if (!(*backend)->compile)
            st = GM_FAIL(GM_E_DEVICE, "--arch %s: %s", wish, "this program was built without CUDA");
        return st;
    }
    const bool gpu = options->backend != GM_BACKEND_CPU && gm_backend_cuda.count(&reason) > 0;
    if (options->backend == GM_BACKEND_CUDA && !gpu)
        return GM_FAIL(GM_E_USAGE, "%s: say for which GPU to compile, e.g. --arch sm_90", reason);
    *backend = gpu ? &gm_backend_cuda : &gm_backend_cpu;
    GM_TRY(st, (*backend)->open(0, 1, &device));
    GM_TRY(st, (*backend)->describe(device, &info));
    snprintf(architecture, 24, "%s", info.architecture);
cleanup:
    if (device) (*backend)->close(&device);
    return st;
}

static gm_status compile(const gm_options *options, const gm_request *request)
{
    gm_status st = GM_OK;
    const gm_backend *backend = NULL;
    char architecture[24], key[GM_HASH_TEXT_SIZE];
    char *key_text = NULL, *path = NULL;
    gm_code code = {0};
    gm_hash hash = gm_hash_begin();
    GM_TRY(st, choose(options, &backend, architecture));
    GM_TRY(st, backend->compile_key(request->sweep, request->data, architecture, &key_text));
    GM_TRY(st, backend->compile(request->sweep, request->data, architecture, &code));
    gm_hash_add_text(&hash, key_text);
    gm_hash_format(hash, key);
    if (options->output)
        path = strdup(options->output);
    else
        GM_TRY(st, gm_code_default_path(options->target, architecture, &path));
    if (!path) st = GM_FAIL(GM_E_MEMORY, "out of memory");
    if (st == GM_OK) st = gm_code_write(path, key, &code);
    if (st == GM_OK)
        printf("%s: %s for %s, %s, %lld bytes\n", path, request->sweep->model->name, architecture,
               gm_precision_name(request->sweep->precision), (long long)code.n_byte);
cleanup:
    gm_code_clear(&code);
    free(path);
    free(key_text);
    return st;
}

gm_status gm_command_compile(const gm_comm *comm, const gm_options *options)
{
    gm_request request;
    gm_status st = gm_request_read(comm, options, &request);
    if (st != GM_OK) return st;
    if (comm->rank == 0) st = compile(options, &request);
    st = gm_comm_agree(comm, st);
    gm_request_clear(&request);
    return st;
}

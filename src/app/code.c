#include "app/code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/hash.h"
#include "io/cache.h"

enum { NOTE_SIZE = 256 };

static void hash_text(const char *text, char hash[GM_HASH_TEXT_SIZE])
{
    gm_hash h = gm_hash_begin();
    gm_hash_add_text(&h, text);
    gm_hash_format(h, hash);
}

/* The cache's key: what is compiled, and by which compiler. */
static void cache_key(const char *key_text, const char *compiler, char key[GM_HASH_TEXT_SIZE])
{
    gm_hash h = gm_hash_begin();
    gm_hash_add_text(&h, key_text);
    gm_hash_add_text(&h, compiler);
    gm_hash_format(h, key);
}

static void name_code(const gm_rank_device *device, const gm_request *request, const char *key,
                      gm_code *code)
{
    gm_engine_kind kind;
    device->backend->engine_kind(device->device, request->sweep, request->data, true, &kind);
    snprintf(code->identity, sizeof code->identity, "%.4s %.12s %s %.12s, compiled %.16s",
             device->backend->name, device->info.architecture,
             gm_precision_name(request->sweep->precision), kind.name, key);
}

/* A user's model has no other code; a built-in one has where no special code does better. */
static bool is_needed(const gm_request *request)
{
    return request->sweep->model->text != NULL;
}

static bool is_wanted(const gm_options *options, const gm_request *request,
                      const gm_rank_device *device)
{
    return is_needed(request) || (device->backend->specialises && !options->no_compile);
}

gm_status gm_code_is_expected(const gm_options *options, const gm_request *request,
                              const gm_rank_device *device, bool *expected)
{
    const char *compiler = "", *reason = "";
    char *beside = NULL;
    *expected = is_needed(request);
    if (*expected || !is_wanted(options, request, device)) return GM_OK;
    const gm_status st =
        gm_code_default_path(request->sweep->path, device->info.architecture, &beside);
    if (st == GM_OK)
        *expected = device->backend->compiler(&compiler, &reason) || access(beside, R_OK) == 0;
    free(beside);
    return st;
}

static gm_status compile(const gm_rank_device *device, const gm_request *request,
                         const gm_options *options, const char *key, gm_code *code, char *note)
{
    gm_status st =
        device->backend->compile(request->sweep, request->data, device->info.architecture, code);
    if (st != GM_OK) return st;
    if (!options->no_cache) gm_cache_write(key, code->data, code->n_byte);
    snprintf(note, NOTE_SIZE, "compiled %s for this sweep", request->sweep->model->name);
    return GM_OK;
}

/* Rank 0, when code is wanted and no file was named. */
static gm_status find_or_compile(const gm_options *options, const gm_request *request,
                                 const gm_rank_device *device, const char *key_text, gm_code *code,
                                 char *note)
{
    gm_status st = GM_OK;
    const char *compiler = "", *reason = "";
    char key[GM_HASH_TEXT_SIZE], plain_key[GM_HASH_TEXT_SIZE];
    char *beside = NULL;
    const bool can_compile = device->backend->compiler(&compiler, &reason);
    cache_key(key_text, compiler, key);
    hash_text(key_text, plain_key);
    if (can_compile && !options->no_cache && gm_cache_read(key, &code->data, &code->n_byte))
        goto cleanup;
    if (can_compile) {
        GM_TRY(st, compile(device, request, options, key, code, note));
        goto cleanup;
    }
    GM_TRY(st, gm_code_default_path(request->sweep->path, device->info.architecture, &beside));
    if (access(beside, R_OK) == 0) {
        GM_TRY(st, gm_code_read(beside, plain_key, code));
        snprintf(note, NOTE_SIZE, "using the kernel in %.200s", beside);
    } else if (is_needed(request)) {
        st = GM_FAIL(GM_E_DEVICE,
                     "%s must be compiled, and here it cannot be: %s. Load what is missing, or run "
                     "`gridmarch compile %s --arch %s` on a machine that has it and put the file "
                     "beside the sweep file",
                     request->sweep->model->path, reason, request->sweep->path,
                     device->info.architecture);
    }
cleanup:
    free(beside);
    return st;
}

/* Rank 0. */
static gm_status choose(const gm_options *options, const gm_request *request,
                        const gm_rank_device *device, gm_code *code, char *note)
{
    gm_status st = GM_OK;
    char *key_text = NULL;
    char key[GM_HASH_TEXT_SIZE];
    if (!is_wanted(options, request, device) && !options->kernel) return GM_OK;
    GM_TRY(st, device->backend->compile_key(request->sweep, request->data,
                                            device->info.architecture, &key_text));
    hash_text(key_text, key);
    if (options->kernel)
        GM_TRY(st, gm_code_read(options->kernel, key, code));
    else
        GM_TRY(st, find_or_compile(options, request, device, key_text, code, note));
    if (code->data) name_code(device, request, key, code);
cleanup:
    free(key_text);
    return st;
}

gm_status gm_run_code(const gm_comm *comm, const gm_options *options, const gm_request *request,
                      const gm_rank_device *device, gm_code *code, char note[256])
{
    gm_status st = GM_OK;
    memset(code, 0, sizeof *code);
    note[0] = '\0';
    if (comm->rank == 0) st = choose(options, request, device, code, note);
    GM_TRY(st, gm_comm_agree(comm, st));
    GM_TRY(st, gm_comm_send_block(comm, &code->data, &code->n_byte));
    GM_TRY(st, gm_comm_send(comm, code->identity, sizeof code->identity));
cleanup:
    if (st != GM_OK) gm_code_clear(code);
    return st;
}

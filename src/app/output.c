#include "app/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/retry.h"
#include "core/hash.h"
#include "io/checkpoint_file.h"

enum { MAX_SHOWN = 8, SPARE_BYTES = 1 << 20 };

/* --- comparing a file's sweep with the one asked for
 * ----------------------------------------------- */

static size_t line_length(const char *line)
{
    return strcspn(line, "\n");
}

/* The line of text with the same "key:" as line, or NULL. */
static const char *same_key(const char *text, const char *line)
{
    size_t key = strcspn(line, ":\n");
    for (; *text; text += line_length(text) + (text[line_length(text)] != '\0'))
        if (strncmp(text, line, key) == 0 && text[key] == ':') return text;
    return NULL;
}

static const char *value_of(const char *line)
{
    const char *value = line + strcspn(line, ":\n");
    while (*value == ':' || *value == ' ') value++;
    return value;
}

/* Length of a value without the hash that ends it, which tells a person nothing. */
static int visible_length(const char *value)
{
    static const char mark[] = ", hash ";
    const int length = (int)line_length(value);
    const int hash = (int)sizeof mark - 1 + GM_HASH_TEXT_SIZE - 1;
    const bool has = length > hash && strncmp(value + length - hash, mark, sizeof mark - 1) == 0;
    return has ? length - hash : length;
}

/* Two values that differ, or one that is missing (NULL). */
static void add(char *text, size_t size, const char *key, const char *in_file, const char *in_sweep)
{
    const char *file = in_file ? in_file : "(nothing)";
    const char *sweep = in_sweep ? in_sweep : "(nothing)";
    int n_file = visible_length(file);
    int n_sweep = visible_length(sweep);
    const bool look_alike = n_file == n_sweep && strncmp(file, sweep, (size_t)n_file) == 0;
    const size_t used = strlen(text);
    const int n_key = (int)strcspn(key, ":\n");
    if (look_alike && strncmp(key, "axes.", 5) != 0) {
        snprintf(text + used, size - used, "\n  %.*s: other %s in the file", n_key, key,
                 strncmp(key, "network.labels:", 15) == 0 ? "labels" : "numbers");
        return;
    }
    if (look_alike) {
        n_file = (int)line_length(file);
        n_sweep = (int)line_length(sweep);
    }
    snprintf(text + used, size - used, "\n  %.*s: the file has %.*s, the sweep asks for %.*s",
             n_key, key, n_file, file, n_sweep, sweep);
}

static gm_status compare(const char *path, const char *of_file, const char *of_sweep)
{
    char changes[3000] = "";
    int n = 0;
    if (strcmp(of_file, of_sweep) == 0) return GM_OK;
    for (const char *line = of_sweep; *line;
         line += line_length(line) + (line[line_length(line)] != 0)) {
        const char *old = same_key(of_file, line);
        size_t length = line_length(line);
        if (old && line_length(old) == length && strncmp(old, line, length) == 0) continue;
        if (n++ < MAX_SHOWN)
            add(changes, sizeof changes, line, old ? value_of(old) : NULL, value_of(line));
    }
    for (const char *line = of_file; *line;
         line += line_length(line) + (line[line_length(line)] != 0))
        if (!same_key(of_sweep, line) && n++ < MAX_SHOWN)
            add(changes, sizeof changes, line, value_of(line), NULL);
    return GM_FAIL(
        GM_E_RESULT,
        "%s holds another sweep; %d setting%s changed:%s%s\nGive another output file, or "
        "--overwrite to replace this one",
        path, n, n == 1 ? "" : "s", changes, n > MAX_SHOWN ? "\n  ..." : "");
}

/* --- looking -------------------------------------------------------------------------------------
 */

int64_t gm_output_count(const gm_store_header *header, gm_point_status status)
{
    int64_t n = 0;
    for (int64_t i = 0; i < header->n_point; i++) n += header->status[i] == status;
    return n;
}

static gm_status examine_existing(const gm_request *request, const gm_options *options,
                                  gm_output_state *state, gm_store_header **header)
{
    gm_status st = GM_OK;
    gm_store_header *h = NULL;
    GM_TRY(st, gm_store_inspect(request->path, NULL, &h)); /* refuses what is not ours */
    if (options->overwrite) {
        *state = GM_OUTPUT_NEW;
        goto cleanup;
    }
    GM_TRY(st, compare(request->path, h->canonical, request->canonical));
    gm_store_header_destroy(&h);
    GM_TRY(st, gm_store_inspect(request->path, request->layout, &h));
    gm_retry_failed(options, h->n_point, h->status);
    *state = gm_output_count(h, GM_POINT_PENDING) > 0 || options->retry_damaged
                 ? GM_OUTPUT_RESUME
                 : GM_OUTPUT_COMPLETE;
    *header = h, h = NULL;
cleanup:
    gm_store_header_destroy(&h);
    return st;
}

/* Is it a file that the sweep is read from? */
static bool is_input(const gm_sweep *sweep, const char *path)
{
    struct stat output, input;
    const char *const source[] = {sweep->path, sweep->network.weights.path,
                                  sweep->network.labels.path};
    const int n_source = (int)(sizeof source / sizeof *source);
    const int n_knob = gm_model_n_knob(sweep->model);
    if (stat(path, &output) != 0) return false;
    for (int i = 0; i < n_source + n_knob + sweep->model->n_input; i++) {
        const char *name = i < n_source ? source[i]
                           : i < n_source + n_knob
                               ? sweep->node_file[i - n_source].path
                               : sweep->input[i - n_source - n_knob].source.path;
        if (name && stat(name, &input) == 0 && input.st_dev == output.st_dev &&
            input.st_ino == output.st_ino)
            return true;
    }
    return false;
}

/* A new result replaces the file at its path and, while it is made, FILE.partial. */
static gm_status refuse_inputs(const gm_request *request)
{
    char *partial = NULL;
    if (asprintf(&partial, "%s.partial", request->path) < 0)
        return GM_FAIL(GM_E_MEMORY, "out of memory");
    gm_status st = GM_OK;
    if (is_input(request->sweep, request->path))
        st = GM_FAIL(GM_E_RESULT, "%s is an input of this sweep: give another output file",
                     request->path);
    else if (is_input(request->sweep, partial))
        st = GM_FAIL(GM_E_RESULT,
                     "%s is an input of this sweep, and the place where %s is made: give another "
                     "output file",
                     partial, request->path);
    free(partial);
    return st;
}

/* A lock goes by the file's name: under another name a second run could write the same file. */
static gm_status refuse_links(const char *path, const struct stat *info)
{
    if (info->st_nlink < 2) return GM_OK;
    return GM_FAIL(GM_E_RESULT,
                   "%s is one of %llu names (hard links) of the same file, which another run could "
                   "be writing under another name: remove the other names, or resume a copy",
                   path, (unsigned long long)info->st_nlink);
}

gm_status gm_output_examine(const gm_request *request, const gm_options *options,
                            gm_output_state *state, gm_store_header **header)
{
    struct stat info;
    int64_t free_bytes = 0;
    bool saved = false;
    *header = NULL;
    if (!request->path || !*request->path)
        return GM_FAIL(
            GM_E_USAGE,
            "no result file is named: give -o FILE, or `output: FILE` in the sweep file");
    gm_status st = refuse_inputs(request);
    if (st == GM_OK) st = gm_checkpoint_file_look(request->path, &saved);
    if (st != GM_OK) return st;
    if (stat(request->path, &info) == 0) {
        if (!S_ISREG(info.st_mode))
            return GM_FAIL(GM_E_RESULT, "%s is not a regular file", request->path);
        st = examine_existing(request, options, state, header);
        if (st == GM_OK && *state == GM_OUTPUT_RESUME) st = refuse_links(request->path, &info);
        if (st != GM_OK || *state != GM_OUTPUT_NEW) return st;
    } else if (errno != ENOENT) {
        return GM_FAIL(GM_E_IO, "%s: %s", request->path, strerror(errno));
    }
    *state = GM_OUTPUT_NEW;
    st = gm_store_free_space(request->path, &free_bytes);
    if (st != GM_OK) return st;
    if (request->layout->n_byte > free_bytes - SPARE_BYTES)
        return GM_FAIL(GM_E_IO,
                       "%s: the result needs %.3f GiB and %.3f GiB are free there; record less, or "
                       "choose another folder",
                       request->path, (double)request->layout->n_byte / 1073741824.0,
                       (double)free_bytes / 1073741824.0);
    return GM_OK;
}

/* --- opening -------------------------------------------------------------------------------------
 */

static gm_status check_kernel(const gm_request *request, const gm_options *options,
                              const gm_store_header *header, const char *kernel)
{
    if (strcmp(header->kernel, kernel) == 0 || options->allow_mixed) return GM_OK;
    return GM_FAIL(GM_E_RESULT,
                   "%s was computed by\n  %s\nand this run would use\n  %s\nThe last digits could "
                   "differ within one file: use the same device and program, or allow it with "
                   "--allow-mixed",
                   request->path, header->kernel, kernel);
}

/* Rank 0: what is at the path now, and may the run go on with it? */
static gm_status look(const gm_request *request, const gm_options *options, const char *kernel,
                      gm_output *output)
{
    gm_status st = GM_OK;
    gm_store_header **header = &output->header;
    GM_TRY(st, gm_output_examine(request, options, &output->state, header));
    if (output->state == GM_OUTPUT_NEW) goto cleanup;
    GM_TRY(st, check_kernel(request, options, *header, kernel));
    GM_TRY(st, gm_retry_choose(options, request->path, (*header)->n_point, (*header)->status));
    if (gm_output_count(*header, GM_POINT_PENDING) == 0) output->state = GM_OUTPUT_COMPLETE;
cleanup:
    return st;
}

gm_status gm_output_begin(const gm_comm *comm, const gm_request *request, const gm_options *options,
                          const char *kernel, gm_output *output)
{
    gm_status st = GM_OK;
    memset(output, 0, sizeof *output);
    if (comm->rank == 0) st = look(request, options, kernel, output);
    int state = (int)output->state;
    GM_TRY(st, gm_comm_agree(comm, st));
    GM_TRY(st, gm_comm_send(comm, &state, sizeof state));
    output->state = (gm_output_state)state;
    if (output->state == GM_OUTPUT_NEW)
        GM_TRY(st, gm_create_begin(comm, request, kernel, options->overwrite, &output->create));
cleanup:
    return st;
}

/* Rank 0: the header of the file that is there now, and what the file lacks. */
static gm_status take_header(const gm_request *request, gm_output *output, int64_t **offset,
                             int64_t *run_offset)
{
    gm_status st = GM_OK;
    if (!output->header)
        GM_TRY(st, gm_store_inspect(request->path, request->layout, &output->header));
    gm_store_header *h = output->header;
    *offset = h->offset, h->offset = NULL;
    *run_offset = h->run_offset;
    output->n_done = gm_output_count(h, GM_POINT_DONE);
    output->run = h->n_run < GM_STORE_RUN_SLOTS ? h->n_run : GM_STORE_RUN_SLOTS - 1;
    st = gm_missing_find(h->status, h->n_point, &output->missing);
cleanup:
    return st;
}

gm_status gm_output_open(const gm_comm *comm, const gm_request *request, const gm_options *options,
                         const char *run, gm_output *output)
{
    gm_status st = GM_OK;
    int64_t *offset = NULL;
    int64_t n_offset = request->layout->n_variable * (int64_t)sizeof *offset, run_offset = 0;
    if (output->state == GM_OUTPUT_NEW) GM_TRY(st, gm_create_end(comm, &output->create));
    if (comm->rank == 0) st = take_header(request, output, &offset, &run_offset);
    GM_TRY(st, gm_comm_agree(comm, st));
    GM_TRY(st, gm_comm_send(comm, &run_offset, sizeof run_offset));
    GM_TRY(st, gm_comm_send(comm, &output->run, sizeof output->run));
    GM_TRY(st, gm_comm_send_block(comm, (void **)&offset, &n_offset));
    GM_TRY(st, gm_comm_send(comm, &output->n_done, sizeof output->n_done));
    GM_TRY(st, gm_missing_send(comm, &output->missing));
    if (output->state == GM_OUTPUT_COMPLETE) goto cleanup;
    GM_TRY(st, gm_store_open(comm->world, request->path, request->layout, offset, run_offset,
                             &output->store));
    if (output->header) /* rank 0 */
        st = gm_retry_mark(options, output->store, request->layout, output->header->status);
    if (comm->rank == 0 && st == GM_OK) st = gm_store_write_run(output->store, output->run, run);
    GM_TRY(st, gm_comm_agree(comm, st));
cleanup:
    free(offset);
    return st;
}

gm_status gm_output_close(gm_output *output)
{
    gm_status st = gm_store_close(&output->store);
    gm_create_abandon(&output->create);
    gm_store_header_destroy(&output->header);
    gm_missing_clear(&output->missing);
    return st;
}

#include "app/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/plain_file.h"
#include "io/reader.h"
#include "kernels/backend.h"

enum { MAX_SWEEP_BYTES = 16 << 20, MAX_MODEL_BYTES = 1 << 20, MAX_LINKS = 16 };

static gm_status read_text(const char *path, size_t most, char **text, int64_t *n_byte)
{
    gm_status st = GM_OK;
    FILE *file = NULL;
    char *all = NULL;
    const char *fault = gm_plain_stream(path, &file);
    if (fault) return GM_FAIL(GM_E_INPUT, "%s: %s", path, fault);
    all = malloc(most + 1);
    if (!all) {
        st = GM_FAIL(GM_E_MEMORY, "out of memory");
        goto cleanup;
    }
    size_t n = fread(all, 1, most + 1, file);
    if (ferror(file)) {
        st = GM_FAIL(GM_E_INPUT, "%s: %s", path, strerror(errno ? errno : EIO));
        goto cleanup;
    }
    if (n > most) {
        st = GM_FAIL(GM_E_INPUT, "%s: larger than %zu MiB, so it is not the file meant", path,
                     most >> 20);
        goto cleanup;
    }
    all[n] = '\0';
    *n_byte = (int64_t)n + 1;
    *text = all, all = NULL;
cleanup:
    free(all);
    fclose(file);
    return st;
}

/* Opens the header of a user's model for the sweep parser: rank 0 reads the file, the others have
 * its text already. */
typedef struct opener {
    char *text; /* owned; NULL: the file is to be read */
    int64_t n_byte;
    gm_model *model; /* owned */
} opener;

static gm_status open_model(void *context, gm_place place, const char *path, gm_problems *problems,
                            const gm_model_info **out)
{
    gm_status st = GM_OK;
    opener *o = context;
    if (!o->text) {
        st = read_text(path, MAX_MODEL_BYTES, &o->text, &o->n_byte);
        if (st == GM_E_INPUT) gm_problems_add(problems, place, "%s", gm_status_message());
        if (st != GM_OK) return st;
    }
    st = gm_model_read(path, o->text, problems, &o->model);
    if (st == GM_OK) *out = &o->model->info;
    return st;
}

static bool has_file(const char *path)
{
    return access(path, R_OK) == 0;
}

/* The text of the sweep file, which is no header of a model. */
static gm_status read_sweep(const char *path, char **text, int64_t *n_byte)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const size_t n = strlen(name);
    if (n > 2 && strcmp(name + n - 2, ".h") == 0)
        return GM_FAIL(GM_E_USAGE,
                       "%s is a model's header; a sweep file (YAML) names it: model: ./%s", path,
                       name);
    return read_text(path, MAX_SWEEP_BYTES, text, n_byte);
}

/* Every rank parses the same texts: a sweep holds pointers, a text travels. */
static gm_status share_sweep(const gm_comm *comm, const gm_options *options, gm_problems *problems,
                             gm_request *request)
{
    gm_status st = GM_OK;
    char *text = NULL;
    int64_t n_byte = 0;
    opener model = {0};
    gm_model_catalog catalog = gm_builtin_models;
    catalog.open = open_model;
    catalog.has_file = has_file;
    catalog.context = &model;
    if (comm->rank == 0) {
        st = read_sweep(options->target, &text, &n_byte);
        if (st == GM_OK)
            st = gm_sweep_parse(options->target, text, n_byte - 1, options->override,
                                options->n_override, &catalog, problems, &request->sweep);
    }
    GM_TRY(st, gm_comm_agree(comm, st));
    GM_TRY(st, gm_comm_send_block(comm, (void **)&text, &n_byte));
    GM_TRY(st, gm_comm_send_block(comm, (void **)&model.text, &model.n_byte));
    if (comm->rank != 0)
        st = gm_sweep_parse(options->target, text, n_byte - 1, options->override,
                            options->n_override, &catalog, problems, &request->sweep);
    GM_TRY(st, gm_comm_agree(comm, st));
    request->sweep->engine = options->engine;
    request->model = model.model, model.model = NULL;
cleanup:
    if (st != GM_OK) gm_sweep_destroy(&request->sweep);
    gm_model_destroy(&model.model);
    free(model.text);
    free(text);
    return st;
}

static gm_status send_array(const gm_comm *comm, double **array, int64_t n)
{
    int64_t n_byte = n * (int64_t)sizeof **array;
    return gm_comm_send_block(comm, (void **)array, &n_byte);
}

static gm_status send_labels(const gm_comm *comm, gm_data *data)
{
    gm_status st = GM_OK;
    char has = data->label != NULL;
    GM_TRY(st, gm_comm_send(comm, &has, 1));
    if (!has || comm->n_rank == 1) goto cleanup;
    if (!data->label) data->label = calloc((size_t)data->n_node, sizeof *data->label);
    GM_TRY(st, gm_comm_agree(comm, data->label ? GM_OK : GM_FAIL(GM_E_MEMORY, "out of memory")));
    for (int64_t i = 0; i < data->n_node; i++) {
        int64_t n_byte = data->label[i] ? (int64_t)strlen(data->label[i]) + 1 : 0;
        GM_TRY(st, gm_comm_send_block(comm, (void **)&data->label[i], &n_byte));
    }
cleanup:
    return st;
}

static gm_status share_data(const gm_comm *comm, gm_problems *problems, gm_request *request)
{
    gm_status st = GM_OK;
    const gm_sweep *sweep = request->sweep;
    if (comm->rank == 0)
        st = gm_read_data(sweep, problems, &request->data);
    else
        st = gm_data_create(sweep, &request->data);
    GM_TRY(st, gm_comm_agree(comm, st));
    gm_data *data = request->data;
    GM_TRY(st, gm_comm_send(comm, &data->n_node, sizeof data->n_node));
    GM_TRY(st, send_array(comm, &data->weight, data->n_node * data->n_node));
    GM_TRY(st, send_labels(comm, data));
    for (int k = 0; k < gm_model_n_knob(sweep->model); k++)
        GM_TRY(st, send_array(comm, &data->node_value[k], data->n_node));
    for (int i = 0; i < sweep->model->n_input; i++) {
        gm_signal *signal = &data->signal[i];
        GM_TRY(st, gm_comm_send(comm, &signal->n_sample, sizeof signal->n_sample));
        GM_TRY(st, gm_comm_send(comm, &signal->n_column, sizeof signal->n_column));
        GM_TRY(st, send_array(comm, &signal->sample, signal->n_sample * signal->n_column));
    }
cleanup:
    return st;
}

/* Where a link at the path leads, also if nothing is there yet: the result belongs there, and the
 * link stays. In memory of the caller. */
static char *follow_links(const char *path)
{
    char target[4096];
    char *now = strdup(path);
    for (int i = 0; now && i < MAX_LINKS; i++) {
        const ssize_t n = readlink(now, target, sizeof target - 1);
        const char *slash = strrchr(now, '/');
        char *next = NULL;
        if (n <= 0) break;
        target[n] = '\0';
        if (target[0] == '/' || !slash)
            next = strdup(target);
        else if (asprintf(&next, "%.*s/%s", (int)(slash - now), now, target) < 0)
            next = NULL;
        free(now);
        now = next;
    }
    return now;
}

gm_status gm_request_read(const gm_comm *comm, const gm_options *options, gm_request *request)
{
    gm_status st = GM_OK;
    gm_problems *problems = NULL;
    memset(request, 0, sizeof *request);
    st = gm_problems_create(&problems);
    GM_TRY(st, gm_comm_agree(comm, st));
    GM_TRY(st, share_sweep(comm, options, problems, request));
    GM_TRY(st, share_data(comm, problems, request));
    st = gm_layout_create(request->sweep, request->data, &request->layout);
    GM_TRY(st, gm_comm_agree(comm, st));
    st = gm_sweep_canonical(request->sweep, request->data, &request->canonical);
    GM_TRY(st, gm_comm_agree(comm, st));
    const char *path = options->output ? options->output : request->sweep->output.path;
    if (path) {
        request->path = follow_links(path);
        st = request->path ? GM_OK : GM_FAIL(GM_E_MEMORY, "out of memory");
    }
    GM_TRY(st, gm_comm_agree(comm, st));
cleanup:
    gm_problems_destroy(&problems);
    if (st != GM_OK) gm_request_clear(request);
    return st;
}

void gm_request_clear(gm_request *request)
{
    gm_layout_destroy(&request->layout);
    if (request->sweep) gm_data_destroy(&request->data, request->sweep);
    gm_sweep_destroy(&request->sweep);
    gm_model_destroy(&request->model);
    free(request->canonical);
    free(request->path);
    memset(request, 0, sizeof *request);
}

/* Reading back a result file's header. Raw values are read at the offsets that a resumed run will
 * write to. */
#include "store.h"

#include <stdlib.h>
#include <string.h>

#include "probe.h"
#include "store_find.h"
#include "store_h5.h"

static gm_status read_texts(const gm_inspection *in, gm_store_header *header)
{
    gm_status st = GM_OK;
    GM_TRY(st, gm_find_text(in, in->group, GM_PROVENANCE_KERNEL, &header->kernel));
    GM_TRY(st, gm_find_text(in, in->group, GM_PROVENANCE_CANONICAL, &header->canonical));
    if (H5Aexists(in->group, GM_PROVENANCE_SWEEP) > 0) {
        GM_TRY(st, gm_find_text(in, in->group, GM_PROVENANCE_SWEEP, &header->sweep_text));
    } else if ((header->sweep_text = strdup("")) == NULL) {
        st = GM_FAIL(GM_E_MEMORY, "not enough memory to read '%s'", in->path);
    }
cleanup:
    return st;
}

static gm_status read_status(const gm_inspection *in, gm_store_header *header)
{
    gm_status st = GM_OK;
    gm_found status;
    GM_TRY(st, gm_find_dataset(in, in->file, "status", gm_h5_type(GM_TYPE_U8), &status));
    header->n_point = status.n_element;
    header->status = malloc((size_t)status.n_element);
    if (header->status == NULL) {
        st = GM_FAIL(GM_E_MEMORY, "not enough memory to read '%s'", in->path);
        goto cleanup;
    }
    GM_TRY(st, gm_find_status(in, status.offset, status.n_element, header->status));
cleanup:
    return st;
}

/* Slots up to the last one in use; an empty one before it counts as the text "". */
static gm_status read_runs(const gm_inspection *in, gm_store_header *header)
{
    gm_status st = GM_OK;
    gm_found run;
    const int64_t n_byte = (int64_t)GM_STORE_RUN_SLOTS * GM_STORE_RUN_BYTES;
    char *slots = malloc((size_t)n_byte);
    if (slots == NULL) {
        st = GM_FAIL(GM_E_MEMORY, "not enough memory to read '%s'", in->path);
        goto cleanup;
    }
    GM_TRY(st, gm_find_dataset(in, in->group, GM_STORE_RUN, H5T_C_S1, &run));
    if (run.rank != 2 || run.extent[0] != GM_STORE_RUN_SLOTS ||
        run.extent[1] != GM_STORE_RUN_BYTES) {
        st = GM_FAIL(GM_E_RESULT, "'%s': '%s/%s' has another shape than expected", in->path,
                     GM_STORE_GROUP, GM_STORE_RUN);
        goto cleanup;
    }
    header->run_offset = run.offset;
    GM_TRY(st, gm_find_read(in, run.offset, n_byte, slots));
    for (int i = 0; i < GM_STORE_RUN_SLOTS; i++)
        if (slots[(size_t)i * GM_STORE_RUN_BYTES] != '\0') header->n_run = i + 1;
    for (int i = 0; i < header->n_run; i++) {
        header->run[i] = strndup(slots + (size_t)i * GM_STORE_RUN_BYTES, GM_STORE_RUN_BYTES);
        if (header->run[i] != NULL) {
            gm_find_make_plain(header->run[i]);
            continue;
        }
        st = GM_FAIL(GM_E_MEMORY, "not enough memory to read '%s'", in->path);
        goto cleanup;
    }
cleanup:
    free(slots);
    return st;
}

static gm_status match_variable(const gm_inspection *in, const gm_layout *layout, int index,
                                int64_t *offset)
{
    gm_status st = GM_OK;
    const gm_variable *v = &layout->variable[index];
    int dim[GM_H5_MAX_RANK];
    const int rank = gm_h5_dimensions(layout, v, dim);
    gm_found got;
    GM_TRY(st, gm_find_dataset(in, in->file, v->name, gm_h5_type(v->type), &got));
    if (got.rank != rank) {
        st = GM_FAIL(GM_E_RESULT, "'%s': variable '%s' has %d dimensions, the sweep asks for %d",
                     in->path, v->name, got.rank, rank);
        goto cleanup;
    }
    for (int i = 0; i < rank; i++) {
        const gm_coordinate *c = &layout->coordinate[dim[i]];
        if (got.extent[i] == (hsize_t)c->n) continue;
        st =
            GM_FAIL(GM_E_RESULT,
                    "'%s': dimension '%s' of variable '%s' has length %llu, the sweep asks for "
                    "%lld",
                    in->path, c->name, v->name, (unsigned long long)got.extent[i], (long long)c->n);
        goto cleanup;
    }
    *offset = got.offset;
cleanup:
    return st;
}

static gm_status match_layout(const gm_inspection *in, const gm_layout *layout,
                              gm_store_header *header)
{
    gm_status st = GM_OK;
    if (layout == NULL) return GM_OK;
    header->offset = calloc((size_t)layout->n_variable, sizeof *header->offset);
    if (header->offset == NULL)
        return GM_FAIL(GM_E_MEMORY, "not enough memory to read '%s'", in->path);
    header->n_variable = layout->n_variable;
    for (int i = 0; i < layout->n_variable; i++) {
        header->offset[i] = -1;
        if (i == layout->checksum && !gm_find_has(in, layout->variable[i].name)) continue;
        GM_TRY(st, match_variable(in, layout, i, &header->offset[i]));
    }
cleanup:
    return st;
}

gm_status gm_store_inspect(const char *path, const gm_layout *layout, gm_store_header **out)
{
    gm_status st = GM_OK;
    gm_h5_quiet quiet;
    gm_inspection in = {.path = path, .fd = -1, .file = H5I_INVALID_HID, .group = H5I_INVALID_HID};
    gm_store_header *header = calloc(1, sizeof *header);
    *out = NULL;
    gm_h5_quiet_begin(&quiet);
    if (header == NULL) {
        st = GM_FAIL(GM_E_MEMORY, "not enough memory to read '%s'", path);
        goto cleanup;
    }
    GM_TRY(st, gm_probe_result(path));
    GM_TRY(st, gm_find_open(path, &in));
    GM_TRY(st, read_texts(&in, header));
    GM_TRY(st, match_layout(&in, layout, header));
    GM_TRY(st, read_status(&in, header));
    GM_TRY(st, read_runs(&in, header));
    *out = header, header = NULL;
cleanup:
    gm_store_header_destroy(&header);
    gm_find_close(&in);
    gm_h5_quiet_end(&quiet);
    return st;
}

void gm_store_header_destroy(gm_store_header **header)
{
    gm_store_header *h = *header;
    if (h == NULL) return;
    for (int i = 0; i < GM_STORE_RUN_SLOTS; i++) free(h->run[i]);
    free(h->offset);
    free(h->status);
    free(h->canonical);
    free(h->kernel);
    free(h->sweep_text);
    free(h);
    *header = NULL;
}

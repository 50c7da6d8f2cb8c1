/* Comparing the data of finished points with their checksums, from the file alone: the attribute
 * `covers` names the variables. */
#include "store.h"

#include <stdlib.h>
#include <string.h>

#include "checksum.h"
#include "probe.h"
#include "store_coordinates.h"
#include "store_find.h"

enum { PIECE_BYTES = 16 << 20, NAME_BYTES = 1024 };

typedef struct work {
    gm_inspection in;
    gm_store_check *check;
    uint8_t *status; /* owned [n_point] */
    uint32_t *sum;   /* owned [n_point] */
    int64_t *stored; /* owned [n_point] */
    bool has_checksums;
    char *piece;  /* owned [PIECE_BYTES] */
    char *covers; /* owned */
} work;

static bool is_finished(const work *w, int64_t point)
{
    return w->status[point] == GM_POINT_DONE || w->status[point] == GM_POINT_DIVERGED;
}

/* A row too long for one piece. */
static gm_status add_long_row(work *w, int64_t point, int64_t offset, int64_t row)
{
    gm_status st = GM_OK;
    for (int64_t done = 0; done < row; done += PIECE_BYTES) {
        const int64_t n = row - done < PIECE_BYTES ? row - done : PIECE_BYTES;
        GM_TRY(st, gm_find_read(&w->in, offset + done, n, w->piece));
        w->sum[point] = gm_checksum_add(w->sum[point], w->piece, n);
    }
cleanup:
    return st;
}

static gm_status add_variable(work *w, const char *name)
{
    gm_status st = GM_OK;
    gm_found found;
    const int64_t n_point = w->check->n_point;
    GM_TRY(st, gm_find_dataset(&w->in, w->in.file, name, H5I_INVALID_HID, &found));
    if (found.n_element % n_point != 0) {
        st = GM_FAIL(GM_E_RESULT, "'%s': variable '%s' does not belong to the points", w->in.path,
                     name);
        goto cleanup;
    }
    if (w->in.is_trial) goto cleanup;
    const int64_t row = found.n_element / n_point * found.size;
    const int64_t n_fit = PIECE_BYTES / row;
    for (int64_t p = 0, n = 0; p < n_point; p += n) {
        n = 1;
        if (!is_finished(w, p)) continue;
        if (n_fit == 0) {
            GM_TRY(st, add_long_row(w, p, found.offset + p * row, row));
            continue;
        }
        while (n < n_fit && p + n < n_point && is_finished(w, p + n)) n++;
        GM_TRY(st, gm_find_read(&w->in, found.offset + p * row, n * row, w->piece));
        for (int64_t k = 0; k < n; k++)
            w->sum[p + k] = gm_checksum_add(w->sum[p + k], w->piece + k * row, row);
    }
cleanup:
    return st;
}

static gm_status read_covers(work *w)
{
    hid_t dataset = H5Dopen2(w->in.file, GM_STORE_CHECKSUM, H5P_DEFAULT);
    gm_status st =
        gm_h5_check(dataset, GM_E_RESULT, w->in.path, "open variable", GM_STORE_CHECKSUM);
    if (st == GM_OK) st = gm_find_text(&w->in, dataset, GM_STORE_COVERS, &w->covers);
    gm_h5_release(&dataset);
    return st;
}

static gm_status read_points(work *w)
{
    gm_status st = GM_OK;
    gm_found status;
    gm_store_check *c = w->check;
    GM_TRY(st, gm_find_dataset(&w->in, w->in.file, "status", gm_h5_type(GM_TYPE_U8), &status));
    c->n_point = status.n_element;
    c->n_dim = status.rank;
    for (int i = 0; i < status.rank; i++) c->extent[i] = (int64_t)status.extent[i];
    const size_t n = (size_t)c->n_point;
    w->status = malloc(n);
    w->sum = calloc(n, sizeof *w->sum);
    w->stored = malloc(n * sizeof *w->stored);
    w->piece = malloc(PIECE_BYTES);
    c->damaged = calloc(n, sizeof *c->damaged);
    if (!w->status || !w->sum || !w->stored || !w->piece || !c->damaged) {
        st = GM_FAIL(GM_E_MEMORY, "not enough memory to verify '%s'", w->in.path);
        goto cleanup;
    }
    GM_TRY(st, gm_find_status(&w->in, status.offset, c->n_point, w->status));
cleanup:
    return st;
}

static gm_status read_checksums(work *w)
{
    gm_status st = GM_OK;
    gm_found found;
    const int64_t n_point = w->check->n_point;
    for (int64_t i = 0; i < n_point; i++) w->stored[i] = -1;
    w->has_checksums = gm_find_has(&w->in, GM_STORE_CHECKSUM);
    if (!w->has_checksums) return GM_OK;
    GM_TRY(st,
           gm_find_dataset(&w->in, w->in.file, GM_STORE_CHECKSUM, gm_h5_type(GM_TYPE_I64), &found));
    if (found.n_element != n_point) {
        st = GM_FAIL(GM_E_RESULT, "'%s': there are %lld checksums for %lld points", w->in.path,
                     (long long)found.n_element, (long long)n_point);
        goto cleanup;
    }
    GM_TRY(st, gm_find_read(&w->in, found.offset, n_point * 8, w->stored));
    GM_TRY(st, read_covers(w));
    for (char *rest = NULL, *name = strtok_r(w->covers, " ", &rest); name;
         name = strtok_r(NULL, " ", &rest))
        GM_TRY(st, add_variable(w, name));
cleanup:
    return st;
}

static void compare(work *w)
{
    gm_store_check *c = w->check;
    for (int64_t i = 0; i < c->n_point; i++) {
        if (!is_finished(w, i)) continue;
        c->damaged[i] = w->has_checksums && w->stored[i] != (int64_t)w->sum[i];
        c->n_checked += w->has_checksums;
        c->n_without += !w->has_checksums;
        c->n_damaged += c->damaged[i];
    }
}

static gm_status verify(const char *path, bool is_trial, gm_store_check *out)
{
    gm_status st = GM_OK;
    gm_h5_quiet quiet;
    work w = {.in.fd = -1, .in.file = H5I_INVALID_HID, .in.group = H5I_INVALID_HID, .check = out};
    memset(out, 0, sizeof *out);
    gm_h5_quiet_begin(&quiet);
    GM_TRY(st, gm_find_open(path, &w.in));
    w.in.is_trial = is_trial;
    GM_TRY(st, read_points(&w));
    GM_TRY(st, read_checksums(&w));
    GM_TRY(st, gm_coordinates_check(&w.in, &out->has_coordinates, &out->changed));
    out->lost_checksums = out->has_coordinates && !w.has_checksums;
    compare(&w);
cleanup:
    gm_find_close(&w.in);
    free(w.status);
    free(w.sum);
    free(w.stored);
    free(w.piece);
    free(w.covers);
    if (st != GM_OK) gm_store_check_clear(out);
    gm_h5_quiet_end(&quiet);
    return st;
}

gm_status gm_store_verify(const char *path, gm_store_check *out)
{
    memset(out, 0, sizeof *out);
    const gm_status st = gm_probe_result(path);
    return st == GM_OK ? verify(path, false, out) : st;
}

/* A resumed run asks for variables by their names: here, for all there are. */
static void find_all(const gm_inspection *in)
{
    H5G_info_t info;
    char name[NAME_BYTES];
    gm_found found;
    if (H5Gget_info(in->file, &info) < 0) return;
    for (hsize_t i = 0; i < info.nlinks; i++) {
        const ssize_t n = H5Lget_name_by_idx(in->file, ".", H5_INDEX_NAME, H5_ITER_INC, i, name,
                                             sizeof name, H5P_DEFAULT);
        if (n > 0 && n < (ssize_t)sizeof name)
            (void)gm_find_dataset(in, in->file, name, H5I_INVALID_HID, &found);
    }
}

void gm_store_try(const char *path)
{
    gm_h5_quiet quiet;
    gm_inspection in;
    gm_store_check check = {0};
    gm_store_header *header = NULL;
    (void)gm_store_inspect(path, NULL, &header);
    gm_store_header_destroy(&header);
    (void)verify(path, true, &check);
    gm_store_check_clear(&check);
    gm_h5_quiet_begin(&quiet);
    if (gm_find_open(path, &in) == GM_OK) find_all(&in);
    gm_find_close(&in);
    gm_h5_quiet_end(&quiet);
}

void gm_store_check_clear(gm_store_check *check)
{
    free(check->damaged);
    free(check->changed);
    check->damaged = NULL;
    check->changed = NULL;
}

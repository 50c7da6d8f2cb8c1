/* Reading back a result file's header. The file may be anything, also made to harm: each object is
 * held against what it must be, and against the file's size, before anything of it is read. Raw
 * values are read at the offsets that a resumed run will write to. */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_h5.h"
#include "store_space.h"

typedef struct inspection {
    const char *path;
    int fd;
    int64_t n_byte; /* of the file */
    hid_t file, group;
} inspection;

typedef struct found {
    int rank;
    hsize_t extent[GM_H5_MAX_RANK];
    int64_t n_element;
    int64_t offset;
} found;

static gm_status open_plain(inspection *in)
{
    struct stat info;
    in->fd = open(in->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe must not hang */
    if (in->fd < 0)
        return GM_FAIL(GM_E_IO, "cannot read '%s': %s", in->path,
                       errno == ENOENT ? "no such file" : gm_posix_cause(errno));
    if (fstat(in->fd, &info) != 0)
        return GM_FAIL(GM_E_IO, "cannot read '%s': %s", in->path, gm_posix_cause(errno));
    if (!S_ISREG(info.st_mode)) return GM_FAIL(GM_E_IO, "cannot read '%s': not a file", in->path);
    in->n_byte = info.st_size;
    return GM_OK;
}

static bool is_hdf5(const char *path)
{
#if H5_VERSION_GE(1, 12, 0)
    return H5Fis_accessible(path, H5P_DEFAULT) > 0;
#else
    return H5Fis_hdf5(path) > 0;
#endif
}

/* Soft and external links could lead to another file. */
static bool has_object(hid_t parent, const char *name, H5I_type_t type, hid_t *out)
{
    H5L_info_t link;
    *out = H5I_INVALID_HID;
    if (H5Lexists(parent, name, H5P_DEFAULT) <= 0) return false;
    if (H5Lget_info(parent, name, &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD)
        return false;
    *out = H5Oopen(parent, name, H5P_DEFAULT);
    if (*out >= 0 && H5Iget_type(*out) == type) return true;
    gm_h5_release(out);
    return false;
}

static gm_status open_result(inspection *in)
{
    hid_t access = gm_h5_access();
    hid_t status = H5I_INVALID_HID;
    if (!is_hdf5(in->path)) {
        gm_h5_release(&access);
        return GM_FAIL(GM_E_RESULT, "'%s' is not an HDF5 file", in->path);
    }
    in->file = H5Fopen(in->path, H5F_ACC_RDONLY, access);
    gm_status st = gm_h5_check(in->file, GM_E_RESULT, in->path, "open the HDF5 file", "");
    gm_h5_release(&access);
    if (st != GM_OK) return st;
    const bool ours = has_object(in->file, GM_STORE_GROUP, H5I_GROUP, &in->group) &&
                      H5Aexists(in->group, GM_PROVENANCE_KERNEL) > 0 &&
                      H5Aexists(in->group, GM_PROVENANCE_CANONICAL) > 0 &&
                      has_object(in->file, "status", H5I_DATASET, &status);
    gm_h5_release(&status);
    if (!ours)
        return GM_FAIL(GM_E_RESULT, "'%s' is an HDF5 file, but not a result of gridmarch",
                       in->path);
    return GM_OK;
}

static gm_status measure(const inspection *in, hid_t dataset, const char *name, int64_t size,
                         found *out)
{
    int64_t n_byte = 0;
    int64_t end = 0;
    hid_t space = H5Dget_space(dataset);
    out->rank = H5Sget_simple_extent_ndims(space);
    bool sound = space >= 0 && out->rank >= 1 && out->rank <= GM_H5_MAX_RANK &&
                 H5Sget_simple_extent_dims(space, out->extent, NULL) == out->rank;
    out->n_element = 1;
    for (int i = 0; sound && i < out->rank; i++)
        sound = out->extent[i] > 0 &&
                !__builtin_mul_overflow(out->n_element, out->extent[i], &out->n_element);
    gm_h5_release(&space);
    if (!sound || __builtin_mul_overflow(out->n_element, size, &n_byte))
        return GM_FAIL(GM_E_RESULT, "'%s': variable '%s' has an impossible shape", in->path, name);

    const haddr_t offset = H5Dget_offset(dataset);
    if (offset == HADDR_UNDEF || H5Dget_storage_size(dataset) != (hsize_t)n_byte ||
        __builtin_add_overflow(offset, n_byte, &end) || end > in->n_byte)
        return GM_FAIL(GM_E_RESULT,
                       "'%s': variable '%s' has no place in the file, or lies beyond "
                       "its end",
                       in->path, name);
    out->offset = (int64_t)offset;
    return GM_OK;
}

/* Find a dataset of a type, contiguous inside this file. */
static gm_status find_dataset(const inspection *in, hid_t parent, const char *name, hid_t type,
                              found *out)
{
    gm_status st = GM_OK;
    hid_t dataset = H5I_INVALID_HID;
    hid_t own_type = H5I_INVALID_HID;
    hid_t property = H5I_INVALID_HID;
    if (!has_object(parent, name, H5I_DATASET, &dataset))
        return GM_FAIL(GM_E_RESULT, "'%s' has no variable '%s'", in->path, name);
    own_type = H5Dget_type(dataset);
    property = H5Dget_create_plist(dataset);
    if (own_type < 0 || H5Tequal(own_type, type) <= 0) {
        st =
            GM_FAIL(GM_E_RESULT, "'%s': variable '%s' is not of the type expected", in->path, name);
        goto cleanup;
    }
    if (property < 0 || H5Pget_layout(property) != H5D_CONTIGUOUS ||
        H5Pget_external_count(property) != 0) {
        st = GM_FAIL(GM_E_RESULT,
                     "'%s': variable '%s' is not stored in one piece; was the file "
                     "rewritten by another program?",
                     in->path, name);
        goto cleanup;
    }
    GM_TRY(st, measure(in, dataset, name, (int64_t)H5Tget_size(own_type), out));
cleanup:
    gm_h5_release(&property);
    gm_h5_release(&own_type);
    gm_h5_release(&dataset);
    return st;
}

static gm_status read_raw(const inspection *in, int64_t offset, int64_t n_byte, void *out)
{
    for (int64_t done = 0; done < n_byte;) {
        const ssize_t n = pread(in->fd, (char *)out + done, (size_t)(n_byte - done), offset + done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            return GM_FAIL(GM_E_IO, "cannot read '%s': %s", in->path,
                           n < 0 ? gm_posix_cause(errno) : "the file ends too early");
        done += n;
    }
    return GM_OK;
}

/* A text attribute of fixed length. The result ends with NUL whatever the file holds. */
static gm_status read_text(const inspection *in, const char *name, char **out)
{
    gm_status st = GM_OK;
    hid_t attribute = H5Aopen(in->group, name, H5P_DEFAULT);
    hid_t type = H5Aget_type(attribute);
    hid_t space = H5Aget_space(attribute);
    char *text = NULL;
    const size_t size = type >= 0 ? H5Tget_size(type) : 0;
    if (attribute < 0 || space < 0 || size == 0 || size > (size_t)in->n_byte ||
        H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 ||
        H5Sget_simple_extent_type(space) != H5S_SCALAR) {
        st = GM_FAIL(GM_E_RESULT, "'%s': '%s/%s' is not a text", in->path, GM_STORE_GROUP, name);
        goto cleanup;
    }
    text = malloc(size + 1);
    if (text == NULL) {
        st = GM_FAIL(GM_E_MEMORY, "not enough memory to read '%s'", in->path);
        goto cleanup;
    }
    GM_TRY(st, gm_h5_check(H5Aread(attribute, type, text), GM_E_RESULT, in->path, "read", name));
    text[size] = '\0';
    *out = text, text = NULL;
cleanup:
    free(text);
    gm_h5_release(&space);
    gm_h5_release(&type);
    gm_h5_release(&attribute);
    return st;
}

static gm_status read_texts(const inspection *in, gm_store_header *header)
{
    gm_status st = GM_OK;
    GM_TRY(st, read_text(in, GM_PROVENANCE_KERNEL, &header->kernel));
    GM_TRY(st, read_text(in, GM_PROVENANCE_CANONICAL, &header->canonical));
    if (H5Aexists(in->group, GM_PROVENANCE_SWEEP) > 0) {
        GM_TRY(st, read_text(in, GM_PROVENANCE_SWEEP, &header->sweep_text));
    } else if ((header->sweep_text = strdup("")) == NULL) {
        st = GM_FAIL(GM_E_MEMORY, "not enough memory to read '%s'", in->path);
    }
cleanup:
    return st;
}

static gm_status read_status(const inspection *in, gm_store_header *header)
{
    gm_status st = GM_OK;
    found status;
    GM_TRY(st, find_dataset(in, in->file, "status", gm_h5_type(GM_TYPE_U8), &status));
    header->n_point = status.n_element;
    header->status = malloc((size_t)status.n_element);
    if (header->status == NULL) {
        st = GM_FAIL(GM_E_MEMORY, "not enough memory to read '%s'", in->path);
        goto cleanup;
    }
    GM_TRY(st, read_raw(in, status.offset, status.n_element, header->status));
    for (int64_t i = 0; i < header->n_point; i++) {
        if (header->status[i] <= GM_POINT_FAILED) continue;
        st = GM_FAIL(GM_E_RESULT, "'%s' is damaged: the status of point %lld is %d", in->path,
                     (long long)i, header->status[i]);
        goto cleanup;
    }
cleanup:
    return st;
}

/* Slots up to the last one in use; an empty one before it counts as the text "". */
static gm_status read_runs(const inspection *in, gm_store_header *header)
{
    gm_status st = GM_OK;
    found run;
    const int64_t n_byte = (int64_t)GM_STORE_RUN_SLOTS * GM_STORE_RUN_BYTES;
    char *slots = malloc((size_t)n_byte);
    if (slots == NULL) {
        st = GM_FAIL(GM_E_MEMORY, "not enough memory to read '%s'", in->path);
        goto cleanup;
    }
    GM_TRY(st, find_dataset(in, in->group, GM_STORE_RUN, H5T_C_S1, &run));
    if (run.rank != 2 || run.extent[0] != GM_STORE_RUN_SLOTS ||
        run.extent[1] != GM_STORE_RUN_BYTES) {
        st = GM_FAIL(GM_E_RESULT, "'%s': '%s/%s' has another shape than expected", in->path,
                     GM_STORE_GROUP, GM_STORE_RUN);
        goto cleanup;
    }
    header->run_offset = run.offset;
    GM_TRY(st, read_raw(in, run.offset, n_byte, slots));
    for (int i = 0; i < GM_STORE_RUN_SLOTS; i++)
        if (slots[(size_t)i * GM_STORE_RUN_BYTES] != '\0') header->n_run = i + 1;
    for (int i = 0; i < header->n_run; i++) {
        header->run[i] = strndup(slots + (size_t)i * GM_STORE_RUN_BYTES, GM_STORE_RUN_BYTES);
        if (header->run[i] != NULL) continue;
        st = GM_FAIL(GM_E_MEMORY, "not enough memory to read '%s'", in->path);
        goto cleanup;
    }
cleanup:
    free(slots);
    return st;
}

static gm_status match_variable(const inspection *in, const gm_layout *layout, int index,
                                int64_t *offset)
{
    gm_status st = GM_OK;
    const gm_variable *v = &layout->variable[index];
    int dim[GM_H5_MAX_RANK];
    const int rank = gm_h5_dimensions(layout, v, dim);
    found got;
    GM_TRY(st, find_dataset(in, in->file, v->name, gm_h5_type(v->type), &got));
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

static gm_status match_layout(const inspection *in, const gm_layout *layout,
                              gm_store_header *header)
{
    gm_status st = GM_OK;
    if (layout == NULL) return GM_OK;
    header->offset = calloc((size_t)layout->n_variable, sizeof *header->offset);
    if (header->offset == NULL)
        return GM_FAIL(GM_E_MEMORY, "not enough memory to read '%s'", in->path);
    header->n_variable = layout->n_variable;
    for (int i = 0; i < layout->n_variable; i++)
        GM_TRY(st, match_variable(in, layout, i, &header->offset[i]));
cleanup:
    return st;
}

gm_status gm_store_inspect(const char *path, const gm_layout *layout, gm_store_header **out)
{
    gm_status st = GM_OK;
    gm_h5_quiet quiet;
    inspection in = {.path = path, .fd = -1, .file = H5I_INVALID_HID, .group = H5I_INVALID_HID};
    gm_store_header *header = calloc(1, sizeof *header);
    *out = NULL;
    gm_h5_quiet_begin(&quiet);
    if (header == NULL) {
        st = GM_FAIL(GM_E_MEMORY, "not enough memory to read '%s'", path);
        goto cleanup;
    }
    GM_TRY(st, open_plain(&in));
    GM_TRY(st, open_result(&in));
    GM_TRY(st, read_texts(&in, header));
    GM_TRY(st, match_layout(&in, layout, header));
    GM_TRY(st, read_status(&in, header));
    GM_TRY(st, read_runs(&in, header));
    *out = header, header = NULL;
cleanup:
    gm_store_header_destroy(&header);
    gm_h5_release(&in.group);
    gm_h5_release(&in.file);
    if (in.fd >= 0) close(in.fd);
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

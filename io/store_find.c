#include "store_find.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alive.h"
#include "store.h"
#include "store_space.h"

static gm_status open_plain(gm_inspection *in)
{
    struct stat info;
    in->fd = open(in->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe must not hang */
    if (in->fd < 0)
        return GM_FAIL(GM_E_IO, "cannot read '%s': %s", in->path,
                       errno == ENOENT ? "no such file" : gm_posix_cause(errno));
    if (fstat(in->fd, &info) != 0)
        return GM_FAIL(GM_E_IO, "cannot read '%s': %s", in->path, gm_posix_cause(errno));
    if (!S_ISREG(info.st_mode))
        return GM_FAIL(GM_E_IO, "cannot read '%s': it is not a regular file", in->path);
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

bool gm_find_has(const gm_inspection *in, const char *name)
{
    hid_t dataset = H5I_INVALID_HID;
    const bool has = has_object(in->file, name, H5I_DATASET, &dataset);
    gm_h5_release(&dataset);
    return has;
}

static gm_status open_result(gm_inspection *in)
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

static gm_status measure(const gm_inspection *in, hid_t dataset, const char *name, int64_t size,
                         gm_found *out)
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
    out->size = size;
    return GM_OK;
}

static bool is_number(hid_t type)
{
    return H5Tget_class(type) == H5T_INTEGER || H5Tget_class(type) == H5T_FLOAT;
}

gm_status gm_find_dataset(const gm_inspection *in, hid_t parent, const char *name, hid_t type,
                          gm_found *out)
{
    gm_status st = GM_OK;
    hid_t dataset = H5I_INVALID_HID;
    hid_t own_type = H5I_INVALID_HID;
    hid_t property = H5I_INVALID_HID;
    if (!has_object(parent, name, H5I_DATASET, &dataset))
        return GM_FAIL(GM_E_RESULT, "'%s' has no variable '%s'", in->path, name);
    own_type = H5Dget_type(dataset);
    property = H5Dget_create_plist(dataset);
    if (own_type < 0 || (type >= 0 ? H5Tequal(own_type, type) <= 0 : !is_number(own_type))) {
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

gm_status gm_find_read(const gm_inspection *in, int64_t offset, int64_t n_byte, void *out)
{
    for (int64_t done = 0; done < n_byte;) {
        gm_alive_mark(NULL);
        const ssize_t n = pread(in->fd, (char *)out + done, (size_t)(n_byte - done), offset + done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            return GM_FAIL(GM_E_IO, "cannot read '%s': %s", in->path,
                           n < 0 ? gm_posix_cause(errno) : "the file ends too early");
        done += n;
    }
    return GM_OK;
}

gm_status gm_find_status(const gm_inspection *in, int64_t offset, int64_t n_point, uint8_t *status)
{
    gm_status st = GM_OK;
    GM_TRY(st, gm_find_read(in, offset, n_point, status));
    for (int64_t i = 0; i < n_point && st == GM_OK; i++)
        if (status[i] > GM_POINT_FAILED)
            st = GM_FAIL(GM_E_RESULT, "'%s' is damaged: the status of point %lld is %d", in->path,
                         (long long)i, status[i]);
cleanup:
    return st;
}

void gm_find_make_plain(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c; c++) {
        const bool is_wide = c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0;
        if (is_wide) *c++ = '?';
        if (is_wide || *c == 0x7f || (*c < ' ' && !strchr("\n\t\r", *c))) *c = '?';
    }
}

gm_status gm_find_text(const gm_inspection *in, hid_t object, const char *name, char **out)
{
    gm_status st = GM_OK;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    hid_t type = H5Aget_type(attribute);
    hid_t space = H5Aget_space(attribute);
    char *text = NULL;
    const size_t size = type >= 0 ? H5Tget_size(type) : 0;
    if (attribute < 0 || space < 0 || size == 0 || size > (size_t)in->n_byte ||
        H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 ||
        H5Sget_simple_extent_type(space) != H5S_SCALAR) {
        st = GM_FAIL(GM_E_RESULT, "'%s': attribute '%s' is not a text", in->path, name);
        goto cleanup;
    }
    text = malloc(size + 1);
    if (text == NULL) {
        st = GM_FAIL(GM_E_MEMORY, "not enough memory to read '%s'", in->path);
        goto cleanup;
    }
    GM_TRY(st, gm_h5_check(H5Aread(attribute, type, text), GM_E_RESULT, in->path, "read", name));
    text[size] = '\0';
    gm_find_make_plain(text);
    *out = text, text = NULL;
cleanup:
    free(text);
    gm_h5_release(&space);
    gm_h5_release(&type);
    gm_h5_release(&attribute);
    return st;
}

gm_status gm_find_open(const char *path, gm_inspection *in)
{
    gm_status st = GM_OK;
    *in =
        (gm_inspection){.path = path, .fd = -1, .file = H5I_INVALID_HID, .group = H5I_INVALID_HID};
    GM_TRY(st, open_plain(in));
    GM_TRY(st, open_result(in));
cleanup:
    if (st != GM_OK) gm_find_close(in);
    return st;
}

void gm_find_close(gm_inspection *in)
{
    gm_h5_release(&in->group);
    gm_h5_release(&in->file);
    if (in->fd >= 0) close(in->fd);
    in->fd = -1;
}

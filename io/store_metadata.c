/* The metadata of a result file, after the conventions of netCDF-4, so that xarray reads it:
 * a dimension scale on every axis, creation order tracked on every object, texts as attributes of
 * fixed length, labels of variable length (netCDF crashes on arrays of fixed length). */
#include "store_metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hdf5_hl.h>

#include "store_coordinates.h"
#include "store_h5.h"
#include "store_space.h"

#ifndef GM_VERSION
#define GM_VERSION "0.1.0"
#endif

enum { TRACKED = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED };
enum { LARGE_BYTES = 16 << 20, STRIPE_BYTES = 1 << 20 }; /* of variables; of file systems */

/* What every step of building needs. */
typedef struct metadata {
    const char *path; /* for messages */
    const gm_layout *layout;
    hid_t file;
    hid_t *scale; /* owned [n_coordinate], closed in the end */
} metadata;

static gm_status check(const metadata *m, int64_t code, const char *what, const char *name)
{
    return gm_h5_check(code, GM_E_IO, m->path, what, name);
}

static gm_status write_attribute(const metadata *m, hid_t object, const char *name, hid_t type,
                                 hid_t space, const void *value)
{
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    gm_status st = check(m, attribute, "create attribute", name);
    if (st == GM_OK) st = check(m, H5Awrite(attribute, type, value), "write attribute", name);
    gm_h5_release(&attribute);
    return st;
}

/* HDF5 has no text of length 0: an empty one becomes a single NUL, which readers show as "". */
static gm_status write_text(const metadata *m, hid_t object, const char *name, const char *text)
{
    gm_status st = GM_OK;
    const size_t n_byte = text[0] != '\0' ? strlen(text) : 1;
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t type = H5Tcopy(H5T_C_S1);
    if (space < 0 || type < 0 || H5Tset_size(type, n_byte) < 0 ||
        H5Tset_strpad(type, H5T_STR_NULLPAD) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0)
        st = check(m, -1, "describe text", name);
    else
        st = write_attribute(m, object, name, type, space, text);
    gm_h5_release(&type);
    gm_h5_release(&space);
    return st;
}

static gm_status write_numbers(const metadata *m, hid_t object, const char *name, hid_t type,
                               hsize_t n, const void *value)
{
    hid_t space = H5Screate_simple(1, &n, NULL);
    gm_status st = check(m, space, "describe attribute", name);
    if (st == GM_OK) st = write_attribute(m, object, name, type, space, value);
    gm_h5_release(&space);
    return st;
}

/* fill: NULL for datasets that are written in full here. With one, HDF5 writes no value itself. */
static gm_status create_dataset(const metadata *m, hid_t parent, const char *name, hid_t type,
                                int rank, const hsize_t *extent, const void *fill, hid_t *out)
{
    hid_t space = H5Screate_simple(rank, extent, NULL);
    hid_t property = H5Pcreate(H5P_DATASET_CREATE);
    *out = H5I_INVALID_HID;
    if (space >= 0 && property >= 0 && H5Pset_layout(property, H5D_CONTIGUOUS) >= 0 &&
        H5Pset_alloc_time(property, H5D_ALLOC_TIME_EARLY) >= 0 &&
        H5Pset_attr_creation_order(property, TRACKED) >= 0 &&
        (fill == NULL || (H5Pset_fill_time(property, H5D_FILL_TIME_NEVER) >= 0 &&
                          H5Pset_fill_value(property, type, fill) >= 0)))
        *out = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, property, H5P_DEFAULT);
    gm_status st = check(m, *out, "create variable", name);
    gm_h5_release(&property);
    gm_h5_release(&space);
    return st;
}

/* Large variables begin where a stripe of a parallel file system does, and a page of memory.
 *
 * Create the file, then put the file in memory in the place of the one that HDF5 has opened. */
static gm_status create_file(metadata *m, const char *partial, int memory)
{
    gm_status st = GM_OK;
    void *handle = NULL;
    hid_t access = gm_h5_access();
    hid_t property = H5Pcreate(H5P_FILE_CREATE);
    if (access >= 0 && property >= 0 && H5Pset_alignment(access, LARGE_BYTES, STRIPE_BYTES) >= 0 &&
        H5Pset_link_creation_order(property, TRACKED) >= 0 &&
        H5Pset_attr_creation_order(property, TRACKED) >= 0)
        m->file = H5Fcreate(partial, H5F_ACC_TRUNC, property, access);
    GM_TRY(st, check(m, m->file, "create the file", ""));
    GM_TRY(st, check(m, H5Fget_vfd_handle(m->file, access, &handle), "create the file", ""));
    if (dup3(memory, *(int *)handle, O_CLOEXEC) < 0)
        st = GM_FAIL(GM_E_IO, "cannot build '%s' in memory: %s", m->path, gm_posix_cause(errno));
cleanup:
    gm_h5_release(&property);
    gm_h5_release(&access);
    return st;
}

static gm_status create_group(const metadata *m, const char *name, hid_t *out)
{
    hid_t property = H5Pcreate(H5P_GROUP_CREATE);
    *out = H5I_INVALID_HID;
    if (property >= 0 && H5Pset_link_creation_order(property, TRACKED) >= 0 &&
        H5Pset_attr_creation_order(property, TRACKED) >= 0)
        *out = H5Gcreate2(m->file, name, H5P_DEFAULT, property, H5P_DEFAULT);
    gm_status st = check(m, *out, "create group", name);
    gm_h5_release(&property);
    return st;
}

static gm_status write_root(const metadata *m, const gm_attribute *attribute, int n_attribute)
{
    gm_status st = GM_OK;
    const char *model = "";
    char title[128];
    for (int i = 0; i < n_attribute; i++)
        if (strcmp(attribute[i].name, "model") == 0) model = attribute[i].value;
    snprintf(title, sizeof title, "%s%sparameter sweep", model, model[0] ? ": " : "");
    GM_TRY(st, write_text(m, m->file, "Conventions", "CF-1.8"));
    GM_TRY(st, write_text(m, m->file, "title", title));
    GM_TRY(st, write_text(m, m->file, "source", "gridmarch " GM_VERSION));
cleanup:
    return st;
}

static gm_status write_units(const metadata *m, hid_t object, const char *unit,
                             const char *long_name)
{
    gm_status st = GM_OK;
    if (unit != NULL) GM_TRY(st, write_text(m, object, "units", unit));
    if (long_name != NULL) GM_TRY(st, write_text(m, object, "long_name", long_name));
cleanup:
    return st;
}

static gm_status write_coordinate(metadata *m, int index)
{
    gm_status st = GM_OK;
    const gm_coordinate *c = &m->layout->coordinate[index];
    const hsize_t n = (hsize_t)c->n;
    const void *value = c->text != NULL ? (const void *)c->text : c->value;
    hid_t label = H5Tcopy(H5T_C_S1);
    if (label < 0 || H5Tset_size(label, H5T_VARIABLE) < 0 || H5Tset_cset(label, H5T_CSET_UTF8) < 0)
        GM_TRY(st, check(m, -1, "describe the labels of", c->name));
    const hid_t memory = c->text != NULL ? label : H5T_NATIVE_DOUBLE;
    const hid_t type = c->text == NULL && c->is_integer ? H5T_NATIVE_INT64 : memory;

    GM_TRY(st, create_dataset(m, m->file, c->name, type, 1, &n, NULL, &m->scale[index]));
    GM_TRY(st, check(m, H5Dwrite(m->scale[index], memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, value),
                     "write coordinate", c->name));
    if (c->is_dimension)
        GM_TRY(st, check(m, H5DSset_scale(m->scale[index], c->name), "make dimension", c->name));
    else
        GM_TRY(st, check(m, H5DSattach_scale(m->scale[index], m->scale[0], 0),
                         "attach dimension to", c->name));
    GM_TRY(st, write_units(m, m->scale[index], c->unit, c->long_name));
cleanup:
    gm_h5_release(&label);
    return st;
}

/* CF: a variable names the coordinates that are not dimensions, separated by blanks. */
static gm_status auxiliary_names(const gm_layout *layout, char **out)
{
    size_t n_byte = 1;
    *out = NULL;
    for (int i = 0; i < layout->n_coordinate; i++) n_byte += strlen(layout->coordinate[i].name) + 1;
    char *names = calloc(n_byte, 1);
    if (names == NULL) return GM_FAIL(GM_E_MEMORY, "not enough memory for names of coordinates");
    for (int i = 0; i < layout->n_coordinate; i++) {
        if (layout->coordinate[i].is_dimension) continue;
        if (names[0] != '\0') strcat(names, " ");
        strcat(names, layout->coordinate[i].name);
    }
    *out = names;
    return GM_OK;
}

static gm_status write_flags(const metadata *m, hid_t object)
{
#define X(id, value, name) value,
    static const uint8_t values[] = {GM_POINT_STATUS_LIST(X)};
#undef X
#define X(id, value, name) " " name
    static const char meanings[] = GM_POINT_STATUS_LIST(X);
#undef X
    gm_status st = GM_OK;
    GM_TRY(st, write_numbers(m, object, "flag_values", H5T_NATIVE_UINT8, sizeof values, values));
    GM_TRY(st, write_text(m, object, "flag_meanings", meanings + 1));
cleanup:
    return st;
}

/* Which variables a point's checksum is of, in their order. */
static gm_status write_covers(const metadata *m, hid_t object)
{
    const gm_layout *layout = m->layout;
    size_t n_byte = 1;
    for (int i = 0; i < layout->n_variable; i++) n_byte += strlen(layout->variable[i].name) + 1;
    char *names = calloc(n_byte, 1);
    if (names == NULL) return GM_FAIL(GM_E_MEMORY, "not enough memory for names of variables");
    for (int i = 0; i < layout->n_variable; i++) {
        if (layout->variable[i].quantity < 0 && i != layout->failed_step) continue;
        if (names[0] != '\0') strcat(names, " ");
        strcat(names, layout->variable[i].name);
    }
    gm_status st = write_text(m, object, GM_STORE_COVERS, names);
    free(names);
    return st;
}

static gm_status locate(const metadata *m, hid_t dataset, const char *name, gm_region *region)
{
    const haddr_t offset = H5Dget_offset(dataset);
    if (offset == HADDR_UNDEF) return check(m, -1, "find the place of", name);
    region->offset = (int64_t)offset;
    return GM_OK;
}

/* Status has no _FillValue: its initial value "pending" is a value, and must not be masked. */
static gm_status write_variable(const metadata *m, int index, const char *auxiliary,
                                gm_region *region)
{
    gm_status st = GM_OK;
    const gm_layout *layout = m->layout;
    const gm_variable *v = &layout->variable[index];
    int dim[GM_H5_MAX_RANK];
    hsize_t extent[GM_H5_MAX_RANK];
    hid_t dataset = H5I_INVALID_HID;
    const float f32 = (float)v->fill;
    const uint8_t u8 = v->type == GM_TYPE_U8 ? (uint8_t)v->fill : 0;
    const int64_t i64 = v->type == GM_TYPE_I64 ? (int64_t)v->fill : 0;
    const void *const fills[] = {
        [GM_TYPE_F32] = &f32, [GM_TYPE_F64] = &v->fill, [GM_TYPE_U8] = &u8, [GM_TYPE_I64] = &i64};
    const hid_t type = gm_h5_type(v->type);
    const int rank = gm_h5_dimensions(layout, v, dim);
    if (rank == 0)
        return GM_FAIL(GM_E_INPUT, "'%s': variable '%s' has more than %d dimensions", m->path,
                       v->name, GM_H5_MAX_RANK);
    for (int i = 0; i < rank; i++) extent[i] = (hsize_t)layout->coordinate[dim[i]].n;

    GM_TRY(st, create_dataset(m, m->file, v->name, type, rank, extent, fills[v->type], &dataset));
    for (int i = 0; i < rank; i++)
        GM_TRY(st, check(m, H5DSattach_scale(dataset, m->scale[dim[i]], (unsigned)i),
                         "attach dimensions to", v->name));
    if (index == layout->status)
        GM_TRY(st, write_flags(m, dataset));
    else
        GM_TRY(st, write_numbers(m, dataset, "_FillValue", type, 1, fills[v->type]));
    GM_TRY(st, write_units(m, dataset, v->unit, v->long_name));
    if (index == layout->checksum) GM_TRY(st, write_covers(m, dataset));
    if (auxiliary[0] != '\0') GM_TRY(st, write_text(m, dataset, "coordinates", auxiliary));
    *region =
        (gm_region){.n_byte = layout->n_point * v->row_bytes, .type = v->type, .fill = v->fill};
    GM_TRY(st, locate(m, dataset, v->name, region));
cleanup:
    gm_h5_release(&dataset);
    return st;
}

/* A dimension without coordinate, as netCDF writes it: the scale's name says so. */
static gm_status write_bare_dimension(const metadata *m, hid_t group, const char *name, hsize_t n,
                                      hid_t *out)
{
    char label[96];
    gm_status st = create_dataset(m, group, name, H5T_NATIVE_UINT8, 1, &n, NULL, out);
    if (st != GM_OK) return st;
    snprintf(label, sizeof label, "This is a netCDF dimension but not a netCDF variable.%10llu",
             (unsigned long long)n);
    return check(m, H5DSset_scale(*out, label), "make dimension", name);
}

/* The run slots are characters [slot][byte]: netCDF and xarray show them as one text per slot. */
static gm_status write_run_slots(const metadata *m, hid_t group, gm_region *region)
{
    gm_status st = GM_OK;
    const hsize_t extent[2] = {GM_STORE_RUN_SLOTS, GM_STORE_RUN_BYTES};
    const char fill = '\0';
    hid_t run = H5I_INVALID_HID;
    hid_t slot = H5I_INVALID_HID;
    hid_t byte = H5I_INVALID_HID;
    GM_TRY(st, write_bare_dimension(m, group, "run_slot", extent[0], &slot));
    GM_TRY(st, write_bare_dimension(m, group, "run_byte", extent[1], &byte));
    GM_TRY(st, create_dataset(m, group, GM_STORE_RUN, H5T_C_S1, 2, extent, &fill, &run));
    GM_TRY(st, check(m, H5DSattach_scale(run, slot, 0), "attach dimension", "run_slot"));
    GM_TRY(st, check(m, H5DSattach_scale(run, byte, 1), "attach dimension", "run_byte"));
    GM_TRY(st, write_text(m, run, "_Encoding", "utf-8"));
    GM_TRY(st, write_text(m, run, "long_name", "one JSON document per run of the program"));
    *region =
        (gm_region){.n_byte = (int64_t)GM_STORE_RUN_SLOTS * GM_STORE_RUN_BYTES, .type = GM_TYPE_U8};
    GM_TRY(st, locate(m, run, GM_STORE_RUN, region));
cleanup:
    gm_h5_release(&byte);
    gm_h5_release(&slot);
    gm_h5_release(&run);
    return st;
}

static gm_status write_provenance(const metadata *m, const gm_attribute *attribute, int n_attribute,
                                  gm_region *region)
{
    gm_status st = GM_OK;
    char *sums = NULL;
    hid_t group = H5I_INVALID_HID;
    GM_TRY(st, create_group(m, GM_STORE_GROUP, &group));
    for (int i = 0; i < n_attribute; i++)
        GM_TRY(st, write_text(m, group, attribute[i].name, attribute[i].value));
    if (m->layout->checksum >= 0) {
        GM_TRY(st, gm_coordinates_describe(m->layout, &sums));
        GM_TRY(st, write_text(m, group, GM_STORE_COORDINATES, sums));
    }
    GM_TRY(st, write_run_slots(m, group, region));
cleanup:
    free(sums);
    gm_h5_release(&group);
    return st;
}

gm_status gm_store_write_metadata(const char *partial, const char *path, int memory,
                                  const gm_layout *layout, const gm_attribute *attribute,
                                  int n_attribute, gm_region *region)
{
    gm_status st = GM_OK;
    gm_h5_quiet quiet;
    char *auxiliary = NULL;
    metadata m = {.path = path, .layout = layout, .file = H5I_INVALID_HID};
    gm_h5_quiet_begin(&quiet);
    m.scale = malloc((size_t)layout->n_coordinate * sizeof *m.scale);
    if (m.scale == NULL) {
        st = GM_FAIL(GM_E_MEMORY, "not enough memory to create '%s'", path);
        goto cleanup;
    }
    for (int i = 0; i < layout->n_coordinate; i++) m.scale[i] = H5I_INVALID_HID;
    GM_TRY(st, auxiliary_names(layout, &auxiliary));
    GM_TRY(st, create_file(&m, partial, memory));
    GM_TRY(st, write_root(&m, attribute, n_attribute));
    for (int i = 0; i < layout->n_coordinate; i++) GM_TRY(st, write_coordinate(&m, i));
    for (int i = 0; i < layout->n_variable; i++)
        GM_TRY(st, write_variable(&m, i, auxiliary, &region[i]));
    GM_TRY(st, write_provenance(&m, attribute, n_attribute, &region[layout->n_variable]));
cleanup:
    for (int i = 0; m.scale != NULL && i < layout->n_coordinate; i++) gm_h5_release(&m.scale[i]);
    if (m.file >= 0 && H5Fclose(m.file) < 0 && st == GM_OK)
        st = check(&m, -1, "finish the file", "");
    free(m.scale);
    free(auxiliary);
    gm_h5_quiet_end(&quiet);
    return st;
}

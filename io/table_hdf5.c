/** Tables in HDF5 and netCDF-4 files: one dataset of numbers with one or two dimensions. */
#include "io/table.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/table_chunks.h"

enum { NAME_SIZE = 128, LIST_SIZE = 512, MAX_LISTED = 8 };
enum { MAX_NUMBER = 16 }; /* bytes: HDF5 would take any number of them for a buffer */

/* A dataset may be larger than its file if it is compressed; deflate's limit is 1032 to 1. A claim
 * beyond that is not believed, so that a damaged file cannot ask for any amount of memory. */
enum { MAX_COMPRESSION = 1100 };

/** What a root group holds: the datasets that are not mere coordinates. */
typedef struct content {
    int n;
    char first[NAME_SIZE];
    char list[LIST_SIZE]; /* names with commas between */
} content;

static herr_t keep_deepest(unsigned n, const H5E_error2_t *error, void *text)
{
    if (n == 0 && error->desc) snprintf(text, LIST_SIZE, "%s", error->desc);
    return 0;
}

/* The innermost cause of the last failed call, in HDF5's words. */
static const char *last_cause(char text[LIST_SIZE])
{
    strcpy(text, "unknown cause");
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_deepest, text);
    return text;
}

static bool is_data(hid_t file, const char *name)
{
    hid_t object = H5Oopen(file, name, H5P_DEFAULT);
    if (object < 0) return false;
    bool found = H5Iget_type(object) == H5I_DATASET && H5Aexists(object, "REFERENCE_LIST") <= 0 &&
                 H5Aexists(object, "NAME") <= 0;
    H5Oclose(object);
    return found;
}

static void look_around(hid_t file, content *found)
{
    H5G_info_t info;
    char name[NAME_SIZE];
    *found = (content){0};
    if (H5Gget_info(file, &info) < 0) return;
    for (hsize_t i = 0; i < info.nlinks; i++) {
        ssize_t n = H5Lget_name_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name,
                                       H5P_DEFAULT);
        if (n <= 0 || n >= NAME_SIZE || !is_data(file, name)) continue;
        if (found->n++ == 0) strcpy(found->first, name);
        if (found->n > MAX_LISTED) continue;
        size_t used = strlen(found->list);
        snprintf(found->list + used, LIST_SIZE - used, "%s%s", used ? ", " : "",
                 found->n == MAX_LISTED ? "..." : name);
    }
}

static gm_status open_dataset(hid_t file, gm_place named, const char *path, const char *dataset,
                              gm_problems *problems, hid_t *out)
{
    content found = {0};
    const char *name = dataset;
    if (!name) {
        look_around(file, &found);
        name = found.first;
    }
    if (!dataset && found.n != 1) {
        gm_problems_add(problems, named, "'%s' holds %d datasets, expected 1%s%s%s", path, found.n,
                        found.n ? " or a dataset's name (" : "", found.list, found.n ? ")" : "");
        return GM_E_INPUT;
    }
    *out = H5Dopen2(file, name, H5P_DEFAULT);
    if (*out >= 0) return GM_OK;
    look_around(file, &found);
    gm_problems_add(problems, named, "no dataset '%s' in '%s'; at its root are: %s", name, path,
                    found.n ? found.list : "none");
    return GM_E_INPUT;
}

/* Rows and columns of the dataset; false with a problem added if it is no table that can be. */
static bool check_shape(hid_t set, gm_place place, int64_t n_byte, gm_problems *problems,
                        gm_table *table)
{
    hsize_t shape[H5S_MAX_RANK] = {0};
    hid_t space = H5Dget_space(set);
    int n_dim = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    if (n_dim > 0) H5Sget_simple_extent_dims(space, shape, NULL);
    if (space >= 0) H5Sclose(space);
    if (n_dim != 1 && n_dim != 2) {
        gm_problems_add(problems, place, "the dataset has %d dimensions, expected 1 or 2", n_dim);
        return false;
    }
    hsize_t n_row = shape[0];
    hsize_t n_column = n_dim == 2 ? shape[1] : 1;
    if (n_row == 0 || n_column == 0) {
        gm_problems_add(problems, place, "the dataset holds no numbers (%llu x %llu)",
                        (unsigned long long)n_row, (unsigned long long)n_column);
        return false;
    }
    hsize_t limit = (hsize_t)n_byte * MAX_COMPRESSION;
    if (n_row > limit || n_column > limit / n_row) {
        gm_problems_add(problems, place,
                        "the dataset claims %llu x %llu values, but the file has only %lld bytes",
                        (unsigned long long)n_row, (unsigned long long)n_column, (long long)n_byte);
        return false;
    }
    table->n_row = (int64_t)n_row;
    table->n_column = (int64_t)n_column;
    return true;
}

/* Numbers that mean themselves: no text, and no netCDF packing. */
static bool check_type(hid_t set, gm_place place, gm_problems *problems)
{
    hid_t type = H5Dget_type(set);
    H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    const size_t size = type < 0 ? 0 : H5Tget_size(type);
    if (type >= 0) H5Tclose(type);
    if (class != H5T_INTEGER && class != H5T_FLOAT) {
        gm_problems_add(problems, place,
                        "the dataset holds no plain integers or floating-point numbers");
        return false;
    }
    if (size > MAX_NUMBER) {
        gm_problems_add(problems, place,
                        "the dataset claims numbers of %zu bytes each, at most %d are possible",
                        size, MAX_NUMBER);
        return false;
    }
    if (H5Aexists(set, "scale_factor") > 0 || H5Aexists(set, "add_offset") > 0) {
        gm_problems_add(problems, place,
                        "the dataset is packed (scale_factor, add_offset); save it unpacked");
        return false;
    }
    return true;
}

static gm_status read_dataset(hid_t set, const char *path, int64_t n_byte, gm_problems *problems,
                              gm_table *out)
{
    char cause[LIST_SIZE];
    gm_place place = {path, 0, 0};
    gm_table table = {0};
    if (!check_type(set, place, problems)) return GM_E_INPUT;
    if (!check_shape(set, place, n_byte, problems, &table)) return GM_E_INPUT;
    if (!gm_table_check_storage(set, place, n_byte, MAX_COMPRESSION, problems)) return GM_E_INPUT;
    table.value = malloc((size_t)(table.n_row * table.n_column) * sizeof *table.value);
    if (!table.value)
        return GM_FAIL(GM_E_MEMORY, "not enough memory for '%s' (%lld x %lld values)", path,
                       (long long)table.n_row, (long long)table.n_column);
    if (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, table.value) < 0) {
        gm_problems_add(problems, place, "the dataset cannot be read: %s", last_cause(cause));
        gm_table_clear(&table);
        return GM_E_INPUT;
    }
    *out = table;
    return GM_OK;
}

/* Read only and without a lock, which some parallel file systems refuse. */
static hid_t open_file(const char *path)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access < 0) return H5I_INVALID_HID;
#if H5_VERSION_GE(1, 14, 0) || (H5_VERS_MINOR == 10 && H5_VERS_RELEASE >= 7)
    H5Pset_file_locking(access, false, true);
#endif
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    return file;
}

gm_status gm_table_read_hdf5(gm_place named, const char *path, int64_t n_byte, const char *dataset,
                             gm_problems *problems, gm_table *out)
{
    gm_status st = GM_OK;
    H5E_auto2_t print = NULL;
    void *print_data = NULL;
    char cause[LIST_SIZE];
    hid_t set = H5I_INVALID_HID;
    H5Eget_auto2(H5E_DEFAULT, &print, &print_data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* HDF5 would print its faults itself */
    hid_t file = open_file(path);
    if (file < 0) {
        gm_problems_add(problems, (gm_place){path, 0, 0}, "not a readable HDF5 file: %s",
                        last_cause(cause));
        st = GM_E_INPUT;
        goto cleanup;
    }
    GM_TRY(st, open_dataset(file, named, path, dataset, problems, &set));
    GM_TRY(st, read_dataset(set, path, n_byte, problems, out));
cleanup:
    if (set >= 0) H5Dclose(set);
    if (file >= 0) H5Fclose(file);
    H5Eset_auto2(H5E_DEFAULT, print, print_data);
    return st;
}

/** gm_read_table: each format, and each way a file can be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <hdf5.h>
#include <math.h>
#include <sys/stat.h>

#include "io/reader.h"
#include "scratch.h"
#include "small_sweep.h"

/* Reads the file under test. */
static gm_status read_it(const char *dataset, gm_problems **problems, gm_table *table)
{
    gm_source source = {path, 3, 12};
    assert_int_equal(gm_problems_create(problems), GM_OK);
    *table = (gm_table){0};
    return gm_read_table("sweep.yaml", &source, dataset, *problems, table);
}

static void assert_table_in(const char *dataset, int64_t n_row, int64_t n_column,
                            const double *value)
{
    gm_problems *problems = NULL;
    gm_table table;
    if (read_it(dataset, &problems, &table) != GM_OK) fail_msg("%s", gm_status_message());
    assert_int_equal(gm_problems_count(problems), 0);
    assert_int_equal(table.n_row, n_row);
    assert_int_equal(table.n_column, n_column);
    for (int64_t i = 0; i < n_row * n_column; i++)
        if (table.value[i] != value[i]) fail_msg("value %d is %.17g", (int)i, table.value[i]);
    gm_table_clear(&table);
    assert_null(table.value);
    gm_problems_destroy(&problems);
}

static void assert_table(int64_t n_row, int64_t n_column, const double *value)
{
    assert_table_in(NULL, n_row, n_column, value);
}

static void assert_refused_in(const char *dataset, const char *part)
{
    gm_problems *problems = NULL;
    gm_table table;
    assert_int_equal(read_it(dataset, &problems, &table), GM_E_INPUT);
    assert_null(table.value);
    assert_true(gm_problems_count(problems) > 0);
    if (!has_problem(problems, part)) fail_msg("%s", gm_status_message());
    assert_non_null(strstr(gm_status_message(), part));
    gm_problems_destroy(&problems);
}

static void assert_refused(const char *part)
{
    assert_refused_in(NULL, part);
}

/* As assert_refused, with the file's own name and place in front. */
static void assert_refused_at(const char *place, const char *part)
{
    char all[512];
    snprintf(all, sizeof all, "%s%s: %s", path, place, part);
    assert_refused(all);
}

static const double six[] = {1, 2, 3, 4, 5, 6};

static void text_separated_by_commas_or_blanks(void **state)
{
    (void)state;
    static const char *const same[] = {
        "1,2,3\n4,5,6\n",
        "1,2,3\n4,5,6",
        "  1 2\t3  \n\n4    5 6\n\n",
        "1, 2 ,3\r\n4 ,5, 6\r\n",
        "\xef\xbb\xbf"
        "1,2,3,\n4,5,6,\n",
        "# a comment\n1 2 3 # another\n\n   # and one\n4 5 6\n",
        "a,b,c\n1,2,3\n4,5,6\n",
        "# first\ntime of day (s), left, right\n1 2 3\n4 5 6\n",
        ",A,B\n1,2,3\n4,5,6\n,,,\n",
        "1.0,2e0,.3e1\n+4,5.,600e-2\n",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        put_text("t.csv", same[i]);
        assert_table(2, 3, six);
    }
}

static void text_numbers_keep_every_digit(void **state)
{
    (void)state;
    const double value[] = {0.1, -1.7976931348623157e308, 5e-324, 3.0000000000000004};
    put_text("t.txt", "0.1 -1.7976931348623157e308 5e-324 3.0000000000000004");
    assert_table(1, 4, value);
}

static void nan_and_inf_are_numbers_of_a_table(void **state)
{
    (void)state;
    gm_problems *problems = NULL;
    gm_table table;
    put_text("t.txt", "nan inf\n-Inf NaN\n");
    assert_int_equal(read_it(NULL, &problems, &table), GM_OK);
    assert_true(isnan(table.value[0]) && isnan(table.value[3]));
    assert_true(isinf(table.value[1]) && table.value[2] < 0);
    gm_table_clear(&table);
    gm_problems_destroy(&problems);
}

static void ragged_row_is_named_with_both_counts(void **state)
{
    (void)state;
    put_text("t.csv", "# weights\n1,2,3\n4,5,6\n7,8\n");
    assert_refused_at(":4", "2 fields, expected 3 as in line 2");
}

static void field_that_is_no_number_is_named_with_line_and_column(void **state)
{
    (void)state;
    put_text("t.csv", "1,2,3\n4,5x,6\n");
    assert_refused_at(":2:2", "'5x' is not a number");
    put_text("t.csv", "1,2,3\n4,,6\n");
    assert_refused_at(":2:2", "empty field, expected a number");
    put_text("t.csv", "a,b\nc,d\n");
    assert_refused_at(":2:1", "'c' is not a number");
    put_text("t.csv", "1,5;2,5\n");
    assert_refused("separated by commas or blanks");
}

static void faults_of_a_text_are_listed_but_not_without_end(void **state)
{
    (void)state;
    gm_problems *problems = NULL;
    gm_table table;
    put_text("t.csv", "1 x\n2 x\n3 x\n4 x\n5 x\n6 x\n7 x\n");
    assert_int_equal(read_it(NULL, &problems, &table), GM_E_INPUT);
    assert_int_equal(gm_problems_count(problems), 5);
    gm_problems_destroy(&problems);
}

static void file_without_numbers_is_refused(void **state)
{
    (void)state;
    put_text("t.csv", "# nothing\n\n");
    assert_refused_at("", "holds no numbers");
    put_text("t.csv", "only,a,header\n");
    assert_refused_at("", "holds no numbers");
    put_text("t.csv", "");
    assert_refused("it is empty");
}

static void unreadable_file_is_reported_where_the_sweep_names_it(void **state)
{
    (void)state;
    at("missing.csv");
    assert_refused("sweep.yaml:3:12: cannot read '");
    assert_refused("missing.csv': No such file or directory");
    at(".");
    assert_refused("it is a folder");
    assert_int_equal(mkfifo(at("pipe"), 0600), 0);
    assert_refused("not a regular file");
    put_text("t.csv", "1 2\n");
    assert_refused_in("signal", "dataset 'signal' is asked for, but");
}

static void binary_files_are_told_from_text(void **state)
{
    (void)state;
    put("t.csv", "1 2\0 3\n", 7);
    assert_refused_at("", "this is not a text file");
    put("t.csv",
        "\xff\xfe"
        "1\0,\0"
        "2\0",
        8);
    assert_refused_at("", "this is text in UTF-16");
    put("t.npz", "PK\x03\x04\0\0\0\0", 8);
    assert_refused_at("", "this is a zip archive");
}

/* A .npy file of the given version with this header text, followed by n bytes. */
static void put_npy(int version, const char *header, const void *data, size_t n)
{
    unsigned char byte[1024] = "\x93NUMPY";
    size_t length = strlen(header);
    size_t start = version == 1 ? 10 : 12;
    byte[6] = (unsigned char)version;
    byte[8] = (unsigned char)(length & 0xff);
    byte[9] = (unsigned char)(length >> 8);
    memcpy(byte + start, header, length);
    memcpy(byte + start + length, data, n);
    put("t.npy", byte, start + length + n);
}

static void npy_of_all_versions_and_orders(void **state)
{
    (void)state;
    const double transposed[] = {1, 3, 5, 2, 4, 6};
    for (int version = 1; version <= 3; version++) {
        put_npy(version, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }   \n", six,
                sizeof six);
        assert_table(2, 3, six);
        put_npy(version, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", six,
                sizeof six);
        assert_table(2, 3, transposed);
        put_npy(version, "{'shape': (6,), 'fortran_order': False, 'descr': \"<f8\"}", six,
                sizeof six);
        assert_table(6, 1, six);
    }
    put_npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2L, 3L)}", six, sizeof six);
    assert_table(2, 3, six);
}

static void npy_of_all_types(void **state)
{
    (void)state;
    const float f4[] = {1.5f, -2};
    const int32_t i4[] = {7, -2};
    const int64_t i8[] = {INT64_C(1) << 40, -2};
    const uint8_t u1[] = {200, 1};
    const uint8_t b1[] = {1, 0};
    const uint8_t big_f8[] = {0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0};
    const uint8_t big_i2[] = {0, 7, 0xff, 0xfe};
    const uint8_t big_i4[] = {0, 0, 0, 7, 0xff, 0xff, 0xff, 0xfe};
    put_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)}", f4, sizeof f4);
    assert_table(1, 2, (const double[]){1.5, -2});
    put_npy(1, "{'descr': '<i4', 'fortran_order': False, 'shape': (1, 2)}", i4, sizeof i4);
    assert_table(1, 2, (const double[]){7, -2});
    put_npy(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 2)}", i8, sizeof i8);
    assert_table(1, 2, (const double[]){1099511627776.0, -2});
    put_npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2)}", u1, sizeof u1);
    assert_table(1, 2, (const double[]){200, 1});
    put_npy(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (1, 2)}", b1, sizeof b1);
    assert_table(1, 2, (const double[]){1, 0});
    put_npy(1, "{'descr': '>f8', 'fortran_order': False, 'shape': (1, 2)}", big_f8, sizeof big_f8);
    assert_table(1, 2, (const double[]){1.5, -2});
    put_npy(1, "{'descr': '>i2', 'fortran_order': False, 'shape': (1, 2)}", big_i2, sizeof big_i2);
    assert_table(1, 2, (const double[]){7, -2});
    put_npy(1, "{'descr': '>i4', 'fortran_order': False, 'shape': (1, 2)}", big_i4, sizeof big_i4);
    assert_table(1, 2, (const double[]){7, -2});
}

static void npy_that_lies_about_its_size_is_refused(void **state)
{
    (void)state;
    static const char *const shapes[] = {
        "(1152921504606846976,)",
        "(1073741824, 1073741824)",
        "(4294967296, 4294967296)",
        "(9223372036854775807, 9223372036854775807)",
        "(2, 4)",
        "(2, 2)",
    };
    char header[256];
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        snprintf(header, sizeof header, "{'descr': '<f8', 'fortran_order': False, 'shape': %s}",
                 shapes[i]);
        put_npy(1, header, six, sizeof six);
        assert_refused_at("", "the header says ");
        assert_refused("but 48 bytes follow");
    }
}

static void npy_that_is_no_table_of_numbers_is_refused(void **state)
{
    (void)state;
    put_npy(1, "{'descr': '<c16', 'fortran_order': False, 'shape': (3,)}", six, sizeof six);
    assert_refused_at("", "holds values of type '<c16'; allowed are f4, f8,");
    put_npy(1, "{'descr': '|O', 'fortran_order': False, 'shape': (3,)}", six, sizeof six);
    assert_refused("holds values of type '|O'");
    put_npy(1, "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (6,)}", six, sizeof six);
    assert_refused("holds values of type 'record'");
    put_npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2, 3)}", six, sizeof six);
    assert_refused("holds an array of 3 dimensions, expected 1 or 2");
    put_npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': ()}", six, 8);
    assert_refused("holds an array of 0 dimensions");
    put_npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3)}", six, 0);
    assert_refused("holds no numbers (0 x 3)");
}

static void damaged_npy_is_refused(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "",
        "{",
        "{'descr'",
        "{'descr': '<f8', 'fortran_order': False}",
        "{'descr': '<f8', 'shape': (6,)}",
        "{'fortran_order': False, 'shape': (6,)}",
        "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (6,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-6,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (6,",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (6,), 'more': 1}",
        "{'descr': '<f8",
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        put_npy(1, headers[i], "", 0);
        assert_refused_at("", "not a .npy file of version 1 to 3, or its header is damaged");
    }
    put("t.npy", "\x93NUMPY\x01\x00\xff\xff{}", 12);
    assert_refused("its header is damaged");
    put("t.npy", "\x93NUMPY\x09\x00\x02\x00{}", 12);
    assert_refused("not a .npy file of version 1 to 3");
    put_text("t.npy", "1 2 3\n");
    assert_refused("not a .npy file");
}

static void every_cut_of_a_good_npy_is_refused(void **state)
{
    (void)state;
    char byte[256];
    put_npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", six, sizeof six);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t n = fread(byte, 1, sizeof byte, file);
    fclose(file);
    for (size_t cut = 1; cut < n; cut++) {
        put("t.npy", byte, cut);
        assert_refused("t.npy");
    }
}

/* Adds a dataset to an open HDF5 file; limit NULL: contiguous. */
static void add_dataset(hid_t file, const char *name, hid_t type, int n_dim, const hsize_t *shape,
                        const void *value)
{
    hid_t space = H5Screate_simple(n_dim, shape, NULL);
    hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(set >= 0);
    if (value) assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0);
    H5Dclose(set);
    H5Sclose(space);
}

static void add_attribute(hid_t file, const char *dataset, const char *name)
{
    hid_t set = H5Dopen2(file, dataset, H5P_DEFAULT);
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(set, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(attribute >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Dclose(set);
}

static hid_t new_hdf5(const char *name)
{
    hid_t file = H5Fcreate(at(name), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    return file;
}

static void hdf5_datasets_are_read_by_name_or_alone(void **state)
{
    (void)state;
    const hsize_t shape[] = {2, 3};
    const int integer[] = {1, 2, 3, 4, 5, 6};
    hid_t file = new_hdf5("t.h5");
    add_dataset(file, "weights", H5T_NATIVE_DOUBLE, 2, shape, six);
    H5Fclose(file);
    assert_table(2, 3, six);
    assert_table_in("weights", 2, 3, six);
    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t group = H5Gcreate2(file, "more", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    add_dataset(group, "flat", H5T_NATIVE_INT, 1, (const hsize_t[]){6}, integer);
    H5Gclose(group);
    add_dataset(file, "node", H5T_NATIVE_INT, 1, (const hsize_t[]){3}, integer);
    add_attribute(file, "node", "REFERENCE_LIST"); /* a coordinate: it does not compete */
    H5Fclose(file);
    assert_table(2, 3, six);
    assert_table_in("/more/flat", 6, 1, six);
}

static void hdf5_without_a_clear_dataset_is_refused(void **state)
{
    (void)state;
    const hsize_t shape[] = {2, 3};
    hid_t file = new_hdf5("t.nc");
    H5Fclose(file);
    assert_refused("holds 0 datasets, expected 1");
    file = new_hdf5("t.nc");
    add_dataset(file, "a", H5T_NATIVE_DOUBLE, 2, shape, six);
    add_dataset(file, "b", H5T_NATIVE_DOUBLE, 2, shape, six);
    H5Fclose(file);
    assert_refused("holds 2 datasets, expected 1 or a dataset's name (a, b)");
    assert_refused_in("c", "sweep.yaml:3:12: no dataset 'c' in '");
    assert_refused_in("c", "at its root are: a, b");
}

static void hdf5_that_is_no_table_of_numbers_is_refused(void **state)
{
    (void)state;
    hid_t file = new_hdf5("t.h5");
    hid_t text = H5Tcopy(H5T_C_S1);
    add_dataset(file, "cube", H5T_NATIVE_DOUBLE, 3, (const hsize_t[]){1, 2, 3}, six);
    add_dataset(file, "empty", H5T_NATIVE_DOUBLE, 1, (const hsize_t[]){0}, NULL);
    add_dataset(file, "text", text, 1, (const hsize_t[]){2}, "ab");
    add_dataset(file, "packed", H5T_NATIVE_DOUBLE, 1, (const hsize_t[]){6}, six);
    add_attribute(file, "packed", "scale_factor");
    add_dataset(file, "huge", H5T_NATIVE_DOUBLE, 2, (const hsize_t[]){1 << 24, 1 << 24}, NULL);
    H5Tclose(text);
    H5Fclose(file);
    assert_refused_in("cube", "the dataset has 3 dimensions, expected 1 or 2");
    assert_refused_in("empty", "the dataset holds no numbers");
    assert_refused_in("text", "no plain integers or floating-point numbers");
    assert_refused_in("packed", "the dataset is packed");
    assert_refused_in("huge", "claims 16777216 x 16777216 values, but the file has only");
    put_text("t.h5", "1 2 3\n");
    assert_refused_at("", "not a readable HDF5 file: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_separated_by_commas_or_blanks),
        cmocka_unit_test(text_numbers_keep_every_digit),
        cmocka_unit_test(nan_and_inf_are_numbers_of_a_table),
        cmocka_unit_test(ragged_row_is_named_with_both_counts),
        cmocka_unit_test(field_that_is_no_number_is_named_with_line_and_column),
        cmocka_unit_test(faults_of_a_text_are_listed_but_not_without_end),
        cmocka_unit_test(file_without_numbers_is_refused),
        cmocka_unit_test(unreadable_file_is_reported_where_the_sweep_names_it),
        cmocka_unit_test(binary_files_are_told_from_text),
        cmocka_unit_test(npy_of_all_versions_and_orders),
        cmocka_unit_test(npy_of_all_types),
        cmocka_unit_test(npy_that_lies_about_its_size_is_refused),
        cmocka_unit_test(npy_that_is_no_table_of_numbers_is_refused),
        cmocka_unit_test(damaged_npy_is_refused),
        cmocka_unit_test(every_cut_of_a_good_npy_is_refused),
        cmocka_unit_test(hdf5_datasets_are_read_by_name_or_alone),
        cmocka_unit_test(hdf5_without_a_clear_dataset_is_refused),
        cmocka_unit_test(hdf5_that_is_no_table_of_numbers_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

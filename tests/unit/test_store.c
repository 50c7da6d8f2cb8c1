/* The result file on one rank: creation, the header read back, writing, and every refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/checksum.h"
#include "io/store.h"
#include "io/store_space.h"
#include "io/store_write.h"
#include "tests/support/store_create.h"
#include "tests/support/store_layout.h"

static char folder[] = "/tmp/gm_test_store.XXXXXX";
static char path[sizeof folder + 32];
static char partial[sizeof path + 32];

static const gm_attribute texts[] = {{GM_PROVENANCE_SWEEP, "model: x\n"},
                                     {GM_PROVENANCE_CANONICAL, "dt: 0.1\n"},
                                     {GM_PROVENANCE_KERNEL, "cpu fp32"},
                                     {"note", ""}};
enum { N_TEXT = sizeof texts / sizeof *texts };

static int remove_files(void **state)
{
    (void)state;
    unlink(path);
    unlink(partial);
    return 0;
}

static int remove_small_disk(void **state)
{
    (void)state;
    umount2(folder, MNT_DETACH); /* fails where mounting failed, harmlessly */
    return 0;
}

static bool exists(const char *name)
{
    struct stat info;
    return lstat(name, &info) == 0;
}

static void assert_message_has(const char *part)
{
    if (strstr(gm_status_message(), part) == NULL)
        fail_msg("message \"%s\" lacks \"%s\"", gm_status_message(), part);
}

static void create_grid(void)
{
    const gm_status st = store_create(path, &grid_layout, texts, N_TEXT, false);
    if (st != GM_OK) fail_msg("%s", gm_status_message());
}

static gm_store_header *inspect_grid(void)
{
    gm_store_header *header = NULL;
    const gm_status st = gm_store_inspect(path, &grid_layout, &header);
    if (st != GM_OK) fail_msg("%s", gm_status_message());
    return header;
}

static gm_store *open_grid(void)
{
    gm_store *store = NULL;
    gm_store_header *header = inspect_grid();
    const gm_status st = gm_store_open(MPI_COMM_SELF, path, &grid_layout, header->offset,
                                       header->run_offset, &store);
    if (st != GM_OK) fail_msg("%s", gm_status_message());
    gm_store_header_destroy(&header);
    return store;
}

static void read_variable(const char *name, hid_t type, void *out)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
    H5Dclose(dataset);
    H5Fclose(file);
}

static void assert_not_matching(gm_status expected, const gm_layout *layout, const char *part)
{
    gm_store_header *header = NULL;
    assert_int_equal(gm_store_inspect(path, layout, &header), expected);
    assert_null(header);
    assert_message_has(part);
}

static void a_new_file_holds_fill_values_and_the_texts(void **state)
{
    (void)state;
    float trajectory[GRID_N_POINT * GRID_N_TIME * GRID_N_NODE] = {0};
    int64_t failed[GRID_N_POINT] = {0};
    create_grid();
    assert_false(exists(partial));
    gm_store_header *header = inspect_grid();
    assert_int_equal(header->n_variable, GRID_N_VARIABLE);
    assert_int_equal(header->n_point, GRID_N_POINT);
    assert_int_equal(header->n_run, 0);
    assert_string_equal(header->sweep_text, "model: x\n");
    assert_string_equal(header->canonical, "dt: 0.1\n");
    assert_string_equal(header->kernel, "cpu fp32");
    for (int i = 0; i < GRID_N_POINT; i++) assert_int_equal(header->status[i], GM_POINT_PENDING);
    gm_store_header_destroy(&header);
    assert_null(header);
    read_variable("E", H5T_NATIVE_FLOAT, trajectory);
    for (size_t i = 0; i < sizeof trajectory / sizeof *trajectory; i++)
        assert_true(isnan(trajectory[i]));
    read_variable("failed_step", H5T_NATIVE_INT64, failed);
    for (int i = 0; i < GRID_N_POINT; i++) assert_int_equal(failed[i], -1);
}

static void fill_values_are_whole_when_written_in_odd_pieces(void **state)
{
    (void)state;
    double last[GRID_N_POINT * GRID_N_NODE] = {0};
    gm_fill_limit_piece(24);
    create_grid();
    gm_fill_limit_piece(16 << 20);
    read_variable("I_last", H5T_NATIVE_DOUBLE, last);
    for (size_t i = 0; i < sizeof last / sizeof *last; i++) assert_true(isnan(last[i]));
}

static void a_new_file_owns_its_blocks_on_the_disk(void **state)
{
    (void)state;
    struct stat info;
    create_grid();
    assert_int_equal(stat(path, &info), 0);
    assert_true(info.st_blocks * 512 >= info.st_size);
}

static void a_long_sweep_text_comes_back_whole(void **state)
{
    (void)state;
    const size_t n = 300000;
    char *text = malloc(n + 1);
    assert_non_null(text);
    memset(text, 'x', n);
    text[n] = '\0';
    const gm_attribute with_long[] = {{GM_PROVENANCE_SWEEP, text}, texts[1], texts[2]};
    assert_int_equal(store_create(path, &grid_layout, with_long, 3, false), GM_OK);
    gm_store_header *header = inspect_grid();
    assert_string_equal(header->sweep_text, text);
    gm_store_header_destroy(&header);
    free(text);
}

static void an_existing_file_is_kept_unless_replacing(void **state)
{
    (void)state;
    create_grid();
    assert_int_equal(store_create(path, &zip_layout, texts, N_TEXT, false), GM_E_RESULT);
    assert_message_has("exists");
    gm_store_header *header = inspect_grid();
    gm_store_header_destroy(&header);
    assert_int_equal(store_create(path, &zip_layout, texts, N_TEXT, true), GM_OK);
    assert_int_equal(gm_store_inspect(path, &zip_layout, &header), GM_OK);
    assert_int_equal(header->n_point, ZIP_N_POINT);
    gm_store_header_destroy(&header);
}

static void a_stale_partial_file_is_no_obstacle(void **state)
{
    (void)state;
    FILE *stale = fopen(partial, "w");
    assert_non_null(stale);
    fputs("left by a killed run", stale);
    fclose(stale);
    create_grid();
    assert_false(exists(partial));
}

static void a_missing_folder_is_named(void **state)
{
    (void)state;
    int64_t n_byte = 0;
    assert_int_equal(store_create("/nowhere/at/all.h5", &grid_layout, texts, N_TEXT, false),
                     GM_E_IO);
    assert_message_has("no such folder");
    assert_int_equal(gm_store_free_space("/nowhere/at/all.h5", &n_byte), GM_E_IO);
    assert_message_has("no such folder");
    assert_int_equal(store_create(folder, &grid_layout, texts, N_TEXT, true), GM_E_IO);
    assert_message_has("is a folder");
}

static void free_space_is_that_of_the_folder(void **state)
{
    (void)state;
    int64_t n_byte = 0;
    assert_int_equal(gm_store_free_space(path, &n_byte), GM_OK);
    assert_true(n_byte > 0);
    assert_int_equal(gm_store_free_space("plain_name.h5", &n_byte), GM_OK);
}

/* Root may write everywhere: a child process gives that up first. 0: refused as it should be. */
static int try_without_permission(void)
{
    int64_t n_byte = 0;
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) return 1;
    if (store_create(path, &grid_layout, texts, N_TEXT, false) != GM_E_IO) return 2;
    if (strstr(gm_status_message(), "permission denied") == NULL) return 3;
    if (gm_store_free_space(path, &n_byte) != GM_E_IO) return 4;
    if (strstr(gm_status_message(), "not writable") == NULL) return 5;
    return 0;
}

static void a_folder_without_permission_is_refused(void **state)
{
    (void)state;
    int wait_status = -1;
    assert_int_equal(chmod(folder, 0555), 0);
    const pid_t child = fork();
    if (child == 0) _exit(try_without_permission());
    assert_int_equal(waitpid(child, &wait_status, 0), child);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(wait_status, 0);
}

static void a_file_size_limit_leaves_nothing_behind(void **state)
{
    (void)state;
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    const struct rlimit low = {4096, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    const gm_status st = store_create(path, &grid_layout, texts, N_TEXT, false);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(st, GM_E_IO);
    assert_false(exists(partial));
    assert_false(exists(path));
}

/* On a file system of 4 MiB: too small for one layout, then filled up behind another's back. */
static void use_small_disk(void)
{
    char name[sizeof folder + 64];
    gm_layout large = grid_layout;
    gm_coordinate coordinate[4];
    gm_variable variable[GRID_N_VARIABLE];
    memcpy(coordinate, grid_coordinate, sizeof coordinate);
    memcpy(variable, grid_variable, sizeof variable);
    large.coordinate = coordinate;
    large.variable = variable;
    large.n_sample = coordinate[2].n = 60000;
    variable[GRID_E].row_bytes = 4 * GRID_N_NODE * 60000;
    coordinate[2].value = calloc(60000, sizeof(double));
    assert_non_null(coordinate[2].value);
    snprintf(name, sizeof name, "%s/large.h5.partial", folder);
    char *dot = strstr(name, ".partial");
    *dot = '\0';
    assert_int_equal(store_create(name, &large, texts, N_TEXT, false), GM_E_IO);
    assert_message_has("no space left on device");
    assert_false(exists(name));
    *dot = '.';
    assert_false(exists(name));
    free(coordinate[2].value);
}

static void fill_disk(void)
{
    char name[sizeof folder + 64];
    static const char block[4096] = "x";
    snprintf(name, sizeof name, "%s/filler", folder);
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    while (write(fd, block, sizeof block) > 0) {
    }
    close(fd);
}

static void a_full_disk_is_named_and_leaves_nothing_behind(void **state)
{
    (void)state;
    if (mount("none", folder, "tmpfs", 0, "size=4m") != 0) {
        print_message("cannot mount a small tmpfs (%s): needs root\n", strerror(errno));
        skip();
    }
    static float row[GRID_N_NODE * GRID_N_TIME];
    use_small_disk();
    create_grid();
    gm_store *store = open_grid();
    int fd = open(path, O_WRONLY);
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    assert_int_equal(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, info.st_size), 0);
    close(fd);
    fill_disk();
    const gm_status st = gm_store_write(store, GRID_E, 0, 1, 0, sizeof row, row, sizeof row);
    if (st == GM_E_IO) assert_message_has("no space left on device");
    assert_int_equal(gm_store_close(&store), GM_OK);
    assert_int_equal(st, GM_E_IO);
    assert_message_has("'E'");
}

static void written_rows_come_back(void **state)
{
    (void)state;
    float mean[GRID_N_POINT][GRID_N_NODE];
    float got[GRID_N_POINT][GRID_N_NODE];
    uint8_t status[GRID_N_POINT] = {GM_POINT_DONE, GM_POINT_DONE, GM_POINT_DIVERGED};
    int64_t n_byte = 0;
    double seconds = -1;
    for (int i = 0; i < GRID_N_POINT * GRID_N_NODE; i++) (&mean[0][0])[i] = (float)i;
    create_grid();
    gm_store *store = open_grid();
    gm_store_limit_piece(7);
    assert_int_equal(
        gm_store_write(store, GRID_E_MEAN, 1, 4, 0, sizeof mean[0], mean[1], sizeof mean[0]),
        GM_OK);
    gm_store_limit_piece(256 << 20);
    assert_int_equal(gm_store_write(store, GRID_STATUS, 0, GRID_N_POINT, 0, 1, status, 1), GM_OK);
    assert_int_equal(gm_store_sync(store), GM_OK);
    gm_store_usage(store, &n_byte, &seconds);
    assert_int_equal(n_byte, 4 * sizeof mean[0] + GRID_N_POINT);
    assert_true(seconds >= 0 && seconds < 60);
    assert_int_equal(gm_store_close(&store), GM_OK);
    assert_null(store);
    read_variable("E_mean", H5T_NATIVE_FLOAT, got);
    assert_memory_equal(got[1], mean[1], 4 * sizeof mean[0]);
    for (int i = 0; i < GRID_N_NODE; i++) assert_true(isnan(got[0][i]) && isnan(got[5][i]));
    gm_store_header *header = inspect_grid();
    assert_memory_equal(header->status, status, sizeof status);
    gm_store_header_destroy(&header);
}

static void parts_of_rows_land_between_their_neighbours(void **state)
{
    (void)state;
    enum { BEGIN = 1, N = 2, STRIDE = 3 }; /* samples; the host's rows are wider than the part */
    float host[GRID_N_POINT][STRIDE][GRID_N_NODE];
    float got[GRID_N_POINT][GRID_N_TIME][GRID_N_NODE];
    for (int i = 0; i < GRID_N_POINT * STRIDE * GRID_N_NODE; i++) (&host[0][0][0])[i] = (float)i;
    create_grid();
    gm_store *store = open_grid();
    assert_int_equal(gm_store_write(store, GRID_E, 2, 3, BEGIN * sizeof got[0][0],
                                    N * sizeof got[0][0], host[2], sizeof host[0]),
                     GM_OK);
    assert_int_equal(gm_store_close(&store), GM_OK);
    read_variable("E", H5T_NATIVE_FLOAT, got);
    for (int p = 0; p < GRID_N_POINT; p++)
        for (int t = 0; t < GRID_N_TIME; t++)
            for (int i = 0; i < GRID_N_NODE; i++) {
                const bool written = p >= 2 && p < 5 && t >= BEGIN && t < BEGIN + N;
                if (written) assert_true(got[p][t][i] == host[p][t - BEGIN][i]);
                if (!written) assert_true(isnan(got[p][t][i]));
            }
}

static void writing_outside_of_a_variable_is_refused(void **state)
{
    (void)state;
    const double value = 0;
    create_grid();
    gm_store *store = open_grid();
    assert_int_equal(gm_store_write(store, GRID_N_VARIABLE, 0, 1, 0, 1, &value, 1), GM_E_INTERNAL);
    assert_int_equal(gm_store_write(store, GRID_STATUS, GRID_N_POINT, 1, 0, 1, &value, 1),
                     GM_E_INTERNAL);
    assert_int_equal(gm_store_write(store, GRID_I_LAST, 0, 1, 8 * GRID_N_NODE, 8, &value, 8),
                     GM_E_INTERNAL);
    assert_int_equal(gm_store_write_run(store, GM_STORE_RUN_SLOTS, "{}"), GM_E_INTERNAL);
    assert_int_equal(gm_store_close(&store), GM_OK);
    assert_int_equal(gm_store_close(&store), GM_OK);
}

static void run_documents_are_cut_between_characters(void **state)
{
    (void)state;
    char text[GM_STORE_RUN_BYTES + 10] = "";
    memset(text, 'x', GM_STORE_RUN_BYTES - 2);
    strcat(text, "äöü");
    create_grid();
    gm_store *store = open_grid();
    assert_int_equal(gm_store_write_run(store, 0, "{\"rank\": 4}"), GM_OK);
    assert_int_equal(gm_store_write_run(store, 2, text), GM_OK);
    assert_int_equal(gm_store_close(&store), GM_OK);
    gm_store_header *header = inspect_grid();
    assert_int_equal(header->n_run, 3);
    assert_string_equal(header->run[0], "{\"rank\": 4}");
    assert_string_equal(header->run[1], "");
    assert_int_equal(strlen(header->run[2]), GM_STORE_RUN_BYTES - 2);
    gm_store_header_destroy(&header);
}

static void opening_a_file_that_is_too_short_is_refused(void **state)
{
    (void)state;
    gm_store *store = NULL;
    create_grid();
    gm_store_header *header = inspect_grid();
    assert_int_equal(truncate(path, header->offset[0] + 1), 0);
    assert_int_equal(gm_store_open(MPI_COMM_SELF, path, &grid_layout, header->offset,
                                   header->run_offset, &store),
                     GM_E_RESULT);
    assert_null(store);
    unlink(path);
    assert_int_equal(gm_store_open(MPI_COMM_SELF, path, &grid_layout, header->offset,
                                   header->run_offset, &store),
                     GM_E_IO);
    assert_message_has("no such file");
    gm_store_header_destroy(&header);
}

static void a_file_of_another_shape_names_the_dimension(void **state)
{
    (void)state;
    gm_layout other = grid_layout;
    gm_coordinate coordinate[4];
    create_grid();
    memcpy(coordinate, grid_coordinate, sizeof coordinate);
    coordinate[0].n = GRID_N_G + 4;
    other.coordinate = coordinate;
    assert_not_matching(GM_E_RESULT, &other, "dimension 'G' of variable 'E_mean' has length 3");
    assert_not_matching(GM_E_RESULT, &zip_layout, "has no variable 'E_last'");
    gm_variable variable[GRID_N_VARIABLE];
    memcpy(variable, grid_variable, sizeof variable);
    variable[GRID_I_LAST].type = GM_TYPE_F32;
    other = grid_layout;
    other.variable = variable;
    assert_not_matching(GM_E_RESULT, &other, "variable 'I_last' is not of the type");
    gm_store_header *header = NULL;
    assert_int_equal(gm_store_inspect(path, NULL, &header), GM_OK);
    assert_int_equal(header->n_variable, 0);
    gm_store_header_destroy(&header);
}

/* A sparse file takes the place of one that would fill the disk: what counts is where rows land. */
static void rows_beyond_4_gib_and_2_to_the_31_values_land_where_they_belong(void **state)
{
    (void)state;
    enum { N = 10 };
    const int64_t n_point = (INT64_C(1) << 31) + 1000;
    const int64_t begin[] = {0, (INT64_C(1) << 30) - 5, (INT64_C(1) << 31) - 5, n_point - N};
    const int64_t offset[] = {4096, 4096 + 4 * n_point};
    const int64_t run_offset = offset[1] + n_point;
    gm_variable variable[] = {{.name = (char *)"x_last", .type = GM_TYPE_F32, .row_bytes = 4},
                              {.name = (char *)"status", .type = GM_TYPE_U8, .row_bytes = 1}};
    const gm_layout large = {.n_variable = 2, .variable = variable, .n_point = n_point};
    gm_store *store = NULL;
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    if (ftruncate(fd, run_offset + (int64_t)GM_STORE_RUN_SLOTS * GM_STORE_RUN_BYTES) != 0) {
        close(fd);
        skip(); /* a file system for small files only */
    }
    assert_int_equal(gm_store_open(MPI_COMM_SELF, path, &large, offset, run_offset, &store), GM_OK);
    for (size_t b = 0; b < sizeof begin / sizeof *begin; b++) {
        float wrote[N], got[N] = {0};
        uint8_t done[N], found[N] = {0};
        uint32_t sum = 0;
        for (int i = 0; i < N; i++) wrote[i] = (float)(10 * b) + (float)i + 0.5F;
        memset(done, (int)b + 1, sizeof done);
        assert_int_equal(gm_store_write(store, 0, begin[b], N, 0, 4, wrote, 4), GM_OK);
        assert_int_equal(gm_store_write(store, 1, begin[b], N, 0, 1, done, 1), GM_OK);
        assert_int_equal(pread(fd, got, sizeof got, 4096 + 4 * begin[b]), sizeof got);
        assert_int_equal(pread(fd, found, sizeof found, offset[1] + begin[b]), sizeof found);
        assert_memory_equal(got, wrote, sizeof got);
        assert_memory_equal(found, done, sizeof found);
        assert_int_equal(gm_store_sum(store, 0, begin[b] + 7, 4, &sum), GM_OK);
        assert_int_equal(sum, gm_checksum_add(0, &wrote[7], 4));
    }
    assert_int_equal(gm_store_write(store, 0, n_point - 1, 2, 0, 4, (float[2]){0}, 4),
                     GM_E_INTERNAL);
    assert_int_equal(gm_store_close(&store), GM_OK);
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    assert_true(info.st_size > INT64_C(10) << 30 && info.st_blocks * 512 < 16 << 20);
    close(fd);
}

static void what_is_not_a_result_file_is_told_apart(void **state)
{
    (void)state;
    assert_not_matching(GM_E_IO, NULL, "no such file");
    FILE *text = fopen(path, "w");
    assert_non_null(text);
    fputs("model: wilson_cowan\n", text);
    fclose(text);
    assert_not_matching(GM_E_RESULT, NULL, "is not an HDF5 file");
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(H5Gcreate2(file, "provenance", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Fclose(file);
    assert_not_matching(GM_E_RESULT, NULL, "not a result of gridmarch");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_new_file_holds_fill_values_and_the_texts, remove_files),
        cmocka_unit_test_teardown(fill_values_are_whole_when_written_in_odd_pieces, remove_files),
        cmocka_unit_test_teardown(a_new_file_owns_its_blocks_on_the_disk, remove_files),
        cmocka_unit_test_teardown(a_long_sweep_text_comes_back_whole, remove_files),
        cmocka_unit_test_teardown(an_existing_file_is_kept_unless_replacing, remove_files),
        cmocka_unit_test_teardown(a_stale_partial_file_is_no_obstacle, remove_files),
        cmocka_unit_test_teardown(a_missing_folder_is_named, remove_files),
        cmocka_unit_test_teardown(free_space_is_that_of_the_folder, remove_files),
        cmocka_unit_test_teardown(a_folder_without_permission_is_refused, remove_files),
        cmocka_unit_test_teardown(a_file_size_limit_leaves_nothing_behind, remove_files),
        cmocka_unit_test_teardown(a_full_disk_is_named_and_leaves_nothing_behind,
                                  remove_small_disk),
        cmocka_unit_test_teardown(written_rows_come_back, remove_files),
        cmocka_unit_test_teardown(parts_of_rows_land_between_their_neighbours, remove_files),
        cmocka_unit_test_teardown(writing_outside_of_a_variable_is_refused, remove_files),
        cmocka_unit_test_teardown(run_documents_are_cut_between_characters, remove_files),
        cmocka_unit_test_teardown(opening_a_file_that_is_too_short_is_refused, remove_files),
        cmocka_unit_test_teardown(a_file_of_another_shape_names_the_dimension, remove_files),
        cmocka_unit_test_teardown(rows_beyond_4_gib_and_2_to_the_31_values_land_where_they_belong,
                                  remove_files),
        cmocka_unit_test_teardown(what_is_not_a_result_file_is_told_apart, remove_files),
    };
    MPI_Init(&argc, &argv);
    if (mkdtemp(folder) == NULL) return 1;
    chmod(folder, 0755);
    snprintf(path, sizeof path, "%s/result.h5", folder);
    snprintf(partial, sizeof partial, "%s.partial", path);
    const int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    MPI_Finalize();
    return n_failed;
}

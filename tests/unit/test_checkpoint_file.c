/** Records of points beside a result: the newer valid one counts, whatever became of the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/layout.h"
#include "io/checkpoint_file.h"
#include "scratch.h"

enum { N_POINT = 1000, N_BYTE = 48, N_STEP = 500 };

static const gm_checkpoint_shape shape = {"a sweep", "a kernel", N_POINT, N_STEP, N_BYTE};
static const uint8_t pending[N_POINT];

static gm_checkpoint_file *open_as(const gm_checkpoint_shape *of)
{
    gm_checkpoint_file *f = NULL;
    bool fits = false;
    assert_int_equal(gm_checkpoint_file_open(at("r.h5"), of, &fits, &f), GM_OK);
    assert_int_equal(fits, f != NULL);
    return f;
}

/* The state of a point at a step. */
static void fill(int64_t point, int64_t step, char state[N_BYTE])
{
    for (int i = 0; i < N_BYTE; i++) state[i] = (char)(point * 7 + step * 3 + i);
}

/* Points begin, begin + 1, ... n of them. */
static void write_points(gm_checkpoint_file *f, int64_t begin, int64_t n, int64_t step, int copy)
{
    gm_checkpoint_entry entry[N_POINT];
    char *state = malloc((size_t)n * N_BYTE);
    assert_non_null(state);
    for (int64_t i = 0; i < n; i++) {
        entry[i] = (gm_checkpoint_entry){begin + i, step, copy};
        fill(begin + i, step, state + i * N_BYTE);
    }
    assert_int_equal(gm_checkpoint_file_write(f, entry, n, state), GM_OK);
    free(state);
}

/* The records listed, and whether each reads as it was written. */
static void expect_list(gm_checkpoint_file *f, const uint8_t *status,
                        const gm_checkpoint_entry *expected, int64_t n_expected, bool good)
{
    gm_checkpoint_entry *entry = NULL;
    int64_t n = 0;
    char state[N_BYTE], wanted[N_BYTE];
    assert_int_equal(gm_checkpoint_file_list(f, status, &entry, &n), GM_OK);
    assert_int_equal(n, n_expected);
    for (int64_t i = 0; i < n; i++) {
        bool fine = false;
        assert_memory_equal(&entry[i], &expected[i], sizeof *entry);
        assert_int_equal(gm_checkpoint_file_read(f, &entry[i], state, &fine), GM_OK);
        assert_int_equal(fine, good);
        fill(entry[i].point, entry[i].step, wanted);
        if (good) assert_memory_equal(state, wanted, N_BYTE);
    }
    free(entry);
}

static void records_are_listed_by_point_and_the_newer_first(void **state)
{
    (void)state;
    uint8_t status[N_POINT] = {0};
    static const gm_checkpoint_entry expected[] = {{3, 40, 1}, {3, 20, 0}, {4, 40, 1},
                                                   {4, 20, 0}, {5, 20, 0}, {999, 7, 0}};
    gm_checkpoint_file *f = open_as(&shape);
    expect_list(f, pending, NULL, 0, true); /* no file yet */
    assert_int_equal(access(at("r.h5.checkpoint"), F_OK), -1);
    write_points(f, 3, 3, 20, 0);
    write_points(f, 3, 2, 40, 1);
    write_points(f, 999, 1, 7, 0);
    expect_list(f, pending, expected, 6, true);
    gm_checkpoint_file_close(&f);
    f = open_as(&shape); /* as another run sees it */
    expect_list(f, pending, expected, 6, true);
    status[3] = status[4] = status[5] = GM_POINT_DONE;
    expect_list(f, status, expected + 5, 1, true);
    gm_checkpoint_file_close(&f);
    gm_checkpoint_file_remove(at("r.h5"));
    assert_int_equal(access(at("r.h5.checkpoint"), F_OK), -1);
}

static void another_kernel_sees_no_good_record_and_another_sweep_no_file(void **state)
{
    (void)state;
    static const gm_checkpoint_entry expected[] = {{8, 20, 0}, {9, 20, 0}};
    gm_checkpoint_shape other[] = {shape, shape, shape, shape};
    gm_checkpoint_file *f = open_as(&shape);
    write_points(f, 8, 2, 20, 0);
    gm_checkpoint_file_close(&f);
    gm_checkpoint_shape kernel = shape;
    kernel.kernel = "another kernel";
    f = open_as(&kernel);
    expect_list(f, pending, expected, 2, false);
    gm_checkpoint_file_close(&f);
    other[0].sweep = "another sweep";
    other[1].n_point++;
    other[2].n_step++;
    other[3].n_byte += 8;
    for (int i = 0; i < 4; i++) assert_null(open_as(&other[i]));
    gm_checkpoint_file_remove(at("r.h5"));
}

/* Every byte of a record matters. */
static void a_damaged_or_torn_record_is_not_good(void **state)
{
    (void)state;
    static const gm_checkpoint_entry entry = {2, 30, 0};
    gm_checkpoint_file *f = open_as(&shape);
    char value[N_BYTE];
    bool good = false;
    write_points(f, 2, 1, 30, 0);
    const int fd = open(at("r.h5.checkpoint"), O_RDWR);
    assert_true(fd >= 0);
    const off_t begin = 4096 + 2 * (N_BYTE + 32);
    for (int i = 0; i < N_BYTE + 32; i++) {
        char byte = 0;
        assert_int_equal(pread(fd, &byte, 1, begin + i), 1);
        byte ^= 16;
        assert_int_equal(pwrite(fd, &byte, 1, begin + i), 1);
        assert_int_equal(gm_checkpoint_file_read(f, &entry, value, &good), GM_OK);
        assert_false(good);
        byte ^= 16;
        assert_int_equal(pwrite(fd, &byte, 1, begin + i), 1);
    }
    assert_int_equal(gm_checkpoint_file_read(f, &entry, value, &good), GM_OK);
    assert_true(good);
    assert_int_equal(ftruncate(fd, begin + 60), 0);
    assert_int_equal(gm_checkpoint_file_read(f, &entry, value, &good), GM_OK);
    assert_false(good);
    close(fd);
    gm_checkpoint_file_close(&f);
    gm_checkpoint_file_remove(at("r.h5"));
}

static void points_that_are_done_are_forgotten_and_take_no_space(void **state)
{
    (void)state;
    static const int64_t done[] = {0, 1, 2, 4, 999};
    static const gm_checkpoint_entry expected[] = {{3, 30, 0}, {5, 30, 0}};
    gm_checkpoint_file *f = open_as(&shape);
    write_points(f, 0, 6, 30, 0);
    write_points(f, 999, 1, 30, 1);
    assert_int_equal(gm_checkpoint_file_erase(f, done, 5), GM_OK);
    expect_list(f, pending, expected, 2, true);
    gm_checkpoint_file_close(&f);
    gm_checkpoint_file_remove(at("r.h5"));
}

static void a_survey_counts_points_with_a_whole_record(void **state)
{
    (void)state;
    gm_checkpoint_survey found;
    assert_int_equal(gm_checkpoint_file_survey(at("r.h5"), pending, N_POINT, &found), GM_OK);
    assert_int_equal(found.n, 0);
    gm_checkpoint_file *f = open_as(&shape);
    write_points(f, 10, 4, 30, 0);
    write_points(f, 12, 2, 60, 1);
    write_points(f, 14, 1, 90, 0);
    const int fd = open(at("r.h5.checkpoint"), O_RDWR); /* spoil the last one's state */
    assert_int_equal(pwrite(fd, "?", 1, 4096 + 14 * (N_BYTE + 32) + 40), 1);
    close(fd);
    assert_int_equal(gm_checkpoint_file_survey(at("r.h5"), pending, N_POINT, &found), GM_OK);
    assert_int_equal(found.n, 4);
    assert_int_equal(found.least, 30);
    assert_int_equal(found.most, 60);
    assert_int_equal(found.n_step, N_STEP);
    assert_int_equal(gm_checkpoint_file_survey(at("r.h5"), pending, N_POINT - 1, &found), GM_OK);
    assert_int_equal(found.n, 0);
    gm_checkpoint_file_close(&f);
    gm_checkpoint_file_remove(at("r.h5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_listed_by_point_and_the_newer_first),
        cmocka_unit_test(another_kernel_sees_no_good_record_and_another_sweep_no_file),
        cmocka_unit_test(a_damaged_or_torn_record_is_not_good),
        cmocka_unit_test(points_that_are_done_are_forgotten_and_take_no_space),
        cmocka_unit_test(a_survey_counts_points_with_a_whole_record),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

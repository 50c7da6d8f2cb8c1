/** The cache of compiled kernels: what is read is what was written or nothing, whatever happens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "io/cache.h"
#include "scratch.h"

#define KEY_A "0123456789abcdef0123456789abcdea"
#define KEY_B "0123456789abcdef0123456789abcdeb"
#define KEY_C "0123456789abcdef0123456789abcdec"
#define KEY_D "0123456789abcdef0123456789abcded"

static const int64_t usual_limit = INT64_C(256) << 20;

/* An empty cache for each test. */
static int fresh_cache(void **state)
{
    static int n;
    char base[32];
    (void)state;
    snprintf(base, sizeof base, "base%d", n++);
    gm_cache_limit(usual_limit);
    if (mkdir(at(base), 0700) != 0) return -1;
    return setenv("XDG_CACHE_HOME", path, 1) || setenv("HOME", "/nowhere", 1);
}

/* The path of a file in the cache. */
static const char *in_cache(const char *name)
{
    static char full[512];
    snprintf(full, sizeof full, "%s/gridmarch/%s", getenv("XDG_CACHE_HOME"), name);
    return full;
}

static bool exists(const char *file)
{
    return access(file, F_OK) == 0;
}

static bool holds(const char *key, const void *expected, int64_t n_expected)
{
    void *data = NULL;
    int64_t n = -1;
    if (!gm_cache_read(key, &data, &n)) return false;
    const bool same = n == n_expected && memcmp(data, expected, (size_t)n) == 0;
    assert_int_equal(((char *)data)[n], 0);
    free(data);
    assert_true(same);
    return true;
}

static bool is_kept(const char *key)
{
    void *data = NULL;
    int64_t n = 0;
    const bool kept = gm_cache_read(key, &data, &n);
    free(data);
    return kept;
}

static int count_names(const char *prefix)
{
    int n = 0;
    DIR *names = opendir(in_cache("."));
    assert_non_null(names);
    for (struct dirent *d = readdir(names); d; d = readdir(names))
        n += d->d_name[0] != '.' && !strncmp(d->d_name, prefix, strlen(prefix));
    closedir(names);
    return n;
}

/* --- contents ------------------------------------------------------------------------------------
 */

static void what_is_written_is_read(void **state)
{
    (void)state;
    static const char bytes[] = "a\0b\0\0c\xff";
    gm_cache_write(KEY_A, bytes, sizeof bytes);
    gm_cache_write(KEY_B, "", 0);
    assert_true(holds(KEY_A, bytes, sizeof bytes));
    assert_true(holds(KEY_B, "", 0));
    gm_cache_write(KEY_A, "other", 5);
    assert_true(holds(KEY_A, "other", 5));
}

static void what_is_absent_changes_nothing(void **state)
{
    (void)state;
    int there = 0;
    void *data = &there;
    int64_t n = 7;
    assert_false(gm_cache_read(KEY_A, &data, &n));
    assert_ptr_equal(data, &there);
    assert_false(exists(in_cache(""))); /* looking makes no folder */
    assert_int_equal(n, 7);
}

static void only_keys_name_entries(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "x",
                                        "../../etc/passwd",
                                        "0123456789ABCDEF0123456789ABCDEF",
                                        "0123456789abcdef0123456789abcdef0",
                                        "/123456789abcdef0123456789abcdef"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gm_cache_write(wrong[i], "x", 1);
        assert_false(is_kept(wrong[i]));
    }
    assert_false(exists(in_cache("")));
}

static void change_file(const char *file, int64_t offset, const char *bytes, int64_t n)
{
    const int f = open(file, O_WRONLY);
    assert_true(f >= 0);
    assert_int_equal(pwrite(f, bytes, (size_t)n, offset), n);
    close(f);
}

static void a_spoilt_entry_is_absent_and_goes(void **state)
{
    (void)state;
    struct stat info;
    char content[300];
    memset(content, 'x', sizeof content);
    gm_cache_write(KEY_A, content, sizeof content);
    assert_int_equal(stat(in_cache(KEY_A), &info), 0);
    for (int64_t i = 0; i < info.st_size; i += i < 48 ? 1 : 31) { /* a byte changed */
        gm_cache_write(KEY_A, content, sizeof content);
        change_file(in_cache(KEY_A), i, "\x7e", 1);
        if (is_kept(KEY_A)) fail_msg("byte %d was not noticed", (int)i);
        assert_false(exists(in_cache(KEY_A)));
    }
    for (int64_t i = 0; i < info.st_size; i += i < 48 ? 1 : 31) { /* cut short */
        gm_cache_write(KEY_A, content, sizeof content);
        assert_int_equal(truncate(in_cache(KEY_A), i), 0);
        assert_false(is_kept(KEY_A));
        assert_false(exists(in_cache(KEY_A)));
    }
    gm_cache_write(KEY_A, content, sizeof content);
    change_file(in_cache(KEY_A), info.st_size, "y", 1); /* too long */
    assert_false(is_kept(KEY_A));
    gm_cache_write(KEY_A, content, sizeof content);
    assert_true(holds(KEY_A, content, sizeof content));
}

static void an_entry_under_another_key_is_absent(void **state)
{
    (void)state;
    char from[512];
    gm_cache_write(KEY_A, "a", 1);
    snprintf(from, sizeof from, "%s", in_cache(KEY_A));
    assert_int_equal(rename(from, in_cache(KEY_B)), 0);
    assert_false(is_kept(KEY_B));
}

/* --- the folder ----------------------------------------------------------------------------------
 */

static void folder_and_entries_are_private(void **state)
{
    (void)state;
    struct stat info;
    const mode_t before = umask(0);
    gm_cache_write(KEY_A, "a", 1);
    umask(before);
    assert_int_equal(stat(in_cache("."), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    assert_int_equal(stat(in_cache(KEY_A), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

static void a_folder_that_others_may_write_is_not_used(void **state)
{
    (void)state;
    static const mode_t open_to[] = {0770, 0720, 0702, 0777};
    gm_cache_write(KEY_A, "a", 1);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(chmod(in_cache("."), open_to[i]), 0);
        gm_cache_write(KEY_B, "b", 1);
        assert_false(exists(in_cache(KEY_B)));
        assert_false(is_kept(KEY_A));
        assert_true(exists(in_cache(KEY_A)));
    }
    assert_int_equal(chmod(in_cache("."), 0755), 0);
    assert_true(is_kept(KEY_A));
}

static void a_folder_of_another_user_is_not_used(void **state)
{
    (void)state;
    gm_cache_write(KEY_A, "a", 1);
    if (chown(in_cache("."), 65534, 65534) != 0) {
        print_message("skipped: only root can give folders away\n");
        skip();
    }
    assert_false(is_kept(KEY_A));
    gm_cache_write(KEY_B, "b", 1);
    assert_false(exists(in_cache(KEY_B)));
}

static void without_xdg_it_lies_in_the_home_folder(void **state)
{
    (void)state;
    char file[512];
    setenv("HOME", getenv("XDG_CACHE_HOME"), 1);
    snprintf(file, sizeof file, "%s/.cache/gridmarch/" KEY_A, getenv("HOME"));
    static const char *const not_absolute[] = {NULL, "", "relative", "./here"};
    for (int i = 0; i < 4; i++) {
        if (not_absolute[i])
            setenv("XDG_CACHE_HOME", not_absolute[i], 1);
        else
            unsetenv("XDG_CACHE_HOME");
        gm_cache_write(KEY_A, "a", 1);
        assert_int_equal(unlink(file), 0);
    }
    assert_false(exists("relative"));
    assert_false(exists("here"));
}

static void without_any_folder_everything_is_absent(void **state)
{
    (void)state;
    static const char *const unusable[] = {"/proc", "/dev/null", "/dev/null/x", "relative"};
    char too_long[5000];
    memset(too_long, 'a', sizeof too_long);
    too_long[0] = '/', too_long[sizeof too_long - 1] = '\0';
    unsetenv("HOME");
    for (int i = 0; i < 6; i++) {
        if (i == 5)
            unsetenv("XDG_CACHE_HOME");
        else
            setenv("XDG_CACHE_HOME", i == 4 ? too_long : unusable[i], 1);
        gm_cache_write(KEY_A, "a", 1);
        assert_false(is_kept(KEY_A));
    }
}

/* Past the largest size of a file, writing fails as on a full disk: after a part. */
static void a_full_disk_leaves_nothing(void **state)
{
    (void)state;
    static char content[100000];
    gm_cache_write(KEY_B, "b", 1);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit small = {50000, 50000};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &small);
        gm_cache_write(KEY_A, content, sizeof content);
        gm_cache_write(KEY_B, content, sizeof content);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_false(is_kept(KEY_A));
    assert_true(holds(KEY_B, "b", 1));
    assert_int_equal(count_names(""), 1);
}

/* --- its size ------------------------------------------------------------------------------------
 */

/* Last read `seconds` ago. */
static void age(const char *name, int seconds)
{
    const struct timespec times[2] = {{time(NULL) - seconds, 0}, {time(NULL) - seconds, 0}};
    assert_int_equal(utimensat(AT_FDCWD, in_cache(name), times, 0), 0);
}

static void what_was_read_longest_ago_goes_first(void **state)
{
    (void)state;
    char content[1000] = "";
    gm_cache_limit(3500);
    gm_cache_write(KEY_A, content, sizeof content);
    gm_cache_write(KEY_B, content, sizeof content);
    gm_cache_write(KEY_C, content, sizeof content);
    age(KEY_A, 300), age(KEY_B, 200), age(KEY_C, 100);
    assert_true(is_kept(KEY_A)); /* from now on B is the oldest */
    gm_cache_write(KEY_D, content, sizeof content);
    assert_false(exists(in_cache(KEY_B)));
    assert_true(exists(in_cache(KEY_A)) && exists(in_cache(KEY_C)) && exists(in_cache(KEY_D)));
    gm_cache_limit(1500);
    age(KEY_A, 300);
    gm_cache_write(KEY_B, content, sizeof content);
    assert_int_equal(count_names(""), 1);
    assert_true(is_kept(KEY_B));
}

static void what_is_larger_than_the_cache_is_not_kept(void **state)
{
    (void)state;
    static char content[1000];
    gm_cache_write(KEY_B, "b", 1);
    gm_cache_limit(1000);
    gm_cache_write(KEY_A, content, sizeof content);
    assert_false(is_kept(KEY_A));
    assert_true(is_kept(KEY_B));
}

static void touch(const char *name)
{
    FILE *file = fopen(in_cache(name), "w");
    assert_non_null(file);
    fclose(file);
}

static void leftovers_go_after_an_hour(void **state)
{
    (void)state;
    gm_cache_write(KEY_A, "a", 1);
    touch("tmp.11111111111111111111111111111111");
    touch("tmp.22222222222222222222222222222222");
    touch("not ours");
    age("tmp.11111111111111111111111111111111", 3700);
    age("tmp.22222222222222222222222222222222", 3500);
    age("not ours", 99999);
    gm_cache_write(KEY_B, "b", 1);
    assert_false(exists(in_cache("tmp.11111111111111111111111111111111")));
    assert_true(exists(in_cache("tmp.22222222222222222222222222222222")));
    assert_true(exists(in_cache("not ours")));
    assert_true(is_kept(KEY_A) && is_kept(KEY_B));
}

/* --- many processes ------------------------------------------------------------------------------
 */

enum { N_PROCESS = 8, N_ROUND = 40, LARGE = 100000 };

static const char *const keys[] = {KEY_A, KEY_B, KEY_C, KEY_D};

/* Content of a length and a byte that belong together, so that a mixture shows. */
static void write_version(const char *key, int version)
{
    static char content[LARGE + 256];
    memset(content, version, sizeof content);
    gm_cache_write(key, content, LARGE + version);
}

/* Is there an entry, and is it one version from end to end? */
static bool read_whole(const char *key, bool *whole)
{
    char *data = NULL;
    int64_t n = 0;
    if (!gm_cache_read(key, (void **)&data, &n)) return false;
    *whole = n > LARGE && n < LARGE + 256;
    for (int64_t i = 0; i < n; i++) *whole = *whole && (unsigned char)data[i] == n - LARGE;
    free(data);
    return true;
}

/* All write and read; once written, an entry is always there. */
static int share_keys(int n_key, int me)
{
    for (int round = 0; round < N_ROUND; round++) {
        const char *key = keys[(me + round) % n_key];
        bool whole = false;
        if ((me + round) % 2) write_version(key, 1 + me * 20 + round % 20);
        if (!read_whole(key, &whole)) return 1;
        if (!whole) return 2;
    }
    return 0;
}

static void run_together(int n_key)
{
    pid_t child[N_PROCESS];
    for (int i = 0; i < n_key; i++) write_version(keys[i], 255);
    fflush(NULL);
    for (int i = 0; i < N_PROCESS; i++) {
        child[i] = fork();
        if (child[i] == 0) _exit(share_keys(n_key, i));
    }
    for (int i = 0; i < N_PROCESS; i++) {
        int status = 0;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    assert_int_equal(count_names(""), n_key);
}

static void many_processes_share_one_key(void **state)
{
    (void)state;
    run_together(1);
}

static void many_processes_share_several_keys(void **state)
{
    (void)state;
    run_together(4);
}

/* Everybody removes old entries all the time: entries may be absent, never broken. */
static void many_processes_fill_a_small_cache(void **state)
{
    (void)state;
    pid_t child[N_PROCESS];
    gm_cache_limit(5 * LARGE / 2);
    fflush(NULL);
    for (int i = 0; i < N_PROCESS; i++) {
        child[i] = fork();
        if (child[i]) continue;
        for (int round = 0; round < N_ROUND; round++) {
            bool whole = true;
            write_version(keys[(i + round) % 4], 1 + i * 20);
            read_whole(keys[(i + round / 4) % 4], &whole);
            if (!whole) _exit(1);
        }
        _exit(0);
    }
    for (int i = 0; i < N_PROCESS; i++) {
        int status = 0;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(count_names("tmp."), 0);
    assert_true(count_names("") <= 2);
}

static void killed_writers_leave_whole_entries(void **state)
{
    (void)state;
    write_version(KEY_A, 255);
    fflush(NULL);
    for (int round = 0; round < 60; round++) {
        const struct timespec nap = {0, 1000000 + (round * 377 % 40) * 100000};
        const pid_t child = fork();
        if (child == 0)
            for (int i = 0;; i++) write_version(KEY_A, 1 + i % 200);
        nanosleep(&nap, NULL);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        bool whole = false;
        assert_true(read_whole(KEY_A, &whole));
        assert_true(whole);
    }
}

/* The system ends a process that writes past its limit: always after the same part. */
static void a_writer_killed_in_the_middle_leaves_the_old_entry(void **state)
{
    (void)state;
    bool whole = false;
    int status = 0;
    write_version(KEY_A, 255);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit small = {LARGE / 2, LARGE / 2};
        setrlimit(RLIMIT_FSIZE, &small);
        write_version(KEY_A, 1);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(count_names("tmp."), 1);
    assert_true(read_whole(KEY_A, &whole));
    assert_true(whole);
    write_version(KEY_A, 2);
    assert_true(read_whole(KEY_A, &whole));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_is_written_is_read, fresh_cache),
        cmocka_unit_test_setup(what_is_absent_changes_nothing, fresh_cache),
        cmocka_unit_test_setup(only_keys_name_entries, fresh_cache),
        cmocka_unit_test_setup(a_spoilt_entry_is_absent_and_goes, fresh_cache),
        cmocka_unit_test_setup(an_entry_under_another_key_is_absent, fresh_cache),
        cmocka_unit_test_setup(folder_and_entries_are_private, fresh_cache),
        cmocka_unit_test_setup(a_folder_that_others_may_write_is_not_used, fresh_cache),
        cmocka_unit_test_setup(a_folder_of_another_user_is_not_used, fresh_cache),
        cmocka_unit_test_setup(without_xdg_it_lies_in_the_home_folder, fresh_cache),
        cmocka_unit_test_setup(without_any_folder_everything_is_absent, fresh_cache),
        cmocka_unit_test_setup(a_full_disk_leaves_nothing, fresh_cache),
        cmocka_unit_test_setup(what_was_read_longest_ago_goes_first, fresh_cache),
        cmocka_unit_test_setup(what_is_larger_than_the_cache_is_not_kept, fresh_cache),
        cmocka_unit_test_setup(leftovers_go_after_an_hour, fresh_cache),
        cmocka_unit_test_setup(many_processes_share_one_key, fresh_cache),
        cmocka_unit_test_setup(many_processes_share_several_keys, fresh_cache),
        cmocka_unit_test_setup(many_processes_fill_a_small_cache, fresh_cache),
        cmocka_unit_test_setup(killed_writers_leave_whole_entries, fresh_cache),
        cmocka_unit_test_setup(a_writer_killed_in_the_middle_leaves_the_old_entry, fresh_cache),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

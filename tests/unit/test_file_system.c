/* File systems by their numbers: names, and what to think of before writing there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "io/file_system.h"

static const int64_t lustre = 0x0BD00BD0, nfs = 0x6969, ext4 = 0xEF53, tmpfs = 0x01021994;

static void file_systems_have_names(void **state)
{
    (void)state;
    assert_string_equal(gm_file_system_name(lustre), "Lustre");
    assert_string_equal(gm_file_system_name(nfs), "NFS");
    assert_string_equal(gm_file_system_name(ext4), "ext4");
    assert_string_equal(gm_file_system_name(1), "");
}

static void hosts_that_share_a_file_are_warned_where_it_matters(void **state)
{
    (void)state;
    assert_string_equal(gm_file_system_concern(lustre, true), "");
    assert_non_null(strstr(gm_file_system_concern(nfs, true), "locks may be missing"));
    assert_non_null(strstr(gm_file_system_concern(ext4, true), "each host's own"));
    assert_string_equal(gm_file_system_concern(1, true), "");
}

static void one_host_is_warned_of_memory_alone(void **state)
{
    (void)state;
    assert_string_equal(gm_file_system_concern(nfs, false), "");
    assert_string_equal(gm_file_system_concern(ext4, false), "");
    assert_non_null(strstr(gm_file_system_concern(tmpfs, false), "lost"));
}

static void a_folder_has_a_file_system(void **state)
{
    (void)state;
    assert_int_equal(gm_file_system_of("/proc/self/status"), 0x9FA0);
    assert_int_equal(gm_file_system_of("/nowhere/file"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_systems_have_names),
        cmocka_unit_test(hosts_that_share_a_file_are_warned_where_it_matters),
        cmocka_unit_test(one_host_is_warned_of_memory_alone),
        cmocka_unit_test(a_folder_has_a_file_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Devices for the ranks of a host, whatever each of them is shown. A row is what a rank sees: one
 * letter per device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mpi/device_match.h"

enum { MOST = 64 };

/* The letters that the ranks take. */
static void match(int n_rank, const char *const *row, char taken[MOST + 1])
{
    static gm_seen_devices seen[MOST];
    int index[MOST];
    assert_true(n_rank <= MOST);
    for (int r = 0; r < n_rank; r++) {
        seen[r].n = (int)strlen(row[r]);
        for (int k = 0; k < seen[r].n; k++)
            snprintf(seen[r].uuid[k], GM_MATCH_UUID, "GPU-%c", row[r][k]);
    }
    assert_int_equal(gm_device_match(n_rank, seen, index), GM_OK);
    for (int r = 0; r < n_rank; r++) {
        assert_in_range(index[r], 0, seen[r].n - 1);
        taken[r] = row[r][index[r]];
    }
    taken[n_rank] = '\0';
}

#define EXPECT(taken_wanted, ...)                                                                  \
    do {                                                                                           \
        const char *const row[] = {__VA_ARGS__};                                                   \
        char taken[MOST + 1];                                                                      \
        match((int)(sizeof row / sizeof *row), row, taken);                                        \
        assert_string_equal(taken, taken_wanted);                                                  \
    } while (0)

static void ranks_that_see_all_take_their_own_number(void **state)
{
    (void)state;
    EXPECT("ABCD", "ABCD", "ABCD", "ABCD", "ABCD");
    EXPECT("AB", "ABCD", "ABCD");
    EXPECT("A", "ABCD");
}

static void ranks_that_are_shown_one_each_take_it(void **state)
{
    (void)state;
    EXPECT("ABCD", "A", "B", "C", "D");
    EXPECT("DBCA", "D", "B", "C", "A");
}

/* srun --gpu-bind=closest, with ranks dealt out to the sockets in turn or in blocks. */
static void ranks_that_see_the_gpus_of_their_socket_share_them_out(void **state)
{
    (void)state;
    EXPECT("ADBC", "AB", "CD", "AB", "CD");
    EXPECT("ABCD", "AB", "AB", "CD", "CD");
}

static void orders_that_differ_make_no_two_ranks_meet(void **state)
{
    (void)state;
    EXPECT("ACBD", "ABCD", "BCDA", "CDAB", "DABC");
}

static void a_rank_moves_on_for_one_that_has_no_choice(void **state)
{
    (void)state;
    EXPECT("BA", "AB", "A");
    EXPECT("CBA", "ABC", "AB", "A");
    EXPECT("BCDA", "AB", "CB", "CD", "A");
}

static void ranks_without_a_device_of_their_own_share(void **state)
{
    (void)state;
    EXPECT("AAA", "A", "A", "A");
    EXPECT("ABAB", "AB", "AB", "AB", "AB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_that_see_all_take_their_own_number),
        cmocka_unit_test(ranks_that_are_shown_one_each_take_it),
        cmocka_unit_test(ranks_that_see_the_gpus_of_their_socket_share_them_out),
        cmocka_unit_test(orders_that_differ_make_no_two_ranks_meet),
        cmocka_unit_test(a_rank_moves_on_for_one_that_has_no_choice),
        cmocka_unit_test(ranks_without_a_device_of_their_own_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

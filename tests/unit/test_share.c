/** How things are handed to ranks: all of them, once, in order, evenly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "mpi/comm.h"

static void assert_shared(int64_t n_total, int n_rank)
{
    int64_t next = 0, before = INT64_MAX;
    for (int rank = 0; rank < n_rank; rank++) {
        int64_t begin = -1, n = -1;
        gm_share(n_total, rank, n_rank, &begin, &n);
        assert_int_equal(begin, next);
        assert_true(n == n_total / n_rank || n == n_total / n_rank + 1);
        assert_true(n <= before); /* the larger ones first */
        before = n;
        next += n;
    }
    assert_int_equal(next, n_total);
}

static void shares_are_contiguous_even_and_whole(void **state)
{
    (void)state;
    for (int64_t n_total = 0; n_total <= 40; n_total++)
        for (int n_rank = 1; n_rank <= 20; n_rank++) assert_shared(n_total, n_rank);
    assert_shared(INT64_C(1) << 60, 12345);
    assert_shared(999999999999, 4096);
}

static void ranks_beyond_the_things_take_nothing(void **state)
{
    (void)state;
    int64_t begin, n;
    assert_shared(3, 8);
    gm_share(3, 2, 8, &begin, &n);
    assert_true(begin == 2 && n == 1);
    gm_share(3, 3, 8, &begin, &n);
    assert_true(begin == 3 && n == 0);
    gm_share(3, 7, 8, &begin, &n);
    assert_true(begin == 3 && n == 0);
}

static void one_rank_takes_all(void **state)
{
    (void)state;
    int64_t begin, n;
    gm_share(17, 0, 1, &begin, &n);
    assert_true(begin == 0 && n == 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_contiguous_even_and_whole),
        cmocka_unit_test(ranks_beyond_the_things_take_nothing),
        cmocka_unit_test(one_rank_takes_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

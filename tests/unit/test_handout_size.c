/** How large the pieces are that ranks take: a run with unequal ranks, in a clock of the test's
 * own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "mpi/handout.h"

enum { MOST_RANK = 64 };

/* Rank 0 needs `slowness` times as long for a point as each of the others, which need 1. Returns
 * when the last rank ends, over when all could at best. */
static double delay(int64_t n_point, int n_rank, int64_t least, int64_t most, double slowness)
{
    double free_at[MOST_RANK] = {0}, end = 0;
    for (int64_t left = n_point; left > 0;) {
        int next = 0;
        for (int i = 1; i < n_rank; i++)
            if (free_at[i] < free_at[next]) next = i;
        const int64_t n = gm_handout_size(left, n_rank, least, most);
        assert_in_range(n, 1, left);
        assert_true(n <= most);
        assert_true(n % least == 0 || n == left);
        free_at[next] += (double)n * (next == 0 ? slowness : 1);
        left -= n;
    }
    for (int i = 0; i < n_rank; i++)
        if (free_at[i] > end) end = free_at[i];
    return end / ((double)n_point / (n_rank - 1 + 1 / slowness));
}

static void a_rank_four_times_slower_does_not_hold_up_the_others(void **state)
{
    static const int n_rank[] = {2, 3, 4, 8, 64};
    (void)state;
    for (size_t i = 0; i < sizeof n_rank / sizeof n_rank[0]; i++) {
        const int64_t n = 1000 * (int64_t)n_rank[i];
        for (int halves = 2; halves <= 8; halves++) {
            const double slowness = halves / 2.0;
            assert_true(delay(n, n_rank[i], 1, n, slowness) < 1.15);
            assert_true(delay(n, n_rank[i], 16, n, slowness) < 1.15);
            assert_true(delay(n, n_rank[i], 1, 50, slowness) < 1.15);
        }
    }
}

static void an_even_share_would(void **state)
{
    (void)state;
    assert_true(delay(4000, 4, 1000, 1000, 4) > 3);
}

static void the_last_piece_is_what_is_left(void **state)
{
    (void)state;
    assert_int_equal(gm_handout_size(5, 4, 16, 128), 5);
    assert_int_equal(gm_handout_size(17, 4, 16, 128), 16);
    assert_int_equal(gm_handout_size(1, 1, 1, 1), 1);
    assert_int_equal(gm_handout_size(INT64_C(1) << 50, 4, 16, 128), 128);
    assert_int_equal(gm_handout_size(16 * 100, 4, 16, 128), 96); /* a sixteenth, in sixteens */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_four_times_slower_does_not_hold_up_the_others),
        cmocka_unit_test(an_even_share_would),
        cmocka_unit_test(the_last_piece_is_what_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

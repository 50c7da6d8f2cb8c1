/** The forecast of a run's time: measured rates scale as stated, what is unknown stays unknown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/cost.h"

static void assert_near(double found, double wanted)
{
    if (found < wanted * (1 - 1e-12) - 1e-15 || found > wanted * (1 + 1e-12) + 1e-15)
        fail_msg("%g instead of %g", found, wanted);
}

/* 2 ranks, 100 points of 1000 steps each, 1 GB. */
static const gm_measured run = {.n_rank = 2,
                                .n_computed = 200,
                                .n_step = 1000,
                                .n_byte = 1000000000,
                                .share = 1,
                                .march = 4,
                                .copies = 1,
                                .disk = 2,
                                .wall = 5.5,
                                .wait = 0.5,
                                .start = 0.25,
                                .create = 0.8};

static void a_measured_run_foretells_itself(void **state)
{
    (void)state;
    const gm_rates rates = gm_cost_rates(&run, run.n_byte);
    const gm_cost_work same = {100, 1000, 1000000000};
    const gm_cost cost = gm_cost_of(&rates, &same);
    assert_near(cost.march, 4);
    assert_near(cost.copies, 1);
    assert_near(cost.disk, 2);
    assert_near(cost.create, 0.8);
    assert_near(cost.loop, 5);
    assert_near(cost.total, 6.05);
}

static void march_goes_with_a_ranks_points_and_disk_with_the_file(void **state)
{
    (void)state;
    const gm_rates rates = gm_cost_rates(&run, 8 * run.n_byte);
    const gm_cost_work more = {25, 2000, 8000000000};
    const gm_cost cost = gm_cost_of(&rates, &more);
    assert_near(cost.march, 2);
    assert_near(cost.disk, 16);
    assert_near(cost.loop, 20);
    assert_near(cost.create, 6.4);
}

static void a_small_file_tells_nothing_of_large_ones(void **state)
{
    (void)state;
    gm_measured small = run;
    small.n_byte = 1000000;
    assert_near(gm_cost_rates(&small, 4000000).disk, 500000);
    const gm_rates rates = gm_cost_rates(&small, 5000000);
    assert_near(rates.disk, 0);
    assert_near(rates.create, 0);
    const gm_cost_work work = {100, 1000, 5000000};
    const gm_cost cost = gm_cost_of(&rates, &work);
    assert_true(cost.disk < 0 && cost.create < 0 && cost.loop > 0);
}

static void without_a_rate_there_is_no_time(void **state)
{
    (void)state;
    const gm_rates rates = {.disk = 1e9, .create = 1e9};
    const gm_cost_work work = {100, 1000, 1000000000};
    const gm_cost cost = gm_cost_of(&rates, &work);
    assert_near(cost.disk, 1);
    assert_true(cost.march < 0 && cost.loop < 0 && cost.total < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_measured_run_foretells_itself),
        cmocka_unit_test(march_goes_with_a_ranks_points_and_disk_with_the_file),
        cmocka_unit_test(a_small_file_tells_nothing_of_large_ones),
        cmocka_unit_test(without_a_rate_there_is_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

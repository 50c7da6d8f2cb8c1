/** Sweep files to start from, and what tests of their reader expect of it. */
#ifndef GM_TESTS_SWEEP_EXPECT_H
#define GM_TESTS_SWEEP_EXPECT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "tests/unit/sweep_fixture.h"

#define LORENZ                                                                                     \
    "model: lorenz63\nintegrator: rk4\nrecord: {last: all}\ntime: {dt: 0.5, duration: 10}\n"
#define WC_REST "model: wilson_cowan\nintegrator: heun\ntime: {dt: 0.1, duration: 10}\n"
#define WC      WC_REST "network: none\nrecord: {mean: E}\n"
#define HOPF                                                                                       \
    "model: hopf\nintegrator: heun\ntime: {dt: 0.1, duration: 10}\nnetwork: none\n"                \
    "record: {mean: x}\n"

/* Parse what has to be right. */
static inline gm_sweep *parse_with(const char *text, const char *const *setting)
{
    gm_problems *problems = NULL;
    gm_sweep *sweep = NULL;
    assert_int_equal(gm_problems_create(&problems), GM_OK);
    gm_status st = fixture_parse(text, setting, problems, &sweep);
    if (st != GM_OK) print_error("%s\n", gm_status_message());
    assert_int_equal(st, GM_OK);
    assert_non_null(sweep);
    gm_problems_destroy(&problems);
    return sweep;
}

static inline gm_sweep *parse(const char *text)
{
    return parse_with(text, NULL);
}

/* Parse what has n problems, with this in one of them. */
static inline void expect_n(const char *text, const char *const *setting, int n, const char *wanted)
{
    gm_problems *problems = NULL;
    gm_sweep *sweep = NULL;
    bool found = false;
    assert_int_equal(gm_problems_create(&problems), GM_OK);
    gm_status st = fixture_parse(text, setting, problems, &sweep);
    for (int i = 0; i < gm_problems_count(problems); i++)
        found = found || strstr(gm_problems_text(problems, i), wanted);
    if (!found || gm_problems_count(problems) != n) {
        print_error("wanted %d: %s\n", n, wanted);
        for (int i = 0; i < gm_problems_count(problems); i++)
            print_error("found: %s\n", gm_problems_text(problems, i));
    }
    assert_true(found);
    assert_int_equal(gm_problems_count(problems), n);
    assert_int_equal(st, GM_E_INPUT);
    assert_null(sweep);
    gm_problems_destroy(&problems);
}

static inline void expect(const char *text, const char *wanted)
{
    expect_n(text, NULL, 1, wanted);
}

static inline void expect_set(const char *text, const char *setting, const char *wanted)
{
    expect_n(text, (const char *const[]){setting, NULL}, 1, wanted);
}

#endif

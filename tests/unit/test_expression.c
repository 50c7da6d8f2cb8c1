/** Arithmetic of model headers: what is evaluated gives what C gives, the rest is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/expression.h"

/* The parameters of these tests; that they are found shows in `asked`. */
static bool find(const void *context, const char *name, double *value)
{
    (void)context;
    if (strcmp(name, "sigma") == 0)
        *value = 0.25;
    else if (strcmp(name, "D") == 0)
        *value = 8;
    else
        return false;
    return true;
}

static double value_of(const char *text)
{
    double value = NAN;
    if (!gm_expression_value(text, find, NULL, &value)) fail_msg("refused: %s", text);
    return value;
}

static bool is_refused(const char *text)
{
    double value;
    return !gm_expression_value(text, find, NULL, &value);
}

#define SAME(expression)                                                                           \
    do {                                                                                           \
        const double expected = (double)(expression), found = value_of(#expression);               \
        if (memcmp(&found, &expected, sizeof found) != 0)                                          \
            fail_msg("%s is %.17g, not %.17g", #expression, expected, found);                      \
    } while (0)

static void arithmetic_is_that_of_c(void **state)
{
    (void)state;
    SAME(0.1);
    SAME(8.0 / 3.0);
    SAME(-0.5);
    SAME(-0);
    SAME(-0.0);
    SAME(1e-3);
    SAME(1.5E+2);
    SAME(.5);
    SAME(3.);
    SAME(0.1f);
    SAME(2.0L);
    SAME(10L);
    SAME(0x10);
    SAME(0x1p-3);
    SAME(1 - 2 - 3);
    SAME(24.0 / 4 / 3);
    SAME(6 / 3);
    SAME(2 + 3 * 4);
    SAME((2 + 3) * 4);
    SAME(-(2 - 5) * +2);
    SAME(1 - -1);
    SAME(0.1 + 0.2 + 0.3);
    SAME(2 * 3.14159265358979323846 * 10 / 1000);
    SAME(2147483647);
    assert_float_equal(value_of(" \t1\n+ 1 "), 2, 0);
    assert_float_equal(value_of("10000000000"), 1e10, 0);
}

static void what_means_something_else_in_c_is_refused(void **state)
{
    (void)state;
    const char *const texts[] = {"1/3",  "1 / 0", "2*(3/2)", "010", "50000 * 50000",
                                 "--1",  "1--1",  "1 ++ 1",  "1f",  "1u",
                                 "0.5d", "1_000", "1.2.3",   "1,5", "08",
                                 "0x",   "1e",    "0x1.8",   "0x1g"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!is_refused(texts[i])) fail_msg("taken: %s", texts[i]);
    assert_true(isinf(value_of("1.0 / 0.0")));
}

static void names_and_functions_are_known(void **state)
{
    (void)state;
    assert_float_equal(value_of("m->sigma"), 0.25, 0);
    assert_float_equal(value_of("m -> sigma"), 0.25, 0);
    assert_float_equal(value_of("sigma * D"), 2, 0);
    assert_float_equal(value_of("gm_sqrt(2 * m->D)"), 4, 0);
    assert_float_equal(value_of("sqrt (2 * m->D)"), 4, 0);
    assert_float_equal(value_of("gm_exp(0) + gm_log(1.0)"), 1, 0);
    assert_float_equal(value_of("GM_C(1) / 4"), 0.25, 0);
    assert_true(isnan(value_of("gm_sqrt(-m->D)")));
}

static void what_is_no_arithmetic_is_refused(void **state)
{
    (void)state;
    const char *const texts[] = {"",          " ",         "abc",        "m->",       "m->tau",
                                 "s->sigma",  "gm_sin(1)", "gm_GM_C(1)", "sqrt(1",    "(1",
                                 "1)",        "1 2",       "1 +",        "* 2",       "1 < 2",
                                 "D ? 1 : 2", "\"1\"",     "(gm_real)2", "sqrt 2",    "nan",
                                 "inf",       "1; 2",      "D = 2",      "pow(D, 2)", "m->sigma.x"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!is_refused(texts[i])) fail_msg("taken: %s", texts[i]);
    double value;
    assert_false(gm_expression_value("sigma", NULL, NULL, &value));
    assert_true(gm_expression_value("2", NULL, NULL, &value));
}

static void a_name_that_is_too_long_is_none(void **state)
{
    (void)state;
    char name[101];
    memset(name, 'a', 100);
    name[100] = '\0';
    assert_true(is_refused(name));
}

static void depth_and_length_are_bounded(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    char *text = malloc(N + 1);
    assert_non_null(text);
    const char *const patterns[] = {"(", "-", "- ", "sqrt(", "1+", "1*", "m->"};
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        const size_t n = strlen(patterns[p]);
        for (size_t i = 0; i < N; i++) text[i] = patterns[p][i % n];
        text[N] = '\0';
        assert_true(is_refused(text));
    }
    for (size_t i = 0; i < N; i++) text[i] = "1."[i % 2 || i % 4 == 0 ? 0 : 1];
    text[N] = '\0';
    (void)is_refused(text);
    free(text);
    assert_float_equal(value_of("((((((((((((((((((((1))))))))))))))))))))"), 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_is_that_of_c),
        cmocka_unit_test(what_means_something_else_in_c_is_refused),
        cmocka_unit_test(names_and_functions_are_known),
        cmocka_unit_test(what_is_no_arithmetic_is_refused),
        cmocka_unit_test(a_name_that_is_too_long_is_none),
        cmocka_unit_test(depth_and_length_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

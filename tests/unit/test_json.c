/** The JSON writer: what it writes is JSON, whatever the text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"

static void members_and_elements_are_separated(void **state)
{
    (void)state;
    gm_json j = {0};
    gm_json_open(&j, NULL, '{');
    gm_json_string(&j, "name", "a");
    gm_json_open(&j, "list", '[');
    gm_json_integer(&j, NULL, 1);
    gm_json_integer(&j, NULL, -2);
    gm_json_open(&j, NULL, '{');
    gm_json_close(&j, '}');
    gm_json_open(&j, NULL, '{');
    gm_json_boolean(&j, "on", true);
    gm_json_close(&j, '}');
    gm_json_close(&j, ']');
    gm_json_boolean(&j, "off", false);
    gm_json_open(&j, "none", '[');
    gm_json_close(&j, ']');
    gm_json_number(&j, "x", 0.5);
    gm_json_close(&j, '}');
    assert_false(j.failed);
    assert_string_equal(j.text, "{\"name\": \"a\", \"list\": [1, -2, {}, {\"on\": true}], "
                                "\"off\": false, \"none\": [], \"x\": 0.5}");
    assert_int_equal(j.n, strlen(j.text));
    gm_json_clear(&j);
}

static void quotes_and_control_characters_are_escaped(void **state)
{
    (void)state;
    gm_json j = {0};
    gm_json_open(&j, NULL, '{');
    gm_json_string(&j, "a\"b", "C:\\x\n\ttab\x01\x1f end");
    gm_json_string(&j, "unit", "\xc2\xb5V");
    gm_json_string(&j, "", "");
    gm_json_close(&j, '}');
    assert_string_equal(j.text, "{\"a\\\"b\": \"C:\\\\x\\u000a\\u0009tab\\u0001\\u001f end\", "
                                "\"unit\": \"\xc2\xb5V\", \"\": \"\"}");
    gm_json_clear(&j);
}

static void numbers_keep_their_digits(void **state)
{
    (void)state;
    gm_json j = {0};
    gm_json_open(&j, NULL, '[');
    gm_json_integer(&j, NULL, INT64_MIN);
    gm_json_integer(&j, NULL, INT64_MAX);
    gm_json_number(&j, NULL, 123456789);
    gm_json_number(&j, NULL, -1.5e-300);
    gm_json_number(&j, NULL, 1e300);
    gm_json_number(&j, NULL, 0);
    gm_json_close(&j, ']');
    assert_string_equal(j.text, "[-9223372036854775808, 9223372036854775807, 123456789, "
                                "-1.5e-300, 1e+300, 0]");
    gm_json_clear(&j);
}

static void numbers_that_json_cannot_hold_are_null(void **state)
{
    (void)state;
    gm_json j = {0};
    gm_json_open(&j, NULL, '[');
    gm_json_number(&j, NULL, NAN);
    gm_json_number(&j, NULL, INFINITY);
    gm_json_number(&j, NULL, -INFINITY);
    gm_json_close(&j, ']');
    assert_string_equal(j.text, "[null, null, null]");
    gm_json_clear(&j);
}

static void long_texts_grow_the_buffer(void **state)
{
    (void)state;
    enum { N = 100000 };
    char *value = malloc(N + 1);
    gm_json j = {0};
    assert_non_null(value);
    memset(value, 'x', N);
    value[N] = '\0';
    gm_json_open(&j, NULL, '[');
    for (int i = 0; i < 1000; i++) gm_json_integer(&j, NULL, i);
    gm_json_string(&j, NULL, value);
    gm_json_close(&j, ']');
    assert_false(j.failed);
    assert_true(j.n > N && j.n == (int64_t)strlen(j.text));
    assert_true(strncmp(j.text, "[0, 1, 2, ", 10) == 0);
    assert_string_equal(j.text + j.n - 4, "xx\"]");
    gm_json_clear(&j);
    free(value);
}

static void json_text_is_nested_and_anything_else_is_a_string(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{\"a\": [1, {\"b\": \"}]\\\"\"}], \"c\": null}", NULL},
        {"[]", NULL},
        {"", "\"\""},
        {"plain", "\"plain\""},
        {"{\"a\": 1", "\"{\\\"a\\\": 1\""},
        {"{\"a", "\"{\\\"a\""},
        {"{\"a\\", "\"{\\\"a\\\\\""},
        {"{]", "\"{]\""},
        {"[1] 2", "\"[1] 2\""},
        {"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gm_json j = {0};
        gm_json_raw(&j, NULL, cases[i][0]);
        assert_string_equal(j.text, cases[i][1] ? cases[i][1] : cases[i][0]);
        gm_json_clear(&j);
    }
    gm_json j = {0};
    gm_json_open(&j, NULL, '{');
    gm_json_raw(&j, "run", "{\"x\": 1}");
    gm_json_integer(&j, "y", 2);
    gm_json_close(&j, '}');
    assert_string_equal(j.text, "{\"run\": {\"x\": 1}, \"y\": 2}");
    gm_json_clear(&j);
}

static void clear_makes_it_empty_and_usable_again(void **state)
{
    (void)state;
    gm_json j = {0};
    gm_json_clear(&j);
    gm_json_integer(&j, NULL, 1);
    gm_json_clear(&j);
    assert_null(j.text);
    gm_json_integer(&j, NULL, 2);
    assert_string_equal(j.text, "2");
    gm_json_clear(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_and_elements_are_separated),
        cmocka_unit_test(quotes_and_control_characters_are_escaped),
        cmocka_unit_test(numbers_keep_their_digits),
        cmocka_unit_test(numbers_that_json_cannot_hold_are_null),
        cmocka_unit_test(long_texts_grow_the_buffer),
        cmocka_unit_test(json_text_is_nested_and_anything_else_is_a_string),
        cmocka_unit_test(clear_makes_it_empty_and_usable_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/** Model headers as text: what a compiler would see, and where in the file it stood. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/model_list.h"

static gm_model_header *header;
static gm_problems *problems;
static gm_model_lists *lists;

static void open_text(const char *text)
{
    assert_int_equal(gm_problems_create(&problems), GM_OK);
    assert_int_equal(gm_model_header_create("m.h", text, &header), GM_OK);
    assert_int_equal(gm_model_lists_create(header, problems, &lists), GM_OK);
}

static int close_text(void **state)
{
    (void)state;
    free(lists);
    lists = NULL;
    gm_model_header_destroy(&header);
    gm_problems_destroy(&problems);
    return 0;
}

/* All words and signs of the text, separated by blanks. */
static void expect_tokens(const char *text, const char *expected)
{
    char found[512] = "";
    open_text(text);
    int64_t at = 0;
    for (;;) {
        const gm_token token = gm_model_header_token(header, &at, header->n);
        if (token.kind == GM_TOKEN_END) break;
        const size_t used = strlen(found), n = (size_t)(token.span.end - token.span.begin);
        assert_true(used + n + 2 < sizeof found);
        if (used) found[used] = ' ';
        memcpy(found + used + (used > 0), header->text + token.span.begin, n);
    }
    assert_string_equal(found, expected);
    close_text(NULL);
}

static void expect_place(const char *word, int line, int column)
{
    const char *at = strstr(header->text, word);
    assert_non_null(at);
    const gm_place place = gm_model_header_place(header, at - header->text);
    assert_string_equal(place.file, "m.h");
    assert_int_equal(place.line, line);
    assert_int_equal(place.column, column);
}

static void comments_become_blanks(void **state)
{
    (void)state;
    expect_tokens("a/* b */c", "a c");
    expect_tokens("a // b\nc", "a c");
    expect_tokens("a // b \\\nc\nd", "a d");
    expect_tokens("a /* b\n * c /* */ d", "a d");
    expect_tokens("a /**/ b /*/ c */ d", "a b d");
    expect_tokens("a / b", "a / b");
    expect_tokens("a /* never closed", "a");
    expect_tokens("a //", "a");
    expect_tokens("a /", "a /");
    expect_tokens("/\\\n* a *\\\n/ b", "b");
}

static void literals_hide_what_is_in_them(void **state)
{
    (void)state;
    expect_tokens("\"/* a */\" b", "\"/* a */\" b");
    expect_tokens("\"a\\\"//b\" c", "\"a\\\"//b\" c");
    expect_tokens("'\"' a '\\'' b", "'\"' a '\\'' b");
    expect_tokens("\"a\\\\\" b", "\"a\\\\\" b");
    expect_tokens("\"open\nb", "\"open b");
    expect_tokens("\"open\\", "\"open\\");
    expect_tokens("\"a\\\nb\" c", "\"ab\" c");
    expect_tokens("/* it's */ a", "a");
}

static void words_and_signs_are_told_apart(void **state)
{
    (void)state;
    expect_tokens("m->tau_e-=1.5e-3f*.5", "m -> tau_e - = 1.5e-3f * .5");
    expect_tokens("a\n#define b c\nd # e", "a d # e");
    expect_tokens("  #if 1 \\\n still\nx2y", "x2y");
    expect_tokens("", "");
    expect_tokens("#", "");
}

static void places_are_those_of_the_file(void **state)
{
    (void)state;
    open_text("/* two\nlines */ one\n  two \\\n  three\n\tfour // five\n\"x\" six");
    expect_place("one", 2, 10);
    expect_place("two", 3, 3);
    expect_place("three", 4, 3);
    expect_place("four", 5, 2);
    expect_place("six", 6, 5);
    const gm_place whole = gm_model_header_place(header, -1);
    assert_int_equal(whole.line, 0);
}

static void lines_may_end_in_cr_lf(void **state)
{
    (void)state;
    open_text("#define GM_STATES(X) \\\r\n  X(a, 1, \"1\", \"d\") \\\r\n  X(b, 2, \"1\", \"d\")\r\n"
              "one\r\n");
    assert_int_equal(lists->list[GM_LIST_STATE].n, 2);
    assert_int_equal(gm_problems_count(problems), 0);
    expect_place("b,", 3, 5);
    expect_place("one", 4, 1);
}

static void expect_field(gm_span field, const char *expected)
{
    char *text = NULL;
    assert_int_equal(gm_model_field_code(header, field, &text), GM_OK);
    assert_string_equal(text, expected);
    free(text);
}

static void entries_are_cut_into_fields(void **state)
{
    (void)state;
    open_text("#define GM_PARAMS( Y ) /* a\ncomment, with ) */ Y(a, 8.0 / /* , */ 3.0, \"ms\", "
              "\"a, b) (c\") \\\n\\\n"
              "    Y ( b_2 ,f(1, (2)) , \"1\" , \"x\" \"y\" ) // the end, )\n"
              "#define GM_INPUTS(X)\n");
    const gm_entries *list = &lists->list[GM_LIST_PARAM];
    assert_int_equal(gm_problems_count(problems), 0);
    assert_int_equal(list->n, 2);
    assert_true(list->is_whole);
    assert_string_equal(list->entry[0].name, "a");
    assert_string_equal(list->entry[1].name, "b_2");
    expect_field(list->entry[0].field[1], "8.0 / 3.0");
    expect_field(list->entry[0].field[3], "\"a, b) (c\"");
    expect_field(list->entry[1].field[1], "f(1, (2))");
    expect_field(list->entry[1].field[3], "\"x\" \"y\"");
    assert_int_equal(gm_entries_find(list, "b_2"), 1);
    assert_int_equal(gm_entries_find(list, "c"), -1);
    assert_int_equal(lists->list[GM_LIST_INPUT].n, 0);
    assert_true(lists->list[GM_LIST_INPUT].at >= 0);
    assert_int_equal(lists->list[GM_LIST_STATE].at, -1);
}

/* The text of the one field of `#define GM_PHASES(X) X(...)`; NULL: refused with a message that
 * holds `fault`. */
static void expect_text(const char *field, const char *expected, const char *fault)
{
    char text[256] = "#define GM_PHASES(X) X(";
    char *out = NULL;
    strcat(strcat(text, field), ")\n");
    open_text(text);
    assert_int_equal(lists->list[GM_LIST_PHASE].n, 1);
    const gm_span span = lists->list[GM_LIST_PHASE].entry[0].field[0];
    assert_int_equal(gm_model_field_text(header, span, "it", problems, &out), GM_OK);
    if (expected) {
        if (!out) fail_msg("%s: %s", field, gm_problems_text(problems, 0));
        assert_string_equal(out, expected);
        assert_int_equal(gm_problems_count(problems), 0);
    } else {
        assert_null(out);
        assert_int_equal(gm_problems_count(problems), 1);
        if (!strstr(gm_problems_text(problems, 0), fault))
            fail_msg("%s", gm_problems_text(problems, 0));
        assert_int_equal(strncmp(gm_problems_text(problems, 0), "m.h:1:24: it must be", 20), 0);
    }
    free(out);
    close_text(NULL);
}

static void texts_lose_their_quotes_and_escapes(void **state)
{
    (void)state;
    expect_text("\"\"", "", NULL);
    expect_text("\"a, (b\"", "a, (b", NULL);
    expect_text("\"a \" /* and */ \"b\"", "a b", NULL);
    expect_text("\"\\\"a\\\" \\\\ \\'\\?\"", "\"a\" \\ '?", NULL);
    expect_text("\"\\xc2\\xb5V\"", "\xc2\xb5V", NULL);
    expect_text("\"\\302\\265V\"", "\xc2\xb5V", NULL);
    expect_text("\"\xc2\xb5V \xe2\x82\xac \xf0\x9f\xa7\xa0\"",
                "\xc2\xb5V \xe2\x82\xac \xf0\x9f\xa7\xa0", NULL);
    expect_text("a", NULL, "in double quotes; found a");
    expect_text("", NULL, "in double quotes; found nothing");
    expect_text("'a'", NULL, "in double quotes");
    expect_text("\"a\" b", NULL, "in double quotes");
    expect_text("\"\\q\"", NULL, "in double quotes");
    expect_text("\"\\x\"", NULL, "in double quotes");
    expect_text("\"a\\nb\"", NULL, "one line of text");
    expect_text("\"a\tb\"", NULL, "one line of text");
    expect_text("\"\xb5V\"", NULL, "UTF-8");
    expect_text("\"\xc2\"", NULL, "UTF-8");
    expect_text("\"\xc0\xaf\"", NULL, "UTF-8");
    expect_text("\"\xed\xa0\x80\"", NULL, "UTF-8");
    expect_text("\"\xf8\xa0\x80\x80\x80\"", NULL, "UTF-8");
    expect_text("\"\xc2\x85\"", NULL, "one line");
}

static void expect_fault(const char *text, const char *expected)
{
    open_text(text);
    if (gm_problems_count(problems) != 1) fail_msg("%d problems", gm_problems_count(problems));
    if (!strstr(gm_problems_text(problems, 0), expected))
        fail_msg("found:  %s\nwanted: %s", gm_problems_text(problems, 0), expected);
    close_text(NULL);
}

static void what_is_no_list_is_named_with_its_place(void **state)
{
    (void)state;
    expect_fault("#define GM_STATES X(a, 1, \"1\", \"\")\n", "m.h:1:9: GM_STATES is a list");
    expect_fault("#define GM_STATES (X) X(a, 1, \"1\", \"\")\n", "m.h:1:9: GM_STATES is a list");
    expect_fault("#define GM_STATES(X, Y)\n", "m.h:1:9: GM_STATES is a list");
    expect_fault("#define GM_STATES(\n", "m.h:1:9: GM_STATES is a list");
    expect_fault("#define GM_STATES(X) Y(a, 1, \"1\", \"\")\n",
                 "m.h:1:22: GM_STATES: here an entry X(...) was expected, found 'Y'");
    expect_fault("\n#define GM_STATES(X) X(a, 1, \"1\", \"\"),\n", "m.h:2:38: GM_STATES: here an");
    expect_fault("#define GM_STATES(X) X(a, 1,\n  \"1\", \"\")\n",
                 "m.h:1:22: GM_STATES: this entry has no closing parenthesis");
    expect_fault("#define GM_STATES(X) X(a, 1, \"1\", \"d)\n",
                 "m.h:1:22: GM_STATES: this entry has");
    expect_fault("#define GM_STATES(X) X(a, 1, \"1\", \"\") \\ \n X(b, 1, \"1\", \"\")\n",
                 "m.h:1:39: GM_STATES: this backslash must be the last character");
    expect_fault(
        "#define GM_PARAMS(X) X(a, \"ms\", \"doc\")\n",
        "m.h:1:22: GM_PARAMS: an entry is X(name, default, \"unit\", \"description\"), of 4 "
        "fields; the one of 'a' has 3");
    expect_fault("#define GM_PARAMS(X) X(a, 1, \"ms\", \"doc\", 1, 2)\n", "the one of 'a' has 6");
    expect_fault("#define GM_PHASES(X) X(a, b)\n", "an entry is X(state), of 1 field; the one");
}

static void a_list_is_defined_once_and_without_conditions(void **state)
{
    (void)state;
    expect_fault("#define GM_PHASES(X)\n#define GM_PHASES(X) X(a)\n",
                 "m.h:2:9: GM_PHASES is defined here and before, at line 1");
    expect_fault("#if GM_DOUBLE\n#define GM_PHASES(X)\n#endif\n",
                 "m.h:2:9: GM_PHASES depends on an #if");
    expect_fault("#pragma once\n#ifdef A\n#else\n  #  define GM_PHASES(X)\n#endif\n", "depends on");
    expect_fault("#ifndef A_H\n#define A_H\n#ifdef B\n#define GM_PHASES(X)\n#endif\n#endif\n",
                 "depends on");
    open_text("#ifndef A_H\n#define A_H\n#if B\n#endif\n#define GM_PHASES(X) X(a)\n#endif\n");
    assert_int_equal(gm_problems_count(problems), 0);
    assert_int_equal(lists->list[GM_LIST_PHASE].n, 1);
    close_text(NULL);
    open_text("#ifdef A\n#endif\n#define GM_PHASES(X) X(a)\n");
    assert_int_equal(gm_problems_count(problems), 0);
}

static void lists_and_fields_are_bounded(void **state)
{
    (void)state;
    enum { N = 100000, ENTRY = 8, LONG = GM_MODEL_FIELD_SIZE };
    char *text = malloc(ENTRY * N + 64);
    assert_non_null(text);
    char *to = stpcpy(text, "#define GM_PHASES(X)");
    for (int i = 0; i < N; i++) to = stpcpy(to, " X(ab) ");
    strcpy(to, "\n");
    expect_fault(text, "GM_PHASES may have at most 16 entries");
    to = stpcpy(text, "#define GM_PHASES(X) X(");
    memset(to, 'a', LONG);
    strcpy(to + LONG, ")\n");
    expect_fault(text, "GM_PHASES: a field of 'aaaaaaaa");
    free(text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, close_text)
    const struct CMUnitTest tests[] = {
        TEST(comments_become_blanks),
        TEST(literals_hide_what_is_in_them),
        TEST(words_and_signs_are_told_apart),
        TEST(places_are_those_of_the_file),
        TEST(lines_may_end_in_cr_lf),
        TEST(entries_are_cut_into_fields),
        TEST(texts_lose_their_quotes_and_escapes),
        TEST(what_is_no_list_is_named_with_its_place),
        TEST(a_list_is_defined_once_and_without_conditions),
        TEST(lists_and_fields_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

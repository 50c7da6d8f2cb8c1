/* Names behind pointers (m->tau), held against the lists: in expressions and in functions. */
#include <stdio.h>
#include <string.h>

#include "core/model_check.h"
#include "core/sweep_yaml.h"

/* --- one name -------------------------------------------------------------------------------- */

static const struct {
    const char *what, *plural;
    int n_list;
    gm_list_id list[2];
} targets[] = {
    [GM_POINTER_PARAMS] = {"parameter", "parameters", 1, {GM_LIST_PARAM}},
    [GM_POINTER_STATE] = {"state", "states", 1, {GM_LIST_STATE}},
    [GM_POINTER_DRIVE] = {"coupling or input",
                          "couplings and inputs",
                          2,
                          {GM_LIST_COUPLING, GM_LIST_INPUT}},
    [GM_POINTER_SLOPE] = {"state", "states", 1, {GM_LIST_STATE}},
};
enum { N_TARGET = GM_POINTER_NONE, MAX_CANDIDATE = 2 * GM_MAX_ENTRY + 1 };

const gm_pointer *gm_member_pointer(const gm_member_check *check, gm_span word)
{
    for (int i = 0; i < check->n_pointer; i++)
        if (gm_model_header_is(check->header, word, check->pointer[i].name))
            return &check->pointer[i];
    return NULL;
}

static bool is_member(const gm_model_lists *lists, gm_pointer_kind kind, const char *name)
{
    if (kind == GM_POINTER_NONE) return false;
    if (kind == GM_POINTER_DRIVE && strcmp(name, "strength") == 0) return true;
    for (int i = 0; i < targets[kind].n_list; i++)
        if (gm_entries_find(&lists->list[targets[kind].list[i]], name) >= 0) return true;
    return false;
}

/* A pointer at hand that does lead to the name, or NULL. */
static const gm_pointer *right_pointer(const gm_member_check *check, const char *name)
{
    for (int i = 0; i < check->n_pointer; i++)
        if (is_member(check->lists, check->pointer[i].kind, name)) return &check->pointer[i];
    return NULL;
}

static void report_member(const gm_member_check *check, const gm_pointer *pointer, gm_span member)
{
    const gm_pointer_kind kind = pointer->kind;
    char name[GM_MODEL_SHOWN_SIZE];
    char all[GM_YAML_LIST_SIZE];
    const char *candidate[MAX_CANDIDATE];
    int n = 0;
    const gm_place place = gm_model_header_place(check->header, member.begin);
    gm_model_header_show(check->header, member, name);
    const gm_pointer *right = right_pointer(check, name);
    if (right) {
        gm_problems_add(check->problems, place, "'%s' is no %s but a %s: write %s->%s", name,
                        targets[kind].what, targets[right->kind].what, right->name, name);
        return;
    }
    for (int k = 0; k < targets[kind].n_list; k++) {
        const gm_entries *list = &check->lists->list[targets[kind].list[k]];
        for (int i = 0; i < list->n; i++) candidate[n++] = list->entry[i].name;
    }
    if (kind == GM_POINTER_DRIVE) candidate[n++] = "strength";
    const char *near = gm_nearest_name(name, candidate, n);
    gm_problems_add(check->problems, place, "%s->%s: there is no %s '%s'%s%s%s %s: %s",
                    pointer->name, name, targets[kind].what, name, near ? "; did you mean '" : ";",
                    near ? near : "", near ? "'?" : "", targets[kind].plural,
                    gm_yaml_join(candidate, n, all, sizeof all));
}

void gm_member_verify(gm_member_check *check, const gm_pointer *pointer, gm_span member)
{
    const gm_model_header *h = check->header;
    char name[GM_MODEL_SHOWN_SIZE];
    if (pointer->kind == GM_POINTER_NONE || check->n_reported == GM_MAX_REPORTED) return;
    for (int k = 0; k < targets[pointer->kind].n_list; k++)
        if (!check->lists->list[targets[pointer->kind].list[k]].is_whole) return;
    if (is_member(check->lists, pointer->kind, gm_model_header_show(h, member, name))) return;
    for (int i = 0; i < check->n_reported; i++)
        if (gm_model_header_is(h, check->reported[i], name)) return;
    check->reported[check->n_reported++] = member;
    report_member(check, pointer, member);
}

/* --- expressions of lists -------------------------------------------------------------------- */

/* What the engine has at hand where it evaluates the expressions of a list. */
static const struct {
    gm_list_id id;
    int n_pointer;
    gm_pointer pointer[3];
    const char *may_use;
} expressions[] = {
    {GM_LIST_COUPLING, 1, {{GM_POINTER_STATE, "s"}}, "states of the sending node (s->NAME)"},
    {GM_LIST_NOISE, 1, {{GM_POINTER_PARAMS, "m"}}, "parameters (m->NAME)"},
    {GM_LIST_DERIVED,
     3,
     {{GM_POINTER_STATE, "s"}, {GM_POINTER_PARAMS, "m"}, {GM_POINTER_DRIVE, "c"}},
     "states (s->NAME), parameters (m->NAME), couplings and inputs (c->NAME)"},
};
enum { N_EXPRESSION = sizeof expressions / sizeof expressions[0] };

/* A word of an expression that no arrow follows: a bare name of the lists lacks its pointer. */
static void check_bare(gm_member_check *check, gm_span word)
{
    char name[GM_MODEL_SHOWN_SIZE];
    gm_model_header_show(check->header, word, name);
    const gm_pointer *right = right_pointer(check, name);
    if (!right || gm_member_pointer(check, word)) return;
    check->reported[check->n_reported++] = word;
    gm_problems_add(check->problems, gm_model_header_place(check->header, word.begin),
                    "'%s' is a %s: write %s->%s", name, targets[right->kind].what, right->name,
                    name);
}

static void report_pointer(const gm_member_check *check, const char *may_use, const char *macro,
                           gm_span word)
{
    char shown[GM_MODEL_SHOWN_SIZE];
    gm_problems_add(check->problems, gm_model_header_place(check->header, word.begin),
                    "%s: there is no %s-> here; the expression may use %s", macro,
                    gm_model_header_show(check->header, word, shown), may_use);
}

/* Is the word, without an arrow, handed to a function: f(m, ...)? */
static bool is_argument(gm_token before, gm_token behind)
{
    return before.kind == GM_TOKEN_SIGN && strchr("(,", before.first) &&
           behind.kind == GM_TOKEN_SIGN && strchr(",)", behind.first);
}

/* A pointer that expressions of other lists have, and this one has not. */
static bool is_foreign_pointer(const gm_member_check *check, gm_span word)
{
    const gm_model_header *h = check->header;
    return word.end - word.begin == 1 && strchr("msc", h->text[word.begin]) &&
           !gm_member_pointer(check, word) && !gm_model_header_defines(h, word);
}

static void check_expression(gm_member_check *check, const char *may_use, const char *macro,
                             gm_span span)
{
    const gm_model_header *h = check->header;
    int64_t at = span.begin;
    gm_token token = gm_model_header_token(h, &at, span.end);
    if (token.kind == GM_TOKEN_END)
        gm_problems_add(check->problems, gm_model_header_place(h, span.begin),
                        "%s: here an expression is missing; it may use %s", macro, may_use);
    gm_token word = {.kind = GM_TOKEN_END};
    while (token.kind != GM_TOKEN_END && check->n_reported < GM_MAX_REPORTED) {
        const gm_token before = word;
        word = token;
        token = gm_model_header_token(h, &at, span.end);
        if (word.kind == GM_TOKEN_SIGN && word.first == '.') { /* a member of something else */
            token = gm_model_header_token(h, &at, span.end);
            continue;
        }
        if (word.kind != GM_TOKEN_WORD) continue;
        const bool has_arrow = token.kind == GM_TOKEN_ARROW;
        const gm_pointer *pointer = gm_member_pointer(check, word.span);
        if (has_arrow ? !pointer
                      : is_argument(before, token) && is_foreign_pointer(check, word.span)) {
            report_pointer(check, may_use, macro, word.span);
            return;
        }
        if (!has_arrow) {
            check_bare(check, word.span);
            continue;
        }
        const gm_token member = gm_model_header_token(h, &at, span.end);
        gm_member_verify(check, pointer, member.span);
        token = gm_model_header_token(h, &at, span.end);
    }
}

void gm_model_check_expressions(const gm_model_header *h, const gm_model_lists *lists,
                                gm_problems *problems)
{
    for (int e = 0; e < N_EXPRESSION; e++) {
        const gm_entries *list = &lists->list[expressions[e].id];
        const gm_list_form *form = &gm_list_forms[expressions[e].id];
        gm_member_check check = {.header = h,
                                 .lists = lists,
                                 .problems = problems,
                                 .n_pointer = expressions[e].n_pointer};
        memcpy(check.pointer, expressions[e].pointer, sizeof expressions[e].pointer);
        for (int i = 0; i < list->n; i++)
            if (list->entry[i].n_field == form->n_field)
                check_expression(&check, expressions[e].may_use, form->macro,
                                 list->entry[i].field[1]);
    }
}

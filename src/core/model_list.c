#include "core/model_list.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/model.h"

const gm_list_form gm_list_forms[GM_N_LIST] = {
#define X(id, macro, what, n_field, n_most, form) {macro, what, n_field, n_most, form},
    GM_MODEL_LISTS(X)
#undef X
};

_Static_assert((int)GM_MAX_ENTRY >= (int)GM_MAX_PARAM, "the longest list must fit");

int gm_entries_find(const gm_entries *entries, const char *name)
{
    for (int i = 0; i < entries->n; i++)
        if (strcmp(entries->entry[i].name, name) == 0) return i;
    return -1;
}

/* Without blanks at its ends. */
static gm_span trim(const gm_model_header *h, gm_span s)
{
    static const char blank[] = " \t\v\f";
    while (s.begin < s.end && strchr(blank, h->text[s.begin])) s.begin++;
    while (s.begin < s.end && strchr(blank, h->text[s.end - 1])) s.end--;
    return s;
}

/* Read the fields behind the "(" at *at, and move *at behind the ")". False if there is none. */
static bool read_fields(const gm_model_header *h, int64_t *at, int64_t end, gm_entry *entry)
{
    int depth = 1;
    int64_t begin = *at;
    entry->n_field = 0;
    for (;;) {
        const gm_token token = gm_model_header_token(h, at, end);
        if (token.kind == GM_TOKEN_END) return false;
        if (token.kind != GM_TOKEN_SIGN) continue;
        if (token.first == '(') depth++;
        if (token.first == ')') depth--;
        if (depth > 1 || (depth == 1 && token.first != ',')) continue;
        if (entry->n_field < GM_MAX_FIELD)
            entry->field[entry->n_field] = trim(h, (gm_span){begin, token.span.begin});
        entry->n_field++;
        begin = token.span.end;
        if (depth == 0) return true;
    }
}

static void keep_name(const gm_model_header *h, gm_entry *entry)
{
    const gm_span s = entry->field[0];
    size_t n = (size_t)(s.end - s.begin);
    if (n > sizeof entry->name - 1) n = sizeof entry->name - 1;
    memcpy(entry->name, h->text + s.begin, n);
    entry->name[n] = '\0';
}

static bool is_too_long(const gm_entry *entry)
{
    for (int i = 0; i < entry->n_field && i < GM_MAX_FIELD; i++)
        if (entry->field[i].end - entry->field[i].begin >= GM_MODEL_FIELD_SIZE) return true;
    return false;
}

/* Append the entry, and say what is wrong with it. */
static void add_entry(const gm_model_header *h, const gm_list_form *form, gm_entry *entry,
                      gm_problems *problems, gm_entries *out)
{
    char shown[GM_MODEL_SHOWN_SIZE];
    keep_name(h, entry);
    gm_model_header_show(h, entry->field[0], shown);
    if (entry->n_field != form->n_field)
        gm_problems_add(problems, gm_model_header_place(h, entry->at),
                        "%s: an entry is %s, of %d field%s; the one of '%s' has %d", form->macro,
                        form->form, form->n_field, form->n_field > 1 ? "s" : "", shown,
                        entry->n_field);
    else if (is_too_long(entry))
        gm_problems_add(problems, gm_model_header_place(h, entry->at),
                        "%s: a field of '%s' is longer than %d characters", form->macro, shown,
                        GM_MODEL_FIELD_SIZE - 1);
    else
        entry->at = entry->field[0].begin;
    if (entry->n_field > GM_MAX_FIELD) entry->n_field = GM_MAX_FIELD + 1;
    out->entry[out->n++] = *entry;
}

/* "(X)" behind the name of a list: gives X, and the entries behind it. */
static bool read_parameter(const gm_model_header *h, gm_span *rest, gm_span *parameter)
{
    int64_t at = rest->begin;
    if (h->text[at] != '(') return false; /* a macro's "(" touches its name */
    gm_model_header_token(h, &at, rest->end);
    const gm_token name = gm_model_header_token(h, &at, rest->end);
    const gm_token close = gm_model_header_token(h, &at, rest->end);
    *parameter = name.span;
    rest->begin = at;
    return name.kind == GM_TOKEN_WORD && close.kind == GM_TOKEN_SIGN && close.first == ')';
}

static void report_no_entry(const gm_model_header *h, const char *macro, gm_token token,
                            gm_problems *problems)
{
    char shown[GM_MODEL_SHOWN_SIZE];
    const gm_place place = gm_model_header_place(h, token.span.begin);
    if (token.first == '\\')
        gm_problems_add(problems, place,
                        "%s: this backslash must be the last character of its line, to continue "
                        "the list",
                        macro);
    else
        gm_problems_add(problems, place,
                        "%s: here an entry X(...) was expected, found '%s'; each line of a list "
                        "but the last ends in a backslash",
                        macro, gm_model_header_show(h, token.span, shown));
}

static void read_list(const gm_model_header *h, gm_list_id id, gm_problems *problems,
                      gm_entries *out)
{
    const gm_list_form *form = &gm_list_forms[id];
    gm_directive macro;
    gm_span parameter;
    char word[GM_MODEL_SHOWN_SIZE];
    out->at = -1;
    out->is_whole = true;
    if (!gm_model_header_macro(h, form->macro, problems, &macro)) return;
    out->at = macro.name.begin;
    out->is_whole = false;
    if (!read_parameter(h, &macro.rest, &parameter)) {
        gm_problems_add(problems, gm_model_header_place(h, out->at),
                        "%s is a list and must be written #define %s(X) %s X(...) ...", form->macro,
                        form->macro, form->form);
        return;
    }
    gm_model_header_show(h, parameter, word);
    out->is_whole = true;
    int64_t at = macro.rest.begin;
    for (;;) {
        const gm_token x = gm_model_header_token(h, &at, macro.rest.end);
        if (x.kind == GM_TOKEN_END) return;
        const gm_token open = gm_model_header_token(h, &at, macro.rest.end);
        gm_entry entry = {.at = x.span.begin};
        if (x.kind != GM_TOKEN_WORD || !gm_model_header_is(h, x.span, word) || open.first != '(') {
            report_no_entry(h, form->macro, x, problems);
            break;
        }
        if (!read_fields(h, &at, macro.rest.end, &entry)) {
            gm_problems_add(problems, gm_model_header_place(h, entry.at),
                            "%s: this entry has no closing parenthesis in its list; each line but "
                            "the last ends in a backslash",
                            form->macro);
            break;
        }
        if (out->n == form->n_most) {
            gm_problems_add(problems, gm_model_header_place(h, entry.at),
                            "%s may have at most %d entries", form->macro, form->n_most);
            break;
        }
        add_entry(h, form, &entry, problems, out);
    }
    out->is_whole = false;
}

static bool is_list(const gm_model_header *h, const gm_directive *one)
{
    if (!gm_model_header_is(h, one->word, "define")) return false;
    for (int id = 0; id < GM_N_LIST; id++)
        if (gm_model_header_is(h, one->name, gm_list_forms[id].macro)) return true;
    return false;
}

void gm_model_lists_check_ends(const gm_model_header *h, gm_problems *problems)
{
    gm_directive_walk walk = {0};
    gm_directive list;
    gm_span parameter;
    char x[GM_MODEL_SHOWN_SIZE];
    for (int n = 0; n < GM_N_LIST && gm_model_header_directive(h, &walk, &list);) {
        if (!is_list(h, &list) || !read_parameter(h, &list.rest, &parameter)) continue;
        n++;
        int64_t at = list.rest.end;
        while (at < h->n && isspace((unsigned char)h->text[at])) at++;
        if (h->text[at] == '#') continue;
        const gm_token word = gm_model_header_token(h, &at, h->n);
        const gm_token open = gm_model_header_token(h, &at, h->n);
        gm_model_header_show(h, parameter, x);
        if (!gm_model_header_is(h, word.span, x) || open.first != '(') continue;
        gm_problems_add(problems, gm_model_header_place(h, word.span.begin),
                        "this %s(...) belongs to no list: a backslash is missing at the end of "
                        "line %d",
                        x, gm_model_header_place(h, list.rest.end).line);
    }
}

gm_status gm_model_lists_create(const gm_model_header *h, gm_problems *problems,
                                gm_model_lists **out)
{
    gm_model_lists *lists = calloc(1, sizeof *lists);
    *out = NULL;
    if (!lists) return GM_FAIL(GM_E_MEMORY, "out of memory for a model header");
    for (int id = 0; id < GM_N_LIST; id++) read_list(h, (gm_list_id)id, problems, &lists->list[id]);
    *out = lists;
    return GM_OK;
}

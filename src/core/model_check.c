/* Macros and names of a model header. */
#include "core/model_check.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/sweep.h"
#include "core/sweep_yaml.h"

/* --- macros ---------------------------------------------------------------------------------- */

static const char *const known_macros[] = {
#define X(id, macro, ...) macro,
    GM_MODEL_LISTS(X)
#undef X
        "GM_MODEL_NAME",
    "GM_MODEL_DOC",
    "GM_MODEL_SOURCE",
    "GM_MODEL_TIME_UNIT",
};
enum { N_KNOWN_MACRO = sizeof known_macros / sizeof known_macros[0] };

static bool is_ours(const char *name)
{
    return strncmp(name, "gm_", 3) == 0 || strncmp(name, "GM_", 3) == 0;
}

/* True if the macro is one that a model may define. */
static bool check_macro(const gm_model_header *h, const gm_directive *macro, gm_problems *problems)
{
    char name[GM_MODEL_SHOWN_SIZE];
    gm_model_header_show(h, macro->name, name);
    if (!is_ours(name)) return true;
    for (int i = 0; i < N_KNOWN_MACRO; i++)
        if (strcmp(name, known_macros[i]) == 0) return true;
    char all[GM_YAML_LIST_SIZE];
    const char *near = gm_nearest_name(name, known_macros, N_KNOWN_MACRO);
    gm_problems_add(problems, gm_model_header_place(h, macro->name.begin),
                    "unknown %s%s%s%s; names that begin with GM_ or gm_ are gridmarch's own, and a "
                    "model may define: %s",
                    name, near ? "; did you mean " : "", near ? near : "", near ? "?" : "",
                    gm_yaml_join(known_macros, N_KNOWN_MACRO, all, sizeof all));
    return false;
}

/* Does an #include lead to gm_model.h? */
static bool is_the_include(const gm_model_header *h, const gm_directive *directive)
{
    static const char wanted[] = "gm_model.h";
    const size_t n = sizeof wanted - 1;
    gm_span rest = directive->rest;
    while (rest.end > rest.begin && isspace((unsigned char)h->text[rest.end - 1])) rest.end--;
    if (!gm_model_header_is(h, directive->word, "include")) return false;
    if (rest.end - rest.begin < (int64_t)n + 2) return false;
    const char *file = h->text + rest.end - 1 - n;
    return memcmp(file, wanted, n) == 0 && strchr("\"</", file[-1]);
}

void gm_model_check_macros(const gm_model_header *h, gm_model_lists *lists, gm_problems *problems)
{
    gm_directive_walk walk = {0};
    gm_directive one;
    int64_t include = -1;
    int n_unknown = 0;
    while (gm_model_header_directive(h, &walk, &one)) {
        if (is_the_include(h, &one) && include < 0) include = one.at;
        if (gm_model_header_is(h, one.word, "define") && n_unknown < GM_MAX_REPORTED)
            n_unknown += !check_macro(h, &one, problems);
    }
    for (int id = 0; n_unknown > 0 && id < GM_N_LIST; id++)
        if (lists->list[id].at < 0) lists->list[id].is_whole = false;
    if (include < 0)
        gm_problems_add(problems, gm_model_header_place(h, -1),
                        "there is no line #include \"gm_model.h\"; it stands between the lists and "
                        "the functions, and makes types of the lists");
    for (int id = 0; include >= 0 && id < GM_N_LIST; id++)
        if (lists->list[id].at > include)
            gm_problems_add(problems, gm_model_header_place(h, lists->list[id].at),
                            "%s stands behind #include \"gm_model.h\"; lists go before it",
                            gm_list_forms[id].macro);
}

/* --- names ----------------------------------------------------------------------------------- */

/* nvcc reads the header as C++, and some compilers predefine unix and linux. */
static const char *const language_words[] = {
    "alignas",   "alignof",   "and",       "and_eq",    "asm",          "auto",     "bitand",
    "bitor",     "bool",      "break",     "case",      "catch",        "char",     "class",
    "compl",     "const",     "continue",  "constexpr", "decltype",     "default",  "delete",
    "do",        "double",    "else",      "enum",      "explicit",     "export",   "extern",
    "false",     "float",     "for",       "friend",    "goto",         "if",       "inline",
    "int",       "linux",     "long",      "mutable",   "namespace",    "new",      "noexcept",
    "not",       "not_eq",    "nullptr",   "operator",  "or",           "or_eq",    "private",
    "protected", "public",    "register",  "restrict",  "return",       "short",    "signed",
    "sizeof",    "static",    "struct",    "switch",    "template",     "this",     "thread_local",
    "throw",     "true",      "try",       "typedef",   "typeid",       "typename", "typeof",
    "union",     "unix",      "unsigned",  "using",     "virtual",      "void",     "volatile",
    "wchar_t",   "while",     "xor",       "xor_eq",    "NULL",         "NAN",      "INFINITY",
    "EOF",       "constinit", "consteval", "concept",   "requires",     "co_await", "co_return",
    "co_yield",  "char8_t",   "char16_t",  "char32_t",  "static_assert"};

static const char *const our_words[] = {"strength", "turn", "X", "INLINE"};
static const char *const file_words[] = {"time",        "node",       "point", "status",
                                         "failed_step", "run",        "seed",  "initial",
                                         "checksum",    "provenance", "all"};

static bool is_among(const char *name, const char *const *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, word[i]) == 0) return true;
    return false;
}
#define IS_AMONG(name, words) is_among(name, words, sizeof(words) / sizeof *(words))

static const char *reason_against(const char *name)
{
    if (IS_AMONG(name, language_words)) return "it is a word of C or C++";
    if (IS_AMONG(name, our_words)) return "gridmarch itself uses it";
    if (IS_AMONG(name, file_words)) return "the result file or the sweep file uses it";
    if (is_ours(name)) return "names that begin with gm_ or GM_ are gridmarch's own";
    if (strstr(name, "__")) return "a double underscore is the compiler's";
    return NULL;
}

static bool is_c_name(const char *name)
{
    if (!isalpha((unsigned char)name[0])) return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_') return false;
    return true;
}

static void check_name(const gm_model_header *h, const gm_list_form *form, const gm_entry *entry,
                       gm_problems *problems)
{
    const gm_span span = entry->field[0];
    const bool is_long = span.end - span.begin >= GM_MODEL_NAME_SIZE;
    const char *reason = reason_against(entry->name);
    char shown[GM_MODEL_SHOWN_SIZE];
    if (is_c_name(entry->name) && !is_long && !reason) return;
    const gm_place place = gm_model_header_place(h, entry->at);
    if (!is_c_name(entry->name))
        gm_problems_add(problems, place,
                        "%s: '%s' is no name; a name begins with a letter and is made of a-z, A-Z, "
                        "0-9 and _",
                        form->macro, gm_model_header_show(h, span, shown));
    else if (is_long)
        gm_problems_add(problems, place, "%s: the name '%s' is longer than %d characters",
                        form->macro, gm_model_header_show(h, span, shown), GM_MODEL_NAME_SIZE - 1);
    else
        gm_problems_add(problems, place, "%s: '%s' cannot be a name here: %s", form->macro,
                        entry->name, reason);
}

/* The first entry of this name before entry i of list id, or NULL. */
static const gm_entry *find_before(const gm_model_lists *lists, int id, int i, int *list)
{
    const char *name = lists->list[id].entry[i].name;
    for (int k = 0; k <= id; k++) {
        const int n = k < id ? lists->list[k].n : i;
        for (int j = 0; j < n; j++) {
            *list = k;
            if (strcmp(lists->list[k].entry[j].name, name) == 0) return &lists->list[k].entry[j];
        }
    }
    return NULL;
}

static void check_twice(const gm_model_header *h, const gm_model_lists *lists, int id, int i,
                        gm_problems *problems)
{
    int other = 0;
    const gm_entry *entry = &lists->list[id].entry[i];
    const gm_entry *first = find_before(lists, id, i, &other);
    if (!first) return;
    const gm_place place = gm_model_header_place(h, first->at);
    const char *article = gm_list_forms[other].what[0] == 'i' ? "an" : "a"; /* an input */
    gm_problems_add(problems, gm_model_header_place(h, entry->at),
                    "'%s' is the name of this %s and of %s %s before it (line %d, column %d); a "
                    "name can be used once",
                    entry->name, gm_list_forms[id].what, article, gm_list_forms[other].what,
                    place.line, place.column);
}

/* Variables of the result file are called after a state and what is recorded of it: E_mean. */
static void check_recorded(const gm_model_header *h, const gm_model_lists *lists,
                           const gm_entry *entry, gm_problems *problems)
{
    static const gm_list_id recorded[] = {GM_LIST_STATE, GM_LIST_DERIVED};
    char stem[GM_MODEL_NAME_SIZE];
    strcpy(stem, entry->name);
    char *last = strrchr(stem, '_');
    if (!last) return;
    *last = '\0';
    for (int o = 0; o < GM_TRAJECTORY; o++) {
        if (strcmp(last + 1, gm_observable_name((gm_observable)o)) != 0) continue;
        for (int k = 0; k < 2; k++)
            if (gm_entries_find(&lists->list[recorded[k]], stem) >= 0)
                gm_problems_add(problems, gm_model_header_place(h, entry->at),
                                "'%s' is the result file's name for '%s' of '%s'; choose another",
                                entry->name, last + 1, stem);
    }
}

/* Noises and phases: names of states, each once. */
static void check_reference(const gm_model_header *h, const gm_model_lists *lists, int id, int i,
                            gm_problems *problems)
{
    const gm_entries *states = &lists->list[GM_LIST_STATE];
    const gm_entries *list = &lists->list[id];
    const gm_entry *entry = &list->entry[i];
    const char *names[GM_MAX_ENTRY];
    char all[GM_YAML_LIST_SIZE];
    char shown[GM_MODEL_SHOWN_SIZE];
    if (gm_entries_find(list, entry->name) < i)
        gm_problems_add(problems, gm_model_header_place(h, entry->at), "%s names '%s' twice",
                        gm_list_forms[id].macro, entry->name);
    if (gm_entries_find(states, entry->name) >= 0 || !states->is_whole) return;
    for (int k = 0; k < states->n; k++) names[k] = states->entry[k].name;
    const char *near = gm_nearest_name(entry->name, names, states->n);
    gm_problems_add(problems, gm_model_header_place(h, entry->at),
                    "%s: there is no state '%s'%s%s%s states: %s", gm_list_forms[id].macro,
                    gm_model_header_show(h, entry->field[0], shown),
                    near ? "; did you mean '" : ";", near ? near : "", near ? "'?" : "",
                    gm_yaml_join(names, states->n, all, sizeof all));
}

void gm_model_check_names(const gm_model_header *h, const gm_model_lists *lists,
                          gm_problems *problems)
{
    for (int id = 0; id < GM_N_LIST; id++) {
        const gm_entries *list = &lists->list[id];
        for (int i = 0; i < list->n; i++) {
            if (id >= GM_N_NAMING_LIST) {
                check_reference(h, lists, id, i, problems);
                continue;
            }
            check_name(h, &gm_list_forms[id], &list->entry[i], problems);
            check_twice(h, lists, id, i, problems);
            if (id == GM_LIST_STATE || id == GM_LIST_DERIVED)
                check_recorded(h, lists, &list->entry[i], problems);
        }
    }
}

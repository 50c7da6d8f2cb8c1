/* Typed access to the nodes of a YAML tree, and the messages for what does not fit. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sweep_yaml.h"

int64_t gm_yaml_index(const gm_yaml_node *map, const char *key)
{
    if (!map || map->kind != GM_YAML_MAP) return -1;
    for (int64_t i = 0; i < map->n; i++)
        if (strcmp(map->key[i]->text, key) == 0) return i;
    return -1;
}

gm_yaml_node *gm_yaml_find(const gm_yaml_node *map, const char *key)
{
    int64_t i = gm_yaml_index(map, key);
    return i < 0 ? NULL : map->item[i];
}

gm_yaml_node *gm_yaml_find_key(const gm_yaml_node *map, const char *key)
{
    int64_t i = gm_yaml_index(map, key);
    return i < 0 ? NULL : map->key[i];
}

bool gm_yaml_is_null(const gm_yaml_node *node)
{
    static const char *const nothing[] = {"", "~", "null", "Null", "NULL"};
    if (node->kind != GM_YAML_SCALAR || node->quoted) return false;
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        if (strcmp(node->text, nothing[i]) == 0) return true;
    return false;
}

const char *gm_yaml_describe(const gm_yaml_node *node, char *buffer, size_t size)
{
    enum { MAX_SHOWN = 60 };
    if (node->kind != GM_YAML_SCALAR) return node->kind == GM_YAML_LIST ? "a list" : "a mapping";
    if (gm_yaml_is_null(node)) return "nothing";
    int length = (int)strnlen(node->text, MAX_SHOWN);
    if (length == MAX_SHOWN) /* cut between characters */
        while (length > 0 && ((unsigned char)node->text[length] & 0xC0) == 0x80) length--;
    snprintf(buffer, size, "'%.*s%s'", length, node->text, node->text[length] ? "..." : "");
    for (char *c = buffer; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    return buffer;
}

const char *gm_yaml_where(const gm_yaml_node *node, char *buffer, size_t size)
{
    const gm_place *place = &node->place;
    if (place->line > 0)
        snprintf(buffer, size, "%s:%d:%d", place->file, place->line, place->column);
    else
        snprintf(buffer, size, "%s", place->file);
    return buffer;
}

const char *gm_yaml_join(const char *const *name, int n, char *buffer, size_t size)
{
    size_t used = 0;
    snprintf(buffer, size, "none");
    for (int i = 0; i < n && used + strlen(name[i]) + 3 < size; i++)
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", i ? ", " : "", name[i]);
    return buffer;
}

/* Words from other programs that spelling does not lead from. They only help a message: none is
 * ever taken for the name. */
static const struct {
    const char *word, *name, *note;
} other_words[] = {
    {"max", "maximum", NULL},
    {"float32", "fp32", NULL},
    {"single", "fp32", NULL},
    {"float64", "fp64", NULL},
    {"double", "fp64", NULL},
    {"var", "variance", NULL},
    {"std", "variance", "the standard deviation is its root"},
    {"arange", "range", "[first, last, step], the last value included"},
    {"rk45", "rk4", "steps are of fixed length: no integrator is adaptive"},
    {"adaptive", "rk4", "steps are of fixed length: no integrator is adaptive"},
};

/* The name that was meant, or NULL. */
static const char *suggest(const char *word, const char *const *allowed, int n_allowed,
                           const char **note)
{
    *note = NULL;
    for (size_t i = 0; i < sizeof other_words / sizeof *other_words; i++) {
        if (strcasecmp(word, other_words[i].word) != 0) continue;
        for (int k = 0; k < n_allowed; k++) {
            if (strcmp(other_words[i].name, allowed[k]) != 0) continue;
            *note = other_words[i].note;
            return allowed[k];
        }
    }
    return gm_nearest_name(word, allowed, n_allowed);
}

void gm_yaml_report_name(const gm_yaml_node *node, const char *before, const char *after,
                         const char *const *allowed, int n_allowed, gm_problems *problems)
{
    char found[GM_YAML_NAME_SIZE];
    char all[GM_YAML_LIST_SIZE];
    char hint[GM_YAML_NAME_SIZE] = "";
    const char *note = NULL;
    const char *meant = suggest(node->text, allowed, n_allowed, &note);
    if (meant)
        snprintf(hint, sizeof hint, " did you mean '%s'%s%s%s?", meant, note ? " (" : "",
                 note ? note : "", note ? ")" : "");
    gm_problems_add(problems, node->place, "%s %s;%s %s: %s", before,
                    gm_yaml_describe(node, found, sizeof found), hint, after,
                    gm_yaml_join(allowed, n_allowed, all, sizeof all));
}

void gm_yaml_check_keys(const gm_yaml_node *map, const char *what, const char *const *allowed,
                        int n_allowed, gm_problems *problems)
{
    char before[GM_YAML_NAME_SIZE];
    snprintf(before, sizeof before, "%s%sunknown key", what ? what : "", what ? ": " : "");
    for (int64_t i = 0; i < map->n; i++) {
        bool known = false;
        for (int k = 0; k < n_allowed; k++) known |= strcmp(map->key[i]->text, allowed[k]) == 0;
        if (!known)
            gm_yaml_report_name(map->key[i], before, "allowed here", allowed, n_allowed, problems);
    }
}

static bool complain(const gm_yaml_node *node, const char *what, const char *needed,
                     gm_problems *problems)
{
    char found[GM_YAML_NAME_SIZE];
    gm_problems_add(problems, node->place, "%s must be %s; found %s", what, needed,
                    gm_yaml_describe(node, found, sizeof found));
    return false;
}

bool gm_yaml_get_map(const gm_yaml_node *node, const char *what, gm_problems *problems)
{
    return node->kind == GM_YAML_MAP || complain(node, what, "a mapping (key: value)", problems);
}

bool gm_yaml_get_list(const gm_yaml_node *node, const char *what, gm_problems *problems)
{
    return node->kind == GM_YAML_LIST || complain(node, what, "a list: [a, b, ...]", problems);
}

static size_t count_digits(const char **text)
{
    size_t n = strspn(*text, "0123456789");
    *text += n;
    return n;
}

/* [+-] digits [. digits] [e [+-] digits], with a digit on at least one side of the point. */
static bool is_number(const char *text)
{
    if (*text == '+' || *text == '-') text++;
    size_t n_digit = count_digits(&text);
    if (*text == '.') {
        text++;
        n_digit += count_digits(&text);
    }
    if (n_digit == 0) return false;
    if (*text == 'e' || *text == 'E') {
        text++;
        if (*text == '+' || *text == '-') text++;
        if (count_digits(&text) == 0) return false;
    }
    return *text == '\0';
}

static bool is_not_finite(const char *text)
{
    static const char *const names[] = {".inf", "inf", ".nan", "nan", "infinity"};
    if (*text == '+' || *text == '-') text++;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(text, names[i]) == 0) return true;
    return false;
}

static bool get_number(const gm_yaml_node *node, const char *what, const char *needed,
                       gm_problems *problems, double *out)
{
    char found[GM_YAML_NAME_SIZE];
    if (node->kind != GM_YAML_SCALAR || gm_yaml_is_null(node))
        return complain(node, what, needed, problems);
    bool is_decimal = is_number(node->text);
    double value = is_decimal ? strtod(node->text, NULL) : 0.0;
    gm_yaml_describe(node, found, sizeof found);
    if ((is_decimal && !isfinite(value)) || (!node->quoted && is_not_finite(node->text)))
        gm_problems_add(problems, node->place, "%s must be a finite number; found %s", what, found);
    else if (is_decimal && node->quoted)
        gm_problems_add(problems, node->place,
                        "%s must be %s; found the text %s (remove the quotes)", what, needed,
                        found);
    else if (!is_decimal && strchr(node->text, '_') &&
             strspn(node->text, "0123456789_+-.eE") == strlen(node->text))
        gm_problems_add(problems, node->place, "%s must be %s without '_'; found %s", what, needed,
                        found);
    else if (!is_decimal)
        return complain(node, what, needed, problems);
    else
        return *out = value, true;
    return false;
}

bool gm_yaml_get_double(const gm_yaml_node *node, const char *what, gm_problems *problems,
                        double *out)
{
    return get_number(node, what, "a number", problems, out);
}

bool gm_yaml_get_int64(const gm_yaml_node *node, const char *what, gm_problems *problems,
                       int64_t *out)
{
    static const double exact_limit = 9007199254740992.0; /* 2^53 */
    const char *needed = "a whole number";
    double value;
    if (!get_number(node, what, needed, problems, &value)) return false;
    if (value != rint(value)) return complain(node, what, needed, problems);
    if (fabs(value) >= exact_limit)
        return complain(node, what, "a whole number below 2^53", problems);
    *out = (int64_t)value;
    return true;
}

bool gm_yaml_get_bool(const gm_yaml_node *node, const char *what, gm_problems *problems, bool *out)
{
    bool is_plain = node->kind == GM_YAML_SCALAR && !node->quoted;
    if (is_plain && strcasecmp(node->text, "true") == 0) return *out = true, true;
    if (is_plain && strcasecmp(node->text, "false") == 0) return *out = false, true;
    return complain(node, what, "true or false", problems);
}

bool gm_yaml_get_string(const gm_yaml_node *node, const char *what, gm_problems *problems,
                        const char **out)
{
    if (node->kind != GM_YAML_SCALAR || gm_yaml_is_null(node) || !*node->text)
        return complain(node, what, "a text", problems);
    *out = node->text;
    return true;
}

bool gm_yaml_get_choice(const gm_yaml_node *node, const char *what, const char *const *choice,
                        int n_choice, gm_problems *problems, int *out)
{
    char all[GM_YAML_LIST_SIZE];
    char before[GM_YAML_NAME_SIZE];
    if (node->kind != GM_YAML_SCALAR || gm_yaml_is_null(node)) {
        char needed[GM_YAML_LIST_SIZE + 16];
        snprintf(needed, sizeof needed, "one of: %s",
                 gm_yaml_join(choice, n_choice, all, sizeof all));
        return complain(node, what, needed, problems);
    }
    for (int i = 0; i < n_choice; i++)
        if (strcmp(node->text, choice[i]) == 0) return *out = i, true;
    snprintf(before, sizeof before, "%s cannot be", what);
    gm_yaml_report_name(node, before, "the choices", choice, n_choice, problems);
    return false;
}

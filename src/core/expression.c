/* A recursive descent over the text. Whole numbers are told apart from others, since C divides them
 * differently. */
#include "core/expression.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64, MAX_NAME = 64 };

typedef struct number {
    double x;
    bool is_whole; /* an int in C */
} number;

typedef struct parser {
    const char *at;
    gm_name_value lookup;
    const void *context;
    locale_t plain; /* a point is a decimal point */
    int depth;
    bool failed;
} parser;

static number sum(parser *p);

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static void skip(parser *p)
{
    while (isspace((unsigned char)*p->at)) p->at++;
}

static bool take(parser *p, char c)
{
    skip(p);
    if (*p->at != c) return false;
    p->at++;
    return true;
}

static number fail(parser *p)
{
    p->failed = true;
    return (number){0, false};
}

static number real(double x)
{
    return (number){x, false};
}

/* Result of + - or * of two numbers. */
static number result(parser *p, double x, bool is_whole)
{
    return is_whole && fabs(x) > INT32_MAX ? fail(p) : (number){is_whole ? x + 0.0 : x, is_whole};
}

static number quotient(parser *p, number a, number b)
{
    const bool is_whole = a.is_whole && b.is_whole;
    if (is_whole && (b.x == 0 || fmod(a.x, b.x) != 0)) return fail(p);
    return (number){a.x / b.x, is_whole};
}

static number literal(parser *p)
{
    const char *begin = p->at;
    char *end = NULL;
    const bool is_hex = begin[0] == '0' && (begin[1] == 'x' || begin[1] == 'X');
    number value = {strtod_l(begin, &end, p->plain), true};
    if (end == begin) return fail(p);
    for (const char *c = begin; c < end; c++)
        if (strchr(is_hex ? "pP" : ".eE", *c)) value.is_whole = false;
    const bool is_octal = value.is_whole && !is_hex && begin[0] == '0' && end > begin + 1;
    const bool lacks_exponent = value.is_whole && memchr(begin, '.', (size_t)(end - begin));
    if (is_octal || lacks_exponent) return fail(p);
    if (!value.is_whole && (*end == 'f' || *end == 'F')) {
        value.x = (double)strtof_l(begin, NULL, p->plain);
        end++;
    } else if (*end == 'l' || *end == 'L') {
        end++;
    }
    p->at = end;
    return is_word(*end) || *end == '.' ? fail(p) : value;
}

static void read_name(parser *p, char name[MAX_NAME])
{
    size_t n = 0;
    skip(p);
    while (is_word(*p->at)) {
        if (n + 1 == MAX_NAME) p->failed = true;
        if (n + 1 < MAX_NAME) name[n++] = *p->at;
        p->at++;
    }
    name[n] = '\0';
    if (n == 0) p->failed = true;
}

static number call(parser *p, const char *name)
{
    const char *plain = strncmp(name, "gm_", 3) == 0 ? name + 3 : name;
    const double x = sum(p).x;
    if (!take(p, ')')) return fail(p);
    if (!strcmp(plain, "sqrt")) return real(sqrt(x));
    if (!strcmp(plain, "exp")) return real(exp(x));
    if (!strcmp(plain, "log")) return real(log(x));
    if (!strcmp(name, "GM_C")) return real(x);
    return fail(p);
}

static number name_or_call(parser *p)
{
    char name[MAX_NAME];
    double value = 0;
    read_name(p, name);
    if (take(p, '(')) return call(p, name);
    if (strncmp(p->at, "->", 2) == 0) { /* take() has skipped the blanks */
        if (strcmp(name, "m") != 0) return fail(p);
        p->at += 2;
        read_name(p, name);
    }
    if (p->failed || !p->lookup || !p->lookup(p->context, name, &value)) return fail(p);
    return real(value);
}

static number primary(parser *p)
{
    number value = {0, false};
    if (p->failed || ++p->depth > MAX_DEPTH) return fail(p);
    if (take(p, '-')) {
        value = *p->at == '-' ? fail(p) : primary(p);      /* -- is another operator */
        value.x = value.is_whole ? 0 - value.x : -value.x; /* a whole 0 has no sign */
    } else if (take(p, '+')) {
        value = *p->at == '+' ? fail(p) : primary(p);
    } else if (take(p, '(')) {
        value = sum(p);
        if (!take(p, ')')) fail(p);
    } else if (isdigit((unsigned char)*p->at) || *p->at == '.') {
        value = literal(p);
    } else if (is_word(*p->at)) {
        value = name_or_call(p);
    } else {
        fail(p);
    }
    p->depth--;
    return value;
}

static number product(parser *p)
{
    number value = primary(p);
    while (!p->failed) {
        if (take(p, '*')) {
            const number b = primary(p);
            value = result(p, value.x * b.x, value.is_whole && b.is_whole);
        } else if (take(p, '/')) {
            value = quotient(p, value, primary(p));
        } else {
            break;
        }
    }
    return value;
}

static number sum(parser *p)
{
    number value = product(p);
    while (!p->failed) {
        const bool minus = take(p, '-');
        if (!minus && !take(p, '+')) break;
        if (*p->at == (minus ? '-' : '+')) return fail(p);
        const number b = product(p);
        value = result(p, minus ? value.x - b.x : value.x + b.x, value.is_whole && b.is_whole);
    }
    return value;
}

bool gm_expression_value(const char *text, gm_name_value lookup, const void *context, double *value)
{
    parser p = {.at = text, .lookup = lookup, .context = context};
    p.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* glibc's own: nothing is allocated */
    *value = 0;
    if (!p.plain) return false;
    *value = sum(&p).x;
    skip(&p);
    freelocale(p.plain);
    return !p.failed && *p.at == '\0';
}

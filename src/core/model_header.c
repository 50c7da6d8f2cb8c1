#include "core/model_header.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

/* --- cleaning: what a compiler does before it looks at a directive --------------------------- */

typedef struct cleaner {
    const char *source;
    int64_t i, n;
    gm_model_header *to;
} cleaner;

/* The character at hand, continuations of lines stepped over; NUL at the end. A line ends in \n. */
static char now(cleaner *c)
{
    for (;;) {
        const char *s = c->source + c->i;
        const int64_t left = c->n - c->i;
        if (left > 0 && s[0] != '\\' && s[0] != '\r') return s[0];
        if (left >= 2 && s[0] == '\\' && s[1] == '\n')
            c->i += 2;
        else if (left >= 3 && s[0] == '\\' && s[1] == '\r' && s[2] == '\n')
            c->i += 3;
        else if (left >= 2 && s[0] == '\r' && s[1] == '\n')
            c->i += 1;
        else
            return left > 0 ? (s[0] == '\r' ? ' ' : s[0]) : '\0';
    }
}

static char next(cleaner *c)
{
    now(c);
    if (c->i < c->n) c->i++;
    return now(c);
}

static void put(cleaner *c, char character, int64_t at)
{
    c->to->text[c->to->n] = character;
    c->to->offset[c->to->n++] = (int32_t)at;
}

/* A string or character; it ends with its line if its quote is missing. */
static void copy_literal(cleaner *c, char quote)
{
    put(c, quote, c->i);
    for (char s = next(c); s && s != '\n'; s = next(c)) {
        put(c, s, c->i);
        if (s == quote) {
            next(c);
            return;
        }
        if (s != '\\') continue;
        s = next(c);
        if (!s || s == '\n') return;
        put(c, s, c->i);
    }
}

/* At the second character of what opens a comment. */
static void skip_comment(cleaner *c, bool to_line_end)
{
    char before = '\0';
    for (char s = next(c); s; s = next(c)) {
        if (to_line_end ? s == '\n' : before == '*' && s == '/') break;
        before = s;
    }
    if (!to_line_end) next(c);
}

static void clean(cleaner *c)
{
    char s = now(c);
    while (s) {
        const int64_t at = c->i;
        if (s == '"' || s == '\'') {
            copy_literal(c, s);
        } else if (s != '/') {
            put(c, s, at);
            next(c);
        } else {
            s = next(c);
            if (s == '/' || s == '*') skip_comment(c, s == '/');
            put(c, s == '/' || s == '*' ? ' ' : '/', at);
        }
        s = now(c);
    }
    c->to->text[c->to->n] = '\0';
    c->to->offset[c->to->n] = (int32_t)c->i;
}

gm_status gm_model_header_create(const char *path, const char *text, gm_model_header **out)
{
    gm_model_header *h = calloc(1, sizeof *h);
    const size_t n = strnlen(text, GM_MODEL_MAX_TEXT);
    *out = NULL;
    if (h) {
        h->text = malloc(n + 1);
        h->offset = malloc((n + 1) * sizeof *h->offset);
    }
    if (!h || !h->text || !h->offset) {
        gm_model_header_destroy(&h);
        return GM_FAIL(GM_E_MEMORY, "out of memory for a model header");
    }
    h->path = path;
    h->source = text;
    cleaner c = {text, 0, (int64_t)n, h};
    clean(&c);
    *out = h;
    return GM_OK;
}

void gm_model_header_destroy(gm_model_header **header)
{
    if (!*header) return;
    free((*header)->text);
    free((*header)->offset);
    free(*header);
    *header = NULL;
}

/* --- places and pieces ----------------------------------------------------------------------- */

gm_place gm_model_header_place(const gm_model_header *h, int64_t at)
{
    gm_place place = {h->path, 0, 0};
    if (at < 0) return place;
    place.line = place.column = 1;
    for (int32_t i = 0; i < h->offset[at]; i++) {
        place.column = h->source[i] == '\n' ? 1 : place.column + 1;
        place.line += h->source[i] == '\n';
    }
    return place;
}

bool gm_model_header_is(const gm_model_header *h, gm_span span, const char *word)
{
    const size_t n = strlen(word);
    return n == (size_t)(span.end - span.begin) && memcmp(h->text + span.begin, word, n) == 0;
}

const char *gm_model_header_show(const gm_model_header *h, gm_span span,
                                 char shown[GM_MODEL_SHOWN_SIZE])
{
    enum { MOST = GM_MODEL_SHOWN_SIZE - 4 };
    size_t n = (size_t)(span.end - span.begin);
    const bool is_cut = n > MOST;
    if (is_cut) {
        n = MOST;
        while (n > 0 && ((unsigned char)h->text[span.begin + (int64_t)n] & 0xC0) == 0x80) n--;
    }
    memcpy(shown, h->text + span.begin, n);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)shown[i] < ' ' || shown[i] == 0x7f) shown[i] = ' ';
    strcpy(shown + n, is_cut ? "..." : "");
    return shown;
}

/* --- words ----------------------------------------------------------------------------------- */

static int64_t literal_end(const gm_model_header *h, int64_t i, int64_t end)
{
    const char quote = h->text[i++];
    while (i < end && h->text[i] != quote && h->text[i] != '\n')
        i += h->text[i] == '\\' && i + 1 < end && h->text[i + 1] != '\n' ? 2 : 1;
    return i < end && h->text[i] == quote ? i + 1 : i;
}

static int64_t number_end(const gm_model_header *h, int64_t i, int64_t end)
{
    for (i++; i < end; i++) {
        const char c = h->text[i];
        const char before = h->text[i - 1];
        const bool is_sign = (c == '+' || c == '-') && strchr("eEpP", before);
        if (!is_word(c) && c != '.' && !is_sign) break;
    }
    return i;
}

static int64_t word_end(const gm_model_header *h, int64_t i, int64_t end)
{
    while (i < end && is_word(h->text[i])) i++;
    return i;
}

static int64_t line_end(const gm_model_header *h, int64_t i)
{
    const char *end = memchr(h->text + i, '\n', (size_t)(h->n - i));
    return end ? end - h->text : h->n;
}

static int64_t skip_blank(const gm_model_header *h, int64_t i, int64_t end)
{
    while (i < end && is_blank(h->text[i])) i++;
    return i;
}

static bool begins_line(const gm_model_header *h, int64_t i)
{
    while (i > 0 && is_blank(h->text[i - 1])) i--;
    return i == 0 || h->text[i - 1] == '\n';
}

gm_token gm_model_header_token(const gm_model_header *h, int64_t *at, int64_t end)
{
    int64_t i = *at;
    while (i < end && (isspace((unsigned char)h->text[i]) || h->text[i] == '#')) {
        if (h->text[i] != '#') {
            i++;
        } else if (begins_line(h, i)) {
            i = line_end(h, i);
        } else {
            break;
        }
    }
    if (i > end) i = end;
    gm_token token = {GM_TOKEN_SIGN, '\0', {i, i + 1}};
    if (i == end) {
        token.kind = GM_TOKEN_END;
        token.span.end = i;
    } else {
        const char c = h->text[i];
        const char after = h->text[i + 1];
        token.first = c;
        if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)after))) {
            token.kind = GM_TOKEN_NUMBER;
            token.span.end = number_end(h, i, end);
        } else if (is_word(c)) {
            token.kind = GM_TOKEN_WORD;
            token.span.end = word_end(h, i, end);
        } else if (c == '"' || c == '\'') {
            token.kind = GM_TOKEN_LITERAL;
            token.span.end = literal_end(h, i, end);
        } else if (c == '-' && after == '>' && i + 1 < end) {
            token.kind = GM_TOKEN_ARROW;
            token.span.end = i + 2;
        }
    }
    *at = token.span.end;
    return token;
}

/* --- directives ------------------------------------------------------------------------------ */

static bool same(const gm_model_header *h, gm_span a, gm_span b)
{
    const int64_t n = a.end - a.begin;
    return n == b.end - b.begin && memcmp(h->text + a.begin, h->text + b.begin, (size_t)n) == 0;
}

/* Depth of conditionals. `#ifndef NAME`, `#define NAME` at the head of a file guard all of it. */
static void follow_conditional(const gm_model_header *h, gm_directive_walk *walk,
                               gm_directive *directive)
{
    const bool is_ifndef = gm_model_header_is(h, directive->word, "ifndef");
    const bool is_define = gm_model_header_is(h, directive->word, "define");
    walk->n++;
    if (walk->n == 1 && is_ifndef) walk->guard = directive->name;
    if (walk->n == 2 && is_define && walk->guard.end > 0 && same(h, walk->guard, directive->name))
        walk->guard_depth = 1;
    if (is_ifndef || gm_model_header_is(h, directive->word, "if") ||
        gm_model_header_is(h, directive->word, "ifdef"))
        walk->depth++;
    if (gm_model_header_is(h, directive->word, "endif") && walk->depth > 0) walk->depth--;
    directive->is_conditional = walk->depth > walk->guard_depth;
}

bool gm_model_header_directive(const gm_model_header *h, gm_directive_walk *walk, gm_directive *out)
{
    while (walk->at < h->n) {
        const int64_t end = line_end(h, walk->at);
        int64_t i = skip_blank(h, walk->at, end);
        walk->at = end + 1;
        if (i == end || h->text[i] != '#') continue;
        out->at = i;
        i = skip_blank(h, i + 1, end);
        out->word = (gm_span){i, word_end(h, i, end)};
        i = skip_blank(h, out->word.end, end);
        out->name = (gm_span){i, word_end(h, i, end)};
        out->rest = (gm_span){out->name.end, end};
        follow_conditional(h, walk, out);
        return true;
    }
    return false;
}

bool gm_model_header_defines(const gm_model_header *h, gm_span name)
{
    gm_directive_walk walk = {0};
    gm_directive one;
    while (gm_model_header_directive(h, &walk, &one))
        if (gm_model_header_is(h, one.word, "define") && same(h, one.name, name)) return true;
    return false;
}

/* A definition that is not the first, or that depends on an #if. */
static void report_macro(const gm_model_header *h, const char *name, const gm_directive *one,
                         const gm_directive *first, gm_problems *problems)
{
    const gm_place place = gm_model_header_place(h, one->name.begin);
    if (first)
        gm_problems_add(problems, place, "%s is defined here and before, at line %d", name,
                        gm_model_header_place(h, first->name.begin).line);
    else
        gm_problems_add(problems, place,
                        "%s depends on an #if; it is read without a compiler, so it must not",
                        name);
}

bool gm_model_header_macro(const gm_model_header *h, const char *name, gm_problems *problems,
                           gm_directive *out)
{
    gm_directive_walk walk = {0};
    gm_directive one;
    bool found = false;
    while (gm_model_header_directive(h, &walk, &one)) {
        if (!gm_model_header_is(h, one.word, "define") || !gm_model_header_is(h, one.name, name))
            continue;
        if (found || one.is_conditional) {
            report_macro(h, name, &one, found ? out : NULL, problems);
            if (found) return true;
        }
        *out = one;
        found = true;
    }
    return found;
}

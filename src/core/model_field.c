/* Fields of a model's lists as strings: pieces of C, and texts in quotes. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/model_list.h"

static gm_status allocate(gm_span span, char **out)
{
    *out = malloc((size_t)(span.end - span.begin) + 1);
    return *out ? GM_OK : GM_FAIL(GM_E_MEMORY, "out of memory for a model header");
}

gm_status gm_model_field_code(const gm_model_header *h, gm_span span, char **out)
{
    gm_status st = allocate(span, out);
    if (st != GM_OK) return st;
    char *to = *out;
    int64_t at = span.begin;
    int64_t end_before = span.begin;
    for (;;) {
        const gm_token token = gm_model_header_token(h, &at, span.end);
        if (token.kind == GM_TOKEN_END) break;
        if (token.span.begin > end_before && to > *out) *to++ = ' ';
        const size_t n = (size_t)(token.span.end - token.span.begin);
        memcpy(to, h->text + token.span.begin, n);
        to += n;
        end_before = token.span.end;
    }
    *to = '\0';
    return GM_OK;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* Undo the escape behind a backslash at *at, and move *at behind it. False: not one of C's. */
static bool undo_escape(const char *text, int64_t *at, int64_t end, char *out)
{
    static const char letters[] = "abfnrtv\\'\"?";
    static const char meaning[] = "\a\b\f\n\r\t\v\\'\"?";
    const char c = text[*at];
    const char *known = c ? strchr(letters, c) : NULL;
    int value = 0;
    int n = 0;
    if (known) {
        ++*at;
        *out = meaning[known - letters];
        return true;
    }
    const int base = c == 'x' ? 16 : 8;
    if (base == 16) ++*at;
    for (; *at < end && digit(text[*at]) < base && n < (base == 16 ? 7 : 3); n++, ++*at)
        value = value * base + digit(text[*at]);
    *out = (char)value;
    return n > 0 && value < 256;
}

/* Contents of literals, one behind the other. False if there is anything else between, or a fault
 * within. */
static bool unquote(const gm_model_header *h, gm_span span, char *out)
{
    int64_t at = span.begin;
    bool found = false;
    for (;;) {
        const gm_token token = gm_model_header_token(h, &at, span.end);
        *out = '\0';
        if (token.kind == GM_TOKEN_END) return found;
        const int64_t end = token.span.end - 1;
        if (token.first != '"' || end == token.span.begin || h->text[end] != '"') return false;
        found = true;
        for (int64_t i = token.span.begin + 1; i < end; out++) {
            *out = h->text[i++];
            if (*out == '\\' && !undo_escape(h->text, &i, end, out)) return false;
            if (i > end) return false; /* the last quote was an escaped one */
        }
    }
}

/* Bytes of the UTF-8 sign at text, 0 if it is none, or no printable one. */
static int sign_length(const unsigned char *text)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = text[0];
    const int n = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    unsigned sign = n == 1 ? first : first & (0xFFu >> (n + 1));
    if (n == 1) return first < ' ' || first == 0x7f ? 0 : 1;
    if (first < 0xC0 || first > 0xF7) return 0;
    for (int i = 1; i < n; i++) {
        if ((text[i] & 0xC0) != 0x80) return 0;
        sign = sign << 6 | (text[i] & 0x3Fu);
    }
    const bool is_surrogate = sign >= 0xD800 && sign < 0xE000;
    return sign < least[n] || sign > 0x10FFFF || is_surrogate || sign < 0xA0 ? 0 : n;
}

static bool is_one_line(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    while (*c) {
        const int n = sign_length(c);
        if (n == 0) return false;
        c += n;
    }
    return true;
}

gm_status gm_model_field_text(const gm_model_header *h, gm_span span, const char *what,
                              gm_problems *problems, char **out)
{
    char *text = NULL;
    char shown[GM_MODEL_SHOWN_SIZE];
    gm_status st = allocate(span, &text);
    if (st != GM_OK) return st;
    if (!unquote(h, span, text)) {
        gm_problems_add(problems, gm_model_header_place(h, span.begin),
                        "%s must be a text in double quotes; found %s", what,
                        span.end > span.begin ? gm_model_header_show(h, span, shown) : "nothing");
    } else if (!is_one_line(text)) {
        gm_problems_add(problems, gm_model_header_place(h, span.begin),
                        "%s must be one line of text in UTF-8", what);
    } else {
        *out = text, text = NULL;
    }
    free(text);
    return GM_OK;
}

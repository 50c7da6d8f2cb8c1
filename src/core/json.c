#include "core/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(gm_json *j, const char *text, int64_t n)
{
    if (j->n + n + 1 > j->capacity) {
        int64_t capacity = 2 * (j->n + n) + 256;
        char *grown = j->failed ? NULL : realloc(j->text, (size_t)capacity);
        if (!grown) {
            j->failed = true;
            return;
        }
        j->text = grown;
        j->capacity = capacity;
    }
    memcpy(j->text + j->n, text, (size_t)n);
    j->n += n;
    j->text[j->n] = '\0';
}

static void put_string(gm_json *j, const char *value)
{
    char escape[8];
    put(j, "\"", 1);
    for (const char *c = value; *c; c++) {
        if (*c == '"' || *c == '\\') {
            put(j, "\\", 1);
            put(j, c, 1);
        } else if ((unsigned char)*c < 0x20) {
            put(j, escape, snprintf(escape, sizeof escape, "\\u%04x", (unsigned)*c));
        } else {
            put(j, c, 1);
        }
    }
    put(j, "\"", 1);
}

static void begin_member(gm_json *j, const char *key)
{
    if (j->comma) put(j, ", ", 2);
    j->comma = true;
    if (!key) return;
    put_string(j, key);
    put(j, ": ", 2);
}

void gm_json_open(gm_json *j, const char *key, char bracket)
{
    begin_member(j, key);
    put(j, &bracket, 1);
    j->comma = false;
}

void gm_json_close(gm_json *j, char bracket)
{
    put(j, &bracket, 1);
    j->comma = true;
}

void gm_json_string(gm_json *j, const char *key, const char *value)
{
    begin_member(j, key);
    put_string(j, value);
}

void gm_json_integer(gm_json *j, const char *key, int64_t value)
{
    char text[32];
    begin_member(j, key);
    put(j, text, snprintf(text, sizeof text, "%lld", (long long)value));
}

void gm_json_number(gm_json *j, const char *key, double value)
{
    char text[32];
    begin_member(j, key);
    if (isfinite(value))
        put(j, text, snprintf(text, sizeof text, "%.9g", value));
    else
        put(j, "null", 4);
}

void gm_json_boolean(gm_json *j, const char *key, bool value)
{
    begin_member(j, key);
    put(j, value ? "true" : "false", value ? 4 : 5);
}

/* Past the string whose opening quote stands at c; to the NUL when it does not end. */
static const char *skip_string(const char *c)
{
    for (c++; *c && *c != '"'; c++)
        if (*c == '\\' && c[1]) c++;
    return *c ? c + 1 : c;
}

/* True for one object or array that ends where the text does. */
static bool is_balanced(const char *text)
{
    enum { MAX_DEPTH = 32 };
    char closing[MAX_DEPTH];
    int depth = 0;
    const char *c = text;
    if (*c != '{' && *c != '[') return false;
    do {
        if (*c == '"') {
            c = skip_string(c);
            continue;
        }
        if (*c == '{' || *c == '[') {
            if (depth == MAX_DEPTH) return false;
            closing[depth++] = *c == '{' ? '}' : ']';
        } else if (*c == '}' || *c == ']') {
            if (closing[--depth] != *c) return false;
        }
        c++;
    } while (depth > 0 && *c);
    return depth == 0 && *c == '\0';
}

void gm_json_raw(gm_json *j, const char *key, const char *text)
{
    begin_member(j, key);
    if (is_balanced(text))
        put(j, text, (int64_t)strlen(text));
    else
        put_string(j, text);
}

void gm_json_clear(gm_json *j)
{
    free(j->text);
    memset(j, 0, sizeof *j);
}

const char *gm_json_find(const char *json, const char *key, char text[128])
{
    char mark[64];
    snprintf(mark, sizeof mark, "\"%s\": ", key);
    const char *begin = strstr(json, mark);
    text[0] = '\0';
    if (!begin) return text;
    begin += strlen(mark);
    const bool quoted = *begin == '"';
    begin += quoted;
    snprintf(text, 128, "%.*s", (int)strcspn(begin, quoted ? "\"" : ",}"), begin);
    return text;
}

/** A small writer of JSON text: objects, arrays, numbers, strings; commas and escapes are its work.
 */
#ifndef GM_CORE_JSON_H
#define GM_CORE_JSON_H

#include <stdbool.h>
#include <stdint.h>

typedef struct gm_json {
    char *text; /* owned; NUL-terminated */
    int64_t n, capacity;
    bool comma;  /* the next member needs one */
    bool failed; /* memory ran out: the text is not whole */
} gm_json;

/* key NULL: an element of an array, or the outermost value. */
void gm_json_open(gm_json *json, const char *key, char bracket); /* '{' or '[' */
void gm_json_close(gm_json *json, char bracket);                 /* '}' or ']' */
void gm_json_string(gm_json *json, const char *key, const char *value);
void gm_json_integer(gm_json *json, const char *key, int64_t value);
void gm_json_number(gm_json *json, const char *key, double value); /* not finite: null */
void gm_json_boolean(gm_json *json, const char *key, bool value);
/** A value that is a JSON object or array already: taken over as it stands if its brackets and
 *  quotes are balanced, else as a string. */
void gm_json_raw(gm_json *json, const char *key, const char *text);
void gm_json_clear(gm_json *json);

/** The value of the first "key" in a text that this writer, or one that sets a space behind the
 *  colon too, has written; "" without one. Strings come without quotes, escapes as they stand.
 *  @return text */
const char *gm_json_find(const char *json, const char *key, char text[128]);

#endif

/** A model header as text: cleaned as a C compiler would, cut into words, its macros found.
 *
 *  The cleaned text has no comments and no continued lines: a directive is one line of it. Each of
 *  its characters knows where it stood in the file, so that every message can name line and column.
 *  No conditional is evaluated; what depends on one is marked. */
#ifndef GM_CORE_MODEL_HEADER_H
#define GM_CORE_MODEL_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/problems.h"

enum {
    GM_MODEL_MAX_TEXT = 1 << 20, /* bytes of a header */
    GM_MODEL_NAME_SIZE = 64,     /* of a name, with its NUL */
    GM_MODEL_SHOWN_SIZE = 64     /* of a piece of the text in a message */
};

/** A piece of the cleaned text. */
typedef struct gm_span {
    int64_t begin, end;
} gm_span;

typedef struct gm_model_header {
    const char *path;   /* for messages; borrowed */
    const char *source; /* the file; borrowed */
    char *text;         /* owned [n + 1]: the file, cleaned */
    int32_t *offset;    /* owned [n + 1]: where each character stands in the file */
    int64_t n;
} gm_model_header;

/** path and text are borrowed; a text longer than GM_MODEL_MAX_TEXT is cut. */
gm_status gm_model_header_create(const char *path, const char *text, gm_model_header **out);
void gm_model_header_destroy(gm_model_header **header);

/** Line and column of a place in the cleaned text; of the file as a whole for -1. */
gm_place gm_model_header_place(const gm_model_header *header, int64_t at);

bool gm_model_header_is(const gm_model_header *header, gm_span span, const char *word);

/** The piece for a message: cut to GM_MODEL_SHOWN_SIZE, control characters as blanks. */
const char *gm_model_header_show(const gm_model_header *header, gm_span span,
                                 char shown[GM_MODEL_SHOWN_SIZE]);

typedef enum {
    GM_TOKEN_END,
    GM_TOKEN_WORD,
    GM_TOKEN_NUMBER,
    GM_TOKEN_LITERAL, /* in single or double quotes */
    GM_TOKEN_ARROW,   /* -> */
    GM_TOKEN_SIGN     /* any other character */
} gm_token_kind;

typedef struct gm_token {
    gm_token_kind kind;
    char first; /* its first character */
    gm_span span;
} gm_token;

/** The next token in [*at, end), and *at behind it. Directives are skipped. */
gm_token gm_model_header_token(const gm_model_header *header, int64_t *at, int64_t end);

/** One line that begins with #. */
typedef struct gm_directive {
    int64_t at;          /* of the # */
    gm_span word;        /* "define" */
    gm_span name;        /* the first word behind it; empty if there is none */
    gm_span rest;        /* all behind the name */
    bool is_conditional; /* depends on an #if; the guard around a whole header does not count */
} gm_directive;

/** Start from {0}. */
typedef struct gm_directive_walk {
    int64_t at;
    int n, depth, guard_depth;
    gm_span guard;
} gm_directive_walk;

/** Move to the next directive; false at the end of the text. */
bool gm_model_header_directive(const gm_model_header *header, gm_directive_walk *walk,
                               gm_directive *out);

/** Does the header define a macro of this name, in whatever condition? */
bool gm_model_header_defines(const gm_model_header *header, gm_span name);

/** The (only) definition of a macro. Adds problems if there are several, or a conditional one.
 *  @return false if there is none */
bool gm_model_header_macro(const gm_model_header *header, const char *name, gm_problems *problems,
                           gm_directive *out);

#endif

/** The lists of a model header, cut into entries and fields. */
#ifndef GM_CORE_MODEL_LIST_H
#define GM_CORE_MODEL_LIST_H

#include "core/model_header.h"

/* X(id, macro, what an entry is, fields, most entries, form of an entry) */
#define GM_MODEL_LISTS(X)                                                                          \
    X(GM_LIST_STATE, "GM_STATES", "state", 4, GM_MAX_STATE,                                        \
      "X(name, initial value, \"unit\", \"description\")")                                         \
    X(GM_LIST_PARAM, "GM_PARAMS", "parameter", 4, GM_MAX_PARAM,                                    \
      "X(name, default, \"unit\", \"description\")")                                               \
    X(GM_LIST_COUPLING, "GM_COUPLINGS", "coupling", 3, GM_MAX_COUPLING,                            \
      "X(name, expression, \"description\")")                                                      \
    X(GM_LIST_INPUT, "GM_INPUTS", "input", 4, GM_MAX_INPUT,                                        \
      "X(name, default, \"unit\", \"description\")")                                               \
    X(GM_LIST_DERIVED, "GM_DERIVED", "derived quantity", 4, GM_MAX_DERIVED,                        \
      "X(name, expression, \"unit\", \"description\")")                                            \
    X(GM_LIST_NOISE, "GM_NOISES", "noise", 2, GM_MAX_NOISE, "X(state, amplitude)")                 \
    X(GM_LIST_PHASE, "GM_PHASES", "phase", 1, GM_MAX_STATE, "X(state)")

typedef enum gm_list_id {
#define X(id, ...) id,
    GM_MODEL_LISTS(X)
#undef X
        GM_N_LIST
} gm_list_id;

/* Lists before this one give names of their own; the others name states. */
enum { GM_N_NAMING_LIST = GM_LIST_NOISE };

enum { GM_MAX_FIELD = 4, GM_MAX_ENTRY = 64, GM_MODEL_FIELD_SIZE = 2048 };

typedef struct gm_list_form {
    const char *macro, *what;
    int n_field, n_most;
    const char *form;
} gm_list_form;

extern const gm_list_form gm_list_forms[GM_N_LIST];

/** X(field, field, ...) */
typedef struct gm_entry {
    int64_t at;  /* of its X */
    int n_field; /* as many as the form of the list has: else a problem, and the entry is left out
                  */
    gm_span field[GM_MAX_FIELD];
    char name[GM_MODEL_NAME_SIZE]; /* the first field, cut if need be */
} gm_entry;

typedef struct gm_entries {
    int64_t at;    /* of the macro's name; -1: the header has no such list */
    bool is_whole; /* read to its end: a name that is not here is in fact unknown */
    int n;
    gm_entry entry[GM_MAX_ENTRY];
} gm_entries;

typedef struct gm_model_lists {
    gm_entries list[GM_N_LIST];
} gm_model_lists;

/** Entries behind the end of a list, which a missing backslash has cut off: adds a problem for the
 *  first behind each list. What else such a header shows follows from that. */
void gm_model_lists_check_ends(const gm_model_header *header, gm_problems *problems);

/** Read all lists. Adds problems for what is no list, has too many entries, or the wrong number of
 *  fields. Destroy with free. */
gm_status gm_model_lists_create(const gm_model_header *header, gm_problems *problems,
                                gm_model_lists **out);

/** Index of an entry by its name, or -1. */
int gm_entries_find(const gm_entries *entries, const char *name);

/** A piece of C: blanks as one, none at its ends. In memory of the caller. */
gm_status gm_model_field_code(const gm_model_header *header, gm_span span, char **out);

/** A text in quotes (or several, one behind the other), without them and with its escapes undone.
 *  In memory of the caller; left alone when a problem is added: not in quotes, not one line, not
 *  UTF-8.
 *  @param what  for the message: "the unit of 'E'" */
gm_status gm_model_field_text(const gm_model_header *header, gm_span span, const char *what,
                              gm_problems *problems, char **out);

#endif

/** A list of everything wrong with what the user gave, so that all of it is reported at once. */
#ifndef GM_CORE_PROBLEMS_H
#define GM_CORE_PROBLEMS_H

#include "core/status.h"

/** A place in a text file. line and column count from 1; 0 means "not known". */
typedef struct gm_place {
    const char *file; /* borrowed; copied by gm_problems_add */
    int line;
    int column;
} gm_place;

typedef struct gm_problems gm_problems;

gm_status gm_problems_create(gm_problems **out);
void gm_problems_destroy(gm_problems **problems);

/** Add "file:line:column: text". Never fails: if memory runs out the count still grows. */
void gm_problems_add(gm_problems *problems, gm_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

int gm_problems_count(const gm_problems *problems);

/** Text of problem i, one line without newline. Borrowed. */
const char *gm_problems_text(const gm_problems *problems, int i);

/** GM_OK when the list is empty; else GM_E_INPUT with a message that holds every line. */
gm_status gm_problems_status(const gm_problems *problems);

/** The candidate closest in spelling to word (Damerau-Levenshtein, at most a third of its length
 *  away, at least 1, ignoring case), or NULL. Borrowed from the candidates. */
const char *gm_nearest_name(const char *word, const char *const *candidate, int n_candidate);

#endif

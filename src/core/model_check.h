/** What is wrong with a model header that its text alone shows, in plain words, before a compiler
 *  sees it. Each check adds problems; none looks at what another has found. */
#ifndef GM_CORE_MODEL_CHECK_H
#define GM_CORE_MODEL_CHECK_H

#include "core/model_list.h"

/** Macros of the header: GM_ ones that mean nothing, and lists on the wrong side of
 *  #include "gm_model.h", or no such line.
 *  @param[in,out] lists  one that is absent may be misspelt here: then it no longer counts as whole
 */
void gm_model_check_macros(const gm_model_header *header, gm_model_lists *lists,
                           gm_problems *problems);

/** Names of the lists: no C name, reserved, used twice; a noise or phase of no state. */
void gm_model_check_names(const gm_model_header *header, const gm_model_lists *lists,
                          gm_problems *problems);

/** Expressions of the lists: each name behind s-> m-> c-> must be one that may stand there. */
void gm_model_check_expressions(const gm_model_header *header, const gm_model_lists *lists,
                                gm_problems *problems);

/** Functions: gm_drift must be there with its four pointers; in each function that takes such
 *  pointers, each name behind one must be in its list; gm_drift must set each state's slope; the
 *  others must begin with GM_FN. */
void gm_model_check_functions(const gm_model_header *header, const gm_model_lists *lists,
                              gm_problems *problems);

/** Functions of math.h, and its #include, outside of conditionals. A function of that name that the
 *  header itself makes or declares is left alone. Each is named once. */
void gm_model_check_math(const gm_model_header *header, gm_problems *problems);

/** Where in the lists a pointer of gm_drift leads. */
typedef enum {
    GM_POINTER_PARAMS,
    GM_POINTER_STATE,
    GM_POINTER_DRIVE,
    GM_POINTER_SLOPE,
    GM_POINTER_NONE
} gm_pointer_kind;

typedef struct gm_pointer {
    gm_pointer_kind kind;
    char name[GM_MODEL_NAME_SIZE]; /* "m"; "" if it has none */
} gm_pointer;

enum { GM_MAX_POINTER = 16, GM_MAX_REPORTED = 20 };

/** Checks names behind pointers; a wrong one is reported once. */
typedef struct gm_member_check {
    const gm_model_header *header;
    const gm_model_lists *lists;
    gm_problems *problems;
    int n_pointer;
    gm_pointer pointer[GM_MAX_POINTER];
    int n_reported;
    gm_span reported[GM_MAX_REPORTED];
} gm_member_check;

/** The pointer of this name, or NULL. */
const gm_pointer *gm_member_pointer(const gm_member_check *check, gm_span word);

/** Is `member` in the lists that the pointer leads to? Reports it if not. */
void gm_member_verify(gm_member_check *check, const gm_pointer *pointer, gm_span member);

#endif

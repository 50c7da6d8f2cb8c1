/** A model header file, read into a gm_model_info. The same door for built-in and users' models.
 *
 *  Only the lists are needed for this, so no compiler is: they are read as text. What the text
 * shows to be wrong is said in plain words, with line and column, before any compiler sees it. */
#ifndef GM_CORE_MODEL_READ_H
#define GM_CORE_MODEL_READ_H

#include "core/model.h"
#include "core/problems.h"

/** A model read from text; owns all that its info points to. */
typedef struct gm_model {
    gm_model_info info;
    char *text;   /* owned; the header's full text, as compilers will get it */
    char *path;   /* owned; for messages and for the line numbers of compilers */
    void *memory; /* private */
} gm_model;

/** Read a model header. A model without a GM_MODEL_NAME is called like its file, without ".h".
 *  @param path    its name, for messages
 *  @param text    NUL-terminated; at most 1 MiB
 *  @param problems  everything found wrong: no states, an entry with too few fields (a missing
 *                 default), a name that is reserved or used twice, a default that is no number, a
 *                 noise or phase of an unknown state, no gm_drift, no #include "gm_model.h", a name
 *                 behind m-> s-> c-> d-> in a function that no list has (with the nearest one), a
 *                 state whose slope is never set
 *  @return GM_OK; GM_E_INPUT with problems added; GM_E_MEMORY */
gm_status gm_model_read(const char *path, const char *text, gm_problems *problems, gm_model **out);
void gm_model_destroy(gm_model **model);

#endif

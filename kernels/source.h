/** Source text of models, built in or a user's. */
#ifndef GM_KERNELS_SOURCE_H
#define GM_KERNELS_SOURCE_H

#include "core/model.h"
#include "kernels/code.h"

typedef struct gm_model_source {
    const char *path; /* as compilers see it: "kernels/models/hopf.h", or the user's path */
    const char *text; /* borrowed; NULL: unknown */
} gm_model_source;

/** The header of a model. */
gm_model_source gm_model_source_of(const gm_model_info *model);

#endif

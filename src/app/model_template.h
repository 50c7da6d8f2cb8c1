/** The header of a model to start from. */
#ifndef GM_APP_MODEL_TEMPLATE_H
#define GM_APP_MODEL_TEMPLATE_H

#include "core/status.h"

/** Print it to standard output.
 *  @param name  of the model: letters, digits and _
 *  @return GM_OK; GM_E_USAGE for a name that cannot be */
gm_status gm_model_template_print(const char *name);

#endif

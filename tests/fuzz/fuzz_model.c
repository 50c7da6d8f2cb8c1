/* The reader of model headers. */
#include <stdlib.h>

#include "core/model_read.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_byte)
{
    double param[GM_MAX_PARAM];
    char *text = gm_fuzz_copy(data, n_byte);
    gm_problems *problems = NULL;
    gm_model *model = NULL;
    gm_fuzz_check(gm_problems_create(&problems) == GM_OK, "memory for problems");
    const gm_status st = gm_model_read("dir/mine.h", text, problems, &model);
    gm_fuzz_check((st == GM_OK) == (model != NULL), "a model or a reason");
    gm_fuzz_check((st == GM_E_INPUT) == (gm_problems_count(problems) > 0), "problems are told");
    for (int i = 0; model && i < model->info.n_param; i++) param[i] = model->info.param[i].value;
    for (int k = 0; model && k < model->info.n_noise; k++)
        gm_model_noise_value(&model->info, param, k);
    for (int k = 0; model && k < model->info.n_derived; k++)
        gm_model_derived_couples(&model->info, k);
    gm_model_destroy(&model);
    gm_problems_destroy(&problems);
    free(text);
    return 0;
}

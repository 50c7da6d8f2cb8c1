/* Arithmetic of model headers. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/expression.h"
#include "fuzz.h"

static bool lookup(const void *context, const char *name, double *value)
{
    (void)context;
    *value = 1.5;
    return strlen(name) < 4;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_byte)
{
    double value = 0;
    char *text = gm_fuzz_copy(data, n_byte);
    gm_expression_value(text, NULL, NULL, &value);
    gm_expression_value(text, lookup, NULL, &value);
    free(text);
    return 0;
}

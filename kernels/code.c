#include "kernels/code.h"

#include <stdlib.h>
#include <string.h>

void gm_code_clear(gm_code *code)
{
    free(code->data);
    memset(code, 0, sizeof *code);
}

/* Stands in for the CUDA backend in a program built without CUDA. */
#include "kernels/backend.h"

static int count(const char **reason)
{
    *reason = "this program was built without CUDA";
    return 0;
}

const gm_backend gm_backend_cuda = {.name = "cuda", .count = count};

/** The elementary functions in single precision with fused multiply-add; see math_checks.h. */
#define GM_DOUBLE   0
#define GM_TEST_FMA 1
#include "math_checks.h"

/** The elementary functions in single precision; see math_checks.h. */
#define GM_DOUBLE   0
#define GM_TEST_FMA 0
#include "math_checks.h"

/** The elementary functions in double precision; see math_checks.h. */
#define GM_DOUBLE   1
#define GM_TEST_FMA 0
#include "math_checks.h"

/** Random numbers in double precision; see noise_checks.h. */
#define GM_DOUBLE 1
#include "noise_checks.h"

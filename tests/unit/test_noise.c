/** Random numbers in single precision; see noise_checks.h. */
#define GM_DOUBLE 0
#include "noise_checks.h"

/** Running statistics in single precision; see statistics_checks.h. */
#define GM_DOUBLE 0
#include "statistics_checks.h"

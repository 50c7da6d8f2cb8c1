/** Running statistics in double precision; see statistics_checks.h. */
#define GM_DOUBLE 1
#include "statistics_checks.h"

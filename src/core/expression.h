/** Arithmetic of a model header, evaluated: defaults ("8.0 / 3.0") and noise amplitudes
 *  ("gm_sqrt(2 * m->D)"). */
#ifndef GM_CORE_EXPRESSION_H
#define GM_CORE_EXPRESSION_H

#include <stdbool.h>

/** Value of a name in an expression ("m->sigma" comes as "sigma"). @return false: unknown */
typedef bool (*gm_name_value)(const void *context, const char *name, double *value);

/** Evaluate numbers, + - * /, parentheses, names, and the functions gm_sqrt, gm_exp, gm_log and
 * GM_C (the first three also without gm_) to what C gives for them in double.
 *  @param lookup  NULL: no names
 *  @return false if the text is anything else, or means in C what its writer hardly meant: 1/3 is 0
 *          there, 010 is eight, 50000 * 50000 has no value */
bool gm_expression_value(const char *text, gm_name_value lookup, const void *context,
                         double *value);

#endif

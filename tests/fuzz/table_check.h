/** What holds of a table read by any of the readers. */
#ifndef GM_TESTS_FUZZ_TABLE_H
#define GM_TESTS_FUZZ_TABLE_H

#include "fuzz.h"
#include "io/table.h"

static inline void check_table(gm_status st, const gm_problems *problems, gm_table *table)
{
    double sum = 0;
    gm_fuzz_check((st == GM_OK) == (table->value != NULL), "a table or a reason");
    gm_fuzz_check((st == GM_E_INPUT) == (gm_problems_count(problems) > 0), "problems are told");
    for (int64_t i = 0; table->value && i < table->n_row * table->n_column; i++)
        sum += table->value[i];
    gm_fuzz_check(sum == sum || sum != sum, "each value is there");
    gm_table_clear(table);
}

#endif

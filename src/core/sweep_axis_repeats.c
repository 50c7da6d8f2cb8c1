/* An axis of a grid holds each value once: the axis is a dimension of the result, where a value has
 * to name one place, and a seed or parameter given twice computes the same numbers again. */
#include <stdlib.h>

#include "core/sweep_sections.h"

typedef struct entry {
    double value;
    int64_t index;
} entry;

static int by_value(const void *a, const void *b)
{
    const entry *x = a;
    const entry *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Generated axes only rise or fall, so that equal values are neighbours. */
static bool is_monotone(const double *value, int64_t n)
{
    bool rises = true;
    bool falls = true;
    for (int64_t i = 1; i < n; i++) {
        rises &= value[i] >= value[i - 1];
        falls &= value[i] <= value[i - 1];
    }
    return rises || falls;
}

/* Of all equal pairs the one whose later value comes first; *second is -1 when there is none. */
static gm_status find_repeat(const double *value, int64_t n, int64_t *first, int64_t *second)
{
    *second = -1;
    if (is_monotone(value, n)) {
        for (int64_t i = 1; i < n && *second < 0; i++)
            if (value[i] == value[i - 1]) *first = i - 1, *second = i;
        return GM_OK;
    }
    entry *sorted = malloc((size_t)n * sizeof *sorted);
    if (!sorted) return GM_FAIL(GM_E_MEMORY, "out of memory for an axis");
    for (int64_t i = 0; i < n; i++) sorted[i] = (entry){value[i], i};
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    for (int64_t i = 1; i < n; i++) {
        if (sorted[i].value != sorted[i - 1].value) continue;
        if (*second >= 0 && sorted[i].index > *second) continue;
        *first = sorted[i - 1].index;
        *second = sorted[i].index;
    }
    free(sorted);
    return GM_OK;
}

gm_status gm_sweep_check_repeats(const gm_sweep_reader *reader, const gm_yaml_node *node,
                                 const char *what, const gm_axis *axis)
{
    static const char sentence[] =
        "%s: values %lld and %lld are both %.15g%s%s%s; a grid takes each value once (only "
        "design: zip may repeat values)";
    char where[GM_YAML_LIST_SIZE] = "";
    int64_t first = 0;
    int64_t second = 0;
    gm_status st = find_repeat(axis->value, axis->n, &first, &second);
    if (st != GM_OK || second < 0) return st;
    const gm_yaml_node *list = node->kind == GM_YAML_LIST ? node : gm_yaml_find(node, "values");
    const bool shown = list && list->item[first]->place.line > 0;
    if (shown) gm_yaml_where(list->item[first], where, sizeof where);
    gm_problems_add(reader->problems, list ? list->item[second]->place : node->place, sentence,
                    what, (long long)first + 1, (long long)second + 1, axis->value[second] + 0.0,
                    shown ? " (the first at " : "", where, shown ? ")" : "");
    return GM_OK;
}

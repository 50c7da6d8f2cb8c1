/* The ways to write the values of an axis. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sweep_sections.h"

/* 1 GiB of coordinates, of an axis and of all together: more is a slip of the pen. */
static int64_t max_value = INT64_C(1) << 27;

typedef struct spacing {
    double first, last;
    double step;   /* range */
    int64_t n;     /* linspace, logspace */
    bool endpoint; /* linspace, logspace: last is the last value */
} spacing;

void gm_sweep_limit_values(int64_t n)
{
    max_value = n;
}

static gm_status allocate(int64_t n, double **value)
{
    *value = malloc((size_t)n * sizeof **value);
    return *value ? GM_OK
                  : GM_FAIL(GM_E_MEMORY, "out of memory for an axis of %lld values", (long long)n);
}

static bool check_count(const gm_yaml_node *node, const char *what, int64_t n,
                        gm_problems *problems)
{
    if (n >= 1 && n <= max_value) return true;
    gm_problems_add(problems, node->place, "%s: the number of values must be 1 to %lld; found %lld",
                    what, (long long)max_value, (long long)n);
    return false;
}

static gm_status read_list(const gm_yaml_node *node, const char *what, gm_problems *problems,
                           int64_t *n, double **value)
{
    if (!gm_yaml_get_list(node, what, problems)) return GM_OK;
    if (!check_count(node, what, node->n, problems)) return GM_OK;
    gm_status st = allocate(node->n, value);
    if (st != GM_OK) return st;
    bool good = true;
    for (int64_t i = 0; i < node->n; i++)
        if (!gm_yaml_get_double(node->item[i], what, problems, &(*value)[i])) good = false;
    if (good) *n = node->n;
    return GM_OK;
}

/* Reads [first, last, third] and leaves the third to the caller. */
static const gm_yaml_node *read_ends(const gm_yaml_node *node, const char *what, const char *third,
                                     gm_problems *problems, spacing *space)
{
    if (!gm_yaml_get_list(node, what, problems)) return NULL;
    if (node->n != 3) {
        gm_problems_add(problems, node->place,
                        "%s needs three numbers: [first, last, %s]; found "
                        "%lld",
                        what, third, (long long)node->n);
        return NULL;
    }
    bool has_first = gm_yaml_get_double(node->item[0], what, problems, &space->first);
    bool has_last = gm_yaml_get_double(node->item[1], what, problems, &space->last);
    if (!has_first || !has_last) return NULL;
    if (isfinite(space->last - space->first)) return node->item[2];
    gm_problems_add(problems, node->place, "%s: first and last are too far apart", what);
    return NULL;
}

static bool read_space(const gm_yaml_node *node, const char *what, bool endpoint,
                       gm_problems *problems, spacing *space)
{
    const gm_yaml_node *n = read_ends(node, what, "number of values", problems, space);
    space->endpoint = endpoint;
    if (!n || !gm_yaml_get_int64(n, what, problems, &space->n)) return false;
    if (!check_count(n, what, space->n, problems)) return false;
    if (space->n > 1 || !endpoint || space->first == space->last) return true;
    gm_problems_add(problems, n->place, "%s: one value cannot be both first and last", what);
    return false;
}

/* As numpy.linspace and numpy.geomspace compute them, the ends exact. */
static void fill_space(const spacing *space, bool is_log, double *value)
{
    int64_t n_gap = space->endpoint ? space->n - 1 : space->n;
    double first = is_log ? log10(space->first) : space->first;
    double last = is_log ? log10(space->last) : space->last;
    double step = n_gap > 0 ? (last - first) / (double)n_gap : 0.0;
    for (int64_t k = 0; k < space->n; k++) {
        double at = (double)k * step + first;
        value[k] = is_log ? pow(10.0, at) : at;
    }
    value[0] = space->first;
    if (space->endpoint) value[space->n - 1] = space->last;
}

/* Counts the values of a range: both ends are in it, so the step has to fit. */
static bool read_range(const gm_yaml_node *node, const char *what, gm_problems *problems,
                       spacing *space)
{
    const gm_yaml_node *step = read_ends(node, what, "step", problems, space);
    if (!step || !gm_yaml_get_double(step, what, problems, &space->step)) return false;
    double n_gap = (space->last - space->first) / space->step;
    if (space->step == 0 || n_gap < 0) {
        gm_problems_add(problems, step->place,
                        "%s: the step %.15g does not lead from %.15g to %.15g", what, space->step,
                        space->first, space->last);
        return false;
    }
    if (!(n_gap < (double)max_value)) {
        gm_problems_add(problems, step->place, "%s: %.3g values are too many; at most %lld", what,
                        n_gap + 1, (long long)max_value);
        return false;
    }
    if (fabs(n_gap - rint(n_gap)) > 1e-6) {
        gm_problems_add(problems, step->place,
                        "%s: from %.15g to %.15g is not a whole number of steps of %.15g; the "
                        "nearest ends that are: %.15g and %.15g",
                        what, space->first, space->last, space->step,
                        space->first + floor(n_gap) * space->step,
                        space->first + ceil(n_gap) * space->step);
        return false;
    }
    space->n = (int64_t)rint(n_gap) + 1;
    return true;
}

/* Whole steps are added up exactly; else one division, so that [0, 1, 0.1] holds 0.3 itself. */
static void fill_range(const spacing *space, double *value)
{
    bool is_whole = space->step == rint(space->step);
    double span = space->last - space->first;
    for (int64_t k = 0; k < space->n; k++)
        value[k] = is_whole || space->n == 1
                       ? space->first + (double)k * space->step
                       : space->first + (double)k * span / (double)(space->n - 1);
    value[space->n - 1] = space->last;
}

static bool is_positive(const gm_yaml_node *node, const char *what, const spacing *space,
                        gm_problems *problems)
{
    if (space->first > 0 && space->last > 0) return true;
    gm_problems_add(problems, node->place,
                    "%s: first and last are the values themselves (not exponents) and must be "
                    "greater than 0; found %.15g and %.15g",
                    what, space->first, space->last);
    return false;
}

/* Counts values before they take memory, also those of axes that have other faults. */
static bool check_sum(const gm_yaml_node *node, const char *what, int64_t n, int64_t *n_all,
                      gm_problems *problems)
{
    const bool fits = n <= max_value - *n_all;
    if (!fits)
        gm_problems_add(problems, node->place,
                        "%s: %lld values are too many; all axes together may have %lld, and those "
                        "before have %lld",
                        what, (long long)n, (long long)max_value, (long long)*n_all);
    else
        *n_all += n;
    return fits;
}

static gm_status read_form(const gm_yaml_node *map, const char *form, const char *what,
                           gm_problems *problems, int64_t *n_all, int64_t *n, double **value)
{
    const gm_yaml_node *node = gm_yaml_find(map, form);
    const gm_yaml_node *endpoint_node = gm_yaml_find(map, "endpoint");
    bool is_range = strcmp(form, "range") == 0;
    bool is_log = strcmp(form, "logspace") == 0;
    bool is_list = strcmp(form, "values") == 0;
    bool endpoint = true;
    spacing space = {0};
    if (endpoint_node && (is_list || is_range))
        gm_problems_add(problems, endpoint_node->place,
                        "%s: endpoint goes with linspace and logspace only", what);
    else if (endpoint_node)
        gm_yaml_get_bool(endpoint_node, "endpoint", problems, &endpoint);
    if (is_list) return read_list(node, what, problems, n, value);
    bool good = is_range ? read_range(node, what, problems, &space)
                         : read_space(node, what, endpoint, problems, &space);
    if (!good || (is_log && !is_positive(node, what, &space, problems)) ||
        !check_sum(node, what, space.n, n_all, problems))
        return GM_OK;
    gm_status st = allocate(space.n, value);
    if (st != GM_OK) return st;
    if (is_range)
        fill_range(&space, *value);
    else
        fill_space(&space, is_log, *value);
    *n = space.n;
    return GM_OK;
}

gm_status gm_sweep_read_axis_values(const gm_yaml_node *node, const char *what,
                                    gm_problems *problems, int64_t *n_all, int64_t *n,
                                    double **value)
{
    static const char *const keys[] = {"values", "linspace", "logspace", "range", "endpoint"};
    enum { N_FORM = 4 };
    const char *form = NULL;
    int n_form = 0;
    char form_what[2 * GM_YAML_NAME_SIZE];
    *n = 0;
    *value = NULL;
    gm_status st = GM_OK;
    if (node->kind == GM_YAML_LIST) {
        st = read_list(node, what, problems, n, value);
    } else if (node->kind == GM_YAML_SCALAR) {
        gm_problems_add(problems, node->place,
                        "%s: an axis is a list, [0, 1, 2], or {linspace: [first, last, number]}, "
                        "{logspace: [first, last, number]}, {range: [first, last, step]}; found "
                        "'%.40s'",
                        what, node->text);
    } else if (gm_yaml_get_map(node, what, problems)) {
        gm_yaml_check_keys(node, what, keys, N_FORM + 1, problems);
        for (int f = 0; f < N_FORM; f++) {
            if (!gm_yaml_find(node, keys[f])) continue;
            form = keys[f];
            n_form++;
        }
        snprintf(form_what, sizeof form_what, "%s.%s", what, form ? form : "");
        if (n_form == 1)
            st = read_form(node, form, form_what, problems, n_all, n, value);
        else
            gm_problems_add(problems, node->place,
                            "%s needs exactly one of values, linspace, logspace, range; found %d",
                            what, n_form);
    }
    if (*n == 0) {
        free(*value);
        *value = NULL;
    }
    return st;
}

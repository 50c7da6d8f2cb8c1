/* The section `time`: a step and spans that are whole numbers of it. */
#include <float.h>
#include <math.h>

#include "core/sweep_sections.h"

static const double max_step = 1e12;

/* Steps in a span of time. Steps are counted as integers, so that the time of a step never drifts:
 * a span that is not a whole number of steps is refused, with the nearest spans that are. */
static bool count_steps(const gm_sweep_reader *reader, const gm_yaml_node *node, const char *what,
                        double span, double dt, int64_t *n)
{
    double quotient = span / dt;
    double whole = rint(quotient);
    double tolerance = fmax(1e-6, 4 * DBL_EPSILON * quotient); /* the quotient's own rounding */
    gm_problems *problems = reader->problems;
    if (!(quotient <= max_step)) {
        gm_problems_add(problems, node->place, "%s %.15g is %.3g steps of %.15g; at most 1e12",
                        what, span, quotient, dt);
        return false;
    }
    if (fabs(quotient - whole) <= tolerance && (whole > 0 || span == 0)) {
        *n = (int64_t)whole;
        return true;
    }
    double below = floor(quotient) * dt;
    double above = ceil(quotient) * dt;
    if (below > 0)
        gm_problems_add(problems, node->place,
                        "%s %.15g is not a whole number of steps of time.dt %.15g; the nearest "
                        "that are: %.15g and %.15g",
                        what, span, dt, below, above);
    else
        gm_problems_add(problems, node->place, "%s %.15g is shorter than one step of time.dt %.15g",
                        what, span, dt);
    return false;
}

static bool read_span(const gm_sweep_reader *reader, const gm_yaml_node *node, const char *what,
                      bool zero_is_fine, double *span)
{
    if (!node || !gm_yaml_get_double(node, what, reader->problems, span)) return false;
    if (*span > 0 || (zero_is_fine && *span == 0)) return true;
    gm_problems_add(reader->problems, node->place, "%s must be %s 0; found %.15g", what,
                    zero_is_fine ? "at least" : "greater than", *span);
    return false;
}

void gm_sweep_read_time(gm_sweep_reader *reader)
{
    static const char *const keys[] = {"dt", "duration", "transient"};
    gm_sweep *sweep = reader->sweep;
    double duration = 0;
    double transient = 0;
    const gm_yaml_node *time =
        gm_sweep_need(reader, reader->root, "time", "time", "time: {dt: 0.1, duration: 1000}");
    if (!time || !gm_yaml_get_map(time, "time", reader->problems)) return;
    gm_yaml_check_keys(time, "time", keys, 3, reader->problems);
    const gm_yaml_node *dt_node =
        gm_sweep_need(reader, time, "dt", "time.dt", "the length of one step");
    const gm_yaml_node *duration_node =
        gm_sweep_need(reader, time, "duration", "time.duration", "the length of the whole run");
    const gm_yaml_node *transient_node = gm_yaml_find(time, "transient");
    bool has_dt = read_span(reader, dt_node, "time.dt", false, &sweep->dt);
    bool has_duration = read_span(reader, duration_node, "time.duration", false, &duration);
    bool has_transient = read_span(reader, transient_node, "time.transient", true, &transient);
    if (has_dt && has_duration)
        has_duration = count_steps(reader, duration_node, "time.duration", duration, sweep->dt,
                                   &sweep->n_step);
    if (has_dt && has_transient)
        has_transient = count_steps(reader, transient_node, "time.transient", transient, sweep->dt,
                                    &sweep->n_transient);
    if (has_dt && has_duration && has_transient && sweep->n_transient >= sweep->n_step)
        gm_problems_add(reader->problems, transient_node->place,
                        "time.transient %.15g leaves nothing to record of time.duration %.15g, "
                        "which includes it",
                        transient, duration);
}

#include "core/cost.h"

#include <math.h>

static const double much_bytes = 64 << 20; /* tell the speed of a file system */
static const double close_enough = 4;      /* or a file at most so many times larger */

static double per_second(double amount, double seconds)
{
    return seconds > 0 ? amount / seconds : 0;
}

gm_rates gm_cost_rates(const gm_measured *run, int64_t n_byte)
{
    gm_rates r = {.start = run->start};
    const double steps = (double)run->n_computed * (double)run->n_step / run->n_rank;
    const double size = (double)run->n_byte;
    const double longest = fmax(run->march, fmax(run->copies, run->disk));
    r.point_steps = per_second(steps, run->march);
    r.copies = per_second(steps, run->copies);
    if (size >= much_bytes || (double)n_byte <= close_enough * size) {
        r.disk = per_second(size * run->share, run->disk);
        if (run->share >= 1) r.create = per_second(size, run->create);
    }
    r.overlap = longest > 0 ? fmax(1, (run->wall - run->wait) / longest) : 1;
    return r;
}

/* Seconds for an amount; -1 at a rate that is not known. */
static double seconds_of(double amount, double rate)
{
    return rate > 0 ? amount / rate : -1;
}

gm_cost gm_cost_of(const gm_rates *rates, const gm_cost_work *work)
{
    const double steps = (double)work->rank_points * (double)work->n_step;
    gm_cost c = {
        .start = rates->start,
        .create = seconds_of((double)work->n_byte, rates->create),
        .march = seconds_of(steps, rates->point_steps),
        .copies = rates->copies > 0 ? steps / rates->copies : 0,
        .disk = seconds_of((double)work->n_byte, rates->disk),
    };
    c.loop = fmax(c.march, fmax(c.copies, c.disk)) * fmax(1, rates->overlap);
    if (c.march < 0) c.loop = -1; /* the longest part may be the one that is not known */
    if (c.loop >= 0) c.total = c.start + fmax(0, c.create) + c.loop;
    if (c.loop < 0) c.total = -1;
    return c;
}

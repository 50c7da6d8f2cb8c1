/** Running statistics of one state of one node, and the form in which angles are recorded.
 *
 *  Sums are kept in double, of the distance from the first recorded value, so that millions of
 *  single-precision steps lose nothing and a small variance on a large mean survives. */
#ifndef GM_KERNELS_OBSERVABLES_STATISTICS_H
#define GM_KERNELS_OBSERVABLES_STATISTICS_H

#include "kernels/math.h"

typedef struct gm_statistic {
    double sum, square; /* of x - first */
    gm_real first, low, high;
} gm_statistic;

GM_FN void gm_statistic_start(gm_statistic *a, gm_real x)
{
    a->sum = 0;
    a->square = 0;
    a->first = x;
    a->low = x;
    a->high = x;
}

GM_FN void gm_statistic_add(gm_statistic *a, gm_real x)
{
    double distance = (double)x - (double)a->first;
    a->sum += distance;
    a->square += distance * distance;
    a->low = x < a->low ? x : a->low;
    a->high = x > a->high ? x : a->high;
}

GM_FN gm_real gm_statistic_mean(const gm_statistic *a, double n)
{
    return (gm_real)((double)a->first + a->sum / n);
}

/** Population variance: mean square distance from the mean. */
GM_FN gm_real gm_statistic_variance(const gm_statistic *a, double n)
{
    double mean = a->sum / n;
    double variance = a->square / n - mean * mean;
    return (gm_real)(variance < 0 ? 0 : variance);
}

/** An angle as it is recorded: in [0, 2 pi), also where rounding leaves nothing of it. */
GM_FN gm_real gm_wrap_phase(gm_real x)
{
    const gm_real turn = GM_C(6.2831853071795864769);
    gm_real wrapped = x - turn * gm_floor(x / turn);
    wrapped = wrapped < 0 ? wrapped + turn : wrapped;
    wrapped = wrapped < 0 ? 0 : wrapped;
    return wrapped >= turn ? 0 : wrapped;
}

#endif

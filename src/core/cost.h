/** How long a run will take, from rates that were measured or given: no rate is made up here. */
#ifndef GM_CORE_COST_H
#define GM_CORE_COST_H

#include <stdint.h>

/** Rates; 0: not known. */
typedef struct gm_rates {
    double point_steps; /* of one rank's march, per s */
    double copies;      /* of one rank's copies to and from its device, point-steps per s */
    double disk;        /* into the file, all ranks together, bytes per s */
    double create;      /* of filling a new file, bytes per s */
    double start;       /* s of start-up that depend on neither points nor ranks */
    double overlap;     /* time of the loop over its longest part, 1 or more; 0 counts as 1 */
} gm_rates;

/** A run that was measured. Seconds as in the summary of a run. */
typedef struct gm_measured {
    int n_rank;
    int64_t n_computed, n_step; /* points; steps of each */
    int64_t n_byte;             /* of the file */
    double share;               /* of the file's points that the run computed */
    double march, copies, disk, wall, wait, start, create;
} gm_measured;

/** The work to foretell. */
typedef struct gm_cost_work {
    int64_t rank_points, n_step; /* of the rank with most points */
    int64_t n_byte;
} gm_cost_work;

/** Seconds of the parts; negative: not known. march, copies and disk overlap: loop. */
typedef struct gm_cost {
    double start, create, march, copies, disk, loop, total;
} gm_cost;

/** Rates of a measured run, for a file of n_byte. A run that wrote little, and much less than that,
 *  tells nothing of the file system: disk and create stay 0 then. */
gm_rates gm_cost_rates(const gm_measured *run, int64_t n_byte);

gm_cost gm_cost_of(const gm_rates *rates, const gm_cost_work *work);

#endif

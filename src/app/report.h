/** What a run tells its user: the device table, the progress line, the summary. */
#ifndef GM_APP_REPORT_H
#define GM_APP_REPORT_H

#include <stdio.h>

#include "app/march.h"
#include "app/options.h"
#include "mpi/binding.h"

/** The run's numbers, all ranks together. Seconds of march, up, down and disk are averages over the
 *  ranks; they overlap, so they can add up to more than the wall time. */
typedef struct gm_summary {
    const char *path, *backend, *kernel, *model, *precision;
    int n_rank;
    int64_t n_point, n_before; /* of the sweep; computed by earlier runs */
    int64_t done, diverged;    /* by this run */
    int64_t n_midway;          /* pending points whose state is saved */
    int64_t point_steps;       /* marched by this run */
    int64_t n_step, n_node;
    double wall, march, up, down, disk; /* s */
    double wait;     /* s, of the wall time: for slower ranks, averaged over the ranks */
    double start_up; /* s, from the program's start to the first chunk */
    double read, device, compile, create; /* s, of start_up, one after the other */
    double finish;                        /* s, after the wall time; 0: not known yet */
    int64_t bytes;                        /* of the file's variables */
    gm_tiling tiling;
    gm_schedule schedule;
    int n_retired;             /* ranks whose device failed, while others went on */
    const int64_t *rank_point; /* [n_rank] points that each computed; rank 0 */
    gm_stop stopped_by;        /* GM_STOP_NONE: every point was computed */
} gm_summary;

/** "1.5 GiB", "12.3 s", "3 min 05 s", "1.2e+09": for people. @return text */
const char *gm_text_bytes(int64_t n_byte, char text[32]);
const char *gm_text_seconds(double seconds, char text[32]);

void gm_report_bindings(FILE *out, const gm_binding *table, int n_rank);
/** A note on statistics of angles, if any are recorded. */
void gm_report_angles(FILE *out, const gm_sweep *sweep);
void gm_report_summary(FILE *out, const gm_summary *summary);
/** One JSON object on one line. */
void gm_report_json(FILE *out, const gm_summary *summary, const gm_binding *table);

/** JSON of this run for the file's provenance (text owned by the caller). seconds < 0: not over. */
char *gm_report_run_text(const gm_binding *table, int n_rank, const char *kernel, double seconds,
                         const gm_summary *summary);

/** The progress line on rank 0. */
typedef struct gm_meter gm_meter;
/** @param point_steps  that are to be marched */
gm_status gm_meter_create(const gm_watch *watch, int64_t n_point, double point_steps, int n_rank,
                          gm_meter **out);
/** Matches gm_march_plan.progress; context is the meter. Prints at most a few times a second. */
void gm_meter_show(void *context, const gm_progress *mine);
/** End the line. */
void gm_meter_destroy(gm_meter **meter);

#endif

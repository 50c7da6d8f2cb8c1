/** The command line. */
#ifndef GM_APP_OPTIONS_H
#define GM_APP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"
#include "core/sweep.h"

typedef enum {
    GM_RUN,
    GM_PLAN,
    GM_COMPILE,
    GM_MODELS,
    GM_INFO,
    GM_VERIFY,
    GM_DOCTOR,
    GM_HELP,
    GM_VERSION_TEXT
} gm_command;
typedef enum { GM_BACKEND_AUTO, GM_BACKEND_CPU, GM_BACKEND_CUDA } gm_backend_wish;

/** Which points a rank marches: an even share, or the next ones whenever it has room. */
typedef enum { GM_SCHEDULE_STATIC, GM_SCHEDULE_DYNAMIC } gm_schedule;

typedef struct gm_options {
    gm_command command;
    gm_command help_on;        /* GM_HELP: the command it explains, or GM_HELP for all */
    const char *target;        /* the sweep file, result file or model; NULL when none is given */
    const char *template_name; /* of models: print a header to start from; NULL: none wanted */
    const char *output;
    const char **override; /* owned [n_override], texts borrowed */
    int n_override;
    gm_backend_wish backend;
    gm_engine_wish engine;
    gm_schedule schedule;
    int64_t tile_points, chunk_steps; /* 0: chosen by the program */
    double max_seconds;               /* of run: end after so long; 0: no limit */
    double patience;                  /* s, with a rank that hangs; 0: without end */
    double checkpoint_seconds;        /* between checkpoints; 0: only at the end of a run that is
                                         stopped; below 0: as usual */
    int n_thread, n_rank;             /* 0: found out; n_rank: of plan */
    const char *measured; /* of plan: a run's result or JSON, for the forecast; NULL: none */
    double rate,
        bandwidth;      /* of plan: per rank, point-steps/s; of the disk, bytes/s; 0: not given */
    const char *kernel; /* file of `gridmarch compile` to use; NULL: none */
    const char *architecture; /* of compile: "sm_90", "x86-64-v3"; NULL: this machine's */
    bool share_gpu, allow_mixed, overwrite, take_over, retry_failed, retry_damaged, quiet, json,
        no_cache, no_compile;
} gm_options;

/** Read the command line into *options (gm_options_clear frees).
 *  @return GM_OK; GM_E_USAGE with what is wrong and what is allowed */
gm_status gm_options_read(int argc, char **argv, gm_options *options);
void gm_options_clear(gm_options *options);

/** Print the help of the program, or of one command, to standard output. */
void gm_options_help(gm_command command);

#endif

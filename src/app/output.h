/** The result file of a run: made new, resumed, or left alone. */
#ifndef GM_APP_OUTPUT_H
#define GM_APP_OUTPUT_H

#include "app/create.h"
#include "app/missing.h"
#include "app/request.h"
#include "io/store.h"
#include "mpi/binding.h"

typedef enum { GM_OUTPUT_NEW, GM_OUTPUT_RESUME, GM_OUTPUT_COMPLETE } gm_output_state;

typedef struct gm_output {
    gm_output_state state;
    gm_store *store;
    gm_missing missing;      /* owned: of the sweep */
    int64_t n_done;          /* of the sweep, that are done already */
    int run;                 /* slot of this run in provenance/run */
    gm_create create;        /* a new file, until it is opened */
    gm_store_header *header; /* owned; rank 0's: what the file said at the start */
} gm_output;

/** Look at the path without touching anything: may the run go on, and how?
 *  Refused: no path, a file that is not ours, a file of another sweep (says what differs), no
 *  folder, no permission, no space. Serial, on rank 0.
 *  @param header  the file's header when it is to be resumed, else NULL; owned by the caller */
gm_status gm_output_examine(const gm_request *request, const gm_options *options,
                            gm_output_state *state, gm_store_header **header);

/** How many of the file's points have this status. */
int64_t gm_output_count(const gm_store_header *header, gm_point_status status);

/** Collective: begin to make a new file, or look at the one there. What the run needs before it
 *  opens it can be done meanwhile.
 *  @param kernel  identity of what will compute the points */
gm_status gm_output_begin(const gm_comm *comm, const gm_request *request, const gm_options *options,
                          const char *kernel, gm_output *output);

/** Collective: open what was begun; every rank learns what is missing.
 *  @param run  JSON text of this run, for provenance */
gm_status gm_output_open(const gm_comm *comm, const gm_request *request, const gm_options *options,
                         const char *run, gm_output *output);

/** Also gives up a file that was begun and not opened. */
gm_status gm_output_close(gm_output *output);

#endif

/** The request of a run: sweep and data, read and checked on one rank, the same on all. */
#ifndef GM_APP_REQUEST_H
#define GM_APP_REQUEST_H

#include "app/options.h"
#include "core/layout.h"
#include "core/model_read.h"
#include "mpi/comm.h"

typedef struct gm_request {
    gm_model *model; /* owned; the user's, NULL if the sweep's is built in */
    gm_sweep *sweep;
    gm_data *data;
    gm_layout *layout;
    char *canonical; /* owned; gm_sweep_canonical */
    char *path;      /* owned; of the result file, links followed; NULL: none given */
} gm_request;

/** Collective. Only rank 0 opens files; on failure all problems are in the message of all ranks.
 *  Free with gm_request_clear. */
gm_status gm_request_read(const gm_comm *comm, const gm_options *options, gm_request *request);
void gm_request_clear(gm_request *request);

#endif

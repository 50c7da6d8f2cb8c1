/** A new result file: rank 0 builds it, all ranks fill it while they prepare for the march. */
#ifndef GM_APP_CREATE_H
#define GM_APP_CREATE_H

#include "app/request.h"
#include "io/store.h"
#include "mpi/comm.h"

typedef struct gm_create {
    gm_creation *creation; /* owned; of rank 0 */
    gm_fill *fill;         /* owned */
} gm_create;

/** Begin. Collective. On failure nothing stays.
 *  @param kernel   identity of what will compute the points
 *  @param replace  an existing file is replaced in the end */
gm_status gm_create_begin(const gm_comm *comm, const gm_request *request, const char *kernel,
                          bool replace, gm_create *create);

/** Wait until it is filled, and give it its name. Collective. A signal to any rank, or a failure,
 *  ends it on all; nothing stays then. */
gm_status gm_create_end(const gm_comm *comm, gm_create *create);

/** Give up what was begun, if anything. Not collective. */
void gm_create_abandon(gm_create *create);

#endif

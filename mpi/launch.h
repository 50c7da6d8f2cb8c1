/** What the environment says of how this process was started: mpirun, srun or neither. */
#ifndef GM_MPI_LAUNCH_H
#define GM_MPI_LAUNCH_H

#include "mpi/comm.h"

typedef struct gm_launch {
    int rank;       /* as the launcher counts; 0 without one */
    int64_t n_rank; /* that were started together; 0: nobody says */
    int launcher;   /* which it is, of those known to launch.c */
    bool is_alone;  /* nothing tells of a launcher */
} gm_launch;

/** To be called before MPI is started: that may add to the environment. Not collective. */
gm_launch gm_launch_look(void);

/** A process that was started alone talks to nobody: Open MPI need not open the networks, which
 *  takes most of the time of a short command. Asks for that through the environment, where the user
 *  has not asked for something else. To be called before MPI is started. */
void gm_launch_prepare(const gm_launch *launch);

/** Is this one of several processes that were started together, and yet each is a program of its
 *  own? So it goes when launcher and program do not speak the same language: N programs would then
 *  compute the same. Not collective.
 *  @return GM_OK; GM_E_MPI with what was found and what to use instead */
gm_status gm_launch_check(const gm_launch *launch, const gm_comm *comm);

#endif

/** The subcommands. Each returns what main turns into the exit code. */
#ifndef GM_APP_COMMANDS_H
#define GM_APP_COMMANDS_H

#include "app/options.h"
#include "mpi/comm.h"

/** Collective. */
gm_status gm_command_run(const gm_comm *comm, const gm_options *options);
/** Collective; rank 0 prints. */
gm_status gm_command_plan(const gm_comm *comm, const gm_options *options);

/** Collective; rank 0 compiles and prints. */
gm_status gm_command_compile(const gm_comm *comm, const gm_options *options);

/** What works on this machine, and, if a folder is given, in that folder. Collective; rank 0
 * prints.
 *  @param comm  NULL: no folder is given, and MPI is not started */
gm_status gm_command_doctor(const gm_comm *comm, const gm_options *options);

/* These need no MPI. */
gm_status gm_command_models(const gm_options *options);
gm_status gm_command_info(const gm_options *options);
gm_status gm_command_verify(const gm_options *options);

/** Write a message for the user to standard error, every line marked as gridmarch's. */
void gm_print_error(const char *message);

#endif

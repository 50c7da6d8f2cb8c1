/* Reads the command line, starts MPI where a command needs it, and is the one place that prints
 * errors and ends the program. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/commands.h"
#include "core/alive.h"
#include "core/fault.h"
#include "io/probe.h"
#include "mpi/guard.h"
#include "mpi/launch.h"

/* For processes that are no ranks of one program: one of them speaks. */
static void print_once(const gm_launch *launch)
{
    if (launch->rank == 0)
        gm_print_error(gm_status_message());
    else
        sleep(1); /* launchers end all ranks when one fails: not before rank 0 has spoken */
}

static gm_status run_command(const gm_comm *comm, const gm_options *options)
{
    const char *bad = NULL;
    if (!gm_fault_begin(comm->rank, &bad))
        return GM_FAIL(GM_E_USAGE,
                       "GRIDMARCH_FAULT: \"%s\" is no rule; src/core/fault.h explains them", bad);
    switch (options->command) {
    case GM_RUN: return gm_command_run(comm, options);
    case GM_PLAN: return gm_command_plan(comm, options);
    case GM_DOCTOR: return gm_command_doctor(comm, options);
    default: return gm_command_compile(comm, options);
    }
}

static gm_status with_mpi(int *argc, char ***argv, const gm_options *options, gm_launch launch)
{
    gm_comm comm = {0};
    gm_guard *guard = NULL;
    bool together = true;
    gm_status st = gm_guard_start(launch.rank, options->patience, gm_print_error, &guard);
    gm_alive_mark("starting MPI");
    if (st == GM_OK) st = gm_comm_start(argc, argv, &comm);
    if (st == GM_OK) st = gm_guard_join(guard, &comm);
    if (st == GM_OK && options->command == GM_RUN) {
        st = gm_launch_check(&launch, &comm);
        together = st == GM_OK;
    }
    if (st == GM_OK) st = run_command(&comm, options);
    if (!together)
        print_once(&launch);
    else if (st != GM_OK && comm.rank == 0)
        gm_print_error(gm_status_message());
    gm_alive_mark("ending MPI");
    gm_guard_leave(guard);
    gm_comm_finish(&comm);
    gm_guard_stop(&guard);
    return st;
}

static gm_status without_mpi(const gm_options *options)
{
    gm_status st = GM_OK;
    switch (options->command) {
    case GM_MODELS: st = gm_command_models(options); break;
    case GM_INFO: st = gm_command_info(options); break;
    case GM_VERIFY: st = gm_command_verify(options); break;
    case GM_DOCTOR: st = gm_command_doctor(NULL, options); break;
    case GM_VERSION_TEXT: printf("gridmarch %s\n", GM_VERSION); break;
    default: gm_options_help(options->help_on);
    }
    if (st != GM_OK) gm_print_error(gm_status_message());
    return st;
}

/* A closed standard stream would lend its number to the next file, which then gets the messages. */
static void open_standard_streams(void)
{
    int fd = 0;
    while (fd >= 0 && fd <= STDERR_FILENO) fd = open("/dev/null", O_RDWR);
    if (fd > STDERR_FILENO) close(fd);
}

/* Numbers are read and written with a point, also if a library sets the user's locale. */
static void keep_decimal_point(void)
{
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* nothing is allocated */
    if (plain) uselocale(plain);
}

int main(int argc, char **argv)
{
    gm_options options;
    open_standard_streams();
    keep_decimal_point();
    if (argc > 1 && strcmp(argv[1], GM_PROBE_WORD) == 0) return gm_probe_answer(argc, argv);
    gm_probe_begin();
    const gm_launch launch = gm_launch_look();
    /* Shared file pointers are not used; Open MPI's helpers for them leave files behind when
     * killed. */
    setenv("OMPI_MCA_sharedfp", "^sm,lockedfile", 0);
    gm_launch_prepare(&launch);
    signal(SIGXFSZ, SIG_IGN); /* a file size limit becomes an ordinary write error */
    gm_status st = gm_options_read(argc, argv, &options);
    if (st != GM_OK) {
        print_once(&launch);
    } else if (options.command <= GM_COMPILE || (options.command == GM_DOCTOR && options.target)) {
        st = with_mpi(&argc, &argv, &options, launch);
    } else if (launch.rank == 0) {
        st = without_mpi(&options);
    }
    if (st == GM_OK && fflush(stdout) != 0) {
        st = GM_FAIL(GM_E_IO, "cannot write to standard output: %s", strerror(errno));
        gm_print_error(gm_status_message());
    }
    gm_options_clear(&options);
    return gm_status_exit_code(st);
}

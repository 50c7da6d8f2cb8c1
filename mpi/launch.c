#include "mpi/launch.h"

#include <stdio.h>
#include <stdlib.h>

/* Launchers from the innermost outward: one that was started by another hides it. A variable of
 * Slurm's that the step of a job has, and its batch script has not. */
static const struct {
    const char *size, *launcher, *remedy;
} known[] = {
    {"OMPI_COMM_WORLD_SIZE", "mpirun of Open MPI",
     "this program's MPI is another: use its own mpirun or mpiexec (`gridmarch doctor` names it)"},
    {"PMI_SIZE", "a launcher that speaks PMI",
     "this program's MPI is another: use its own mpirun (`gridmarch doctor` names it), or under "
     "Slurm `srun --mpi=pmix`"},
    {"SLURM_STEP_NUM_TASKS", "srun",
     "use `srun --mpi=pmix`; where `srun --mpi=list` shows no pmix, use mpirun inside the job. If "
     "each is to be a run of its own, unset SLURM_STEP_NUM_TASKS"},
};

enum { N_RANK_NAME = 4 };
static const char *const rank_name[N_RANK_NAME] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                                   "SLURM_PROCID"};

static long read_number(const char *name, long otherwise)
{
    char *end = NULL;
    const char *text = getenv(name);
    if (!text || !*text) return otherwise;
    const long value = strtol(text, &end, 10);
    return *end == '\0' ? value : otherwise;
}

gm_launch gm_launch_look(void)
{
    gm_launch launch = {0};
    long rank = -1;
    for (size_t i = 0; rank < 0 && i < N_RANK_NAME; i++) rank = read_number(rank_name[i], -1);
    launch.rank = rank < 0 ? 0 : (int)rank;
    for (size_t i = 0; launch.n_rank < 1 && i < sizeof known / sizeof *known; i++) {
        launch.n_rank = read_number(known[i].size, 0);
        launch.launcher = (int)i;
    }
    launch.is_alone = launch.n_rank < 1;
    for (size_t i = 0; i < N_RANK_NAME; i++)
        if (getenv(rank_name[i])) launch.is_alone = false;
    return launch;
}

void gm_launch_prepare(const gm_launch *launch)
{
    if (!launch->is_alone) return;
    setenv("OMPI_MCA_pml", "ob1", 0);
}

gm_status gm_launch_check(const gm_launch *launch, const gm_comm *comm)
{
    if (comm->n_rank > 1 || launch->n_rank <= 1) return GM_OK;
    return GM_FAIL(GM_E_MPI,
                   "%lld processes were started by %s (%s=%lld), and MPI makes each of them a "
                   "program of one rank: they would all compute the same. Instead: %s",
                   (long long)launch->n_rank, known[launch->launcher].launcher,
                   known[launch->launcher].size, (long long)launch->n_rank,
                   known[launch->launcher].remedy);
}

"""Processes that were started together and are no ranks of one program are refused; a single process
within a job is not. The launchers' environments are made here."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import EXAMPLES, needs_program, run  # noqa: E402

pytestmark = needs_program

SWEEP = EXAMPLES / "lorenz63.yaml"
MPI = 7
STEP = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "4"}  # also of a batch script, and of salloc's shell


def start_with(env, output, *args, ranks=0):
    return run("run", SWEEP, "-o", output, "--quiet", *args, env=env, ranks=ranks)


@pytest.mark.parametrize("env, words", [
    (dict(STEP, SLURM_STEP_NUM_TASKS="4", SLURM_PROCID="0"),
     ["4 processes were started by srun", "srun --mpi=pmix", "SLURM_STEP_NUM_TASKS=4"]),
    ({"PMI_SIZE": "2", "PMI_RANK": "0"}, ["2 processes were started by a launcher that speaks PMI"]),
])
def test_separate_programs_of_one_launch_are_refused(tmp_path, env, words):
    done = start_with(env, tmp_path / "r.h5")
    assert done.code == MPI and len(done.messages) == 1
    for word in words:
        assert word in done.messages[0]
    assert list(tmp_path.iterdir()) == []


def test_only_the_first_of_them_speaks(tmp_path):
    done = start_with(dict(STEP, SLURM_STEP_NUM_TASKS="4", SLURM_PROCID="3"), tmp_path / "r.h5")
    assert done.code == MPI and done.messages == []


@pytest.mark.parametrize("env", [
    dict(STEP, SLURM_PROCID="0"),
    dict(STEP, SLURM_STEP_NUM_TASKS="1", SLURM_PROCID="0"),
    {"PMI_SIZE": "1", "PMI_RANK": "0"},
])
def test_a_single_process_in_a_job_is_none_of_them(tmp_path, env):
    assert start_with(env, tmp_path / "r.h5").code == 0


@pytest.mark.parametrize("ranks", [1, 2])
def test_mpirun_within_a_step_of_several_tasks_is_none_of_them(tmp_path, ranks):
    """mpirun starts its daemons with srun, and ranks inherit their environment."""
    env = {"SLURM_STEP_NUM_TASKS": "2", "SLURM_NTASKS": "4"}
    assert start_with(env, tmp_path / "r.h5", ranks=ranks).code == 0


def test_plan_runs_anywhere():
    done = run("plan", SWEEP, env=dict(STEP, SLURM_STEP_NUM_TASKS="4", SLURM_PROCID="0"))
    assert done.code == 0, done.err


def test_a_process_alone_opens_no_network_unless_the_user_wants_one(monkeypatch):
    """Open MPI, asked to tell, says which of its ways to send it looked at."""
    monkeypatch.delenv("OMPI_MCA_pml", raising=False)
    tell = {"OMPI_MCA_pml_base_verbose": "10"}
    alone = run("plan", SWEEP, env=tell)
    asked = run("plan", SWEEP, env={**tell, "OMPI_MCA_pml": "ob1,cm"})
    launched = run("plan", SWEEP, env=tell, ranks=1)
    looks = [done.err.count("components_open: found loaded component") for done in (alone, asked, launched)]
    if not looks[0]:
        pytest.skip("this MPI does not tell")
    assert looks[0] == 1 and looks[1] > 1 and looks[2] > 1, looks

"""Runs under a real Slurm of two nodes: srun, scancel, killed ranks and nodes, and results that a job
on another node writes."""

import pathlib
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cluster import SLOW, finish, gridmarch, messages, n_done  # noqa: E402
from program import PROGRAM, assert_same, march, needs_program, wait_until, write  # noqa: E402

pytestmark = needs_program

REFUSED = 3
BOTH = ["--mpi=pmix", "--nodes=2", "--ntasks=4", "--ntasks-per-node=2", "--kill-on-bad-exit=1"]
NO_LOCKS = {"GRIDMARCH_FAULT": f"lock%100=fail,{SLOW}"}


@pytest.fixture(name="running")
def slow_run(slurm, case, tmp_path):
    """A run of half a minute on both nodes, of which some points are done: process, output."""
    output = tmp_path / "r.h5"
    process = slurm.begin_job("srun", *BOTH, *gridmarch(case[0], output, "--quiet"),
                              env={"GRIDMARCH_FAULT": SLOW})
    try:
        wait_until(lambda: n_done(output) > 0, seconds=180)
        yield process, output
    finally:
        slurm.clear(process, PROGRAM)


def ranks(slurm):
    return {node: slurm.processes(PROGRAM, node) for node in ("n1", "n2")}


def expect_gone(slurm):
    wait_until(lambda: not any(ranks(slurm).values()))


def expect_completed_by_the_same_command(case, output):
    march(case[0], output, "--quiet")
    assert_same(output, case[1])


def test_srun_over_two_nodes_gives_the_same_bits(slurm, case, tmp_path):
    done = slurm.ask("srun", *BOTH, *gridmarch(case[0], tmp_path / "r.h5"))
    assert done.code == 0, done.err
    assert [line.split()[1] for line in done.err.splitlines()
            if line[:4].strip().isdigit() and " thread" in line] == ["n1", "n1", "n2", "n2"]
    assert_same(tmp_path / "r.h5", case[1])


def test_scancel_ends_a_run_in_order(slurm, case, running):
    process, output = running
    begin = time.monotonic()
    number = slurm.ask("squeue", "--noheader", "--format=%A").out.strip()
    slurm.ask("scancel", number)
    _, error, seconds = finish(process, 30, begin)
    assert process.returncode != 0 and seconds < 20
    found = [m for m in messages(error) if m.startswith("stopped by SIGTERM")]
    assert len(found) == 1, error
    expect_gone(slurm)
    assert not output.with_name("r.h5.lock").exists()
    expect_completed_by_the_same_command(case, output)


def test_a_killed_rank_ends_all_with_kill_on_bad_exit(slurm, case, running):
    process, output = running
    begin = time.monotonic()
    slurm.kill(ranks(slurm)["n2"][0], "n2")
    _, error, seconds = finish(process, 30, begin)
    assert process.returncode == 137 and seconds < 20, error
    expect_gone(slurm)
    expect_completed_by_the_same_command(case, output)


def test_a_wrong_mpi_computes_nothing(slurm, case, tmp_path):
    """Each rank would compute the whole sweep. Open MPI 4 stops by itself in MPI_Init; where it makes
    programs of one rank instead, as Open MPI 5 does, the program refuses."""
    done = slurm.ask("srun", "--mpi=none", "--ntasks=2", *gridmarch(case[0], tmp_path / "r.h5"))
    assert done.code in (1, 7)
    assert 'direct launched using "srun"' in done.err or "processes were started by srun" in done.err
    assert not (tmp_path / "r.h5").exists()


@pytest.mark.parametrize("env", [{"GRIDMARCH_FAULT": SLOW}, NO_LOCKS], ids=["locks", "no locks"])
def test_a_run_on_another_node_is_noticed_and_taken_over_when_it_is_dead(slurm, case, tmp_path, env):
    output = tmp_path / "r.h5"
    first = slurm.begin_job("srun", "--mpi=pmix", "--nodelist=n1", "--ntasks=1",
                            *gridmarch(case[0], output), env=env)
    second = ["srun", "--mpi=pmix", "--nodelist=n2", "--ntasks=1",
              *gridmarch(case[0], output)]
    try:
        wait_until(lambda: n_done(output) > 0, seconds=180)
        done = slurm.ask(*second, env=env)
        assert done.code == REFUSED, done.err
        said = [m for m in messages(done.err) if "is being written by another run" in m]
        assert len(said) == 1 and "on n1, job " in said[0] and "since 20" in said[0]
        assert first.poll() is None
    finally:
        slurm.clear(first, PROGRAM, "srun")
    expect_gone(slurm)
    assert output.with_name("r.h5.lock").exists()
    quick = {"GRIDMARCH_FAULT": "lock%100=fail"} if env is NO_LOCKS else {}
    done = slurm.ask(*second, env=quick)
    assert done.code == 0 and 15 <= done.seconds < 40, done.err
    assert "taking over" in done.err and "on n1" in done.err
    assert_same(output, case[1])
    assert not output.with_name("r.h5.lock").exists()


def test_a_node_whose_slurmd_dies_costs_a_requeue(slurm, case, tmp_path):
    output = tmp_path / "r.h5"
    words = " ".join(map(str, gridmarch(case[0], output, "--quiet")))
    job = write(tmp_path / "job.sh", f"#!/bin/bash\nsrun {' '.join(BOTH)} {words}\n")
    number = slurm.sbatch("--nodes=2", "--ntasks=4", "--ntasks-per-node=2", "--requeue",
                          "--open-mode=append", f"--output={tmp_path}/job.log", job,
                          env={"GRIDMARCH_FAULT": SLOW})
    wait_until(lambda: n_done(output) > 0, seconds=180)
    for pid in [*slurm.processes("slurmd", "n2"), *slurm.processes("slurmstepd", "n2"),
                *slurm.processes(PROGRAM, "n2")]:
        slurm.kill(pid, "n2")
    wait_until(lambda: slurm.job(number)["Restarts"] == "1", seconds=180, pause=0.2)
    expect_gone(slurm)
    assert n_done(output) < 128
    slurm.start_node("n2")
    slurm.wait_for_nodes()
    slurm.start_again(number, lambda: n_done(output) == 128)
    assert_same(output, case[1])

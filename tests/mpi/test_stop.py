"""A run that is asked to stop ends within seconds on all ranks, says how far it is, and the same
command completes it to the same bits."""

import os
import pathlib
import re
import signal
import stat
import subprocess
import sys
import time

import h5py
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import (PROGRAM, RING, ROOT, assert_same, environment, kill,  # noqa: E402
                     kill_tree, march, needs_program, program_ranks, run, start, wait_until, write)

pytestmark = needs_program

STOPPED = 9
SLOW = {"GRIDMARCH_FAULT": "launch%100=200"}  # or a fast machine is through before it is asked
CHUNK = ["--chunk", "20000"]  # a fifth of most runs here
SECONDS = 10  # within which a run must end
SWEEP = f"""
model: wilson_cowan
network: {{weights: {RING}, normalise: maximum, symmetric: required, self_connections: drop}}
axes: {{G: VALUES}}
parameters: {{sigma_e: 0.02, sigma_i: 0.01}}
inputs: {{p_e: 0.6}}
time: {{dt: 0.1, duration: DURATION}}
integrator: heun
record: {{last: all, mean: all, trajectory: {{variables: [E], every: 900}}}}
"""


def sweep_file(folder, n_point=64, duration=2000):
    values = f"{{linspace: [0, 3, {n_point}]}}" if n_point > 1 else "[0.6]"
    text = SWEEP.replace("VALUES", values).replace("DURATION", str(duration))
    return write(folder / "s.yaml", text)


def start_small_tiles(sweep, output, ranks, *args):
    return start("run", sweep, "-o", output, "--quiet", "--tile", 16, "--threads", 1, *CHUNK,
                 *args, ranks=ranks, env=SLOW)


def end(process, begin):
    """Its messages; it must end in time."""
    try:
        error = process.communicate(timeout=3 * SECONDS)[1]
    finally:
        kill_tree(process)
    assert time.monotonic() - begin < SECONDS
    return [line for line in error.splitlines() if line.startswith("gridmarch: ")]


def n_done(output):
    with h5py.File(output) as file:
        return int((file["status"][()] == 1).sum())


def expect_stopped(process, messages, output, reason):
    assert process.returncode == STOPPED, messages
    assert len(messages) == 1
    found = re.match(r"gridmarch: stopped by (.*): (\d+) of (\d+) points are done", messages[0])
    assert found, messages
    assert found[1] == reason and "the same command again" in messages[0]
    assert int(found[2]) == n_done(output) < int(found[3])


def marching(process, output, n_rank):
    """Wait until its ranks march: the file is there, and so are they."""
    wait_until(output.exists)
    ranks = wait_until(lambda: len(program_ranks(process.pid)) == n_rank
                       and program_ranks(process.pid))
    time.sleep(0.5)
    return ranks


@pytest.mark.parametrize("number, ranks, who", [
    (signal.SIGTERM, 1, 0), (signal.SIGUSR1, 3, 0), (signal.SIGINT, 3, 2), (signal.SIGTERM, 4, 1)])
def test_a_signal_to_one_rank_ends_all_and_the_same_command_goes_on(tmp_path, number, ranks, who):
    sweep = sweep_file(tmp_path, 256, 10000)
    output = tmp_path / "r.h5"
    process = start_small_tiles(sweep, output, ranks)
    pid = marching(process, output, ranks)[who]
    wait_until(lambda: n_done(output) > 0)
    begin = time.monotonic()
    kill(pid, number)
    expect_stopped(process, end(process, begin), output, number.name)
    assert n_done(output) > 0
    march(sweep, output, "--quiet", ranks=2)
    assert_same(output, march(sweep, tmp_path / "whole.h5", "--quiet"))


def test_mpirun_passes_sigusr1_on(tmp_path):
    sweep = sweep_file(tmp_path, 256, 10000)
    process = start_small_tiles(sweep, tmp_path / "r.h5", 2)
    marching(process, tmp_path / "r.h5", 2)
    begin = time.monotonic()
    process.send_signal(signal.SIGUSR1)
    expect_stopped(process, end(process, begin), tmp_path / "r.h5", "SIGUSR1")


def test_max_time_ends_a_run(tmp_path):
    sweep = sweep_file(tmp_path, 256, 20000)
    begin = time.monotonic()
    process = start_small_tiles(sweep, tmp_path / "r.h5", 2, "--max-time", "2s")
    messages = end(process, begin)
    assert time.monotonic() - begin > 2
    expect_stopped(process, messages, tmp_path / "r.h5", "--max-time")


@pytest.mark.parametrize("text", ["0", "soon", "1:30", "-3"])
def test_a_time_that_is_none_is_refused(tmp_path, text):
    done = run("run", sweep_file(tmp_path), "-o", tmp_path / "r.h5", f"--max-time={text}")
    assert done.code == 2 and text in done.err and "2h30m" in done.err
    assert not (tmp_path / "r.h5").exists()


def test_a_stop_file_ends_a_run_and_one_from_before_does_not(tmp_path):
    sweep = sweep_file(tmp_path, 256, 10000)
    output = tmp_path / "r.h5"
    wish = write(tmp_path / "r.h5.stop", "")
    process = start_small_tiles(sweep, output, 2)
    marching(process, output, 2)
    assert not wish.exists() and process.poll() is None
    write(wish, "")
    begin = time.monotonic()
    expect_stopped(process, end(process, begin), output, "the stop file")


def test_long_steps_make_short_chunks(tmp_path):
    """A tile whose whole run would be one chunk of minutes still ends in seconds, mid-way."""
    sweep = sweep_file(tmp_path, 20000, 40000)
    output = tmp_path / "r.h5"
    process = start("run", sweep, "-o", output, "--quiet", "--tile", 20000, "--chunk", 400000,
                    ranks=1)
    marching(process, output, 1)
    time.sleep(3)
    begin = time.monotonic()
    kill(program_ranks(process.pid)[0], signal.SIGTERM)
    expect_stopped(process, end(process, begin), output, "SIGTERM")
    assert n_done(output) == 0


def test_a_folder_in_the_place_of_the_stop_file_is_refused(tmp_path):
    (tmp_path / "r.h5.stop").mkdir()
    done = run("run", sweep_file(tmp_path, 1, 200), "-o", tmp_path / "r.h5")
    assert done.code == 4 and "r.h5.stop" in done.err and "Remove it" in done.err


def test_a_rank_that_has_finished_still_hears(tmp_path):
    sweep = sweep_file(tmp_path, 1, 60000)  # for rank 0; the other has nothing to do
    output = tmp_path / "r.h5"
    process = start("run", sweep, "-o", output, "--quiet", "--threads", 1, ranks=2)
    ranks = marching(process, output, 2)
    begin = time.monotonic()
    kill(ranks[1], signal.SIGTERM)
    expect_stopped(process, end(process, begin), output, "SIGTERM")


LAUNCHER = """#!/usr/bin/env bash
# In the place of srun: its own options are left out, signals reach the program. One of them makes
# srun end all ranks when one is gone.
[[ " $* " == *" --kill-on-bad-exit=1 "* ]] || exit 99
while [[ $1 == --* ]]; do shift; done
exec mpirun -n 2 --oversubscribe --bind-to none "$@" --backend cpu --tile 16 --threads 1 --quiet \
    --chunk 20000
"""


def fake_slurm(folder):
    """srun and scontrol, the latter notes what it is asked."""
    tools = folder / "bin"
    tools.mkdir()
    write(tools / "srun", LAUNCHER)
    write(tools / "scontrol", f'#!/usr/bin/env bash\necho "$@" >> {folder}/scontrol.log\n')
    for tool in tools.iterdir():
        tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    return environment(PATH=f"{tools}:{os.environ['PATH']}", SLURM_JOB_ID="77", GRIDMARCH=PROGRAM)


@pytest.mark.parametrize("stop_file", [False, True])
def test_the_job_script_is_requeued_until_the_sweep_is_complete(tmp_path, stop_file):
    n_point = 1280 if stop_file else 128
    sweep, output = sweep_file(tmp_path, n_point, 10000), tmp_path / "r.h5"
    script = ROOT / "jobscripts" / "slurm_single_node.sbatch"
    job = ["bash", script, sweep, output]
    env = fake_slurm(tmp_path)
    process = subprocess.Popen(job, env={**env, **SLOW}, stderr=subprocess.PIPE, text=True)
    marching(process, output, 2)
    begin = time.monotonic()
    if stop_file:
        write(tmp_path / "r.h5.stop", "")
    else:
        process.send_signal(signal.SIGUSR1)
    messages = end(process, begin)
    expect_stopped(process, messages, output, "the stop file" if stop_file else "SIGUSR1")
    requeued = tmp_path / "scontrol.log"
    assert requeued.exists() == (not stop_file)  # who wrote the file wants an end
    if not stop_file:
        assert requeued.read_text() == "requeue 77\n"
        requeued.unlink()
        done = subprocess.run(job, env=env, stderr=subprocess.PIPE, text=True, timeout=120,
                              check=False)
        assert done.returncode == 0 and not requeued.exists(), done.stderr
        assert n_done(output) == n_point

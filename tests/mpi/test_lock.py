"""One run at a time writes a result: the second is told who does, and what a dead one left behind is
recognised."""

import os
import pathlib
import socket
import sys
import threading
import time

import h5py
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import (RING, assert_same, kill, kill_tree, march, needs_program,  # noqa: E402
                     program_ranks, run, start, wait_until, write)

pytestmark = needs_program

REFUSED = 3
SWEEP = f"""
model: wilson_cowan
network: {{weights: {RING}, normalise: maximum, symmetric: required, self_connections: drop}}
axes: {{G: {{linspace: [0, 3, 64]}}}}
inputs: {{p_e: 0.6}}
time: {{dt: 0.1, duration: DURATION}}
integrator: heun
record: {{last: all}}
"""
HOW = ["--tile", 16, "--threads", 1]
ELSEWHERE = "host farnode\nplace boot/pid:[1]\npid 1\nstart 5\njob 4711\nsince 2026-01-01 00:00:00 UTC\n"


@pytest.fixture
def sweep(tmp_path):
    return write(tmp_path / "s.yaml", SWEEP.replace("DURATION", "100"))


@pytest.fixture
def running(tmp_path):
    """A run of minutes that has begun to march: process, sweep, output."""
    sweep = write(tmp_path / "long.yaml", SWEEP.replace("DURATION", "4000000"))
    output = tmp_path / "long.h5"
    process = start("run", sweep, "-o", output, *HOW, ranks=2, env={"SLURM_JOB_ID": "123"})
    try:
        wait_until(output.exists)
        yield process, sweep, output
    finally:
        kill_tree(process)
        process.communicate()


@pytest.mark.parametrize("args", [[], ["--overwrite"], ["--take-over"]])
def test_a_second_run_is_told_who_writes(running, args):
    process, sweep, output = running
    second = run("run", sweep, "-o", output, *args, ranks=2, timeout=20)
    assert second.code == REFUSED and len(second.messages) == 1
    message = second.messages[0]
    assert socket.gethostname() in message and "job 123" in message and "since 20" in message
    assert any(f"process {pid} on" in message for pid in program_ranks(process.pid)), message
    assert process.poll() is None and second.seconds < 10


def test_a_plan_foretells_that_a_second_run_is_refused(running):
    process, sweep, output = running
    plan = run("plan", sweep, "-o", output)
    assert plan.code == REFUSED and "a run would be refused" in plan.out
    assert "is being written by another run (process" in plan.err
    for pid in program_ranks(process.pid):
        kill(pid)
    process.communicate()
    plan = run("plan", sweep, "-o", output)
    assert plan.code == 0 and "would be resumed" in plan.out and not plan.err


def test_a_killed_run_is_no_obstacle_and_leaves_nothing(running):
    process, sweep, output = running
    lock = output.with_name("long.h5.lock")
    assert lock.exists()
    for pid in program_ranks(process.pid):
        kill(pid)
    process.communicate()
    assert lock.exists()
    done = run("run", sweep, "-o", output, *HOW, "--max-time", "1", timeout=30)
    assert done.code == 9 and not lock.exists()
    assert "taking over from a run that did not end in order (process" in done.messages[0]


def test_of_runs_that_start_at_once_one_writes(tmp_path, sweep):
    output = tmp_path / "r.h5"
    many = [start("run", sweep, "-o", output, "--quiet") for _ in range(6)]
    codes = [process.wait(timeout=60) for process in many]
    for process in many:
        process.communicate()
    assert set(codes) <= {0, REFUSED} and 0 in codes
    assert_same(output, march(sweep, tmp_path / "whole.h5"))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.h5", "s.yaml", "whole.h5"]


def leave_half(tmp_path, sweep, record):
    """A result of which half is missing, and a lock file."""
    output = march(sweep, tmp_path / "r.h5")
    with h5py.File(output, "r+") as file:
        file["status"][32:] = 0
    write(tmp_path / "r.h5.lock", record)
    return output


@pytest.mark.parametrize("record, args, env, seconds", [
    (ELSEWHERE, [], {}, (15, 25)),  # watched, no sign of life
    (ELSEWHERE, ["--take-over"], {}, (0, 5)),
    (ELSEWHERE, [], {"SLURM_JOB_ID": "4711"}, (0, 5)),  # the same job, requeued
    ("", [], {}, (0, 5)),
    ("host x\n", ["--take-over"], {}, (0, 5)),
])
def test_what_a_run_elsewhere_left_is_taken_over(tmp_path, sweep, record, args, env, seconds):
    output = leave_half(tmp_path, sweep, record)
    done = run("run", sweep, "-o", output, *args, ranks=2, env=env)
    assert done.code == 0, done.err
    assert seconds[0] <= done.seconds < seconds[1]
    assert ("taking over" in done.err) == ("host" in record)
    assert not (tmp_path / "r.h5.lock").exists()


def test_a_file_that_is_no_lock_is_left_alone(tmp_path, sweep):
    """A user's own, by its name, or one that a crash of the host has ruined."""
    nonsense = "\0\1\2 nonsense\n\n" * 500
    output = leave_half(tmp_path, sweep, nonsense)
    done = run("run", sweep, "-o", output, ranks=2)
    assert done.code == 3 and "r.h5.lock" in done.err and "rename it" in done.err
    assert (tmp_path / "r.h5.lock").read_text() == nonsense


def test_a_silence_of_many_minutes_needs_no_watching(tmp_path, sweep):
    output = leave_half(tmp_path, sweep, ELSEWHERE)
    past = time.time() - 3600
    os.utime(tmp_path / "r.h5.lock", (past, past))
    done = run("run", sweep, "-o", output)
    assert done.code == 0 and done.seconds < 5 and "farnode" in done.err


def test_signs_of_life_from_elsewhere_are_heard(tmp_path, sweep):
    output = leave_half(tmp_path, sweep, ELSEWHERE)
    ended = threading.Event()

    def beat():
        while not ended.wait(2):
            os.utime(tmp_path / "r.h5.lock")

    heart = threading.Thread(target=beat)
    heart.start()
    try:
        done = run("run", sweep, "-o", output)
    finally:
        ended.set()
        heart.join()
    assert done.code == REFUSED and done.seconds < 10
    assert "process 1 on farnode, job 4711" in done.err


def test_the_holder_gives_signs_of_life(running):
    _, _, output = running
    lock = output.with_name("long.h5.lock")
    before = lock.stat().st_mtime_ns
    wait_until(lambda: lock.stat().st_mtime_ns > before, seconds=8)


def test_where_no_lock_file_can_be_made_a_run_says_so(tmp_path, sweep):
    (tmp_path / "r.h5.lock").mkdir()
    done = run("run", sweep, "-o", tmp_path / "r.h5")
    assert done.code == 0 and "cannot make the lock file" in done.err
    assert "would not be noticed" in done.err


@pytest.mark.parametrize("alive", [False, True])
def test_a_complete_file_keeps_no_lock_of_a_run_that_was_killed(tmp_path, sweep, alive):
    output = march(sweep, tmp_path / "r.h5", *HOW)
    place = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    place += "/" + os.readlink("/proc/self/ns/pid")
    ticks = pathlib.Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    lock = write(tmp_path / "r.h5.lock", f"host here\nplace {place}\npid {os.getpid()}\n"
                                         f"start {ticks if alive else 1}\n")
    done = run("run", sweep, "-o", output)
    assert done.code == 0 and "nothing to do" in done.messages[0]
    assert lock.exists() == alive


def test_a_file_is_not_written_under_a_second_name(running, tmp_path):
    process, sweep, output = running
    link = tmp_path / "link.h5"
    link.hardlink_to(output)
    second = run("run", sweep, "-o", link, timeout=20)
    assert second.code == REFUSED and "hard links" in second.err and process.poll() is None

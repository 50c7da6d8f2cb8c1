"""kill -9 of a rank, of all ranks or of mpirun, at any moment: the file opens, what it calls done is
right bit for bit, no process is left, and the same command completes it on any number of ranks.

GM_KILL_MOMENTS=200 tries so many moments instead of a few; pytest -s shows what was found.
"""

import collections
import os
import pathlib
import random
import sys
import time

import h5py
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import (assert_finished_points, assert_same, descendants, full_sweep,  # noqa: E402
                     kill, kill_tree, march, needs_program, parents, program_ranks, runs, start,
                     wait_until, write)

pytestmark = needs_program

MOMENTS = int(os.environ.get("GM_KILL_MOMENTS", 20))
SWEEP = full_sweep(64)
HOW = ["--tile", 4, "--chunk", 450, "--threads", 1]
# Delays make each part of a run long enough to be met, and no part depend on the machine's speed.
SLOW = {
    "start-up": "launch@1+=5",
    "creation": "write@1+=8,sync@1=80",
    "march": "launch@1+=60",
    "end": "sync@1+=60,mark@1+=60",
}
WHO = ["one rank", "all ranks", "mpirun"]
RESUMED_ON = [1, 2, 3, 8]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A sweep, its uninterrupted result, and the seconds that each kind of run takes."""
    folder = tmp_path_factory.mktemp("whole")
    sweep, result, seconds = write(folder / "s.yaml", SWEEP), folder / "whole.h5", {}
    march(sweep, result, "--quiet")
    for part in SLOW:
        begin = time.monotonic()
        process = start_slowly(sweep, folder / f"{part}.h5", 2, part)
        wait_until((folder / f"{part}.h5").exists)
        seconds[part] = [time.monotonic() - begin, None]
        assert end(process) == 0
        seconds[part][1] = time.monotonic() - begin
        assert_same(folder / f"{part}.h5", result)
    return sweep, result, seconds


def start_slowly(sweep, output, ranks, part="march"):
    return start("run", sweep, "-o", output, "--quiet", *HOW, ranks=ranks,
                 env={"GRIDMARCH_FAULT": SLOW[part]})


def end(process, seconds=30):
    """Wait for mpirun, which ends itself once a rank is gone; its exit code."""
    try:
        process.communicate(timeout=seconds)
    finally:
        kill_tree(process)
    return process.returncode


def wait_for_moment(part, chance, process, output, seconds):
    """Somewhere in a part of the run."""
    created, ended = seconds[part]
    partial = output.parent / (output.name + ".partial")
    if part == "start-up":
        time.sleep(chance * created)
    elif part == "creation":
        wait_until(lambda: partial.exists() or output.exists() or process.poll() is not None,
                   pause=0.001)
        time.sleep(chance * 0.25)
    else:
        wait_until(lambda: output.exists() or process.poll() is not None)
        left = ended - created
        time.sleep(chance * left if part == "march" else (0.6 + 0.4 * chance) * left)


def strike(process, who, which):
    """False if the run was over before. Nothing of it is left afterwards."""
    family = descendants(process.pid) | {process.pid}
    ranks = program_ranks(process.pid)
    victims = {"one rank": ranks[which % len(ranks):][:1] if ranks else [], "all ranks": ranks,
               "mpirun": [process.pid]}[who]
    for pid in victims:
        kill(pid)
    code = end(process)
    try:
        wait_until(lambda: not family & set(parents()), seconds=15)
    finally:
        for pid in family & set(parents()):
            kill(pid)
    return bool(victims) and code != 0


def state(output, result):
    if not output.exists():
        return "no file" if not (output.parent / "r.h5.partial").exists() else "half a file"
    n_done = assert_finished_points(output, result)
    with h5py.File(output) as file:
        n_point = file["status"].size
    return "nothing done" if n_done == 0 else "all done" if n_done == n_point else "some done"


def test_whoever_is_killed_at_any_moment_nothing_is_lost(whole, tmp_path):
    sweep, result, seconds = whole
    chance = random.Random(20)
    found = collections.Counter()
    output = tmp_path / "r.h5"
    attempt = 0
    while found.total() < MOMENTS:
        attempt += 1
        assert attempt < 3 * MOMENTS, found
        part = list(SLOW)[found.total() % len(SLOW)]
        who = WHO[found.total() % len(WHO)]
        output.unlink(missing_ok=True)
        process = start_slowly(sweep, output, 1 + attempt % 3, part)
        wait_for_moment(part, chance.random(), process, output, seconds)
        if not strike(process, who, attempt):
            continue  # a moment that came after the end does not count
        found[part, who, state(output, result)] += 1
        march(sweep, output, "--quiet", ranks=RESUMED_ON[attempt % len(RESUMED_ON)])
        assert_same(output, result)
        assert sorted(path.name for path in tmp_path.iterdir()) == [output.name]
    for what, n in sorted(found.items()):
        print(f"{n:4d}  killed: {what[1]:10s} during {what[0]:9s} left: {what[2]}")
    states = {what[2] for what in found}
    assert {"nothing done", "some done"} <= states and states & {"no file", "half a file"}, states


def test_a_run_killed_again_and_again_arrives(whole, tmp_path):
    sweep, result, _ = whole
    output = tmp_path / "r.h5"
    n_done = [0]
    for attempt, ranks in enumerate([2, 3, 1, 4]):
        process = start_slowly(sweep, output, ranks)
        wait_until(lambda: process.poll() is not None or
                   (output.exists() and assert_finished_points(output, result) > n_done[-1]))
        strike(process, "one rank", attempt)  # it may be over already
        n_done.append(assert_finished_points(output, result))
    assert n_done == sorted(n_done) and n_done[1] > 0
    march(sweep, output, "--quiet", *HOW, ranks=2)
    assert_same(output, result)
    assert 1 <= len(runs(output)) <= 5

"""Points handed out as ranks have room (--schedule dynamic): the same file bit for bit, a slow rank gets
less, and a rank that loses its device leaves its points to the others."""

import json
import pathlib
import sys

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import (assert_same, kill, march, needs_program, program_ranks, run,  # noqa: E402
                     runs, short_sweep, start, wait_until, write)

pytestmark = needs_program

N = 60
SWEEP = short_sweep(N, "last: all, mean: all")
HOW = ["--threads", 1, "--no-compile", "--schedule", "dynamic"]
FINE = ["--tile", 1, "--chunk", 500]  # a launch per point
DEVICE = 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("schedule")
    march(write(path / "s.yaml", SWEEP), path / "whole.h5")
    return path


def march_with(folder, output, *args, ranks, fault=""):
    return run("run", folder / "s.yaml", "-o", output, *HOW, *args, "--json", ranks=ranks,
               env={"GRIDMARCH_FAULT": fault} if fault else None)


def points(done):
    return [row["points"] for row in json.loads(done.out)["devices"]]


@pytest.mark.parametrize("ranks, args", [
    (1, []), (2, []), (3, ["--tile", 7, "--chunk", 64]), (4, FINE)])
def test_the_file_is_the_same(folder, tmp_path, ranks, args):
    done = march_with(folder, tmp_path / "r.h5", *args, ranks=ranks)
    assert done.code == 0, done.err
    assert_same(tmp_path / "r.h5", folder / "whole.h5")
    assert sum(points(done)) == N
    summary = json.loads(done.out)
    assert summary["schedule"] == ("static" if ranks == 1 else "dynamic")
    assert ("dynamic schedule: " in done.err) == (ranks > 1)
    assert json.loads(runs(tmp_path / "r.h5")[0])["devices"][0]["points"] == points(done)[0]


@pytest.mark.parametrize("schedule", ["static", "dynamic"])
def test_only_what_is_missing_is_handed_out(folder, tmp_path, schedule):
    output = march(folder / "s.yaml", tmp_path / "r.h5")
    gaps = [0, 1, 2, 17, 30, 31, 33, 34, 58, 59]
    with h5py.File(output, "r+") as file:
        file["status"][gaps] = 0
        for gap in gaps:
            file["E"][gap] = file["E_last"][gap] = np.nan
    done = march_with(folder, output, "--tile", 2, "--schedule", schedule, ranks=3)
    assert done.code == 0 and sum(points(done)) == len(gaps)
    assert_same(output, folder / "whole.h5")


def test_a_slow_rank_gets_few_points(folder, tmp_path):
    """Each launch waits 10 ms, on rank 0 it waits 200 ms: long before that has marched ten points the
    others have taken the rest."""
    fault = "launch#0%100=200,launch#1%100=10,launch#2%100=10"
    done = march_with(folder, tmp_path / "r.h5", *FINE, ranks=3, fault=fault)
    assert done.code == 0, done.err
    assert points(done)[0] <= 10 and sum(points(done)) == N
    assert_same(tmp_path / "r.h5", folder / "whole.h5")


# Every launch of a rank whose device is lost fails from the given one on. Chunks of 100 steps: five
# launches a tile.
@pytest.mark.parametrize("ranks, fault, n_lost", [
    (2, "launch#1@1+=fail", 1),
    (2, "launch#0@3+=fail", 1),
    (4, "launch#0@1+=fail,launch#1@2+=fail,launch#3@4+=fail", 3),
    # the only tile that is left, while the others wait
    (3, "launch#1@1=1000,launch#1@2+=fail", 1),
])
def test_others_take_over_from_a_rank_that_loses_its_device(folder, tmp_path, ranks, fault, n_lost):
    done = march_with(folder, tmp_path / "r.h5", "--tile", 5, "--chunk", 100, ranks=ranks,
                      fault=fault + ",launch%100=5")
    assert done.code == 0, done.err
    assert_same(tmp_path / "r.h5", folder / "whole.h5")
    summary = json.loads(done.out)
    assert sum(points(done)) == N and summary["ranks_retired"] == n_lost
    assert f"ranks that lost their device: {n_lost}" in done.err
    lost = [line for line in done.messages if "has lost its device" in line]
    assert len(lost) == n_lost and all("the launch fails on purpose" in line for line in lost)


def test_a_lost_rank_had_saved_points_further_on_than_the_others_know(folder, tmp_path):
    """They went on midway, and both places of their records have been written since."""
    often = ["--chunk", 50, "--checkpoint", 0.0001]
    march_with(folder, tmp_path / "r.h5", *often, ranks=1, fault="launch@5=kill")
    done = march_with(folder, tmp_path / "r.h5", *often, "--tile", 30, ranks=2,
                      fault="launch#1@5+=fail")
    assert done.code == 0 and "60 of them go on from where they were saved" in done.err, done.err
    assert json.loads(done.out)["ranks_retired"] == 1
    assert_same(tmp_path / "r.h5", folder / "whole.h5")


def test_when_all_devices_are_lost_the_run_can_be_resumed(folder, tmp_path):
    output = tmp_path / "r.h5"
    done = march_with(folder, output, *FINE, ranks=3,
                      fault="launch%100=20,launch@12+=fail")
    assert done.code == DEVICE, done.err
    assert "every rank has lost its device: " in done.messages[-1]
    with h5py.File(output) as file, h5py.File(folder / "whole.h5") as whole:
        marked = np.flatnonzero(file["status"][()])
        assert 0 < len(marked) < N
        assert file["E"][()][marked].tobytes() == whole["E"][()][marked].tobytes()
    march(folder / "s.yaml", output, *HOW, ranks=2)
    assert_same(output, folder / "whole.h5")


def test_with_even_shares_a_lost_device_ends_the_run(folder, tmp_path):
    output = tmp_path / "r.h5"
    done = march_with(folder, output, *FINE, "--schedule", "static", ranks=2,
                      fault="launch#1@3+=fail")
    assert done.code == DEVICE and len(done.messages) == 1 and "rank 1 on " in done.messages[0]
    march(folder / "s.yaml", output)
    assert_same(output, folder / "whole.h5")


def test_a_stopped_run_goes_on_later(folder, tmp_path):
    output = tmp_path / "r.h5"
    done = march_with(folder, output, *FINE, "--max-time", 2, ranks=3, fault="launch%100=200")
    assert done.code == 9, done.err
    with h5py.File(output) as file:
        assert 0 < np.count_nonzero(file["status"][()]) < N
    done = march_with(folder, output, ranks=2)
    assert done.code == 0 and "resuming" in done.err
    assert_same(output, folder / "whole.h5")


def test_a_kill_leaves_a_file_that_can_be_completed(folder, tmp_path):
    output = tmp_path / "r.h5"
    process = start("run", folder / "s.yaml", "-o", output, *HOW, *FINE, "--quiet", ranks=3,
                    env={"GRIDMARCH_FAULT": "launch%100=100"})

    def some_points_are_marked():
        if not output.exists():
            return False
        with h5py.File(output) as file:
            return np.count_nonzero(file["status"][()]) > 3

    wait_until(some_points_are_marked)
    kill(program_ranks(process.pid)[1])
    process.communicate(timeout=60)
    with h5py.File(output) as file, h5py.File(folder / "whole.h5") as whole:
        marked = np.flatnonzero(file["status"][()])
        assert file["E"][()][marked].tobytes() == whole["E"][()][marked].tobytes()
    march(folder / "s.yaml", output, *HOW, ranks=2)
    assert_same(output, folder / "whole.h5")


@pytest.mark.parametrize("site, code", [("write#1@20=fail", 4), ("alloc#1@150=fail", 5)])
def test_other_faults_end_all_ranks(folder, tmp_path, site, code):
    output = tmp_path / "r.h5"
    done = march_with(folder, output, "--quiet", "--tile", 2, ranks=3, fault=site)
    assert done.code == code and len(done.messages) == 1, done.err
    march(folder / "s.yaml", output, "--quiet")
    assert_same(output, folder / "whole.h5")


def test_plan_explains_the_schedule(folder):
    out = run("plan", folder / "s.yaml", "--threads", 1, "--ranks", 4).out
    assert "ranks        4, at most 15 points each" in out
    out = run("plan", folder / "s.yaml", "--threads", 1, "--ranks", 4, *FINE[:2], *HOW[3:]).out
    assert "4, each takes the next points when it has room" in out and "down to 1 point\n" in out


def test_other_schedules_are_refused(folder):
    done = run("run", folder / "s.yaml", "--schedule", "guided")
    assert done.code == 2 and "--schedule guided: must be static or dynamic" in done.err

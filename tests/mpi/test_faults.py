"""Faults on purpose (GRIDMARCH_FAULT, see src/core/fault.h): every run ends in time with one message and
the right code, what it left opens, and the same command completes it to the same bits."""

import json
import pathlib
import sys

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import assert_same, march, needs_program, run, short_sweep, write  # noqa: E402

pytestmark = needs_program

SECONDS = 30  # within which all ranks must end
SWEEP = short_sweep(24, "last: all, mean: all")
HOW = ["--quiet", "--tile", 4, "--chunk", 100, "--threads", 1, "--no-compile"]
IO, MEMORY, DEVICE, MPI = 4, 5, 6, 7


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("faults")
    march(write(path / "s.yaml", SWEEP), path / "whole.h5")
    return path


def march_with(fault, folder, output, ranks, *args):
    return run("run", folder / "s.yaml", "-o", output, *HOW, *args, ranks=ranks, timeout=2 * SECONDS,
               env={"GRIDMARCH_FAULT": fault})


def expect_failure(done, code):
    assert done.code == code, (done.code, done.err)
    assert len(done.messages) == 1, done.err
    assert done.seconds < SECONDS


def expect_resumable(folder, output):
    """What is there opens, calls nothing finished that is not right, and can be completed."""
    if output.exists():
        with h5py.File(output) as file, h5py.File(folder / "whole.h5") as whole:
            marked = np.flatnonzero(file["status"][()])
            for name in ("E", "E_last", "I_mean", "failed_step", "checksum"):
                assert file[name][()][marked].tobytes() == whole[name][()][marked].tobytes()
    march(folder / "s.yaml", output, "--quiet")
    assert_same(output, folder / "whole.h5")
    assert sorted(p.name for p in output.parent.iterdir()) == [output.name]


def try_all(site, moments, folder, tmp_path, ranks, code):
    """The fault at several moments; past the last one there is none and the run succeeds."""
    n_failed = 0
    output = tmp_path / "r.h5"
    for moment in moments:
        done = march_with(f"{site}@{moment}=fail", folder, output, ranks)
        if done.code == 0:  # past the last one, or one that was done without
            assert_same(output, folder / "whole.h5")
        else:
            expect_failure(done, code)
            n_failed += 1
        expect_resumable(folder, output)
        output.unlink()
    return n_failed


# A run writes 13 times while it creates the file, and then while it marches.
@pytest.mark.parametrize("site, ranks, moments", [
    ("write", 0, [1, 2, 3, 5, 8, 13, 14, 16, 20, 25, 30, 40, 50, 60]), ("write#0", 3, [2, 14, 20]),
    ("write#2", 3, [1, 3, 5])])
def test_a_disk_that_is_full_at_any_write(folder, tmp_path, site, ranks, moments):
    assert try_all(site, moments, folder, tmp_path, ranks, IO) == len(moments)


@pytest.mark.parametrize("ranks", [2, 3])
def test_a_disk_that_stays_full_on_all_ranks_gives_one_message(folder, tmp_path, ranks):
    done = march_with("write@18+=fail", folder, tmp_path / "r.h5", ranks)
    expect_failure(done, IO)
    assert "no space left on device" in done.messages[0] and "r.h5" in done.messages[0]
    expect_resumable(folder, tmp_path / "r.h5")


def test_a_disk_that_cannot_save(folder, tmp_path):
    assert try_all("sync", [1, 2], folder, tmp_path, 1, IO) == 2
    assert try_all("sync#1", [1], folder, tmp_path, 2, IO) == 1


@pytest.mark.parametrize("ranks, who", [(1, 0), (2, 1), (3, 0)])
def test_a_kill_between_data_and_mark_loses_only_the_mark(folder, tmp_path, ranks, who):
    output = tmp_path / "r.h5"
    done = march_with(f"mark#{who}@1=kill", folder, output, ranks)
    assert done.code not in (0, IO) and done.seconds < SECONDS
    with h5py.File(output) as file, h5py.File(folder / "whole.h5") as whole:
        pending = file["status"][()] == 0
        assert pending.sum() >= 24 // ranks
        mine = slice(0, 24 // ranks) if who == 0 else slice(12, 24)
        assert file["E"][mine].tobytes() == whole["E"][mine].tobytes()  # the data were there
    march(folder / "s.yaml", output, "--quiet", ranks=2)
    assert_same(output, folder / "whole.h5")


@pytest.mark.parametrize("site, ranks, moments", [
    ("alloc", 0, range(1, 300, 13)), ("alloc#1", 2, range(3, 220, 36)), ("alloc#0", 2, [90, 190])])
def test_an_allocation_that_fails(folder, tmp_path, site, ranks, moments):
    assert try_all(site, moments, folder, tmp_path, ranks, MEMORY) >= 0.7 * len(moments)


@pytest.mark.parametrize("site, code", [("launch", DEVICE), ("message", MPI)])
def test_a_device_or_a_channel_that_fails(folder, tmp_path, site, code):
    assert try_all(site, [1, 4], folder, tmp_path, 1, code) == 2
    assert try_all(f"{site}#2", [2], folder, tmp_path, 3, code) == 1


def test_a_device_with_less_memory_than_it_said_gets_smaller_tiles(folder, tmp_path):
    output = tmp_path / "r.h5"
    fault = "device_memory#0@1=fail,device_memory#0@2=fail"
    done = march_with(fault, folder, output, 2, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["tile_points"] == 1  # of 4: rank 0's
    assert_same(output, folder / "whole.h5")
    done = march_with("device_memory@1+=fail", folder, output, 2, "--overwrite")
    expect_failure(done, MEMORY)


def test_a_slow_disk_and_slow_messages_change_nothing(folder, tmp_path):
    fault = "seed=3,write%20=30,message%30=20,launch%10=50"
    for args in ([], ["--max-time", "1"]):
        done = march_with(fault, folder, tmp_path / "r.h5", 3, "--overwrite", *args)
        assert done.code in (0, 9) and (done.code == 0 or args), done.err
    expect_resumable(folder, tmp_path / "r.h5")


def test_where_the_file_system_has_no_locks_a_run_says_so_and_a_second_is_noticed(folder, tmp_path):
    output = march(folder / "s.yaml", tmp_path / "r.h5")
    with h5py.File(output, "r+") as file:
        file["status"][5] = 0
    done = run("run", folder / "s.yaml", "-o", output, env={"GRIDMARCH_FAULT": "lock@1+=fail"})
    assert done.code == 0 and "has no locks" in done.messages[0]
    with h5py.File(output, "r+") as file:
        file["status"][5] = 0
    # This very process, under another name: it lives.
    stat = pathlib.Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    place = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    place += "/" + str(pathlib.Path("/proc/self/ns/pid").readlink())
    pid = pathlib.Path("/proc/self").readlink()
    write(tmp_path / "r.h5.lock", f"host here\nplace {place}\npid {pid}\nstart {stat[19]}\n")
    done = run("run", folder / "s.yaml", "-o", output, env={"GRIDMARCH_FAULT": "lock@1+=fail"})
    assert done.code == 3 and f"process {pid} on here" in done.err


@pytest.mark.parametrize("rule", ["disk@1=fail", "write=fail", "write@0=fail", "write%0=fail",
                                  "write@1=explode", "write@1=fail;", "write@1=0", "write@1=5x",
                                  "write@1= 5", "write@1=99999999999999999999", "write#@1=fail",
                                  "write@99999999999999999999=fail"])
def test_a_rule_that_makes_no_sense_is_refused(folder, tmp_path, rule):
    done = march_with(rule, folder, tmp_path / "r.h5", 2)
    assert done.code == 2 and rule in done.err and len(done.messages) == 1

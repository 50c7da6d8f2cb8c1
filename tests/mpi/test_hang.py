"""A rank that is stopped, stuck or gone ends the run on all ranks in bounded time, with one message
that names it, and the same command completes the file to the same bits. What only takes long, or is
suspended as a whole, goes on."""

import pathlib
import signal
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import (assert_same, command, environment, kill, kill_tree, march,  # noqa: E402
                     needs_program, parents, program_ranks, run, short_sweep, start, wait_until,
                     write)

pytestmark = needs_program

HANG = 11
PATIENCE = 3  # s; more than this program ever waits for a processor in these tests
SECONDS = 60  # within which all must have ended, on any machine
SWEEP = short_sweep(24, "last: all")
HOW = ["--quiet", "--tile", 4, "--chunk", 100, "--threads", 1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("hang")
    march(write(path / "s.yaml", SWEEP), path / "whole.h5")
    return path


def begin(folder, output, ranks, fault, *args, patience=PATIENCE):
    return start("run", folder / "s.yaml", "-o", output, *HOW, "--patience", patience, *args,
                 ranks=ranks, env={"GRIDMARCH_FAULT": fault})


def end(process, ranks=()):
    """What the program has said of itself; none of the ranks is left."""
    try:
        error = process.communicate(timeout=SECONDS)[1]
        wait_until(lambda: not set(ranks) & set(parents()))
    finally:
        kill_tree(process)
    return [line for line in error.splitlines() if line.startswith("gridmarch: ")]


def ranks_of(process, n):
    return wait_until(lambda: len(program_ranks(process.pid)) == n and program_ranks(process.pid))


def expect_hang(process, messages, *words):
    assert process.returncode == HANG, messages
    assert len(messages) == 1, "\n".join(messages)
    for word in (*words, "the same command again"):
        assert word in messages[0], messages


def expect_resumable(folder, output):
    march(folder / "s.yaml", output, "--quiet", ranks=2)
    assert_same(output, folder / "whole.h5")


@pytest.mark.parametrize("who", [0, 2])
def test_a_rank_that_is_stopped_while_marching_ends_the_run(folder, tmp_path, who):
    output = tmp_path / "r.h5"
    process = begin(folder, output, 3, "launch@2+=300")
    ranks = ranks_of(process, 3)
    wait_until(output.exists)
    kill(ranks[who], signal.SIGSTOP)
    expect_hang(process, end(process, ranks), f"rank {who} on ", "not been heard of")
    expect_resumable(folder, output)


@pytest.mark.parametrize("who", [0, 1])
def test_a_rank_that_is_stopped_while_the_file_is_made_ends_the_run(folder, tmp_path, who):
    output = tmp_path / "r.h5"
    process = begin(folder, output, 3, "sync#0@1=2000")
    ranks = ranks_of(process, 3)
    wait_until((tmp_path / "r.h5.partial").exists)
    kill(ranks[who], signal.SIGSTOP)
    expect_hang(process, end(process, ranks), f"rank {who} on ", "not been heard of")
    expect_resumable(folder, output)


@pytest.mark.parametrize("ranks, who", [(0, 0), (3, 0), (3, 1)])
def test_a_call_that_does_not_come_back_ends_the_run(folder, tmp_path, ranks, who):
    output = tmp_path / "r.h5"
    process = begin(folder, output, ranks, f"launch#{who}@2=600000")
    named = f"rank {who} on " if ranks else "this process hangs"
    expect_hang(process, end(process), named, "without progress while marching")
    expect_resumable(folder, output)


def test_a_disk_that_does_not_answer_on_rank_0_ends_the_run(folder, tmp_path):
    output = tmp_path / "r.h5"
    process = begin(folder, output, 2, "sync#0@1=600000")
    expect_hang(process, end(process), "rank 0 on ", "while opening the result file")
    expect_resumable(folder, output)


def test_a_rank_that_never_starts_mpi_ends_the_run(folder, tmp_path):
    words = command(["run", folder / "s.yaml", "-o", tmp_path / "r.h5", "--patience", 2], ranks=1)
    process = subprocess.Popen([*words, ":", "-n", "1", "sleep", "300"], env=environment(), text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    expect_hang(process, end(process), "rank 0 hangs", "while starting MPI")
    assert list(tmp_path.iterdir()) == []


def test_waiting_for_a_slow_rank_is_no_hang(folder, tmp_path):
    """Longer than the patience, in the march and for the file."""
    output = tmp_path / "r.h5"
    patience = 2
    process = begin(folder, output, 2, "launch#1@1+=300,sync#0@1=1000", patience=patience)
    before = time.monotonic()
    messages = end(process)
    assert process.returncode == 0, messages
    assert time.monotonic() - before > 2 * patience
    assert_same(output, folder / "whole.h5")


@pytest.mark.parametrize("ranks", [0, 2])
def test_filling_a_file_on_a_slow_disk_is_no_hang(folder, tmp_path, ranks):
    """A piece in less than the patience, all of them in longer."""
    patience = 2
    process = begin(folder, tmp_path / "r.h5", ranks, "write@1+=400", patience=patience)
    try:
        before = time.monotonic()
        wait_until(lambda: (tmp_path / "r.h5").exists() or process.poll() is not None)
        assert process.poll() is None and time.monotonic() - before > patience
    finally:
        kill_tree(process)
        process.communicate()


def test_a_job_that_is_suspended_as_a_whole_goes_on(folder, tmp_path):
    output = tmp_path / "r.h5"
    process = begin(folder, output, 3, "launch@1+=150")
    ranks = ranks_of(process, 3)
    wait_until(output.exists)
    for number, pause in ((signal.SIGSTOP, 2 * PATIENCE), (signal.SIGCONT, 0)):
        for rank in ranks:
            kill(rank, number)
        time.sleep(pause)
    messages = end(process)
    assert process.returncode == 0, messages
    assert_same(output, folder / "whole.h5")


def test_a_rank_that_exits_ends_the_run(folder, tmp_path):
    output = tmp_path / "r.h5"
    process = begin(folder, output, 3, "launch#1@2=exit")
    end(process)
    assert process.returncode == 1
    expect_resumable(folder, output)


def test_patience_is_a_time_or_off(folder, tmp_path):
    output = tmp_path / "r.h5"
    for text in ("0", "never"):
        done = run("run", folder / "s.yaml", "-o", output, "--patience", text)
        assert done.code == 2 and f"--patience {text}" in done.err and not output.exists()
    process = begin(folder, output, 2, "launch#1@2=3000", patience="off")
    assert end(process) == [] and process.returncode == 0

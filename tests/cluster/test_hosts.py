"""Two hosts over TCP, started by mpirun: the same bits as on one, and an end on both when one has
trouble."""

import pathlib
import re
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cluster import SLOW, finish, gridmarch, messages, n_done  # noqa: E402
from program import PROGRAM, assert_same, march, needs_program, wait_until  # noqa: E402

pytestmark = needs_program

LAUNCHERS = ["mpirun", "orted"]


@pytest.fixture(name="running")
def slow_run(request, hosts, case, tmp_path):
    """A run of half a minute on both hosts, of which some points are done: process, output."""
    output = tmp_path / "r.h5"
    process = hosts.start(*hosts.mpirun("-x", "GRIDMARCH_FAULT", *gridmarch(
        case[0], output, "--threads", 1, "--quiet", "--patience", 10)),
        env={"GRIDMARCH_FAULT": SLOW, **getattr(request, "param", {})})
    try:
        wait_until(lambda: n_done(output) > 0, seconds=180)
        yield process, output
    finally:
        hosts.link("up")
        hosts.clear(process, *LAUNCHERS, PROGRAM)


def ranks(hosts, host):
    return hosts.processes(PROGRAM, host)


def table(text):
    """Hosts and threads of the ranks, as the run shows them."""
    rows = re.findall(r"^ +\d+ +(\S+) +.*, (\d+) threads?,", text, re.MULTILINE)
    return [host for host, _ in rows], [int(threads) for _, threads in rows]


def test_a_sweep_over_two_hosts_is_the_same_bit_for_bit(hosts, case, tmp_path):
    done = hosts.run(*hosts.mpirun(*gridmarch(case[0], tmp_path / "r.h5")))
    assert done.code == 0, done.err
    assert table(done.err)[0] == ["n1", "n1", "n2", "n2"]
    assert_same(tmp_path / "r.h5", case[1])


def test_points_are_handed_out_over_two_hosts(hosts, case, tmp_path):
    done = hosts.run(*hosts.mpirun(*gridmarch(case[0], tmp_path / "r.h5", "--schedule", "dynamic",
                                              "--tile", 8)))
    assert done.code == 0, done.err
    assert_same(tmp_path / "r.h5", case[1])


def test_unequal_hosts_share_out_their_own_cores(hosts, case, tmp_path):
    done = hosts.run(*hosts.mpirun(*gridmarch(case[0], tmp_path / "r.h5"), hosts="n1:3,n2:1"))
    assert done.code == 0, done.err
    where, threads = table(done.err)
    n_core = int(hosts.run("nproc").out)
    assert where == ["n1", "n1", "n1", "n2"]
    assert threads[3] == n_core and sum(threads[:3]) == max(3, n_core)
    assert_same(tmp_path / "r.h5", case[1])


def test_a_killed_rank_ends_both_hosts_with_one_message(hosts, case, running):
    process, output = running
    begin = time.monotonic()
    hosts.kill(ranks(hosts, "n2")[0], "n2")
    _, error, seconds = finish(process, 30, begin)
    assert process.returncode == 137 and seconds < 15
    assert error.count("exited on signal 9") == 1 and "on node n2" in error, error
    assert not messages(error)
    wait_until(lambda: not ranks(hosts, "n1") and not ranks(hosts, "n2"))
    march(case[0], output, "--quiet")
    assert_same(output, case[1])


@pytest.mark.parametrize("running", [{"OMPI_MCA_odls_base_sigkill_timeout": "5"}], indirect=True)
def test_mpirun_leaves_time_to_end_in_order_when_told_to(hosts, case, running):
    """Else Open MPI 4 kills the ranks a second after SIGTERM. It waits as long before that, too."""
    process, output = running
    begin = time.monotonic()
    hosts.kill(hosts.processes("mpirun", "n1")[0], "n1", "TERM")
    _, error, _ = finish(process, 30, begin)
    found = [m for m in messages(error) if m.startswith("stopped by SIGTERM")]
    assert len(found) == 1 and process.returncode != 0, error
    assert f": {n_done(output)} of 128 points are done" in found[0]
    assert not output.with_name("r.h5.lock").exists()
    march(case[0], output, "--quiet")
    assert_same(output, case[1])


def test_a_broken_cable_ends_the_ranks_of_both_hosts(hosts, case, running):
    """After --patience. Open MPI 4's mpirun may go on waiting for its daemon beyond the cable."""
    process, output = running
    hosts.link("down")
    wait_until(lambda: not ranks(hosts, "n1") and not ranks(hosts, "n2"), seconds=180, pause=0.2)
    hosts.clear(process, *LAUNCHERS)
    found = messages(process.error)
    assert len(found) == 1 and "on n2 has not been heard of for 10 s" in found[0]
    march(case[0], output, "--quiet")
    assert_same(output, case[1])

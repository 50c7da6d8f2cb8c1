"""Runs gridmarch as a user does and compares result files bit by bit: what the tests share.

GRIDMARCH holds the path of the program. Only processes started here are ever signalled, by their
id.
"""

import os
import pathlib
import signal
import subprocess
import time
from dataclasses import dataclass

import h5py
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
RING = EXAMPLES / "data" / "ring16.csv"
PROGRAM = os.environ.get("GRIDMARCH")

NETWORK = f"{{weights: {RING}, normalise: maximum, symmetric: required, self_connections: drop}}"


def short_sweep(n_point, record):
    """Points of 500 steps, with noise: many runs of it take seconds."""
    return f"""
model: wilson_cowan
network: {NETWORK}
axes: {{G: {{linspace: [0, 3, {n_point}]}}}}
parameters: {{sigma_e: 0.02}}
inputs: {{p_e: 0.6}}
time: {{dt: 0.1, duration: 50}}
integrator: heun
record: {{{record}, trajectory: {{variables: [E], every: 9}}}}
"""


def full_sweep(n_point):
    """Points of 2000 steps with noise, random starts, a transient, statistics and a trajectory."""
    return f"""
model: wilson_cowan
network: {NETWORK}
axes: {{G: {{linspace: [0, 3, {n_point}]}}}}
parameters: {{sigma_e: 0.02, sigma_i: 0.01}}
initial: {{E: {{uniform: [0, 0.1]}}}}
inputs: {{p_e: 0.6}}
time: {{dt: 0.1, duration: 200, transient: 20}}
integrator: heun
record: {{last: all, mean: all, variance: all, trajectory: {{variables: [E], every: 90}}}}
"""


needs_program = pytest.mark.skipif(not PROGRAM, reason="GRIDMARCH is not set")


@dataclass
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def messages(self):
        """What the program says of itself; mpirun's own words and the summary are left out."""
        mark = "gridmarch: "
        return [line[len(mark):] for line in self.err.splitlines() if line.startswith(mark)]


def command(args, ranks=0):
    """The command line; ranks 0: without mpirun. The CPU computes unless args say otherwise, so
    that the tests do the same on a machine with GPUs."""
    launcher = ["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none"]
    words = [PROGRAM, *map(str, args)]
    if args and args[0] in ("run", "plan") and "--backend" not in args:
        words[2:2] = ["--backend", "cpu"]
    return (launcher if ranks else []) + words


def environment(**extra):
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    env.update(extra)
    return env


def start(*args, ranks=0, cwd=None, env=None, stdout=subprocess.PIPE, stderr=subprocess.PIPE):
    """Start a command and return at once."""
    return subprocess.Popen(command(args, ranks), cwd=cwd, env=environment(**(env or {})),
                            stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, text=True)


def run(*args, ranks=0, cwd=None, env=None, timeout=120):
    """Run a command to its end."""
    begin = time.monotonic()
    process = start(*args, ranks=ranks, cwd=cwd, env=env)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        kill_tree(process)
        out, err = process.communicate()
        pytest.fail(f"{command(args, ranks)} did not end within {timeout} s\n{out}\n{err}")
    return Done(process.returncode, out, err, time.monotonic() - begin)


def march(sweep, output, *args, ranks=0, **options):
    """Run a sweep that must succeed; returns the path of its result."""
    done = run("run", sweep, "-o", output, *args, ranks=ranks, **options)
    assert done.code == 0, done.err
    return output


def write(path, text):
    path.write_text(text)
    return path


def parents():
    """Process id -> parent's id, of everything that runs; zombies are left out."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue  # it has just ended
        if state != "Z":
            found[int(entry.name)] = int(parent)
    return found


def descendants(pid):
    """Ids of the processes that a process has started, and those have, and so on."""
    parent_of = parents()
    found = {pid}
    grown = True
    while grown:
        more = {p for p, parent in parent_of.items() if parent in found} | found
        grown = len(more) > len(found)
        found = more
    return found - {pid}


def program_ranks(pid):
    """Ids of the ranks among an mpirun's descendants."""
    found = []
    for child in sorted(descendants(pid)):
        try:
            if os.path.samefile(f"/proc/{child}/exe", PROGRAM):
                found.append(child)
        except OSError:
            continue
    return found


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def kill_tree(process):
    for pid in [*descendants(process.pid), process.pid]:
        kill(pid)


def wait_until(condition, seconds=20, pause=0.01):
    """Wait for something to become true; its value, or a failure."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(pause)
    pytest.fail(f"{condition.__name__} did not come true within {seconds} s")
    return None


def variables(path):
    """Name -> type, shape and raw bytes of every variable, so that NaNs count too. Left out is
    `run`, which tells by which run of the program a point was computed."""
    found = {}
    with h5py.File(path, "r") as file:
        for name, item in file.items():
            if isinstance(item, h5py.Group) or name == "run":
                continue
            value = item[()]
            raw = value.tolist() if value.dtype == object else value.tobytes()
            found[name] = (value.dtype.str, value.shape, raw)
    return found


def assert_same(path, expected):
    """The two files hold the same data, bit for bit."""
    found, wanted = variables(path), variables(expected)
    assert list(found) == list(wanted)
    different = [name for name in wanted if found[name] != wanted[name]]
    assert not different, f"{path} and {expected} differ in {different}"


def assert_finished_points(path, whole):
    """How many points a file calls done, all of which must be right bit for bit. The file may be
    growing, so its status is read first."""
    with h5py.File(path) as found, h5py.File(whole) as expected:
        status = found["status"][()]
        assert set(status) <= {0, 1}
        done = np.flatnonzero(status)
        names = [name for name, item in expected.items()
                 if isinstance(item, h5py.Dataset) and item.shape[0] == status.size]
        assert {"E", "E_last", "I_variance", "failed_step"} <= set(names)
        for name in set(names) - {"status", "run"}:
            assert found[name][()][done].tobytes() == expected[name][()][done].tobytes(), name
    return done.size


def provenance(path):
    """Attributes of the group `provenance`, as texts."""
    with h5py.File(path, "r") as file:
        return {
            name: value.decode() if isinstance(value, bytes) else str(value)
            for name, value in file["provenance"].attrs.items()
        }


def runs(path):
    """The JSON texts that the runs of the program left in a file."""
    with h5py.File(path, "r") as file:
        slots = file["provenance/run"][()]
    texts = [slot.tobytes().rstrip(b"\0").decode() for slot in slots]
    return [text for text in texts if text]

"""Finds the portable bundle (GM_BUNDLE, else build/portable/bundle) and runs what is in it."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
BUNDLE = pathlib.Path(os.environ.get("GM_BUNDLE", ROOT / "build" / "portable" / "bundle")).resolve()

needs_bundle = pytest.mark.skipif(not (BUNDLE / "bin" / "gridmarch").exists(),
                                  reason=f"no bundle at {BUNDLE}: packaging/portable.sh makes it")

SWEEP = """model: wilson_cowan
network: {weights: ring16.csv, normalise: maximum, symmetric: required, self_connections: drop}
axes: {G: {linspace: [0, 3, 21]}, tau_e: {logspace: [2, 10, 3]}, seed: [1, 2]}
parameters: {sigma_e: 0.02, sigma_i: 0.01}
initial: {E: {uniform: [0, 0.1]}}
inputs: {p_e: 0.6}
time: {dt: 0.1, duration: 60, transient: 7}
integrator: heun
record: {last: all, mean: [E], trajectory: {variables: [E], every: 5}}
"""


def make_sweep(folder):
    """A network with noise and a logarithmic axis, so that libm counts too."""
    weights = ROOT / "examples" / "data" / "ring16.csv"
    (folder / "ring16.csv").write_bytes(weights.read_bytes())
    path = folder / "sweep.yaml"
    path.write_text(SWEEP)
    return path


def call(*words, code=0, **options):
    """Run a command in an environment that knows nothing of this machine's MPI; its output."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    env = dict(kept, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
               PRTE_ALLOW_RUN_AS_ROOT="1", PRTE_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    done = subprocess.run([str(word) for word in words], env=env, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=120, **options)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def march(sweep, output, ranks=0, bundle=BUNDLE, mpirun=None, variables=()):
    """Run a sweep with the bundle's program, under its own mpirun (or another) when there are ranks;
    variables: of the environment, as NAME=TEXT."""
    launcher = [mpirun or bundle / "bin" / "mpirun", "-n", ranks, "--oversubscribe", "--bind-to", "none"]
    said = call("env", *variables, *(launcher if ranks else []), bundle / "bin" / "gridmarch", "run",
                "--backend", "cpu", sweep, "-o", output)
    if ranks:
        assert said.count("x86-64-v") == ranks, said  # one line a rank: a world, not as many runs
    return output

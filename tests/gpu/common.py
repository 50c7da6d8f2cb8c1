"""What the GPU checks and the benchmark share: running the program and reading its results."""
import json
import os
import subprocess

import h5py
import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PROGRAM = os.path.abspath(
    os.environ.get("GRIDMARCH", os.path.join(ROOT, "build", "release", "gridmarch")))


def run(sweep, output, *options, ranks=0, check=True, resume=False, fault="", program=PROGRAM,
        mpirun="mpirun"):
    """Run a sweep (YAML text) and return the summary that --json prints; None if it fails and
    check is off. fault: rules of src/core/fault.h."""
    path = output + ".yaml"
    with open(path, "w") as file:
        file.write(sweep)
    command = [program, "run", path, "-o", output, "--quiet", "--json", *options]
    command += [] if resume else ["--overwrite"]
    if ranks:
        command = [mpirun, "-n", str(ranks), "--oversubscribe", "--bind-to", "none", *command]
    env = dict(os.environ, GRIDMARCH_FAULT=fault)
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=env)
    if done.returncode != 0 and check:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout) if done.returncode == 0 else None


def values(path):
    """Every recorded variable of a result file, without the bookkeeping."""
    with h5py.File(path) as file:
        return {
            name: np.asarray(data[()])
            for name, data in file.items()
            if isinstance(data, h5py.Dataset) and data.dtype.kind == "f"
        }


def status(path):
    with h5py.File(path) as file:
        return np.asarray(file["status"][()])


def relative_error(a, b):
    """Largest difference over the largest magnitude of the variable."""
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return np.inf
    return float(np.max(np.abs(a.astype(np.float64) - b)) / max(np.max(np.abs(b)), 1e-30))


def phase_error(a, b):
    """The same for angles: distance around the circle, over the turn."""
    d = np.abs(a.astype(np.float64) - b)
    return float(np.max(np.minimum(d, 2 * np.pi - d)) / (2 * np.pi))

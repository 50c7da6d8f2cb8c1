"""How far single precision and fast are from fp64 on the CPU, after the same steps from one start.

Few points and many: kernels for both differ in how they add up the network. A user's model needs a
C compiler on the CPU; without one fp64 on the GPU takes its place as the reference.
"""
import concurrent.futures
import os
import shutil
from dataclasses import dataclass

import numpy as np

from common import run, status, values
from workloads import atlas, drive, network

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS, EVERY = 1000, 100
FEW, MANY = 64, 9216
WORKERS = 4  # runs side by side: nothing is timed here


@dataclass
class Case:
    model: str
    weights: str
    top: float  # the largest G
    lines: str = ""
    file: str = ""  # of a user's model
    is_angle: bool = False

    def text(self, points, precision):
        return (f"model: {self.file or self.model}\nnetwork: {network(self.weights)}\n"
                f"axes: {{G: {{linspace: [0, {self.top}, {points}]}}}}\n{self.lines}"
                f"time: {{dt: 0.1, duration: {STEPS / 10:g}}}\nintegrator: heun\n"
                f"precision: {precision}\n"
                f"record: {{trajectory: {{variables: all, every: {EVERY}}}}}\n")


def cases():
    start, weights = "initial: {{{}: {{uniform: [{}]}}}}\n", atlas("enigma_dk68", 68)
    return [
        Case("wilson_cowan", weights, 3, start.format("E", "0, 0.1") + f"inputs: {drive(68)}\n"),
        Case("hopf", weights, 0.1, start.format("x", "-0.5, 0.5")),
        Case("kuramoto", weights, 0.1, start.format("theta", "0, 3"), is_angle=True),
        Case("jansen_rit", weights, 10, start.format("y1", "10, 20"),
             os.path.join(HERE, "models", "jansen_rit.h")),
        Case("wong_wang", weights, 1, start.format("S", "0, 0.2"),
             os.path.join(HERE, "models", "wong_wang.h")),
    ]


def ways(backend, is_quick):
    """(title, points, precision, options of the program): what is held against the reference."""
    cpu = [("fp32 CPU", FEW, "fp32", ["--backend", "cpu"])]
    if backend == "cpu":
        return cpu
    found = list(cpu)
    for precision in ("fp64", "fp32", "fast"):
        for engine in ("block", "matrix"):
            found.append((f"{precision} {engine}", FEW, precision,
                          ["--backend", "cuda", "--engine", engine]))
        if not is_quick:
            found.append((f"{precision} many", MANY, precision, ["--backend", "cuda"]))
    return found


def states(path):
    """What was recorded over time, and the points that did not diverge."""
    return {name: v for name, v in values(path).items() if v.ndim == 3}, status(path) == 1


def errors(got, expected, is_angle):
    """(largest, root mean square) difference of all variables, each over its largest value."""
    worst, squares = 0.0, []
    for name, wanted in expected.items():
        difference = np.abs(got[name].astype(np.float64) - wanted)
        if is_angle:
            difference = np.minimum(difference, 2 * np.pi - difference)
        relative = difference / (2 * np.pi if is_angle else np.max(np.abs(wanted)))
        worst = max(worst, float(np.max(relative)))
        squares.append(float(np.mean(relative**2)))
    return worst, float(np.sqrt(np.mean(squares)))


def measure(case, todo, backend):
    """Rows of one model."""
    here = backend == "cpu" or shutil.which("cc") is not None or not case.file
    reference = ["--backend", "cpu" if here else "cuda"]
    expected, rows = {}, []
    for points in sorted({way[1] for way in todo}):
        path = f"error-{case.model}-{points}.h5"
        run(case.text(points, "fp64"), path, *reference)
        expected[points] = states(path)
        os.remove(path)
    for title, points, precision, options in todo:
        if case.file and not here and "cpu" in options:
            continue
        path = f"error-{case.model}-{title.replace(' ', '-')}.h5"
        run(case.text(points, precision), path, *options)
        got, done = states(path)
        os.remove(path)
        wanted, reference_done = expected[points]
        if not (done.all() and reference_done.all()):
            raise SystemExit(f"{case.model}: some points diverged, so that nothing can be compared")
        worst, rms = errors(got, wanted, case.is_angle)
        rows.append({"model": case.model, "way": title, "points": points, "steps": STEPS,
                     "max": worst, "rms": rms, "reference": f"fp64 {reference[1]}"})
    return rows


def measure_all(backend, is_quick, failed):
    """All rows; what cannot be had is added to `failed`."""
    todo = ways(backend, is_quick)

    def attempt(case):
        try:
            return measure(case, todo, backend)
        except SystemExit as why:
            failed.append(f"errors of {case.model}: {why}")
            return []

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        return [row for rows in pool.map(attempt, cases()) for row in rows]

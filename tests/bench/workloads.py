"""What is measured: sweeps of fixed size, as text, and what is known of the work in their steps."""
import os
import sys
from dataclasses import dataclass, field

import numpy as np

PRECISIONS = ("fp32", "fast", "fp64")
POINTS = (100, 1008, 4224, 16896, 67584)
HEADLINE = 16896  # points that march for 80,000 steps
MOST_SIMPLE = 16896  # points of the largest run with the simple kernel
SIMPLE_STEPS = 2000
N_STAGE = {"euler": 1, "heun": 2, "rk4": 4}
N_INPUT_STEP = 80001
CONNECTOMES = os.path.abspath(os.environ.get("GM_CONNECTOMES", "connectomes"))


@dataclass
class Workload:
    name: str
    lines: dict  # the sweep file's keys and their YAML
    points: int
    steps: int
    dt: float
    axis: str = "G"
    top: float = 3
    nodes: int = 68
    couplings: int = 1
    noises: int = 0
    precision: str = "fp32"
    integrator: str = "heun"
    options: list = field(default_factory=list)  # of the program
    simple_steps: int = 0  # of the run with the simple kernel; 0: no such run
    ranks: int = 0
    same_as: str = ""  # workload whose file must be bitwise the same
    keeps_file: bool = False
    overlaps: bool = False  # the whole run is compared with its slowest part
    is_default: bool = True

    def text(self, steps=None):
        """The sweep file."""
        lines = dict(self.lines)
        lines["axes"] = f"{{{self.axis}: {{linspace: [0, {self.top}, {self.points}]}}}}"
        lines["time"] = f"{{dt: {self.dt}, duration: {(steps or self.steps) * self.dt:.10g}}}"
        lines["integrator"], lines["precision"] = self.integrator, self.precision
        return "".join(f"{key}: {value}\n" for key, value in lines.items())


def atlas(name, n_node):
    """Weights of a connectome of GM_CONNECTOMES; random ones where it is not at hand."""
    path = os.path.join(CONNECTOMES, name, "weights.csv")
    if os.path.exists(path):
        return path
    path = f"random{n_node}.csv"
    if not os.path.exists(path):
        rng = np.random.default_rng(3)
        w = rng.random((n_node, n_node)) * (rng.random((n_node, n_node)) < 0.3)
        np.savetxt(path, w + w.T, delimiter=",")
        print(f"no {name} at hand: a random symmetric network of {n_node} nodes takes its place",
              file=sys.stderr)
    return path


def network(path):
    return f"{{weights: {path}, normalise: maximum, symmetric: as_is, self_connections: drop}}"


def drive(n_node):
    """A signal of its own for every node and step."""
    path = f"drive{n_node}.npy"
    if not os.path.exists(path):
        np.save(path, 0.6 + 0.1 * np.random.default_rng(4).standard_normal((N_INPUT_STEP, n_node)))
    return f"{{p_e: {{file: {path}, step: 0.1, interpolation: hold}}}}"


def wilson_cowan(name, points, steps, precision="fp32", record="{last: all}", nodes=68, **more):
    atlas_name = "enigma_dk68" if nodes == 68 else "enigma_glasser360"
    lines = {"model": "wilson_cowan", "network": network(atlas(atlas_name, nodes)),
             "inputs": drive(nodes), "record": record}
    return Workload(name, lines, points, steps, 0.1, nodes=nodes, precision=precision, **more)


def sizes():
    """Every precision with few and many points."""
    for precision in PRECISIONS:
        for points in POINTS:
            steps = 80000 if points == HEADLINE else 4000
            simple = SIMPLE_STEPS if points <= MOST_SIMPLE else 0
            yield wilson_cowan(f"wc-{precision}-{points}", points, steps, precision,
                               simple_steps=simple)


def recordings():
    """Runs that write more than final states."""
    every_step = "{trajectory: {variables: all, every: 1}}"
    yield wilson_cowan("record-all", 100, 80000, record=every_step, overlaps=True)
    tenth = "{trajectory: {variables: [E], every: 10}}"
    yield wilson_cowan("record-tenth", 100, 80000, record=tenth, simple_steps=80000,
                       keeps_file=True)
    yield wilson_cowan("record-4-ranks", 100, 80000, record=tenth, ranks=4,
                       options=["--share-gpu"], same_as="record-tenth")
    yield wilson_cowan("record-cpu", 100, 4000, record=tenth, options=["--backend", "cpu"])


def others():
    lines = {"network": network(atlas("enigma_dk68", 68)), "record": "{last: all}"}
    yield Workload("hopf-noise", {**lines, "model": "hopf",
                                  "parameters": "{sigma_x: 0.01, sigma_y: 0.01}"},
                   16896, 4000, 0.1, top=0.1, couplings=2, noises=2, integrator="euler",
                   simple_steps=SIMPLE_STEPS)
    yield Workload("kuramoto", {**lines, "model": "kuramoto",
                                "initial": "{theta: {uniform: [0, 6.28]}}"},
                   16896, 4000, 0.1, top=0.1, couplings=2, integrator="euler",
                   simple_steps=SIMPLE_STEPS)
    yield wilson_cowan("glasser360", 4224, 500, nodes=360, simple_steps=500)
    for precision in ("fp32", "fp64"):
        yield Workload(f"lorenz-{precision}",
                       {"model": "lorenz63", "parameters": "{beta: 2.666}",
                        "record": "{last: all}"},
                       8388608, 1000, 0.001, axis="rho", top=21, nodes=1, couplings=0,
                       precision=precision, integrator="rk4", simple_steps=1000)


def engines():
    """Both compiled engines at every size: by name only."""
    for engine in ("block", "matrix"):
        for precision in PRECISIONS:
            for points in POINTS[:-1]:
                yield wilson_cowan(f"engine-{engine}-{precision}-{points}", points, 2000,
                                   precision, options=["--engine", engine], is_default=False)


def shrink(workload):
    """Small enough that all of them take a minute on a laptop: to see that everything works."""
    workload.points = max(workload.points // 64, 8)
    workload.steps = max(workload.steps // 100, 10)
    workload.simple_steps = min(workload.simple_steps, workload.steps)


def select(names, is_quick):
    """All that run by default, or those whose names begin with one of `names`."""
    every = [*sizes(), *recordings(), *others(), *engines()]
    chosen = [w for w in every
              if (any(w.name.startswith(n) for n in names) if names else w.is_default)]
    for workload in chosen if is_quick else []:
        shrink(workload)
    return chosen

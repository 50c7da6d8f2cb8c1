"""Every model on the GPU against the CPU backend: precisions, integrators, inputs, noise, observables.

Prints one line per case with the largest relative difference and fails if any is above its bound.
"""
import itertools
import sys

import numpy as np

from common import phase_error, relative_error, run, status, values

# Bounds on the difference over the variable's largest value (angles: over the turn), after STEPS steps
# from the same start. The oscillators pull apart for a while before they lock: on the CPU alone
# single precision differs from double by up to 2.5e-4 of a turn there.
BOUND = {
    "wilson_cowan": {"fp64": 1e-12, "fp32": 1e-5},
    "hopf": {"fp64": 1e-12, "fp32": 1e-5},
    "kuramoto": {"fp64": 1e-12, "fp32": 1e-3},
    "lorenz63": {"fp64": 1e-12, "fp32": 1e-5},
}
STEPS = 400
N_NODE = 33

LORENZ_RK4 = {  # SCIENCE: RK4 with h = 1e-3 in exact arithmetic, t = 1
    21.0: (-6.4495699834436577, -8.8925906723813162, 14.651992900314946),
    0.0: (4.5399929800634759e-5, 0.0, 0.0),
}


def make_files():
    rng = np.random.default_rng(1)
    weights = rng.random((N_NODE, N_NODE)) * (rng.random((N_NODE, N_NODE)) < 0.4)
    np.savetxt("weights.csv", weights, delimiter=",")
    np.save("input.npy", 0.5 + 0.3 * rng.standard_normal((STEPS // 4 + 2, N_NODE)))
    np.savetxt("tau.csv", 2.5 + rng.random((N_NODE, 1)), delimiter=",")
    np.savetxt("omega.csv", 0.2 + 0.1 * rng.random((N_NODE, 1)), delimiter=",")


# In single precision one turn ended a step earlier moves an angle's mean by 1 / samples of a turn, and
# its variance, lowest and highest value likewise: angles are compared sample by sample.
ANGLES = "{last: all, trajectory: {variables: all, every: 7}}"

NETWORK = "network: {weights: weights.csv, normalise: row, symmetric: as_is, self_connections: drop}"
RECORD = "{last: all, mean: all, variance: all, min: all, max: all, trajectory: {variables: all, every: 7}}"

MODELS = {
    "wilson_cowan": f"""
{NETWORK}
axes: {{G: {{linspace: [0, 2, 5]}}, seed: [3, 4]}}
parameters: {{tau_e: {{file: tau.csv}}NOISE_e}}
inputs: {{p_e: {{file: input.npy, step: 0.4, interpolation: linear}}, p_i: 0.1}}
initial: {{E: {{uniform: [0, 0.1]}}}}
time: {{dt: 0.1, duration: {STEPS / 10:g}, transient: 5}}
""",
    "hopf": f"""
{NETWORK}
axes: {{G: {{linspace: [0, 1, 5]}}, a: [-0.1, 0.2]}}
parameters: {{G_y: 0.3NOISE_x}}
initial: {{x: {{uniform: [-0.5, 0.5]}}, y: {{uniform: [-0.5, 0.5]}}}}
time: {{dt: 0.1, duration: {STEPS / 10:g}, transient: 5}}
""",
    "kuramoto": f"""
{NETWORK}
axes: {{G: {{linspace: [0, 1, 7]}}}}
parameters: {{omega: {{file: omega.csv}}NOISE_}}
initial: {{theta: {{uniform: [0, 6.28]}}}}
time: {{dt: 0.1, duration: {STEPS / 10:g}, transient: 5}}
""",
    "lorenz63": f"""
axes: {{rho: {{linspace: [0, 28, 77]}}, initial.x: [1, 2]}}
parameters: {{beta: 2.666}}
time: {{dt: 0.001, duration: {STEPS / 1000:g}, transient: 0.05}}
""",
}


# What is recorded decides where a derived quantity is evaluated, and which kernel does it.
DERIVED = (
    "{last: [E, I, in_e], mean: [E, in_e], variance: [in_e], min: [in_e], max: [I, in_e], "
    "trajectory: {variables: [I, in_e], every: 7}}",
    "{last: [in_e]}",
    "{mean: [in_e, E]}",
    "{last: [E], trajectory: {variables: [in_e], every: 5}}",
)


def sweep(model, precision, integrator, noise, record=None):
    text = MODELS[model]
    record = record or (ANGLES if (model, precision) == ("kuramoto", "fp32") else RECORD)
    for suffix in ("e", "x", ""):
        name = f"sigma_{suffix}" if suffix else "sigma"
        text = text.replace(f"NOISE_{suffix}}}", f", {name}: 0.05}}" if noise else "}")
    return f"model: {model}{text}integrator: {integrator}\nprecision: {precision}\nrecord: {record}\n"


def compare(model, precision, integrator, noise, record=None):
    text = sweep(model, precision, integrator, noise, record)
    run(text, "cpu.h5", "--backend", "cpu")
    ways = [("built in", "--no-compile"), ("compiled", "--engine", "block")]
    if model != "lorenz63":
        ways.append(("matrix", "--engine", "matrix"))
    return all([compare_with(model, precision, integrator, noise, text, *way) for way in ways])


def compare_with(model, precision, integrator, noise, text, how, *options):
    """One way to have the kernel: built into the program, or compiled for the sweep."""
    run(text, "gpu.h5", "--backend", "cuda", "--chunk", "64", *options)
    cpu, gpu = values("cpu.h5"), values("gpu.h5")
    worst, where = 0.0, ""
    for name, expected in cpu.items():
        if name in ("time", "G", "a", "rho", "seed", "initial_x"):
            continue
        angle = model == "kuramoto" and name != "theta_variance"
        error = (phase_error if angle else relative_error)(gpu[name], expected)
        if error > worst:
            worst, where = error, name
    if not (status("gpu.h5") == 1).all():
        worst = np.inf
    verdict = "ok" if worst <= BOUND[model][precision] else "DIFFERS"
    print(f"{model:13s} {precision} {integrator:5s} {'noise' if noise else '     '}  {how:8s} "
          f"{worst:9.2e}  {where:18s} {verdict}")
    return verdict == "ok"


def many(n_node, n_point, precision, engine="matrix"):
    """Wilson-Cowan on a random network, with an input and a swept G, against the CPU in fp64."""
    rng = np.random.default_rng(n_node)
    np.savetxt("many.csv", rng.random((n_node, n_node)), delimiter=",")
    np.save("many.npy", 0.6 + 0.2 * rng.standard_normal((101, n_node)))
    text = f"""model: wilson_cowan
network: {{weights: many.csv, normalise: row, symmetric: as_is, self_connections: drop}}
axes: {{G: {{linspace: [0, 2, {n_point}]}}}}
inputs: {{p_e: {{file: many.npy, step: 0.1, interpolation: hold}}}}
integrator: heun
initial: {{E: {{uniform: [0, 0.1]}}}}
time: {{dt: 0.1, duration: 10}}
record: {{last: all, mean: [I]}}
"""
    run(text + "precision: fp64\n", "cpu.h5", "--backend", "cpu")
    run(text + f"precision: {precision}\n", "gpu.h5", "--backend", "cuda", "--engine", engine)
    cpu, gpu = values("cpu.h5"), values("gpu.h5")
    worst = max(relative_error(gpu[v], cpu[v]) for v in ("E_last", "I_last", "I_mean"))
    bound = {"fp64": 1e-12, "fp32": 5e-6, "fast": 5e-3}[precision]
    verdict = "ok" if worst <= bound and (status("gpu.h5") == 1).all() else "DIFFERS"
    print(f"wilson_cowan  {precision} {n_node:4d} nodes x {n_point:6d} points, {engine} "
          f"{worst:9.2e}  {verdict}", flush=True)
    return verdict == "ok"


def sizes():
    good = True
    for n_node in (2, 5, 8, 16, 17, 68, 130, 230, 360, 512):
        for precision in ("fp64", "fp32", "fast"):
            good &= many(n_node, 37, precision)
    for precision in ("fp64", "fp32", "fast"):
        good &= many(68, 2200, precision)
        good &= many(20, 20011, precision)
        good &= many(360, 2200, precision)
        good &= many(68, 17000, precision)
    return good


def lorenz_numbers():
    text = """model: lorenz63
axes: {rho: [0, 21]}
parameters: {beta: 2.666}
time: {dt: 0.001, duration: 1}
integrator: rk4
precision: fp64
record: {last: all}
"""
    good = True
    for backend in ("cpu", "cuda"):
        run(text, f"lorenz-{backend}.h5", "--backend", backend)
        got = values(f"lorenz-{backend}.h5")
        for i, rho in enumerate((0.0, 21.0)):
            xyz = np.array([got[f"{s}_last"][i] for s in "xyz"])
            expected = np.array(LORENZ_RK4[rho])
            error = np.max(np.abs(xyz - expected) / np.where(expected == 0, 1, np.abs(expected)))
            good &= bool(error <= 1e-9)
            print(f"lorenz63 rho {rho:4g} on {backend:4s}: relative error {error:.2e}")
    return good


def main():
    make_files()
    if sys.argv[1:] == ["sizes"]:
        raise SystemExit(0 if sizes() else 1)
    good = lorenz_numbers()
    good &= sizes()
    for model, precision, integrator, noise in itertools.product(
        MODELS, ("fp64", "fp32"), ("euler", "heun", "rk4"), (False, True)
    ):
        if noise and (integrator == "rk4" or model == "lorenz63"):
            continue
        good &= compare(model, precision, integrator, noise)
    print("with a derived quantity:")
    for precision, integrator, record in itertools.product(
        ("fp64", "fp32"), ("euler", "heun", "rk4"), DERIVED
    ):
        good &= compare("wilson_cowan", precision, integrator, integrator == "heun", record)
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()

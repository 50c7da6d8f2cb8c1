"""A user's model on the GPU: the same bits as the built-in one it is a copy of, and as the CPU within
bounds, derived quantities too; compiled once for eight ranks; a message of the compiler names the
user's line."""
import os
import shutil
import subprocess

import numpy as np

from common import PROGRAM, relative_error, run, values

HERE = os.path.dirname(os.path.abspath(__file__))
SWEEP = """model: MODEL
network: {weights: w.csv, normalise: row, symmetric: as_is, self_connections: drop}
axes: {G: {linspace: [0, 1, 9]}, a: [-0.1, 0.2]}
parameters: {sigma_x: 0.05}
time: {dt: 0.1, duration: 40, transient: 5}
integrator: heun
record: {last: all, variance: all, trajectory: {variables: all, every: 7}}
"""


# A plain ODE with derived quantities, one of its drive, and a sweep of it.
ODE = """#define GM_STATES(X) X(x, 0.5, "1", "") X(v, 0, "1", "")
#define GM_PARAMS(X) X(k, 1, "1", "")
#define GM_INPUTS(X) X(force, 0, "1", "")
#define GM_DERIVED(X) X(energy, (s->v * s->v + m->k * s->x * s->x) / 2, "1", "") \\
    X(power, c->force * s->v, "1", "")
#include "gm_model.h"
GM_FN void gm_drift(const gm_params *m, const gm_state *s, const gm_drive *c, gm_state *d)
{
    d->x = s->v;
    d->v = c->force - m->k * s->x;
}
"""
ODE_SWEEP = """model: ./spring.h
axes: {k: {linspace: [0.5, 2, 500]}}
inputs: {force: {file: force.csv, step: 0.05, interpolation: linear}}
time: {dt: 0.01, duration: 4, transient: 0.5}
integrator: rk4
record: {last: [energy], mean: [power, x], max: [energy], trajectory: {variables: [power, v], every: 9}}
"""


def plain_ode():
    with open("spring.h", "w") as file:
        file.write(ODE)
    np.savetxt("force.csv", np.sin(np.arange(100) / 9))
    for backend in ("cpu", "cuda"):
        run(ODE_SWEEP, f"spring-{backend}.h5", "--backend", backend, "--chunk", "37")
    cpu, gpu = values("spring-cpu.h5"), values("spring-cuda.h5")
    worst = max(relative_error(gpu[name], cpu[name]) for name in cpu)
    return report(f"derived quantities of an ODE on CPU and GPU differ by {worst:.1e}", worst < 1e-5)


def equal(a, b):
    return all(a[name].tobytes() == b[name].tobytes() for name in a)


def report(title, good):
    print(f"{title}: {'ok' if good else 'WRONG'}")
    return good


def main():
    rng = np.random.default_rng(5)
    np.savetxt("w.csv", rng.random((40, 40)), delimiter=",")
    shutil.copy(os.path.join(HERE, "..", "..", "kernels", "models", "hopf.h"), "mine.h")
    built_in, mine = SWEEP.replace("MODEL", "hopf"), SWEEP.replace("MODEL", "./mine.h")
    run(built_in, "built_in.h5", "--backend", "cuda")
    run(mine, "mine.h5", "--backend", "cuda", "--share-gpu", ranks=8)
    run(mine, "cpu.h5", "--backend", "cpu") if shutil.which("cc") else None
    good = report("a user's copy of hopf gives the built-in one's bits",
                  equal(values("built_in.h5"), values("mine.h5")))
    entries = os.listdir(os.path.join(os.environ["XDG_CACHE_HOME"], "gridmarch"))
    print(f"the cache holds {len(entries)} kernels")
    if os.path.exists("cpu.h5"):
        gpu, cpu = values("mine.h5"), values("cpu.h5")
        worst = max(relative_error(gpu[name], cpu[name]) for name in cpu if name[0] in "xy")
        good &= report(f"the user's model on CPU and GPU differs by {worst:.1e}", worst < 1e-5)
        good &= plain_ode()
    with open("mine.h") as file:
        text = file.read()
    with open("mine.h", "w") as file:
        file.write(text.replace("gm_real growth =", "gm_real growht ="))
    with open("bad.yaml", "w") as file:
        file.write(mine)
    done = subprocess.run([PROGRAM, "run", "bad.yaml", "-o", "bad.h5", "--backend", "cuda"],
                          capture_output=True, text=True)
    good &= report("a compiler's message names the user's file",
                   done.returncode == 2 and "mine.h(" in done.stderr)
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()

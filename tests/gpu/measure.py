"""Times of the flagship jobs on this machine. Prints a table; checks that files are bitwise equal."""
import os
import statistics
import subprocess

import numpy as np

from common import run, values

REPEAT = 3


def gpu_name():
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    return subprocess.run(query, capture_output=True, text=True).stdout.strip()


def weights():
    path = os.path.join(os.environ["GM_CONNECTOMES"], "enigma_dk68", "weights.csv")
    if os.path.exists(path):
        return path
    rng = np.random.default_rng(3)
    w = rng.random((68, 68)) * (rng.random((68, 68)) < 0.3)
    np.savetxt("random68.csv", w + w.T, delimiter=",")
    print("no connectome at hand: a random symmetric network of 68 nodes takes its place")
    return "random68.csv"


def flagship(n_point, duration, record):
    return f"""model: wilson_cowan
network: {{weights: {weights()}, normalise: maximum, symmetric: as_is, self_connections: drop}}
axes: {{G: {{linspace: [0, 3, {n_point}]}}}}
inputs: {{p_e: {{file: drive.npy, step: 0.1, interpolation: hold}}}}
time: {{dt: 0.1, duration: {duration}}}
integrator: heun
record: {record}
"""


LORENZ = """model: lorenz63
axes: {rho: {linspace: [0, 21, 8388608]}}
parameters: {beta: 2.666}
time: {dt: 0.001, duration: 1}
integrator: rk4
record: {last: all}
"""


def show(title, s):
    wall = s["wall_s"]
    share = " ".join(f"{100 * s[k] / wall:5.0f}%" for k in ("march_s", "up_s", "down_s", "disk_s"))
    print(f"{title:46s} {s['start_up_s']:7.3f} {wall:8.3f} {s['march_s']:8.3f}  {share}  "
          f"{s['point_steps_per_s']:9.3g} {s['node_steps_per_s']:9.3g}", flush=True)


def median_of(text, output, *options, ranks=0):
    runs = [run(text, output, *options, ranks=ranks) for _ in range(REPEAT)]
    wall = statistics.median(r["wall_s"] for r in runs)
    return min(runs, key=lambda r: abs(r["wall_s"] - wall))


def main():
    rng = np.random.default_rng(4)
    np.save("drive.npy", 0.6 + 0.1 * rng.standard_normal((80001, 68)))
    full = "{trajectory: {variables: [E], every: 10}}"
    rows = []
    text = flagship(100, 8000, full)
    rows.append(("dk68 x 100 points x 80,000 steps, E/10, 1 rank",
                 median_of(text, "one.h5", "--backend", "cuda")))
    rows.append(("the same, kernel built into the program",
                 median_of(text, "plain.h5", "--backend", "cuda", "--no-compile")))
    rows.append(("the same, 4 ranks on the one GPU",
                 median_of(text, "four.h5", "--backend", "cuda", "--share-gpu", ranks=4)))
    one, four = values("one.h5"), values("four.h5")
    equal = all(one[k].tobytes() == four[k].tobytes() for k in one)
    rows.append(("the same, final state only, 1 rank",
                 median_of(flagship(100, 8000, "{last: all}"), "last.h5", "--backend", "cuda")))
    rows.append(("dk68 x 16,896 points x 2,000 steps, last",
                 median_of(flagship(16896, 200, "{last: all}"), "many.h5", "--backend", "cuda")))
    rows.append(("the same, kernel built into the program",
                 median_of(flagship(16896, 200, "{last: all}"), "many.h5", "--backend", "cuda",
                           "--no-compile")))
    rows.append(("dk68 x 100 points x 4,000 steps, E/10, CPU",
                 run(flagship(100, 400, full), "cpu.h5", "--backend", "cpu")))
    for precision in ("fp32", "fp64"):
        lorenz = LORENZ + f"precision: {precision}\n"
        title = f"lorenz63 x 8,388,608 points x 1,000 steps, {precision}"
        rows.append((title, median_of(lorenz, "lorenz.h5", "--backend", "cuda")))
        rows.append(("the same, kernel built into the program",
                     median_of(lorenz, "lorenz.h5", "--backend", "cuda", "--no-compile")))
    print(f"\n{gpu_name()}; medians of {REPEAT}; results in {os.getcwd().rsplit('/', 1)[0]}")
    print(f"{'':46s} {'start/s':>7s} {'wall/s':>8s} {'march/s':>8s}  {'march':>6s} {'up':>5s} "
          f"{'down':>6s} {'disk':>5s}  {'p-steps/s':>9s} {'n-steps/s':>9s}")
    for title, summary in rows:
        show(title, summary)
    print(f"files of 1 and 4 ranks: {'bitwise equal' if equal else 'DIFFERENT'}")
    raise SystemExit(0 if equal else 1)


if __name__ == "__main__":
    main()

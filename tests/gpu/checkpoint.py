"""A run on a GPU that is killed within a tile goes on from its checkpoint, with other ranks, tiles
and chunks, to the same bits: every engine and precision."""
import json
import os
import subprocess

import numpy as np

from common import PROGRAM, run, values
from ranks import DERIVED, NETWORK, PLAIN, same

RK4 = NETWORK.replace("heun", "rk4").replace("parameters: {sigma_e: 0.02, sigma_i: 0.01}\n", "")
INPUT = NETWORK + "inputs: {p_e: {file: drive.csv, step: 0.7, interpolation: linear}}\n"
EVERY = ["--checkpoint", "0.000001"]  # before every chunk but a tile's first
TRIALS = [
    ("plain ODE", PLAIN, []),
    ("plain ODE, built in, fp64", PLAIN, ["--no-compile", "--set", "precision=fp64"]),
    ("block, built in", DERIVED, ["--no-compile"]),
    ("block, rk4", RK4, ["--engine", "block"]),
    *((f"matrix, {precision}", text, ["--engine", "matrix", "--set", f"precision={precision}"])
      for precision in ("fp32", "fast", "fp64") for text in (DERIVED, INPUT)),
]


def midway(path):
    told = subprocess.run([PROGRAM, "info", path, "--json"], capture_output=True, text=True, check=True)
    return json.loads(told.stdout)["midway"]


def trial(text, options):
    """None, or what is wrong."""
    options = ["--backend", "cuda", "--share-gpu", *options]
    run(text, "whole.h5", *options)
    small, other = ["--tile", "24", "--chunk", "50"], ["--tile", "7", "--chunk", "31"]
    run(text, "cut.h5", *options, *small, *EVERY, check=False, fault="launch@8=kill")
    if midway("cut.h5") != 24:
        return f"{midway('cut.h5')} points saved instead of 24"
    run(text, "cut.h5", *options, *other, *EVERY, ranks=2, check=False, resume=True,
        fault="launch#0@6=kill")
    if midway("cut.h5") == 0:
        return "nothing saved on two ranks"
    run(text, "cut.h5", *options, resume=True)
    if os.path.exists("cut.h5.checkpoint"):
        return "the file of checkpoints is still there"
    return None if same(values("whole.h5"), values("cut.h5")) else "DIFFERENT"


def main():
    rng = np.random.default_rng(2)
    np.savetxt("w.csv", rng.random((68, 68)), delimiter=",")
    np.savetxt("drive.csv", 0.6 + 0.4 * np.sin(np.arange(90)), fmt="%.17g")
    good = True
    for title, text, options in TRIALS:
        wrong = trial(text, options)
        good &= wrong is None
        print(f"{title}: {wrong or 'bitwise equal'}", flush=True)
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()

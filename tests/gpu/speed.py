"""Engines against each other on one network: microseconds a step. For finding out, not for keeping."""
import sys

import numpy as np

from common import run
from measure import flagship

np.save("drive.npy", 0.6 + 0.1 * np.random.default_rng(4).standard_normal((80001, 68)))
WAYS = [("block", "fp32", "--no-compile"), ("block compiled", "fp32", "--engine", "block"),
        ("matrix", "fp32", "--engine", "matrix"), ("matrix fast", "fast", "--engine", "matrix"), ("fast block", "fast", "--engine", "block"), ("block fp64", "fp64", "--no-compile"),
        ("fp64 block compiled", "fp64", "--engine", "block"), ("matrix fp64", "fp64", "--engine", "matrix")]
import os
ONLY = os.environ.get("ONLY", "").split(",")
for n in [int(a) for a in os.environ.get("POINTS", "100,1008,4224,16896,67584").split(",")]:
    for name, precision, *options in WAYS:
        if ONLY != [""] and name not in ONLY:
            continue
        if n > 20000 and name.startswith("block"):
            continue
        steps = 2000
        text = flagship(n, steps / 10, "{last: all}") + f"precision: {precision}\n"
        s = min((run(text, "x.h5", "--backend", "cuda", "--overwrite", *options) for _ in range(2)),
                key=lambda r: r["march_s"])
        print(f"{n:6d} points {name:16s} {1e6 * s['march_s'] / steps:8.3f} us/step", flush=True)

"""On one GPU the results are bitwise the same for any ranks, tiles and chunks, with noise on."""
import numpy as np

from common import run, values

NETWORK = """model: wilson_cowan
network: {weights: w.csv, normalise: spectral, symmetric: as_is, self_connections: drop}
axes: {G: {linspace: [0, 2, 23]}, seed: [1, 2, 3]}
parameters: {sigma_e: 0.02, sigma_i: 0.01}
initial: {E: {uniform: [0, 0.1]}}
time: {dt: 0.1, duration: 60, transient: 7}
integrator: heun
record: {last: all, mean: all, variance: all, min: all, max: all, trajectory: {variables: [E], every: 5}}
"""
DERIVED = NETWORK.replace("last: all", "last: [E, in_e]").replace("mean: all", "mean: [I, in_e]").replace(
    "variables: [E]", "variables: [in_e]")
PLAIN = """model: lorenz63
axes: {rho: {linspace: [0, 28, 1001]}}
time: {dt: 0.001, duration: 0.6}
integrator: rk4
record: {last: all, variance: all, trajectory: {variables: [x, z], every: 9}}
"""


def same(a, b):
    return all(a[name].tobytes() == b[name].tobytes() for name in a)


def main():
    rng = np.random.default_rng(2)
    np.savetxt("w.csv", rng.random((68, 68)), delimiter=",")
    good = True
    for title, text in (("network", NETWORK), ("derived", DERIVED), ("plain ODE", PLAIN)):
        run(text, "reference.h5", "--backend", "cuda")
        reference = values("reference.h5")
        for ranks in (1, 2, 3, 4):
            for tile, chunk in ((0, 0), (7, 100), (64, 13)):
                sizes = ["--tile", str(tile), "--chunk", str(chunk)] if tile else []
                run(text, "other.h5", "--backend", "cuda", "--share-gpu", *sizes, ranks=ranks)
                equal = same(reference, values("other.h5"))
                good &= equal
                print(f"{title}: {ranks} ranks, tile {tile or 'auto'}, chunk {chunk or 'auto'}: "
                      f"{'bitwise equal' if equal else 'DIFFERENT'}")
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()

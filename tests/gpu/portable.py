"""The portable bundle on a GPU: under its own mpirun and under this system's, with 1 and 4 ranks, it makes
the same bits as the native build. GM_BUNDLE is the bundle's folder."""
import os
import subprocess

import numpy as np

from common import run, values
from ranks import NETWORK, PLAIN, same

BUNDLE = os.environ["GM_BUNDLE"]
PROGRAM = os.path.join(BUNDLE, "bin", "gridmarch")


def main():
    rng = np.random.default_rng(2)
    np.savetxt("w.csv", rng.random((68, 68)), delimiter=",")
    launchers = {"its own mpirun": os.path.join(BUNDLE, "bin", "mpirun"), "this system's mpirun": "mpirun"}
    for title, mpirun in launchers.items():
        said = subprocess.run([mpirun, "--version"], capture_output=True, text=True, check=True).stdout
        print(f"{title}: {said.splitlines()[0]}")
    good = True
    for sweep, text in (("network", NETWORK), ("plain ODE", PLAIN)):
        run(text, "native.h5", "--backend", "cuda")
        native = values("native.h5")
        cases = [("no mpirun", "", 0)]
        cases += [(title, mpirun, ranks) for title, mpirun in launchers.items() for ranks in (1, 4)]
        for title, mpirun, ranks in cases:
            summary = run(text, "bundle.h5", "--backend", "cuda", "--share-gpu", ranks=ranks,
                          program=PROGRAM, mpirun=mpirun)
            equal = same(native, values("bundle.h5"))
            together = summary["ranks"] == max(ranks, 1)
            good &= equal and together
            print(f"{sweep}: {title}, {ranks or 1} ranks{'' if together else ', yet not ONE run'}: "
                  f"{'bitwise equal' if equal else 'DIFFERENT'}")
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()

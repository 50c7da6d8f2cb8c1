"""What --schedule dynamic gains when one of four ranks is four times slower, and what it costs when all are
equal. The work is delays (GRIDMARCH_FAULT), one for each point, so the ranks do not compete for cores.

GRIDMARCH=build/release/gridmarch python3 tests/bench/unequal.py [--repeat 3]
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import run, write  # noqa: E402

N_POINT = 260
DELAY_MS = 50
SWEEP = f"""
model: lorenz63
axes: {{rho: {{linspace: [1, 28, {N_POINT}]}}}}
time: {{dt: 0.01, duration: 0.16}}
integrator: rk4
record: {{last: all}}
"""


def march(folder, schedule, ranks, delays):
    """Summary of a run whose ranks wait so many ms for each point."""
    fault = ",".join(f"launch#{rank}%100={ms}" for rank, ms in enumerate(delays))
    done = run("run", folder / "s.yaml", "-o", folder / "r.h5", "--overwrite", "--quiet", "--json",
               "--threads", 1, "--no-compile", "--tile", 1, "--schedule", schedule, ranks=ranks,
               env={"GRIDMARCH_FAULT": fault} if fault else None)
    if done.code != 0:
        sys.exit(done.err)
    return json.loads(done.out)


def show(folder, name, ranks, delays, repeat):
    ideal = N_POINT / sum(1000 / ms for ms in delays) if delays else None
    for schedule in ("static", "dynamic"):
        all_runs = [march(folder, schedule, ranks, delays) for _ in range(repeat)]
        wall = statistics.median(s["wall_s"] for s in all_runs)
        start = statistics.median(s["start_up_s"] for s in all_runs)
        points = [row["points"] for row in all_runs[0]["devices"]]
        share = f"{wall / ideal:6.2f} x ideal" if ideal else " " * 14
        print(f"{name:12s} {ranks:5d}  {schedule:8s} {start:9.3f} {wall:8.3f} {share}  {points}",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    print("ranks are    ranks  schedule  start-up s  wall s                points of each rank")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write(folder / "s.yaml", SWEEP)
        show(folder, "one slower", 4, [DELAY_MS, 4 * DELAY_MS, DELAY_MS, DELAY_MS], repeat)
        for ranks in (1, 2, 4):
            show(folder, "equal", ranks, [DELAY_MS] * ranks, repeat)
        show(folder, "without work", 4, [], repeat)


if __name__ == "__main__":
    main()

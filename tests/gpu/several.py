"""Scaling over the GPUs of one host, in one command of less than nine minutes: which rank has which
GPU, the same bits on any number of them, strong and weak scaling, trajectories into memory and onto
a disk, and the forecast beside what was measured.

    python3 tests/gpu/several.py [--ranks 1,2,4,8] [-o FOLDER] [--disk FOLDER] [--backend cpu --quick]

Results are written to and removed from the current folder (a file system in memory), and for the
measurement of the disk from --disk. FOLDER keeps the numbers of every run and the tables;
`jobscripts/scaling.py -o FOLDER/NAME --redraw` makes the pictures where matplotlib is installed.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import time

from common import PROGRAM, ROOT, run, values

sys.path.insert(0, os.path.join(ROOT, "tests", "bench"))
from workloads import atlas  # noqa: E402

SCALING = os.path.join(ROOT, "jobscripts", "scaling.py")
SWEEP = """model: wilson_cowan
network: {{weights: {weights}, normalise: maximum, symmetric: as_is, self_connections: drop}}
axes: {{G: {{linspace: [0, 3, {points}]}}}}
parameters: {{c_ee: 16, c_ei: 12, c_ie: 15, c_ii: 3}}
inputs: {{p_e: 1.2}}
time: {{dt: 0.1, duration: {duration}}}
integrator: heun
record: {record}
"""
LAST = "{last: all}"
TRAJECTORY = "{{trajectory: {{variables: all, every: {every}}}}}"
SIZES = {  # points and steps, for whole machines and for a trial
    False: {"strong": (8 * 16896, 80000), "long": (8 * 16896, 36 * 80000), "each": 8 * 16896,
            "written": (800, 80000), "every": 4},
    True: {"strong": (64, 400), "long": (64, 2000), "each": 32, "written": (16, 400), "every": 4},
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", default="", metavar="1,2,4,8",
                        help="default: doubling up to the GPUs there are")
    parser.add_argument("-o", "--output", default="several", metavar="FOLDER")
    parser.add_argument("--disk", default=os.environ.get("GM_DISK", ""), metavar="FOLDER",
                        help="also measure writing there (default: $GM_DISK, else left out)")
    parser.add_argument("--backend", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--quick", action="store_true", help="small sweeps: a trial of this script")
    args = parser.parse_args()
    if not args.ranks:
        gpus = 1
        if args.backend == "cuda":
            listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True)
            gpus = listed.stdout.count("GPU ")
        args.ranks = ",".join(str(n) for n in (1, 2, 4, 8, 16) if n <= gpus)
    args.counts = [int(word) for word in args.ranks.split(",")]
    args.output, args.disk = os.path.abspath(args.output), args.disk and os.path.abspath(args.disk)
    return args


def sweep(name, points, steps, record):
    """A sweep file in the current folder."""
    text = SWEEP.format(weights=atlas("enigma_dk68", 68), points=points, duration=f"{0.1 * steps:.10g}", record=record)
    with open(name + ".yaml", "w") as file:
        file.write(text)
    return text


def options(args):
    return ["--backend", args.backend, *(["--threads", "1"] if args.backend == "cpu" else [])]


def compare_bits(args, text):
    """The binding of ranks to GPUs, and whether results depend on it."""
    reference, good = None, True
    print(f"{'ranks':>5s} {'rank':>4s} {'points':>7s}  device")
    for n in args.counts:
        summary = run(text, "bits.h5", *options(args), ranks=n)
        for device in summary["devices"]:
            print(f"{n:5d} {device['rank']:4d} {device['points']:7d}  {device['device']} {device['uuid']}")
        found = values("bits.h5")
        reference = reference or found
        same = all(found[name].tobytes() == reference[name].tobytes() for name in reference)
        uuids = [device["uuid"] for device in summary["devices"]]
        alone = args.backend == "cpu" or len(set(uuids)) == n
        good &= same and alone
        print(f"{n:5d} ranks: {'bitwise equal' if same else 'DIFFERENT'}"
              f"{'' if alone else ', and several ranks have ONE GPU'}", flush=True)
    os.remove("bits.h5")
    return good


def scale(args, name, *more, scratch=".", repeat=3):
    """Run the sweep NAME.yaml on each number of ranks; whether that went well."""
    print(f"\n-- {name}", flush=True)
    done = subprocess.run([sys.executable, SCALING, name + ".yaml", "-o", os.path.join(args.output, name),
                           "--ranks", args.ranks, "--scratch", scratch,
                           "--repeat", str(1 if args.quick else repeat), *more, "--", *options(args)],
                          env=dict(os.environ, GRIDMARCH=PROGRAM))
    return done.returncode == 0


def kept(args, name, kind, ranks):
    """Files of the numbers of the runs of one kind."""
    return sorted(glob.glob(os.path.join(args.output, name, "runs", f"{kind}-{ranks:05d}-*.json")))


def median_loop(files):
    loops = sorted(json.load(open(file))["wall_s"] for file in files)
    return loops[len(loops) // 2]


def show_forecast(args, name):
    """What one rank foretells of more, beside what was measured."""
    measured = kept(args, name, "strong", args.counts[0])[0]
    for n in args.counts:
        done = subprocess.run([PROGRAM, "plan", name + ".yaml", "--backend", args.backend, "--ranks", str(n),
                               "--measured", measured], capture_output=True, text=True, check=True)
        foretold = float(re.search(r"^ *loop +([\d.]+) s", done.stdout, re.MULTILINE)[1])
        loop = median_loop(kept(args, name, "strong", n))
        print(f"{name:8s} {n:5d} {foretold:10.2f} {loop:10.2f} {foretold / loop:7.2f}")


def main():
    args = arguments()
    begin = time.monotonic()
    size = SIZES[args.quick]
    os.makedirs(args.output, exist_ok=True)
    text = sweep("strong", *size["strong"], LAST)
    sweep("long", *size["long"], LAST)
    record = TRAJECTORY.format(every=size["every"])
    sweep("written", *size["written"], record)
    good = compare_bits(args, text)
    weak = ["--weak", "axes.G={linspace: [0, 3, {n}]}", "--each", str(size["each"])]
    good &= scale(args, "strong", *weak)
    good &= scale(args, "long", repeat=1)
    good &= scale(args, "written")
    if args.disk:
        sweep("disk", *size["written"], record)
        good &= scale(args, "disk", scratch=args.disk, repeat=1)
    if good:
        print(f"\n{'sweep':8s} {'ranks':>5s} {'foretold s':>10s} {'measured s':>10s} {'ratio':>7s}")
        for name in ("strong", "long", "written"):
            show_forecast(args, name)
    print(f"{time.monotonic() - begin:.0f} s in all")
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Strong and weak scaling of a sweep on this machine or in this job: runs it on more and more ranks.

    scaling.py SWEEP.yaml -o FOLDER                         strong: the same sweep on 1, 2, 4 .. ranks
    scaling.py SWEEP.yaml -o FOLDER --weak 'axes.G={linspace: [0, 3, {n}]}' --each 512
                                                            weak too: {n} is 512 points a rank
    scaling.py SWEEP.yaml -o FOLDER --dry-run               only show the commands
    scaling.py SWEEP.yaml -o FOLDER -- --backend cpu        what follows -- goes to `gridmarch run`
    scaling.py -o FOLDER --redraw                           run nothing: table, report and picture of what is there

FOLDER gets a JSON file per run, scaling.csv (medians), report.txt and, with matplotlib, scaling.png.
Runs whose JSON file is there already are not repeated, so an interrupted measurement goes on with the
same command; they show what was run. Inside a Slurm job ranks are started by srun over its nodes, elsewhere by mpirun;
--launcher says otherwise. GRIDMARCH names the program (default: the one on the PATH).
"""
import argparse
import csv
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys
import time

START = ("read_s", "device_s", "compile_s", "create_s")
COLUMNS = ("kind", "ranks", "hosts", "runs", "points", "steps", "bytes", "total_s", "launch_s", "start_up_s",
           *START, "wall_s", "march_s", "up_s", "down_s", "disk_s", "wait_s", "finish_s", "speed_up",
           "efficiency", "efficiency_of_all", "limit")
LOSSES = {  # what keeps a run from the ideal time, in words
    "launch_s": "starting the ranks", "read_s": "reading the sweep", "device_s": "opening the devices",
    "compile_s": "compiling the kernel", "create_s": "creating the file", "wait_s": "waiting for slower ranks",
    "slower_s": "a slower march on each rank", "hidden_s": "copies and disk that the march does not cover",
    "finish_s": "closing the file"}


class Trouble(Exception):
    """Something the user can put right; shown as one message without a traceback."""


def arguments(words):
    own, theirs = (words[:words.index("--")], words[words.index("--") + 1:]) if "--" in words else (words, [])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sweep", nargs="?")
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", type=pathlib.Path)
    parser.add_argument("--ranks", metavar="1,2,4", help="default: doubling up to the GPUs or cores there are")
    parser.add_argument("--weak", metavar="KEY=VALUE",
                        help="a setting that makes the sweep of {n} points; also runs weak scaling")
    parser.add_argument("--each", type=int, default=256, metavar="N", help="points a rank in weak scaling")
    parser.add_argument("--no-strong", action="store_true", help="weak scaling alone")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each; medians are taken (default 3)")
    parser.add_argument("--per-node", type=int, metavar="N", help="ranks of a node (default: its GPUs or cores)")
    parser.add_argument("--threads", type=int, metavar="N",
                        help="CPU threads of a rank (default without GPUs: cores / most ranks of a node)")
    parser.add_argument("--launcher", metavar="COMMAND",
                        help="e.g. 'mpirun -n {ranks} --map-by ppr:4:node'; {nodes} may occur, too")
    parser.add_argument("--scratch", type=pathlib.Path, metavar="FOLDER",
                        help="where results are written and removed (default: the output folder)")
    parser.add_argument("--dry-run", action="store_true", help="show the commands, run nothing")
    parser.add_argument("--redraw", action="store_true",
                        help="run nothing; make the table, report and picture again, as on a machine with matplotlib")
    chosen = parser.parse_args(own)
    if (chosen.sweep is None) != chosen.redraw:
        parser.error("give a sweep, or --redraw without one")
    chosen.options = theirs
    return chosen


# --- the machine -------------------------------------------------------------------------------------


def count_gpus():
    try:
        done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    return sum(line.startswith("GPU ") for line in done.stdout.splitlines())


class Machine:
    """Ranks of a node, nodes, how to start ranks, and the options that go with it."""

    def __init__(self, chosen):
        asks_cpu = "cpu" in chosen.options and "--backend" in chosen.options
        gpus = 0 if asks_cpu else count_gpus()
        cores = len(os.sched_getaffinity(0))
        self.in_slurm = "SLURM_JOB_ID" in os.environ and shutil.which("srun") is not None
        self.nodes = int(os.environ.get("SLURM_JOB_NUM_NODES", 1)) if self.in_slurm else 1
        tasks = os.environ.get("SLURM_NTASKS_PER_NODE", "") if self.in_slurm else ""
        self.per_node = chosen.per_node or gpus or (int(tasks) if tasks.isdigit() else cores)
        self.launcher = chosen.launcher
        self.ranks = self.choose_ranks(chosen.ranks)
        most = min(max(self.ranks), self.per_node)
        threads = chosen.threads or (0 if gpus else max(1, cores // most))
        self.options = ["--threads", str(threads)] if threads and "--threads" not in chosen.options else []
        self.cores = cores

    def choose_ranks(self, text):
        if text:
            try:
                ranks = sorted({int(word) for word in text.split(",")})
            except ValueError:
                ranks = [0]
            if ranks[0] < 1:
                raise Trouble(f"--ranks {text}: must be whole numbers from 1 up, such as 1,2,4")
            return ranks
        most, ranks = self.per_node * self.nodes, [1]
        while ranks[-1] * 2 <= most:
            ranks.append(ranks[-1] * 2)
        return ranks if ranks[-1] == most else [*ranks, most]

    def launch(self, ranks):
        nodes = -(-ranks // self.per_node)
        if self.launcher:
            return shlex.split(self.launcher.replace("{ranks}", str(ranks)).replace("{nodes}", str(nodes)))
        if self.in_slurm:
            return ["srun", "--mpi=pmix", "--kill-on-bad-exit=1", f"--nodes={min(nodes, self.nodes)}",
                    f"--ntasks={ranks}"]
        if not shutil.which("mpirun"):
            raise Trouble("there is neither a Slurm job with srun nor mpirun: give --launcher")
        crowded = ["--oversubscribe"] if ranks > self.cores else []
        return ["mpirun", "-n", str(ranks), "--bind-to", "none", *crowded]


# --- runs --------------------------------------------------------------------------------------------


class Run:
    """One run: its command, and the file that keeps its numbers."""

    def __init__(self, chosen, machine, kind, ranks, index):
        name = f"{kind}-{ranks:05d}-{index}"
        self.kind, self.ranks = kind, ranks
        self.file = chosen.output / "runs" / f"{name}.json"
        self.result = (chosen.scratch or chosen.output) / f"{name}.h5"
        grow = ["--set", chosen.weak.replace("{n}", str(chosen.each * ranks))] if kind == "weak" else []
        self.command = [*machine.launch(ranks), os.environ.get("GRIDMARCH", "gridmarch"), "run", chosen.sweep,
                        "-o", str(self.result), "--overwrite", "--json", "--quiet", *machine.options,
                        *chosen.options, *grow]
        sweep = hashlib.sha256(pathlib.Path(chosen.sweep).read_bytes()).hexdigest()
        self.work = {"command": shlex.join(self.command), "sweep_sha256": sweep}

    def numbers(self):
        """What an earlier call has kept; None without."""
        try:
            found = json.loads(self.file.read_text())
        except (OSError, ValueError):
            return None
        if any(found.get(key) != value for key, value in self.work.items()):
            raise Trouble(f"{self.file} was measured by another command or with another sweep file:\n  "
                          f"{found.get('command')}\nGive another output folder, or remove {self.file.parent}")
        return found

    def measure(self):
        begin = time.monotonic()
        try:
            done = subprocess.run(self.command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        except OSError as error:
            raise Trouble(f"{self.command[0]}: {error.strerror}") from error
        total = time.monotonic() - begin
        for path in (self.result, pathlib.Path(f"{self.result}.partial")):
            path.unlink(missing_ok=True)
        if done.returncode != 0:
            raise Trouble(f"{shlex.join(self.command)}\nended with exit code {done.returncode}:\n"
                          f"{done.stderr.strip()}\nRuns measured so far are kept; the same command goes on")
        found = json.loads(done.stdout.strip().splitlines()[-1])
        found.update(self.work, kind=self.kind, total_s=total)
        partial = self.file.with_suffix(".partial")
        partial.write_text(json.dumps(found) + "\n")
        partial.replace(self.file)
        return found


def plan_runs(chosen, machine):
    kinds = ([] if chosen.no_strong else ["strong"]) + (["weak"] if chosen.weak else [])
    if not kinds:
        raise Trouble("--no-strong without --weak leaves nothing to run")
    if chosen.weak and "{n}" not in chosen.weak:
        raise Trouble(f"--weak {chosen.weak}: must hold {{n}}, the place of the number of points")
    if not pathlib.Path(chosen.sweep).is_file():
        raise Trouble(f"{chosen.sweep}: no such file")
    return [Run(chosen, machine, kind, ranks, index) for kind in kinds for ranks in machine.ranks
            for index in range(chosen.repeat)]


def measure_all(runs):
    for i, run in enumerate(runs, 1):
        found = run.numbers()
        mark = "kept" if found else "ran"
        found = found or run.measure()
        if found["ranks"] != run.ranks:
            raise Trouble(f"{shlex.join(run.command)}\nran on {found['ranks']} ranks instead of {run.ranks}: "
                          "the launcher does not fit the program's MPI; see jobscripts/README.md")
        print(f"{i}/{len(runs)} {mark}: {run.kind}, {run.ranks} ranks: {found['total_s']:.2f} s in all, "
              f"march loop {found['wall_s']:.2f} s", flush=True)
        yield run.kind, run.ranks, found


def read_all(folder):
    """The runs that earlier calls have kept."""
    files = sorted((folder / "runs").glob("*.json"))
    if not files:
        raise Trouble(f"{folder / 'runs'} holds no run: is this the folder of an earlier call?")
    for file in files:
        try:
            found = json.loads(file.read_text())
            yield found["kind"], found["ranks"], found
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Trouble(f"{file} is no run of scaling.py ({error}): remove it") from error


# --- what it means -----------------------------------------------------------------------------------


def medians(group):
    """One row from the runs of one kind on one number of ranks."""
    row = {key: statistics.median(run.get(key) or 0 for run in group) for key in COLUMNS if key.endswith("_s")
           and key != "launch_s"}
    row.update({key: group[0][key] for key in ("kind", "ranks", "points", "steps", "bytes")})
    row["hosts"] = len({device["host"] for run in group for device in run["devices"]})
    row["runs"] = len(group)
    row["launch_s"] = max(0.0, row["total_s"] - row["start_up_s"] - row["wall_s"] - row["finish_s"])
    return row


def compare(row, base):
    """Speed-up and efficiency against the fewest ranks, and where the time beyond the ideal went."""
    more = row["ranks"] / base["ranks"]
    work = row["points"] / base["points"]
    row["speed_up"] = work * base["wall_s"] / row["wall_s"]
    row["efficiency"] = row["speed_up"] / more
    row["efficiency_of_all"] = work * base["total_s"] / row["total_s"] / more
    ideal = base["march_s"] * work / more
    row["slower_s"] = max(0.0, row["march_s"] - ideal)
    row["hidden_s"] = max(0.0, row["wall_s"] - row["march_s"] - row["wait_s"])
    row["limit"] = max(LOSSES, key=lambda key: row[key])
    return row


def tabulate(measured):
    groups = {}
    for kind, ranks, found in measured:
        groups.setdefault((kind, ranks), []).append(found)
    rows = [medians(group) for group in groups.values()]
    base = {}
    for row in rows:
        base.setdefault(row["kind"], row)
    return [compare(row, base[row["kind"]]) for row in rows]


def write_table(rows, path):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: f"{v:.6g}" if isinstance(v, float) else v for key, v in row.items()})


def report(rows):
    lines = []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        mine = [row for row in rows if row["kind"] == kind]
        lines += [f"{kind} scaling, medians; loop: the march with its copies and the disk; all: with the launch",
                  f"{'ranks':>6s} {'hosts':>5s} {'points':>10s} {'all s':>8s} {'start-up':>8s} {'loop s':>8s} "
                  f"{'speed-up':>8s} {'eff.':>5s} {'of all':>6s}  shares of the loop: march, copies, disk, wait"]
        for r in mine:
            shares = [r[key] / r["wall_s"] for key in ("march_s", "up_s", "disk_s", "wait_s")]
            shares[1] += r["down_s"] / r["wall_s"]
            lines.append(f"{r['ranks']:6d} {r['hosts']:5d} {r['points']:10d} {r['total_s']:8.2f} "
                         f"{r['start_up_s']:8.2f} {r['wall_s']:8.2f} {r['speed_up']:8.2f} {r['efficiency']:5.0%} "
                         f"{r['efficiency_of_all']:6.0%}  " + " ".join(f"{s:5.0%}" for s in shares))
        lines.append("")
        last = mine[-1]
        worst = sorted(LOSSES, key=lambda key: -last[key])[:3]
        lines.append(f"What limits on {last['ranks']} ranks, in shares of {last['total_s']:.2f} s in all: " + ", ".join(
            f"{LOSSES[key]} {last[key] / last['total_s']:.0%}" for key in worst))
        lines.append("")
    return "\n".join(lines)


def draw(rows, path):
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("no matplotlib: no picture; --redraw makes it elsewhere", file=sys.stderr)
        return
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    figure, axes = plt.subplots(len(kinds), 3, figsize=(13, 4 * len(kinds)), squeeze=False, layout="constrained")
    for kind, (speed, efficiency, time_axis) in zip(kinds, axes):
        mine = [row for row in rows if row["kind"] == kind]
        ranks = [row["ranks"] for row in mine]
        speed.plot(ranks, [n / ranks[0] for n in ranks], color="0.6", label="ideal")
        speed.plot(ranks, [row["speed_up"] for row in mine], "o-", label="march loop")
        speed.set(title=f"{kind} scaling", ylabel="speed-up", yscale="log")
        efficiency.plot(ranks, [row["efficiency"] for row in mine], "o-", label="march loop")
        efficiency.plot(ranks, [row["efficiency_of_all"] for row in mine], "s--", label="everything")
        efficiency.set(ylabel="efficiency", ylim=(0, 1.1))
        places, bottom = range(len(mine)), [0.0] * len(mine)
        for key, label in (("launch_s", "launch"), *((k, k[:-2]) for k in START), ("wall_s", "march loop"),
                           ("finish_s", "finish")):
            height = [row[key] for row in mine]
            time_axis.bar(places, height, bottom=bottom, label=label)
            bottom = [a + b for a, b in zip(bottom, height)]
        for key, marker in (("march_s", "o"), ("disk_s", "^"), ("wait_s", "x")):
            time_axis.plot(places, [row[key] for row in mine], marker, color="black", label=f"{key[:-2]} (in the loop)")
        time_axis.set(ylabel="seconds", xticks=list(places), xticklabels=ranks)
        for axis in (speed, efficiency):
            axis.set(xscale="log", xticks=ranks, xticklabels=ranks)
            axis.minorticks_off()
        for axis in (speed, efficiency, time_axis):
            axis.set_xlabel("ranks")
            axis.legend(fontsize=8)
    figure.savefig(path, dpi=120)


def write_all(measured, folder):
    rows = tabulate(measured)
    text = report(rows)
    write_table(rows, folder / "scaling.csv")
    (folder / "report.txt").write_text(text)
    draw(rows, folder / "scaling.png")
    print("\n" + text, end="")


def main(words):
    chosen = arguments(words)
    if chosen.redraw:
        return write_all(read_all(chosen.output), chosen.output)
    if chosen.repeat < 1 or chosen.each < 1:
        raise Trouble("--repeat and --each must be 1 or more")
    runs = plan_runs(chosen, Machine(chosen))
    if chosen.dry_run:
        for run in runs:
            print(("# measured already: " if run.numbers() else "") + shlex.join(run.command))
        return None
    for folder in (chosen.output / "runs", chosen.scratch):
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
    return write_all(measure_all(runs), chosen.output)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Trouble as trouble:
        sys.exit(f"scaling.py: {trouble}")

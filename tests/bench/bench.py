"""The benchmark of gridmarch: fixed work, one table. docs/performance.md explains the columns.

GRIDMARCH names the program (default: that of the release build), GM_CONNECTOMES a folder with
enigma_dk68 and enigma_glasser360. Results are written to a folder of its own in GM_SCRATCH (default
/dev/shm), which is removed at the end.
"""
import argparse
import concurrent.futures
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gpu"))

import accuracy  # noqa: E402
import cubin  # noqa: E402
import roofline  # noqa: E402
import tables  # noqa: E402
import workloads  # noqa: E402
from clock import LONG_ENOUGH_S, Clock, ask_gpu  # noqa: E402
from common import PROGRAM, run, values  # noqa: E402

WRITE_BYTES = 64 << 20


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME",
                        help="workloads whose names begin so; `errors` is the table of errors")
    parser.add_argument("--quick", action="store_true",
                        help="little of everything, once: checks that it works, measures nothing")
    parser.add_argument("--backend", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--repeat", type=int, default=3, help="runs of a workload (default 3)")
    parser.add_argument("--json", metavar="FILE", help="write everything as JSON, too")
    parser.add_argument("--list", action="store_true", help="name the workloads and end")
    return parser.parse_args()


# --- kernels --------------------------------------------------------------------------------------


def compile_kernel(workload):
    """The kernel file of a workload and what is in it."""
    with open(workload.name + ".compile.yaml", "w") as file:
        file.write(workload.text())
    path = workload.name + ".kernel"
    engine = [o for o in workload.options if o in ("block", "matrix")]
    command = [PROGRAM, "compile", file.name, "--arch", roofline.ARCHITECTURE, "-o", path,
               *(["--engine", *engine] if engine else [])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:  # the run will say why
        return None
    return cubin.read(path, workload.nodes if workload.couplings else 0)


def on_gpu(workload, backend):
    return backend == "cuda" and "cpu" not in workload.options


def compile_all(chosen, backend):
    """Kernels by workload: the very code that runs is counted. Empty where its rates are unknown."""
    todo = [w for w in chosen if on_gpu(w, backend)]
    if not todo or not ask_gpu("compute_cap").startswith("9.0"):
        return {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip([w.name for w in todo], pool.map(compile_kernel, todo)))


# --- runs -----------------------------------------------------------------------------------------


def median_run(repeat, *args, **named):
    """The run with the median march, and when the last one began and ended."""
    runs = []
    for _ in range(repeat):
        begin = time.monotonic()
        runs.append(run(*args, **named))
    middle = statistics.median_low(r["march_s"] for r in runs)
    return next(r for r in runs if r["march_s"] == middle), begin, time.monotonic()


def plain_write(n_byte):
    """Seconds that writing so many bytes takes here, into memory that the file has already."""
    block = memoryview(os.urandom(1 << 20) * (WRITE_BYTES >> 20))
    with open("plain", "wb", buffering=0) as file:
        for _ in range(2):
            file.seek(0)
            begin = time.monotonic()
            for left in range(n_byte, 0, -WRITE_BYTES):
                file.write(block[:min(left, WRITE_BYTES)])
            seconds = time.monotonic() - begin
    os.remove("plain")
    return seconds


def overlap(row):
    """A whole run against the largest of its parts, were each alone."""
    parts = {"march": row["march_s"], "disk": plain_write(row["bytes"])}
    if row["on_gpu"]:
        parts["copies"] = row["bytes"] / roofline.PCIE_BYTES_PER_S
    slowest = max(parts, key=parts.get)
    return {**parts, "slowest": slowest, "ratio": row["wall_s"] / parts[slowest]}


def measure(workload, args, kernels):
    """One row."""
    path = workload.name + ".h5"
    backend = [] if "--backend" in workload.options else ["--backend", args.backend]
    kernel = kernels.get(workload.name)
    code = ["--kernel", workload.name + ".kernel"] if kernel else []
    summary, begin, end = median_run(args.repeat, workload.text(), path, *backend, *code,
                                     *workload.options, ranks=workload.ranks)
    row = {key: summary[key] for key in ("points", "steps", "nodes", "march_s", "up_s", "down_s",
                                         "disk_s", "wall_s", "start_up_s", "bytes")}
    row.update(name=workload.name, precision=workload.precision, kernel=summary["kernel"],
               diverged=summary["diverged"], window=(begin, end),
               on_gpu=on_gpu(workload, args.backend),
               multiprocessors=summary["devices"][0]["workers"],
               us_per_step=1e6 * row["march_s"] / row["steps"],
               point_steps_per_s=row["points"] * row["steps"] / row["march_s"])
    if row["diverged"]:
        raise SystemExit(f"{workload.name}: {row['diverged']} points diverged: not what it measures")
    row["node_steps_per_s"] = row["point_steps_per_s"] * row["nodes"]
    if workload.overlaps:
        row["overlap"] = overlap(row)
    if workload.same_as and os.path.exists(workload.same_as + ".h5"):
        mine, other = values(path), values(workload.same_as + ".h5")
        row["same"] = all(mine[k].tobytes() == other[k].tobytes() for k in other)
    if not workload.keeps_file:
        os.remove(path)
    if workload.simple_steps and row["on_gpu"]:
        simple, _, _ = median_run(args.repeat, workload.text(workload.simple_steps), "simple.h5",
                                  *backend, "--no-compile")
        os.remove("simple.h5")
        row["simple_us_per_step"] = 1e6 * simple["march_s"] / simple["steps"]
        row["ratio_to_simple"] = row["simple_us_per_step"] / row["us_per_step"]
    return row


# --- bounds ---------------------------------------------------------------------------------------


def find_clocks(rows, clock):
    """Each row's clock: its own if it marched long enough, else that of the same precision, else
    any, else what its short run shows."""
    rows = [r for r in rows if r["on_gpu"]]
    for row in rows:
        row["clock_hz"] = clock.during(*row["window"])
    long = [r for r in rows if r["march_s"] >= LONG_ENOUGH_S and r["clock_hz"]]
    for row in rows:
        same = [r for r in long if r["precision"] == row["precision"]] or long
        if same and row not in long:
            row["clock_hz"] = statistics.median_low(r["clock_hz"] for r in same)


def add_bounds(rows, chosen, kernels):
    by_name = {w.name: w for w in chosen}
    for row in rows:
        kernel = kernels.get(row["name"])
        if kernel is None:
            continue
        row.update(engine=kernel.engine, registers=kernel.registers, stack_bytes=kernel.stack_bytes)
        if kernel.loop is None:
            continue
        workload = by_name[row["name"]]
        step, row["counts_all_turns"] = roofline.whole_step(kernel, workload)
        row["opcodes"] = dict(step.opcodes.most_common())
        row["local_memory"] = step.size(("LDL", "STL"))
        if not row.get("clock_hz"):
            continue
        bounds = roofline.step_bounds(kernel, workload, row["multiprocessors"], row["clock_hz"])
        row["bounds_us"] = {term: 1e6 * seconds for term, seconds in bounds.items()}
        row["bound"], seconds = roofline.binding(bounds)
        row["share"] = 1e6 * seconds / row["us_per_step"]


# --- the whole ------------------------------------------------------------------------------------


def measure_all(chosen, args, failed):
    clock = Clock()
    kernels = compile_all(chosen, args.backend)
    rows = []
    for workload in chosen:
        try:
            rows.append(measure(workload, args, kernels))
        except SystemExit as why:  # the others go on
            failed.append(f"{workload.name}: {why}")
            continue
        print(f"{workload.name}: {rows[-1]['us_per_step']:.3f} us/step", file=sys.stderr, flush=True)
    clock.close()
    find_clocks(rows, clock)
    add_bounds(rows, chosen, kernels)
    for row in rows:
        del row["window"]
        if not row.get("same", True):
            failed.append(f"{row['name']}: its file should be bitwise that of another workload")
    return rows


def choose(args):
    """The workloads, and whether errors are wanted."""
    names = [n for n in args.only if n != "errors"]
    chosen = workloads.select(names, args.quick) if names or not args.only else []
    if names and not chosen:
        raise SystemExit(f"no workload begins with {', '.join(names)}; --list names them all")
    return chosen, not args.only or "errors" in args.only


def bench(args):
    begin = time.monotonic()
    failed, errors = [], []
    chosen, wants_errors = choose(args)
    if args.list:
        print("\n".join([*(w.name for w in chosen), *(["errors"] if wants_errors else [])]))
        return failed
    rows = measure_all(chosen, args, failed)
    if wants_errors:
        errors = accuracy.measure_all(args.backend, args.quick, failed)
    device = ask_gpu("name,driver_version") if args.backend == "cuda" else "CPU"
    print(f"{device}; {time.monotonic() - begin:.0f} s in all")
    tables.show_rates(rows, args.repeat)
    tables.show_bounds(rows)
    tables.show_whole_runs(rows)
    tables.show_errors(errors, accuracy.STEPS)
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"device": device, "repeat": args.repeat, "workloads": rows,
                       "errors": errors, "failed": failed}, file, indent=1)
    return failed


def main():
    args = arguments()
    if args.quick:
        args.repeat = 1
    if args.json:
        args.json = os.path.abspath(args.json)
    if not os.access(PROGRAM, os.X_OK):
        raise SystemExit(f"there is no {PROGRAM}: build it, or name another in GRIDMARCH")
    scratch = os.path.abspath(os.environ.get("GM_SCRATCH", "/dev/shm"))
    with tempfile.TemporaryDirectory(prefix="gridmarch-", dir=scratch) as folder:
        os.chdir(folder)
        failed = bench(args)
        os.chdir(scratch)
    if failed:
        raise SystemExit("FAILED\n" + "\n".join(failed))


if __name__ == "__main__":
    main()

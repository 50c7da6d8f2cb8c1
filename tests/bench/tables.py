"""The benchmark's tables, for people: JSON holds the same and more."""
import roofline


def cell(row, key, form):
    return format(row[key], form) if row.get(key) is not None else ""


def show_rates(rows, repeat):
    if not rows:
        return
    print(f"\nMarch: median of {repeat}. Bound: what limits a step at least, and the share of that "
          "limit reached")
    print(f"{'workload':26s} {'points':>8s} {'steps':>6s} {'march s':>8s} {'us/step':>9s} "
          f"{'p-steps/s':>9s} {'n-steps/s':>9s} {'x simple':>8s} {'bound':22s} {'share':>5s} "
          f"{'GHz':>5s} {'regs':>4s} {'stack':>5s} {'local':>5s}  engine")
    for r in rows:
        bound = roofline.TERMS[r["bound"]] if "bound" in r else ""
        bound += "" if r.get("counts_all_turns", True) else " +"
        ghz = {"ghz": r["clock_hz"] / 1e9} if r.get("clock_hz") else {}
        print(f"{r['name']:26s} {r['points']:8d} {r['steps']:6d} {r['march_s']:8.4f} "
              f"{r['us_per_step']:9.3f} {r['point_steps_per_s']:9.3g} {r['node_steps_per_s']:9.3g} "
              f"{cell(r, 'ratio_to_simple', '.2f'):>8s} {bound:22s} {cell(r, 'share', '.0%'):>5s} "
              f"{cell(ghz, 'ghz', '.2f'):>5s} {cell(r, 'registers', 'd'):>4s} "
              f"{cell(r, 'stack_bytes', 'd'):>5s} {cell(r, 'local_memory', '.0f'):>5s}  "
              f"{r.get('engine', '')}".rstrip())


def show_bounds(rows):
    rows = [r for r in rows if "bounds_us" in r]
    if not rows:
        return
    print("\nLeast microseconds of a step by what it uses")
    print(f"{'workload':26s} {'measured':>9s} " + " ".join(f"{t:>8s}" for t in roofline.TERMS))
    for r in rows:
        print(f"{r['name']:26s} {r['us_per_step']:9.3f} "
              + " ".join(f"{r['bounds_us'][t]:8.3f}" for t in roofline.TERMS))


def show_whole_runs(rows):
    """Runs that record: where their time goes."""
    rows = [r for r in rows if "overlap" in r or r["name"].startswith("record")]
    if not rows:
        return
    print("\nWhole runs, seconds; busy parts overlap")
    print(f"{'workload':26s} {'GB':>6s} {'start-up':>8s} {'wall':>7s} {'march':>7s} {'up':>7s} "
          f"{'down':>7s} {'disk':>7s}")
    for r in rows:
        print(f"{r['name']:26s} {r['bytes'] / 1e9:6.3f} {r['start_up_s']:8.2f} "
              + " ".join(f"{r[k]:7.3f}" for k in ("wall_s", "march_s", "up_s", "down_s", "disk_s")))
        if "same" in r:
            print(f"  file: {'bitwise the same' if r['same'] else 'DIFFERENT'}")
        if "overlap" in r:
            o = r["overlap"]
            copies = f"copies at 55 GB/s {o['copies']:.3f}, " if "copies" in o else ""
            print(f"  alone: march {o['march']:.3f}, {copies}plain write {o['disk']:.3f}; wall is "
                  f"{o['ratio']:.2f} times the largest ({o['slowest']})")


def show_errors(rows, steps):
    if not rows:
        return
    print(f"\nErrors over {steps} steps against fp64 on the CPU, over a variable's largest value "
          "(angles: over the turn)")
    print(f"{'model':14s} {'computed':13s} {'points':>6s} {'max':>8s} {'rms':>8s}")
    for row in rows:
        note = "" if row["reference"] == "fp64 cpu" else "  against fp64 on the GPU"
        print(f"{row['model']:14s} {row['way']:13s} {row['points']:6d} {row['max']:8.1e} "
              f"{row['rms']:8.1e}{note}")

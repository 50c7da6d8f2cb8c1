"""Writing trajectories next to plain MPI-IO on the same file system, and making the file.

    write_speed.py [FOLDER ...]        default: /dev/shm and the folder for temporary files

GM_WRITE_SPEED names the program (default: that of the dev build). docs/performance.md explains the table.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

PROGRAM = os.environ.get("GM_WRITE_SPEED") or pathlib.Path(__file__).resolve().parents[2] / "build/dev/tests/write_speed"


def measure(folder, ranks, mib, kib, repeat):
    """Medians of the seconds, and bytes."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        done = subprocess.run(["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none", PROGRAM, scratch,
                               str(mib), str(kib), str(repeat)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"write_speed.py: {folder}: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    return {key: statistics.median(value) if isinstance(value, list) else value for key, value in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", default=["/dev/shm", tempfile.gettempdir()])
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--mib", type=int, default=128, help="MiB that each rank writes (default 128)")
    parser.add_argument("--kib", default="64,256,1024", help="KiB of an access (default 64,256,1024)")
    parser.add_argument("--repeat", type=int, default=9)
    chosen = parser.parse_args()
    print(f"{chosen.ranks} ranks, {chosen.mib} MiB each, medians of {chosen.repeat}; MB/s with waiting for the disk")
    print(f"{'folder':16s} {'access KiB':>10s} {'plain':>8s} {'result':>8s} {'ratio':>6s} {'plain new':>10s} "
          f"{'new result':>10s} {'ratio':>6s}")
    for folder in chosen.folders:
        for kib in map(int, chosen.kib.split(",")):
            found = measure(folder, chosen.ranks, chosen.mib, kib, chosen.repeat)
            rate = {key: found["bytes"] / 1e6 / value for key, value in found.items() if key.endswith("_s")}
            print(f"{folder:16s} {kib:10d} {rate['plain_write_s']:8.0f} {rate['write_s']:8.0f} "
                  f"{rate['write_s'] / rate['plain_write_s']:6.2f} {rate['plain_create_s']:10.0f} "
                  f"{rate['create_s']:10.0f} {rate['create_s'] / rate['plain_create_s']:6.2f}", flush=True)


if __name__ == "__main__":
    main()

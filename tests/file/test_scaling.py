"""jobscripts/scaling.py: what it runs, keeps, and makes of the numbers."""

import csv
import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in ("tests/support", "jobscripts"):
    sys.path.insert(0, str(ROOT / folder))
import scaling  # noqa: E402
from program import EXAMPLES, environment, needs_program  # noqa: E402

SWEEP = EXAMPLES / "wilson_cowan.yaml"
SHORT = ["--backend", "cpu", "--set", "time.duration=20", "--set", "time.transient=0"]
WEAK = ["--weak", "axes.G={linspace: [0, 3, {n}]}", "--each", "8"]


def call(folder, *args, options=SHORT, **env):
    words = [ROOT / "jobscripts" / "scaling.py", SWEEP, "-o", folder, *args, "--", *options]
    return subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, timeout=300,
                          env=environment(**env))


def table(folder):
    with open(folder / "scaling.csv", newline="") as file:
        return list(csv.DictReader(file))


@needs_program
def test_both_kinds_are_measured_kept_and_drawn(tmp_path):
    folder = tmp_path / "out"
    shape = ["--ranks", "1,2", "--repeat", "2", *WEAK]
    done = call(folder, *shape)
    assert done.returncode == 0, done.stderr
    rows = table(folder)
    assert [(r["kind"], r["ranks"], r["points"], r["runs"]) for r in rows] == [
        ("strong", "1", "40", "2"), ("strong", "2", "40", "2"), ("weak", "1", "8", "2"), ("weak", "2", "16", "2")]
    for row in rows:
        assert float(row["total_s"]) > float(row["wall_s"]) > 0 and row["hosts"] == "1"
        assert row["limit"] in scaling.LOSSES
    assert (folder / "scaling.png").read_bytes().startswith(b"\x89PNG")
    assert "What limits on 2 ranks" in (folder / "report.txt").read_text()
    assert not list(folder.glob("*.h5*"))

    # Elsewhere the same comes of the runs alone.
    (folder / "scaling.csv").unlink()
    (folder / "scaling.png").unlink()
    redrawn = subprocess.run([sys.executable, ROOT / "jobscripts" / "scaling.py", "-o", folder, "--redraw"],
                             capture_output=True, text=True, timeout=60, env=environment())
    assert redrawn.returncode == 0 and "What limits on 2 ranks" in redrawn.stdout, redrawn.stderr
    assert table(folder) == rows and (folder / "scaling.png").exists()

    # The run that is missing is made, the others are taken as they are.
    kept = folder / "runs" / "strong-00001-0.json"
    found = json.loads(kept.read_text())
    kept.write_text(json.dumps(dict(found, wall_s=1000.0)))
    (folder / "runs" / "weak-00002-1.json").unlink()
    again = call(folder, *shape)
    assert again.returncode == 0, again.stderr
    assert again.stdout.count(" kept: ") == 7 and again.stdout.count(" ran: ") == 1
    assert float(table(folder)[0]["wall_s"]) > 400

    other = call(folder, *shape, options=[*SHORT, "--chunk", "10"])
    assert other.returncode == 1 and "measured by another command" in other.stderr


@needs_program
def test_a_dry_run_shows_commands_and_runs_nothing(tmp_path):
    done = call(tmp_path / "out", "--ranks", "1,2", "--repeat", "1", *WEAK, "--dry-run")
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) == 4, done.stderr
    assert lines[1].startswith("mpirun -n 2 ") and "linspace: [0, 3, 16]" in lines[3]
    assert not (tmp_path / "out").exists()


def test_inside_a_slurm_job_srun_spreads_ranks_over_its_nodes(tmp_path):
    for name in ("srun", "nvidia-smi"):
        (tmp_path / name).write_text("#!/bin/sh\necho 'GPU 0: x'\necho 'GPU 1: x'\n")
        (tmp_path / name).chmod(0o755)
    done = call(tmp_path / "out", "--repeat", "1", "--dry-run", options=[], SLURM_JOB_ID="1",
                SLURM_JOB_NUM_NODES="4", PATH=f"{tmp_path}:{os.environ['PATH']}")
    starts = [line.partition(" --ntasks")[0].split("--nodes=")[1] for line in done.stdout.splitlines()]
    assert starts == ["1", "1", "2", "4"], done.stdout + done.stderr
    assert "--ntasks=8 " in done.stdout and "--threads" not in done.stdout


@pytest.mark.parametrize("args, said", [
    (["--ranks", "1,x"], "must be whole numbers"),
    (["--no-strong"], "leaves nothing to run"),
    (["--weak", "axes.G=[1, 2]"], "must hold {n}"),
])
def test_bad_requests_are_refused_in_one_line(tmp_path, args, said):
    done = call(tmp_path, *args)
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("text, said", [(None, "holds no run"), ("[]", "is no run of scaling.py"),
                                        ('{"kind": "weak"}', "is no run of scaling.py")])
def test_what_cannot_be_redrawn_is_said_in_one_line(tmp_path, text, said):
    (tmp_path / "runs").mkdir()
    if text:
        (tmp_path / "runs" / "weak-00001-0.json").write_text(text)
    done = subprocess.run([sys.executable, ROOT / "jobscripts" / "scaling.py", "-o", tmp_path, "--redraw"],
                          capture_output=True, text=True, timeout=60, env=environment())
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr


def test_a_failing_run_is_shown_with_its_command(tmp_path):
    done = call(tmp_path / "out", "--ranks", "1", "--launcher", "sh -c 'echo no licence >&2; exit 3'")
    assert done.returncode == 1
    assert "ended with exit code 3" in done.stderr and "no licence" in done.stderr


def numbers(kind, ranks, points, **seconds):
    found = dict.fromkeys(("up_s", "down_s", "disk_s", "wait_s", "finish_s", "read_s", "device_s", "compile_s",
                           "create_s", "start_up_s"), 0.0)
    found.update(seconds, kind=kind, ranks=ranks, points=points, steps=10, bytes=1, devices=[{"host": "a"}])
    return kind, ranks, found


def test_speed_up_efficiency_and_the_limit_follow_from_the_seconds():
    rows = scaling.tabulate([
        numbers("strong", 2, 80, total_s=10.0, wall_s=8.0, march_s=8.0),
        numbers("strong", 8, 80, total_s=5.0, wall_s=3.0, march_s=2.0, wait_s=1.0, start_up_s=2.0, create_s=1.6),
        numbers("weak", 1, 10, total_s=4.0, wall_s=4.0, march_s=4.0),
        numbers("weak", 4, 40, total_s=8.0, wall_s=5.0, march_s=4.0, start_up_s=0.0),
    ])
    assert [round(r["speed_up"], 3) for r in rows] == [1, 2.667, 1, 3.2]
    assert [round(r["efficiency"], 3) for r in rows] == [1, 0.667, 1, 0.8]
    assert [round(r["efficiency_of_all"], 3) for r in rows] == [1, 0.5, 1, 0.5]
    assert [rows[1]["limit"], rows[3]["limit"]] == ["create_s", "launch_s"]

"""tests/gpu/several.py, tried on CPU ranks: what it measures where there are several GPUs."""

import csv
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from program import PROGRAM, environment, needs_program  # noqa: E402


@needs_program
def test_every_part_is_measured(tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    words = [ROOT / "tests" / "gpu" / "several.py", "--backend", "cpu", "--quick", "--ranks", "1,2",
             "--disk", tmp_path / "disk", "-o", tmp_path / "out"]
    done = subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, timeout=300,
                          cwd=work, env=environment(GRIDMARCH=str(PROGRAM)))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("bitwise equal") == 2
    for name, kinds in {"strong": ["strong", "weak"], "long": ["strong"], "written": ["strong"],
                        "disk": ["strong"]}.items():
        with open(tmp_path / "out" / name / "scaling.csv", newline="") as file:
            found = [(row["kind"], row["ranks"]) for row in csv.DictReader(file)]
        assert found == [(kind, n) for kind in kinds for n in "12"]
    forecast = re.findall(r"^(strong|long|written) +([12])( +[\d.]+){3}$", done.stdout, re.MULTILINE)
    assert len(forecast) == 6, done.stdout
    assert not list(work.glob("*.h5")) and not list((tmp_path / "disk").iterdir())

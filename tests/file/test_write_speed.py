"""The benchmark of writing beside plain MPI-IO: it runs, compares like with like, and leaves nothing."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from program import environment  # noqa: E402

needs_bench = pytest.mark.skipif("GM_WRITE_SPEED" not in os.environ, reason="GM_WRITE_SPEED is not set")


@needs_bench
def test_it_prints_a_line_for_each_size_and_leaves_nothing(tmp_path):
    bench = ROOT / "tests/bench/write_speed.py"
    done = subprocess.run([sys.executable, bench, tmp_path, "--mib", "2", "--kib", "64,128", "--repeat", "2"],
                          capture_output=True, text=True, timeout=120, env=environment())
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[2:]]
    assert [row[:2] for row in rows] == [[str(tmp_path), "64"], [str(tmp_path), "128"]]
    for row in rows:
        plain, ours, ratio = map(float, row[2:5])
        assert plain > 0 and ours > 0 and abs(ratio - ours / plain) < 0.02 * ratio + 0.01
    assert not list(tmp_path.iterdir())


@needs_bench
def test_accesses_that_do_not_fit_are_refused(tmp_path):
    done = subprocess.run([os.environ["GM_WRITE_SPEED"], tmp_path, "1", "100", "1"], capture_output=True, text=True,
                          env=environment())
    assert done.returncode == 2 and "usage" in done.stderr

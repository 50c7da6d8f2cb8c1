"""Before a result is made the ranks try to write one file in its folder together; what does not work
is an early error, and nothing is left. `gridmarch doctor FOLDER` tries the same."""

import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import EXAMPLES, PROGRAM, environment, march, needs_program, run  # noqa: E402

pytestmark = needs_program

SWEEP = EXAMPLES / "lorenz63.yaml"
IO = 4


@pytest.mark.parametrize("ranks, fault, words", [
    (0, "selfcheck@2=fail", "rank 0 on "), (3, "selfcheck#1@1=fail", "rank 0 on "),
    (3, "selfcheck#0@3=fail", "rank 2 on ")])
def test_a_folder_that_does_not_keep_what_ranks_write_is_refused(tmp_path, ranks, fault, words):
    done = run("run", SWEEP, "-o", tmp_path / "r.h5", "--quiet", ranks=ranks,
               env={"GRIDMARCH_FAULT": fault})
    assert done.code == IO and len(done.messages) == 1, done.err
    assert words in done.messages[0] and "reads other bytes" in done.messages[0]
    assert list(tmp_path.iterdir()) == []


def test_what_a_kill_left_of_it_is_removed_by_the_next_run(tmp_path):
    output = tmp_path / "r.h5"
    run("run", SWEEP, "-o", output, "--quiet", env={"GRIDMARCH_FAULT": "selfcheck@1=kill"})
    assert (tmp_path / "r.h5.selfcheck").exists() and not output.exists()
    march(SWEEP, output, "--quiet", ranks=2)
    assert list(tmp_path.iterdir()) == [output]


@pytest.mark.parametrize("ranks", [0, 3])
def test_doctor_tries_a_folder(tmp_path, ranks):
    done = run("doctor", tmp_path, ranks=ranks)
    assert done.code == 0, done.err
    said = f"ok: {ranks or 1} rank{'s' if ranks else ''} wrote one file and read it back"
    assert done.out.count(said) == 1 and done.out.count(f"{tmp_path} is on ") == 1
    assert list(tmp_path.iterdir()) == []


def test_doctor_says_what_is_wrong_with_a_folder(tmp_path):
    done = run("doctor", tmp_path / "nowhere", ranks=2)
    assert done.code == IO and len(done.messages) == 1 and "no such file or folder" in done.err
    assert "Folder" not in done.out
    (tmp_path / "file").touch()
    done = run("doctor", tmp_path / "file")
    assert done.code == IO and "is no folder" in done.err
    done = run("doctor", "/dev/shm")
    assert done.code == 0 and "lost when the host restarts" in done.out


def test_a_folder_that_the_ranks_do_not_share_is_named(tmp_path):
    """As on hosts with a folder of this name each: here they start in different ones."""
    words = ["mpirun", "--oversubscribe"]
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        words += [":"] if name == "b" else []
        words += ["-n", "1", "-wdir", tmp_path / name, PROGRAM, "doctor", "."]
    done = subprocess.run([os.fspath(word) for word in words], env=environment(), text=True,
                          capture_output=True, timeout=60, check=False)
    assert done.returncode == IO, done.stderr
    assert "rank 1 on " in done.stderr and "a folder that all hosts share" in done.stderr
    assert not list(tmp_path.rglob("*selfcheck*"))

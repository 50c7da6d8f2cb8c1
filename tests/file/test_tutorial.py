"""docs/tutorial.md does what it says: its files are saved, its commands run in order, and what it
shows of their output and pictures is what they give."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import PROGRAM, ROOT, environment, needs_program  # noqa: E402

pytestmark = [needs_program,
              pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here")]
TUTORIAL = ROOT / "docs" / "tutorial.md"


def blocks():
    """(language, text, name of the file to save it as or None), as they come."""
    parts = re.split(r"^```(.*)\n", TUTORIAL.read_text(), flags=re.M)
    for before, language, text in zip(parts[::4], parts[1::4], parts[2::4]):
        saved = re.search(r"Save this as `([^`]+)`:\s*$", before)
        yield language, text, saved.group(1) if saved else None


def script():
    """One shell script of all blocks, and what it must print after each command: a list of lines."""
    lines, expected = ["set -e"], []
    for language, text, name in blocks():
        if name:
            lines.append(f"cat >{name} <<'END OF FILE'\n{text}END OF FILE")
        elif language == "sh":
            lines.append(text)
        elif language == "python":
            lines.append(f"python3 - <<'END OF FILE'\n{text}END OF FILE")
        else:
            assert language == "" and lines, f"a block of {language} that nothing is done with"
            expected += [line for line in text.splitlines() if line != "..."]
    return "\n".join(lines), expected


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """The tutorial, followed in a checkout of its own: (folder, what was printed)."""
    root = tmp_path_factory.mktemp("checkout")
    (root / "build" / "release").mkdir(parents=True)
    (root / "bin").mkdir()
    os.symlink(PROGRAM, root / "build" / "release" / "gridmarch")
    os.symlink(ROOT / "examples", root / "examples")
    python = root / "bin" / "python3"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    env = environment(PATH=f"{root / 'bin'}:{os.environ['PATH']}", XDG_CACHE_HOME=str(root / "cache"))
    done = subprocess.run(["bash", "-c", script()[0]], cwd=root, env=env, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    assert done.returncode == 0, done.stdout
    return root / "fhn", done.stdout


def test_it_prints_what_it_shows(followed):
    printed = followed[1].splitlines()
    expected = script()[1]
    assert len(expected) > 10
    for line in expected:
        known = line.split(" ...")[0]  # the rest differs from machine to machine
        assert any(p == line or (known != line and p.startswith(known)) for p in printed), line


def test_it_makes_the_pictures_it_shows(followed):
    shown = re.findall(r"!\[[^]]+\]\(images/([^)]+)\)", TUTORIAL.read_text())
    assert len(shown) == 2
    for name in shown:
        made = (followed[0] / name).read_bytes()
        kept = (ROOT / "docs" / "images" / name).read_bytes()
        assert made[:8] == kept[:8] == b"\x89PNG\r\n\x1a\n"


def test_its_numbers_are_those_of_the_result(followed):
    xarray = pytest.importorskip("xarray")
    sweep = xarray.open_dataset(followed[0] / "fhn.h5")
    fires = sweep.V_max.isel(node=8) > 1
    assert not fires.sel(G=slice(0, 0.175)).any() and fires.sel(G=slice(0.175, 0.4)).all()
    flow = sweep.flow_max.isel(node=8)
    assert 5.5 < float(flow.sel(G=0.18, method="nearest") / flow.sel(G=0.15, method="nearest")) < 6.5
    peak = sweep.V.sel(G=0.25, method="nearest").argmax("time").values
    assert peak.argmin() == 0 and peak.max() == peak[7:10].max()

"""A model of one's own: compiled at run time, the same numbers as the built-in one, cached, refused in
plain words."""
import os
import pathlib
import shutil
import sys

import h5py
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from program import ROOT, march, run  # noqa: E402

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here")

SWEEP = """
model: {model}
network: {{weights: w.csv, normalise: none, symmetric: as_is, self_connections: drop}}
axes: {{G: {{linspace: [0, 1, 6]}}}}
parameters: {{sigma_x: 0.02}}
time: {{dt: 0.1, duration: 20, transient: 2}}
integrator: heun
record: {{last: all, mean: all, trajectory: {{variables: [x], every: 10}}}}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a network and hopf as a user's file; a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "w.csv").write_text("0,1,2\n3,0,1\n1,2,0\n")
    shutil.copy(ROOT / "kernels" / "models" / "hopf.h", tmp_path / "mine.h")
    (tmp_path / "mine.yaml").write_text(SWEEP.format(model="./mine.h"))
    (tmp_path / "built_in.yaml").write_text(SWEEP.format(model="hopf"))
    return tmp_path


def recorded(path):
    with h5py.File(path) as file:
        return {name: file[name][()].tobytes() for name in ("x", "x_last", "y_mean", "failed_step")}


def entries(folder):
    cache = folder / "cache" / "gridmarch"
    return sorted(os.listdir(cache)) if cache.exists() else []


def test_a_built_in_model_as_a_users_file_gives_the_same_bits(folder):
    march(folder / "mine.yaml", folder / "mine.h5")
    march(folder / "built_in.yaml", folder / "built_in.h5")
    assert recorded(folder / "mine.h5") == recorded(folder / "built_in.h5")


def test_eight_ranks_compile_once_and_the_next_run_not_at_all(folder):
    march(folder / "mine.yaml", folder / "a.h5", ranks=8)
    first = entries(folder)
    assert len(first) == 1
    before = os.stat(folder / "cache" / "gridmarch" / first[0]).st_ino
    march(folder / "mine.yaml", folder / "b.h5", ranks=2)
    assert entries(folder) == first
    assert os.stat(folder / "cache" / "gridmarch" / first[0]).st_ino == before
    assert recorded(folder / "a.h5") == recorded(folder / "b.h5")


def test_a_changed_model_is_compiled_anew_and_is_another_sweep(folder):
    march(folder / "mine.yaml", folder / "a.h5")
    text = (folder / "mine.h").read_text()
    (folder / "mine.h").write_text(text.replace("growth * s->y", "2 * growth * s->y"))
    again = run("run", folder / "mine.yaml", "-o", folder / "a.h5")
    assert again.code == 3
    march(folder / "mine.yaml", folder / "b.h5")
    assert len(entries(folder)) == 2


def test_no_cache_leaves_nothing(folder):
    march(folder / "mine.yaml", folder / "a.h5", "--no-cache")
    assert entries(folder) == []


def test_a_kernel_compiled_before_is_used_by_file(folder):
    done = run("compile", folder / "mine.yaml", "-o", folder / "k.kernel")
    assert done.code == 0 and (folder / "k.kernel").stat().st_size > 1000
    march(folder / "mine.yaml", folder / "a.h5", "--kernel", folder / "k.kernel")
    march(folder / "mine.yaml", folder / "b.h5", "--no-cache")
    assert recorded(folder / "a.h5") == recorded(folder / "b.h5")
    spoilt = bytearray((folder / "k.kernel").read_bytes())
    spoilt[-100] ^= 1
    (folder / "k.kernel").write_bytes(spoilt)
    refused = run("run", folder / "mine.yaml", "-o", folder / "c.h5", "--kernel", folder / "k.kernel")
    assert refused.code == 2 and "spoilt" in refused.err


def test_a_kernel_of_another_model_is_refused(folder):
    run("compile", folder / "mine.yaml", "-o", folder / "k.kernel")
    text = (folder / "mine.h").read_text()
    (folder / "mine.h").write_text(text.replace("growth * s->y", "2 * growth * s->y"))
    refused = run("run", folder / "mine.yaml", "-o", folder / "c.h5", "--kernel", folder / "k.kernel")
    assert refused.code == 2 and "another sweep, model" in refused.err


@pytest.mark.parametrize("ranks", [0, 3])
def test_a_compilers_message_names_the_users_line_once(folder, ranks):
    text = (folder / "mine.h").read_text()
    (folder / "mine.h").write_text(text.replace("gm_real growth =", "gm_real growht ="))
    line = next(i for i, l in enumerate((folder / "mine.h").read_text().splitlines(), 1)
                if "growth * s->x" in l)
    done = run("run", folder / "mine.yaml", "-o", folder / "a.h5", ranks=ranks)
    assert done.code == 2 and done.err.count("the C compiler refuses this model") == 1
    assert f"mine.h:{line}:" in done.err and not (folder / "a.h5").exists()


def test_a_name_that_no_list_has_is_said_before_any_compiler(folder):
    text = (folder / "mine.h").read_text()
    (folder / "mine.h").write_text(text.replace("m->w * s->x", "m->omega * s->x"))
    done = run("run", folder / "mine.yaml", "-o", folder / "a.h5")
    assert done.code == 2 and "omega" in done.err and "mine.h:" in done.err
    assert "compiler" not in done.err and entries(folder) == []

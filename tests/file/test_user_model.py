"""A model of one's own: compiled at run time, the same numbers as the built-in one, cached, refused in
plain words; and what there is to do without a compiler."""
import os
import pathlib
import shutil
import signal
import sys
import time

import h5py
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from program import ROOT, kill, march, run, start  # noqa: E402

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


# --- without a compiler ---------------------------------------------------------------------------

NO_COMPILER = {"CC": "/nowhere/cc"}


def default_kernel(folder):
    """This processor's, from the name of the kernel that is made for it by default."""
    done = run("compile", folder / "mine.yaml", "--backend", "cpu")
    assert done.code == 0, done.err
    kernel, = folder.glob("mine.yaml.*.kernel")
    return kernel, kernel.name.removeprefix("mine.yaml.").removesuffix(".kernel")


@pytest.mark.parametrize("ranks", [0, 2])
def test_without_a_compiler_the_message_says_what_to_do(folder, ranks):
    kernel, name = default_kernel(folder)
    kernel.unlink()
    done = run("run", folder / "mine.yaml", "-o", folder / "a.h5", ranks=ranks, env=NO_COMPILER)
    assert done.code == 6 and len(done.messages) == 1, done.err
    message, = done.messages
    assert 'mine.h must be compiled, and here it cannot be: CC names "/nowhere/cc"' in message
    assert f"gridmarch compile {folder / 'mine.yaml'} --arch {name}" in message
    assert not (folder / "a.h5").exists()
    march(folder / "built_in.yaml", folder / "b.h5", env=NO_COMPILER)


@pytest.mark.parametrize("ranks", [0, 2])
def test_a_kernel_beside_the_sweep_file_is_used_where_there_is_no_compiler(folder, ranks):
    march(folder / "mine.yaml", folder / "a.h5", "--no-cache")
    kernel, _ = default_kernel(folder)
    done = run("run", folder / "mine.yaml", "-o", folder / "b.h5", ranks=ranks, env=NO_COMPILER)
    assert done.code == 0 and f"using the kernel in {kernel}" in done.err
    other = kernel.rename(folder / "other.kernel")
    march(folder / "mine.yaml", folder / "c.h5", "--kernel", other, ranks=ranks, env=NO_COMPILER)
    assert recorded(folder / "a.h5") == recorded(folder / "b.h5") == recorded(folder / "c.h5")


def test_a_run_killed_while_it_fills_a_cold_cache_spoils_nothing(folder):
    march(folder / "mine.yaml", folder / "a.h5", "--no-cache")
    cache = folder / "cache" / "gridmarch"
    for pause in (0, 0, 0.0002, 0.001):
        shutil.rmtree(cache, ignore_errors=True)
        process = start("run", folder / "mine.yaml", "-o", folder / "b.h5", "--overwrite", "--quiet")
        while process.poll() is None and not cache.exists():
            pass  # it appears when the first byte is still to be written
        time.sleep(pause)
        kill(process.pid)
        process.communicate()
        march(folder / "mine.yaml", folder / "b.h5", "--overwrite")
        assert recorded(folder / "a.h5") == recorded(folder / "b.h5")
        assert len([name for name in entries(folder) if len(name) == 32]) == 1


# --- NVRTC, which needs no GPU to compile ---------------------------------------------------------


@pytest.fixture
def with_cuda(folder):
    """Skips where the program cannot compile for GPUs."""
    done = run("compile", folder / "mine.yaml", "--arch", "sm_90", "-o", folder / "found.kernel")
    if done.code != 0:
        pytest.skip(done.err.strip())
    return folder


@pytest.mark.parametrize("wish, words", [
    ("none", "GRIDMARCH_NVRTC is none"),
    ("/nowhere/libnvrtc.so", 'GRIDMARCH_NVRTC names "/nowhere/libnvrtc.so", which cannot be loaded'),
    ("libm.so.6", 'GRIDMARCH_NVRTC names "libm.so.6", which cannot be loaded'),
])
def test_nvrtc_can_be_hidden(with_cuda, wish, words):
    env = {"GRIDMARCH_NVRTC": wish}
    done = run("compile", with_cuda / "mine.yaml", "--arch", "sm_90", env=env)
    assert done.code == 6 and words in done.err
    assert words in run("doctor", env=env).out
    march(with_cuda / "mine.yaml", with_cuda / "a.h5", env=env)  # the CPU needs none of it


@pytest.mark.parametrize("name", ["sm_12", "sm_9x", "sm_"])
def test_an_unknown_gpu_architecture_is_refused_with_those_that_there_are(with_cuda, name):
    done = run("compile", with_cuda / "mine.yaml", "--arch", name, "-o", with_cuda / "no.kernel")
    assert done.code == 2 and f"no architecture '{name}'" in done.err and "sm_90" in done.err
    assert len(done.messages) == 1 and not (with_cuda / "no.kernel").exists()


def test_nvrtc_can_be_named(with_cuda):
    env = {"GRIDMARCH_NVRTC": "libnvrtc.so"}
    if "NVRTC     ok: of CUDA" not in run("doctor", env=env).out:
        pytest.skip("the loader does not find libnvrtc.so")
    done = run("compile", with_cuda / "mine.yaml", "--arch", "sm_90", "-o", with_cuda / "named.kernel",
               env=env)
    assert done.code == 0, done.err
    assert (with_cuda / "named.kernel").read_bytes() == (with_cuda / "found.kernel").read_bytes()


DIVIDING = """
#define GM_STATES(X)  X(x, 1.0, "1", "state")
#define GM_PARAMS(X)  X(a, 1.0, "1", "rate")
#define GM_DERIVED(X) X(q, @derived, "1", "derived")
#include "gm_model.h"
GM_FN void gm_drift(const gm_params *m, const gm_state *s, const gm_drive *c, gm_state *d)
{ (void)c; const int k = (int)(s->x * 0); d->x = @drift - m->a * s->x; }
"""
DIVIDING_SWEEP = """
model: ./d.h
time: {dt: 0.1, duration: 1}
integrator: euler
record: {last: [x, q]}
"""


def run_dividing(folder, derived, drift):
    (folder / "d.h").write_text(DIVIDING.replace("@derived", derived).replace("@drift", drift))
    (folder / "d.yaml").write_text(DIVIDING_SWEEP)
    return run("run", folder / "d.yaml", "-o", folder / "d.h5")


def test_a_division_of_whole_numbers_by_zero_is_refused(folder):
    done = run_dividing(folder, "1/0", "k")
    assert done.code == 2 and "d.h:4" in done.err and "division by zero" in done.err


def test_a_fault_of_the_processor_names_model_and_rank(folder):
    done = run_dividing(folder, "s->x", "(float)(7 / k)")
    if "runtime error: division by zero" in done.err:
        pytest.skip("a sanitizer has noticed it first")
    assert done.code == -signal.SIGFPE
    assert done.messages[-1].startswith("rank 0: SIGFPE while marching the model d: ")


def test_a_kernel_and_no_compiling_exclude_each_other(folder):
    done = run("run", folder / "mine.yaml", "-o", folder / "r.h5", "--kernel", "k", "--no-compile")
    assert done.code == 2 and "not both" in done.err

"""The same numbers, bit for bit, whatever number of ranks, size of tiles and length of chunks."""

import pathlib
import sys

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import RING, assert_same, march, needs_program, run, write  # noqa: E402

pytestmark = needs_program

# Everything that could depend on who computes a point, and when: noise, random initial values, an
# input that varies, statistics after a transient, a trajectory whose samples fall across chunks.
SWEEP = f"""
model: wilson_cowan
network: {{weights: {RING}, normalise: maximum, symmetric: required, self_connections: drop}}
axes:
  G: {{linspace: [0, 3, 7]}}
  seed: [1, 2, 3, 4, 5]
parameters: {{sigma_e: 0.02, sigma_i: 0.01}}
initial: {{E: {{uniform: [0, 0.1]}}}}
inputs: {{p_e: {{file: drive.csv, step: 0.7, interpolation: linear}}}}
time: {{dt: 0.1, duration: 40, transient: 5}}
integrator: heun
record: {{last: all, mean: all, variance: all, min: all, max: all,
         trajectory: {{variables: all, every: 7}}}}
"""

TILINGS = {
    "small": ["--tile", 3, "--chunk", 11],
    "odd": ["--tile", 17, "--chunk", 64],
    "whole": ["--tile", 1000, "--chunk", 100000, "--threads", 2],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("ranks")
    np.savetxt(path / "drive.csv", 0.6 + 0.4 * np.sin(np.arange(60)), fmt="%.17g")
    write(path / "s.yaml", SWEEP)
    return path


@pytest.fixture(scope="module")
def one_rank(folder):
    return march(folder / "s.yaml", folder / "one.h5")


@pytest.mark.parametrize("tiling", TILINGS)
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_ranks_tiles_and_chunks_change_nothing(folder, one_rank, ranks, tiling):
    path = folder / f"{ranks}_{tiling}.h5"
    assert_same(march(folder / "s.yaml", path, *TILINGS[tiling], ranks=ranks), one_rank)


def test_the_reference_is_alive(one_rank):
    with h5py.File(one_rank) as file:
        assert (file["status"][()] == 1).all() and (file["failed_step"][()] == -1).all()
        last = file["E_last"][()]
        assert np.isfinite(file["E"][()]).all()
        assert len(np.unique(last)) == last.size  # no two points, no two nodes are alike


@pytest.mark.parametrize("precision", ["fp32", "fp64"])
@pytest.mark.parametrize("settings", [
    ["model=hopf", "parameters={sigma_x: 0.1, sigma_y: 0.1, a: -0.1}", "inputs=null",
     "initial={y: {uniform: [-1, 1]}}"],
    ["model=kuramoto", "parameters={sigma: 0.1}", "inputs=null",
     "initial={theta: {uniform: [0, 6]}}"],
])
def test_other_models_do_not_depend_on_ranks_either(folder, tmp_path, settings, precision):
    change = [word for one in [*settings, f"precision={precision}"] for word in ("--set", one)]
    first = march(folder / "s.yaml", tmp_path / "1.h5", *change)
    third = march(folder / "s.yaml", tmp_path / "3.h5", *change, *TILINGS["small"], ranks=3)
    assert_same(third, first)


def test_a_point_alone_equals_the_same_point_among_others(folder, one_rank, tmp_path):
    """Noise belongs to the point's number: the first point is the same in any sweep it begins."""
    change = ["--set", "axes.G=[0]", "--set", "axes.seed=null", "--set", "seed=1"]
    alone = march(folder / "s.yaml", tmp_path / "r.h5", *change)
    with h5py.File(one_rank) as many, h5py.File(alone) as one:
        for name in ("E", "I_mean", "E_variance", "I_last"):
            assert many[name][0, 0].tobytes() == one[name][0].tobytes()


@pytest.mark.parametrize("axes", [
    "axes={G: [1]}",
    "axes={G: [0, 1]}",
    "axes=null",
    "axes={seed: {range: [1, 9, 1]}}",
    "axes={initial.I: [0, 0.1, 0.2], c_ee: [14, 16]}",
])
def test_few_points_on_many_ranks(folder, tmp_path, axes):
    """More ranks than points, one point, no axes, seeds as the only axis."""
    first = march(folder / "s.yaml", tmp_path / "1.h5", "--set", axes)
    fourth = march(folder / "s.yaml", tmp_path / "4.h5", "--set", axes, ranks=4)
    assert_same(fourth, first)


@pytest.mark.parametrize("schedule", ["static", "dynamic"])
def test_one_point_on_eight_ranks(folder, tmp_path, schedule):
    axes = ["--set", "axes={G: [1.5]}"]
    first = march(folder / "s.yaml", tmp_path / "1.h5", *axes)
    eighth = march(folder / "s.yaml", tmp_path / "8.h5", *axes, "--schedule", schedule, ranks=8)
    assert_same(eighth, first)


def test_a_zip_on_three_ranks_takes_the_axes_value_by_value(folder, one_rank, tmp_path):
    axes = "axes={G: [0, 0.5, 1, 1.5, 2], seed: [5, 4, 3, 2, 1], initial.I: [0, 0.1, 0, 0.1, 0]}"
    change = ["--set", "design=zip", "--set", axes]
    first = march(folder / "s.yaml", tmp_path / "1.h5", *change)
    third = march(folder / "s.yaml", tmp_path / "3.h5", *change, "--tile", 1, ranks=3)
    assert_same(third, first)
    with h5py.File(first) as file:
        assert file["E_last"].shape == (5, 16)
        assert file["seed"][()].tolist() == [5, 4, 3, 2, 1]
        assert file["initial_I"][()].tolist() == [0, 0.1, 0, 0.1, 0]


def test_seeds_decide_the_noise_and_nothing_else_does(folder, tmp_path):
    change = ["--set", "axes={seed: [1, 2]}", "--set", "time.duration=10"]
    one = march(folder / "s.yaml", tmp_path / "1.h5", *change)
    again = march(folder / "s.yaml", tmp_path / "2.h5", *change)
    assert_same(again, one)
    with h5py.File(one) as file:
        assert (file["E_last"][0] != file["E_last"][1]).all()


def test_a_point_that_diverges_leaves_the_others_alone(tmp_path):
    sweep = write(tmp_path / "s.yaml", """
model: lorenz63
axes: {initial.x: [1, 1.e+200, 2, 3, -1.e+250]}
time: {dt: 0.01, duration: 1}
integrator: rk4
precision: fp64
record: {last: all, max: [z]}
""")
    first = march(sweep, tmp_path / "1.h5")
    assert_same(march(sweep, tmp_path / "3.h5", "--tile", 2, "--chunk", 7, ranks=3), first)
    with h5py.File(first) as file:
        assert file["status"][()].tolist() == [1, 2, 1, 1, 2]
        assert (file["failed_step"][()] >= 0).tolist() == [False, True, False, False, True]
        assert np.isfinite(file["x_last"][()][[0, 2, 3]]).all()
    info = run("info", first)
    assert "3 done" in info.out and "2 diverged" in info.out
    again = run("run", sweep, "-o", first)
    assert again.code == 0 and "nothing to do" in again.err


DOUBLES = """
#define GM_MODEL_NAME      "doubles"
#define GM_MODEL_DOC       "is doubled by each Euler step of 1"
#define GM_MODEL_SOURCE    "none"
#define GM_MODEL_TIME_UNIT "1"
#define GM_STATES(X)       X(x, 1.0, "1", "what grows")
#define GM_PARAMS(X)       X(a, 1.0, "1", "rate")
#include "gm_model.h"
GM_FN void gm_drift(const gm_params *m, const gm_state *s, const gm_drive *c, gm_state *d)
{
    (void)c;
    d->x = m->a * s->x;
}
"""


@pytest.mark.parametrize("ranks, args", [(0, []), (0, ["--tile", 1, "--chunk", 1]),
                                         (0, ["--chunk", 127]), (0, ["--chunk", 128]),
                                         (3, ["--tile", 2, "--chunk", 50])])
def test_the_first_bad_step_is_exact(tmp_path, ranks, args):
    """x = 2^step in single precision: 2^128 is the first that is infinite, whoever computes it."""
    write(tmp_path / "doubles.h", DOUBLES)
    sweep = write(tmp_path / "s.yaml", """
model: ./doubles.h
axes: {initial.x: [1, 2, 1.7014118346046923e+38, 0, 1024, -0.5, -1.e-3, 1.17549435e-38]}
time: {dt: 1, duration: 300, transient: 100}
integrator: euler
record: {last: all}
""")
    with h5py.File(march(sweep, tmp_path / "r.h5", *args, ranks=ranks)) as file:
        assert file["failed_step"][()].tolist() == [128, 127, 1, -1, 118, 129, 138, 254]
        assert file["status"][()].tolist() == [2, 2, 2, 1, 2, 2, 2, 2]


def test_a_sweep_of_which_every_point_diverges_says_so(tmp_path):
    sweep = write(tmp_path / "s.yaml", """
model: lorenz63
axes: {rho: [1, 2, 3]}
initial: {x: 1.e+30}
time: {dt: 0.01, duration: 1}
integrator: rk4
record: {last: all}
""")
    done = run("run", sweep, "-o", tmp_path / "r.h5", ranks=3)
    assert done.code == 8
    assert len(done.messages) == 1 and "every point diverged" in done.messages[0]

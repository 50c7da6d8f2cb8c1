"""Derived quantities in result files: those of the recorded states, couplings and inputs as NumPy
computes them, for a built-in model and for one of a user's; the same bits however they are computed."""
import pathlib
import shutil
import sys

import h5py
import numpy as np
import pytest
import xarray

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import assert_same, march, needs_program, run, write  # noqa: E402

pytestmark = needs_program

N_NODE, DT, N_STEP, N_TRANSIENT, EVERY = 7, 0.1, 400, 50, 5

SWEEP = f"""
model: wilson_cowan
network: {{weights: w.npy, normalise: none, symmetric: as_is, self_connections: keep}}
axes: {{G: {{linspace: [0, 2, 9]}}, c_ee: [15, 16]}}
parameters: {{sigma_e: 0.01}}
initial: {{E: {{uniform: [0, 0.2]}}}}
inputs: {{p_e: {{file: drive.npy, step: 0.5, interpolation: linear}}}}
time: {{dt: {DT}, duration: {N_STEP * DT:g}, transient: {N_TRANSIENT * DT:g}}}
integrator: heun
precision: fp64
record: {{last: [in_e], mean: [in_e], variance: [in_e],
         trajectory: {{variables: [E, I, in_e], every: 1}}}}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Weights, a drive for each node, and the sweep; a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    random = np.random.default_rng(4)
    np.save(tmp_path / "w.npy", random.random((N_NODE, N_NODE)))
    np.save(tmp_path / "drive.npy", 0.5 + random.random((N_STEP // 5 + 1, N_NODE)))
    write(tmp_path / "s.yaml", SWEEP)
    return tmp_path


def drive_at(folder, times):
    """The input at some times, (time, node)."""
    signal = np.load(folder / "drive.npy")
    return np.array([np.interp(times, 0.5 * np.arange(len(signal)), column)
                     for column in signal.T]).T


def test_it_is_what_numpy_computes_from_the_recorded_states(folder):
    data = xarray.open_dataset(march(folder / "s.yaml", folder / "r.h5", "--chunk", 37))
    weights = np.load(folder / "w.npy")
    net = data.E.values @ weights.T
    big_g, c_ee = (data[name].values for name in ("G", "c_ee"))
    expected = (c_ee[None, :, None, None] * data.E.values - 12 * data.I.values
                + big_g[:, None, None, None] * net + drive_at(folder, data.time.values))
    found = data.in_e
    assert found.dims == ("G", "c_ee", "time", "node") and found.shape == expected.shape
    assert found.attrs["units"] == "1" and found.attrs["long_name"].startswith("input of E: ")
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(data.in_e_mean, expected.mean(axis=2), rtol=1e-12)
    np.testing.assert_allclose(data.in_e_variance, expected.var(axis=2), rtol=1e-9)
    assert (data.in_e_last.values == found.values[:, :, -1]).all()


@pytest.mark.parametrize("precision", ["fp32", "fp64"])
def test_ranks_tiles_and_chunks_change_nothing(folder, precision):
    settings = ["--set", f"precision={precision}"]
    one = march(folder / "s.yaml", folder / "one.h5", *settings)
    for ranks, tile, chunk in ((1, 3, 11), (2, 1, 400), (3, 17, 64)):
        other = march(folder / "s.yaml", folder / "other.h5", "--overwrite", "--tile", tile, "--chunk",
                      chunk, *settings, ranks=ranks)
        assert_same(other, one)


def test_an_interrupted_sweep_is_completed_to_the_same_bits(folder):
    whole = march(folder / "s.yaml", folder / "whole.h5")
    part = folder / "part.h5"
    shutil.copy(whole, part)
    with h5py.File(part, "r+") as file:
        file["status"][4:] = 0
        for name in ("E", "in_e", "in_e_mean", "in_e_last"):
            file[name][4:] = np.nan
    assert_same(march(folder / "s.yaml", part, "--chunk", 33, ranks=2), whole)


def test_recording_it_changes_no_state_and_is_another_sweep(folder):
    march(folder / "s.yaml", folder / "with.h5")
    without = ["--set", "record={trajectory: {variables: [E, I], every: 1}}"]
    march(folder / "s.yaml", folder / "without.h5", *without)
    with h5py.File(folder / "with.h5") as a, h5py.File(folder / "without.h5") as b:
        assert "in_e" not in b and "in_e_mean" not in b
        assert all(a[name][()].tobytes() == b[name][()].tobytes() for name in "EI")
    again = run("run", folder / "s.yaml", "-o", folder / "without.h5")
    assert again.code == 3 and "in_e" in again.err


def test_plan_and_models_list_it_and_a_wrong_name_is_refused(folder):
    plan = run("plan", folder / "s.yaml", "-o", folder / "r.h5")
    assert plan.code == 0 and "in_e           (G, c_ee, time, node)" in plan.out
    assert "in_e_mean      (G, c_ee, node)" in plan.out
    assert "derived quantities (unit)\n  in_e " in run("models", "wilson_cowan").out
    done = run("plan", folder / "s.yaml", "--set", "record={mean: [in_i]}")
    assert done.code == 2
    assert "has no state or derived quantity 'in_i'; did you mean 'in_e'? it has: E, I, in_e" in done.err


USERS = f"""
model: ./fhn.h
network: {{weights: w.npy, normalise: row, symmetric: as_is, self_connections: drop}}
axes: {{G: [0.05, 0.3]}}
inputs: {{I_ext: {{file: drive.npy, step: 0.5, interpolation: hold}}}}
time: {{dt: {DT}, duration: {N_STEP * DT:g}}}
integrator: rk4
precision: fp64
record: {{mean: [flow, slope], max: [slope], trajectory: {{variables: [V, W, flow, slope], every: {EVERY}}}}}
"""


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here")
@pytest.mark.parametrize("ranks", [0, 3])
def test_those_of_a_users_model_are_recorded_alike(folder, ranks):
    text = run("models", "--template", "fhn").out
    more = "\\\n    X(slope, cubic(s->V) - s->W + c->I_ext + from_network(m, s, c), \"1\", \"of V\")\n"
    line = next(line for line in text.splitlines() if line.startswith("#define GM_DERIVED"))
    write(folder / "fhn.h", text.replace(line, f"{line} {more}"))
    write(folder / "u.yaml", USERS)
    data = xarray.open_dataset(march(folder / "u.yaml", folder / "u.h5", ranks=ranks))
    weights = np.load(folder / "w.npy")
    np.fill_diagonal(weights, 0)
    weights /= weights.sum(axis=1, keepdims=True)
    v, w = data.V.values, data.W.values
    flow = data.G.values[:, None, None] * (v @ weights.T - v)
    np.testing.assert_allclose(data.flow, flow, rtol=0, atol=1e-12)
    sample = np.floor(data.time.values / 0.5 + 1e-9).astype(int)  # the latest at or before
    drive = np.load(folder / "drive.npy")[sample]
    slope = v - v ** 3 / 3 - w + drive + flow
    np.testing.assert_allclose(data.slope, slope, rtol=0, atol=1e-12)
    all_steps = ["--set", f"record={{mean: [flow], trajectory: {{variables: [flow], every: 1}}}}"]
    full = xarray.open_dataset(march(folder / "u.yaml", folder / "full.h5", *all_steps))
    np.testing.assert_allclose(data.flow_mean, full.flow.mean("time"), rtol=0, atol=1e-12)
    assert (full.flow.values[:, EVERY - 1::EVERY] == data.flow.values).all()
    assert (data.slope_max >= data.slope.max("time")).all()


COUNTS = """
#define GM_MODEL_NAME      "counts"
#define GM_MODEL_DOC       "counts its steps"
#define GM_MODEL_SOURCE    "none"
#define GM_MODEL_TIME_UNIT "1"
#define GM_STATES(X)       X(x, 0.0, "1", "steps")
#define GM_DERIVED(X)                                                        \\
    X(first, s->x * (s->x - 1) / (s->x - 1), "1", "0 / 0 at the first step") \\
    X(fifth, s->x * (s->x - 5) / (s->x - 5), "1", "0 / 0 at the fifth step") \\
    X(large, s->x + 1 / (s->x - 5), "1", "1 / 0 at the fifth step")
#include "gm_model.h"
GM_FN void gm_drift(const gm_params *m, const gm_state *s, const gm_drive *c, gm_state *d)
{
    (void)m, (void)s, (void)c;
    d->x = 1;
}
"""


@pytest.mark.parametrize("precision", ["fp32", "fp64"])
def test_what_is_no_number_at_some_steps_shows_in_the_mean_and_seldom_in_min_and_max(folder,
                                                                                    precision):
    write(folder / "counts.h", COUNTS)
    write(folder / "c.yaml", f"""
model: ./counts.h
integrator: euler
precision: {precision}
time: {{dt: 1, duration: 10}}
record: {{mean: [first, fifth, large], variance: [first, fifth, large],
         min: [first, fifth, large], max: [first, fifth, large]}}
""")
    data = xarray.open_dataset(march(folder / "c.yaml", folder / "c.h5"))
    found = {name: data[name].item() for name in data.data_vars}
    assert found["status"] == 1
    for name in ("first_mean", "first_variance", "first_min", "first_max", "fifth_mean",
                 "fifth_variance", "large_variance"):
        assert np.isnan(found[name]), name
    assert (found["fifth_min"], found["fifth_max"]) == (1, 10)
    assert (found["large_min"], found["large_max"], found["large_mean"]) == (0.75, np.inf, np.inf)

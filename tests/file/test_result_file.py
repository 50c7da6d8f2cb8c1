"""A result as the people who open it see it: dimensions, coordinates, units, provenance; in xarray
with both of its engines, in h5py, in ncdump.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import EXAMPLES, march, needs_program, provenance, run, runs, write  # noqa: E402

xr = pytest.importorskip("xarray")
pytestmark = needs_program

LABELS = ["lh_bank", "rh_cün", "middle, left", "D"]
GRID = """\
# Umlauts in a comment: Größe
model: wilson_cowan
network: {weights: w.npy, labels: labels.txt, normalise: row, symmetric: averaged,
          self_connections: drop}
axes:
  G: [0.5, 1, 1.5]
  initial.I: [0.05, 0.1]
  seed: [7, 9007199254740991]
parameters: {sigma_e: 0.01}
time: {dt: 0.1, duration: 3, transient: 1}
integrator: heun
record: {last: [I], mean: all, variance: [E], min: [E], max: [E],
         trajectory: {variables: [E], every: 5}}
"""
POINTS = ("G", "initial_I", "seed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("result")
    np.save(path / "w.npy", np.arange(16.0).reshape(4, 4))
    write(path / "labels.txt", "\n".join(f'"{label}"' for label in LABELS))
    write(path / "grid.yaml", GRID)
    return path


@pytest.fixture(scope="module")
def grid(folder):
    return march(folder / "grid.yaml", folder / "grid.h5", "--set", "parameters.c_ee=15.5",
                 "--set", "time.dt=0.1", ranks=2)


@pytest.fixture(scope="module")
def zipped(folder):
    axes = "axes={G: [0, 1, 2], tau_e: [2, 3, 4], seed: [5, 6, 7]}"
    return march(folder / "grid.yaml", folder / "zip.h5", "--set", "design=zip", "--set", axes)


@pytest.fixture(params=["netcdf4", "h5netcdf"])
def engine(request):
    pytest.importorskip({"netcdf4": "netCDF4"}.get(request.param, request.param))
    return request.param


def text_of(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def test_the_last_of_ten_million_steps_is_a_sample(tmp_path):
    sweep = write(tmp_path / "s.yaml", """
model: lorenz63
integrator: euler
time: {dt: 0.001, duration: 10000}
record: {last: [x], trajectory: {variables: [x], every: 1000000}}
""")
    with h5py.File(march(sweep, tmp_path / "r.h5")) as file:
        assert file["time"][()].tolist() == [1000.0 * k for k in range(1, 11)]
        assert file["x"].size == 10 and file["x"][..., 9] == file["x_last"][()]
        assert len(np.unique(file["x"][()])) == 10


@pytest.mark.parametrize("time, every, samples", [
    ("{dt: 0.1, duration: 1, transient: 0.3}", 2, [0.5, 0.7, 0.9]),  # 7 steps: the last has none
    ("{dt: 0.1, duration: 1, transient: 0.9}", 1, [1.0]),
    ("{dt: 0.3333333333333333, duration: 1, transient: 0}", 3, [1.0]),
    ("{dt: 1.0e-5, duration: 0.001, transient: 0.0005}", 25, [0.00075, 0.001]),
])
def test_samples_lie_at_whole_steps_after_the_transient(tmp_path, time, every, samples):
    """Every recorded state equals that of a run which ends there."""
    sweep = write(tmp_path / "s.yaml", f"""
model: lorenz63
integrator: heun
precision: fp64
time: {time}
record: {{last: [x], trajectory: {{variables: [x], every: {every}}}}}
""")
    with h5py.File(march(sweep, tmp_path / "r.h5")) as file:
        np.testing.assert_allclose(file["time"][()], samples, rtol=1e-15)
        x = file["x"][()].ravel()
    for k, end in enumerate(samples):
        short = march(sweep, tmp_path / f"{k}.h5", "-s", f"time.duration={end!r}", "-s",
                      "time.transient=null", "-s", "record={last: [x]}")
        with h5py.File(short) as file:
            assert file["x_last"][()].item() == x[k]


def test_a_grid_has_one_dimension_per_axis(grid, engine):
    with xr.open_dataset(grid, engine=engine) as data:
        assert set(data.coords) == {*POINTS, "time", "node"}
        assert set(data.data_vars) == {"I_last", "E_mean", "I_mean", "E_variance", "E_min", "E_max",
                                       "E", "status", "failed_step", "run", "checksum"}
        for name in ("status", "failed_step", "run", "checksum"):
            assert data[name].dims == POINTS
        for name in ("I_last", "E_mean", "I_mean", "E_variance", "E_min", "E_max"):
            assert data[name].dims == (*POINTS, "node")
        assert data.E.dims == (*POINTS, "time", "node")
        assert data.E.shape == (3, 2, 2, 4, 4) and data.E.dtype == np.float32


def test_coordinates_are_what_the_sweep_says(grid, engine):
    with xr.open_dataset(grid, engine=engine) as data:
        assert data.G.values.tolist() == [0.5, 1, 1.5]
        assert data.initial_I.values.tolist() == [0.05, 0.1]
        assert data.seed.values.tolist() == [7, 2**53 - 1] and data.seed.dtype == np.int64
        np.testing.assert_allclose(data.time, [1.5, 2, 2.5, 3], rtol=1e-15)
        assert data.node.values.tolist() == LABELS
        one = data.E_mean.sel(G=1, initial_I=0.1, seed=7, node="middle, left")
        assert one.values == data.E_mean.values[1, 1, 0, 2]


def test_every_variable_has_units_and_a_name(grid, zipped):
    zipped_axes = {"G", "tau_e"}  # coordinates, though no dimensions
    for path in (grid, zipped):
        with h5py.File(path) as file:
            for name, item in file.items():
                if isinstance(item, h5py.Group):
                    continue
                words = {key: text_of(item.attrs[key]) for key in item.attrs
                         if key in ("units", "long_name")}
                assert len(words.get("long_name", "")) > 3, name
                assert name == "node" or words["units"], name
                if item.dtype.kind == "f" and "CLASS" not in item.attrs and name not in zipped_axes:
                    assert np.isnan(item.attrs["_FillValue"]).all() and np.isnan(item.fillvalue)


def test_attributes_come_from_the_model(grid):
    with xr.open_dataset(grid) as data:
        name = "excitatory activity: mean over time"
        assert data.E_mean.attrs == {"units": "1", "long_name": name}
        assert data.I_last.attrs["long_name"].startswith("inhibitory activity")
        assert data.time.attrs == {"units": "ms", "long_name": "time"}
        assert data.G.attrs == {"units": "1", "long_name": "global coupling"}
        assert data.initial_I.attrs["long_name"] == "inhibitory activity, initial value"
        assert data.attrs["Conventions"] == "CF-1.8"
        assert re.fullmatch(r"gridmarch \d+\.\d+\.\d+\S*", data.attrs["source"])


def test_units_follow_the_quantity(tmp_path):
    sweep = write(tmp_path / "s.yaml", """
model: kuramoto
network: none
axes: {omega: [0.1, 0.2]}
time: {dt: 0.1, duration: 1}
integrator: rk4
precision: fp64
record: {mean: all, variance: all}
""")
    with xr.open_dataset(march(sweep, tmp_path / "r.h5")) as data:
        assert data.omega.attrs["units"] == "rad ms-1"
        assert data.theta_mean.attrs["units"] == "rad"
        assert data.theta_variance.attrs["units"] == "(rad)^2"
        assert data.theta_mean.dims == ("omega", "node") and data.theta_mean.dtype == np.float64


def test_status_tells_pending_done_and_diverged(tmp_path, engine):
    sweep = write(tmp_path / "s.yaml", """
model: lorenz63
axes: {initial.x: [1, 1.0e+30, 2]}
time: {dt: 0.01, duration: 1}
integrator: euler
record: {last: all}
""")
    path = march(sweep, tmp_path / "r.h5")
    with h5py.File(path, "r+") as file:
        file["status"][2] = 0
        file["x_last"][2] = np.nan
    with xr.open_dataset(path, engine=engine) as data:
        assert data.status.dtype == np.uint8 and data.status.values.tolist() == [1, 2, 0]
        assert data.status.attrs["flag_values"].tolist() == [0, 1, 2, 3]
        assert data.status.attrs["flag_meanings"] == "pending done diverged failed"
        assert np.isnan(data.failed_step.values[[0, 2]]).all() and data.failed_step.values[1] >= 0
        assert data.x_last.dims == ("initial_x",)
        assert np.isfinite(data.x_last.values[0]) and np.isnan(data.x_last.values[2])


def test_a_zip_has_one_dimension_and_its_axes_along_it(zipped, engine):
    with xr.open_dataset(zipped, engine=engine) as data:
        assert data.E.dims == ("point", "time", "node") and data.status.dims == ("point",)
        assert set(data.coords) == {"point", "time", "node", "G", "tau_e", "seed"}
        for name, values in (("G", [0, 1, 2]), ("tau_e", [2, 3, 4]), ("seed", [5, 6, 7])):
            assert data[name].dims == ("point",) and data[name].values.tolist() == values
        assert data.tau_e.attrs["units"] == "ms"
        assert data.point.values.tolist() == [0, 1, 2]


def test_a_sweep_without_axes_is_one_point(tmp_path, engine):
    path = march(EXAMPLES / "lorenz63.yaml", tmp_path / "r.h5", "--set", "axes=null")
    with xr.open_dataset(path, engine=engine) as data:
        assert data.x_last.dims == ("point",) and data.x_last.shape == (1,)
        assert set(data.coords) == {"point"}


def test_provenance_can_repeat_the_run(grid, folder, tmp_path):
    found = provenance(grid)
    assert found["sweep"] == GRID
    assert found["overrides"].splitlines() == ["parameters.c_ee=15.5", "time.dt=0.1"]
    assert found["program"] == run("--version").out.strip()
    assert found["model"] == "wilson_cowan" and "1972" in found["model_source"]
    assert re.fullmatch("[0-9a-f]{8,}", found["model_hash"])
    assert found["model_hash"][:16] in found["kernel"] and "fp32" in found["kernel"]
    assert (found["precision"], found["integrator"], found["seed"]) == ("fp32", "heun", "0")
    assert "parameters.c_ee: 15.5\n" in found["canonical"]
    shutil.copy(folder / "w.npy", tmp_path)
    shutil.copy(folder / "labels.txt", tmp_path)
    settings = [word for line in found["overrides"].splitlines() for word in ("--set", line)]
    again = run("run", write(tmp_path / "s.yaml", found["sweep"]), "-o", grid, *settings)
    assert again.code == 0 and "nothing to do" in again.err


def test_provenance_tells_who_computed(grid):
    found = [json.loads(text) for text in runs(grid)]
    assert len(found) == 1
    assert found[0]["ranks"] == 2 and found[0]["points"] == 12 and found[0]["done"] == 12
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found[0]["ended"])
    assert found[0]["kernel"] == provenance(grid)["kernel"]
    assert [device["rank"] for device in found[0]["devices"]] == [0, 1]
    assert all(device["host"] and device["device"] for device in found[0]["devices"])
    assert found[0]["wall_s"] > 0
    with h5py.File(grid) as file:
        assert (file["run"][()] == 0).all()


def test_provenance_opens_in_xarray(grid, engine):
    with xr.open_dataset(grid, engine=engine, group="provenance") as data:
        assert data.attrs["sweep"] == GRID
        assert json.loads(data.run.values[0])["ranks"] == 2


@pytest.mark.skipif(not shutil.which("ncdump"), reason="ncdump is not installed")
def test_ncdump_reads_the_header(grid, zipped):
    header = subprocess.run(["ncdump", "-h", grid], check=True, capture_output=True,
                            text=True).stdout
    assert "float E(G, initial_I, seed, time, node) ;" in header
    assert 'time:units = "ms" ;' in header and "string node(node) ;" in header
    for path in (grid, zipped):
        subprocess.run(["ncdump", path], check=True, capture_output=True)


def test_names_that_the_file_needs_itself_are_kept_apart(tmp_path):
    """An axis over a state's initial value and that state's trajectory do not collide."""
    settings = ["--set", "axes={initial.x: [1, 2], initial.y: [0, 1]}", "--set",
                "record={trajectory: {variables: all, every: 1000}}"]
    path = march(EXAMPLES / "lorenz63.yaml", tmp_path / "r.h5", *settings)
    with xr.open_dataset(path) as data:
        assert data.x.dims == ("initial_x", "initial_y", "time")

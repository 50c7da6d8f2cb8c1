"""The result file as others see it: h5py, xarray with both of its engines, ncdump.

Needs GM_MAKE_STORE, the path of the program built from make_store.c.
"""

import os
import random
import shutil
import subprocess
import time

import pytest

h5py = pytest.importorskip("h5py")
np = pytest.importorskip("numpy")
xr = pytest.importorskip("xarray")

MAKE_STORE = os.environ.get("GM_MAKE_STORE")
LABELS = ["lh_bank", "rh_cün", "A", "B", "C"]

pytestmark = pytest.mark.skipif(not MAKE_STORE, reason="GM_MAKE_STORE is not set")


def make(kind, folder):
    path = folder / f"{kind}.h5"
    subprocess.run([MAKE_STORE, kind, path], check=True, timeout=60)
    return path


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    return make("grid", tmp_path_factory.mktemp("grid"))


@pytest.fixture(scope="module")
def zipped(tmp_path_factory):
    return make("zip", tmp_path_factory.mktemp("zip"))


@pytest.fixture(params=["netcdf4", "h5netcdf"])
def engine(request):
    pytest.importorskip({"netcdf4": "netCDF4"}.get(request.param, request.param))
    return request.param


def trajectory(point):
    t, i = np.meshgrid(np.arange(4), np.arange(5), indexing="ij")
    return point * 100 + t * 10 + i


def test_xarray_shows_dimensions_coordinates_and_units(grid, engine):
    with xr.open_dataset(grid, engine=engine) as data:
        assert data.E.dims == ("G", "seed", "time", "node")
        assert data.E_mean.dims == ("G", "seed", "node")
        assert data.status.dims == ("G", "seed")
        assert set(data.coords) == {"G", "seed", "time", "node"}
        assert data.G.values.tolist() == [0.5, 1.0, 1.5]
        assert data.seed.dtype == np.int64
        assert data.seed.values.tolist() == [7, 2**53 - 1]
        assert data.node.values.tolist() == LABELS
        assert data.time.attrs == {"units": "ms", "long_name": "time"}
        assert data.I_last.attrs["units"] == "mV"
        assert all("long_name" in v.attrs for v in data.variables.values())
        assert all("units" in v.attrs for n, v in data.variables.items() if n != "node")
        assert data.attrs["Conventions"] == "CF-1.8"
        assert data.attrs["source"].startswith("gridmarch ")
        assert data.attrs["title"]


def test_xarray_shows_values_and_nan_where_nothing_was_written(grid, engine):
    with xr.open_dataset(grid, engine=engine) as data:
        assert data.E.dtype == np.float32 and data.I_last.dtype == np.float64
        assert (data.E.sel(G=0.5, seed=7).values == trajectory(0)).all()
        assert (data.E.values[1, 1] == trajectory(3)).all()
        assert np.isnan(data.E.values[2]).all() and np.isnan(data.E_mean.values).all()
        assert data.failed_step.values[0, 1] == 17
        assert np.isnan(data.failed_step.values[0, 0])
        assert data.E.sel(node="rh_cün", time=0.2, G=0.5, seed=7) == 11


def test_status_keeps_its_integers_and_says_what_they_mean(grid, engine):
    with xr.open_dataset(grid, engine=engine) as data:
        assert data.status.dtype == np.uint8
        assert data.status.values.tolist() == [[1, 2], [0, 1], [0, 0]]
        assert data.status.attrs["flag_values"].tolist() == [0, 1, 2, 3]
        assert data.status.attrs["flag_meanings"] == "pending done diverged failed"


def test_provenance_opens_as_a_group(grid, engine):
    with xr.open_dataset(grid, engine=engine, group="provenance") as data:
        assert data.attrs["kernel"] == "cpu fp32"
        assert data.attrs["canonical"] == "dt: 0.1\n"
        assert data.attrs["note"] in ("", "\0")
        assert data.attrs["sweep"] == "#" * 100000
        assert data.run.shape == (32,)
        assert data.run.values[0] == '{"host": "zürich"}'
        assert data.run.values[1] == ""


def test_a_zip_has_one_dimension_and_a_coordinate_per_parameter(zipped, engine):
    with xr.open_dataset(zipped, engine=engine) as data:
        assert data.E_last.dims == ("point",)
        assert set(data.coords) == {"point", "G", "initial.E"}
        assert data.G.dims == ("point",)
        assert data.G.values.tolist() == [0.25, 0.5, 4, 0.125]
        assert np.isnan(data.E_last.values).all()


def test_h5py_finds_scales_fill_values_and_contiguous_data(grid):
    with h5py.File(grid, "r") as file:
        assert [d[0].name for d in file["E"].dims] == ["/G", "/seed", "/time", "/node"]
        assert np.isnan(file["E"].fillvalue) and np.isnan(file["E"].attrs["_FillValue"][0])
        assert file["run"].fillvalue == -1
        assert "_FillValue" not in file["status"].attrs
        for name in ("E", "E_mean", "I_last", "status", "failed_step", "run"):
            assert file[name].chunks is None and file[name].id.get_offset() is not None
        slot = file["provenance/run"][0].tobytes().rstrip(b"\0").decode()
        assert slot == '{"host": "zürich"}'


def test_creation_order_is_tracked_so_that_appending_works(grid, tmp_path, engine):
    copy = tmp_path / "copy.h5"
    shutil.copy(grid, copy)
    with xr.open_dataset(copy, engine=engine) as data:
        extra = data.E_mean.load().rename("extra").drop_vars(["G", "seed", "node"])
    extra = extra.to_dataset()
    extra.to_netcdf(copy, mode="a", engine=engine)
    with xr.open_dataset(copy, engine=engine) as data:
        assert data.extra.dims == ("G", "seed", "node")
        assert "E" in data


@pytest.mark.skipif(not shutil.which("ncdump"), reason="ncdump is not installed")
def test_ncdump_reads_header_and_values(grid, zipped):
    header = subprocess.run(
        ["ncdump", "-h", grid], check=True, capture_output=True, text=True
    ).stdout
    assert "float E(G, seed, time, node) ;" in header
    assert "string node(node) ;" in header
    assert "ubyte status(G, seed) ;" in header
    assert 'time:units = "ms" ;' in header
    assert "run_slot = 32 ;" in header
    for path in (grid, zipped):
        subprocess.run(["ncdump", path], check=True, capture_output=True)


def test_the_file_opens_after_the_writer_was_killed(tmp_path):
    moments = random.Random(1)
    for attempt in range(8):
        path = tmp_path / f"{attempt}.h5"
        with subprocess.Popen([MAKE_STORE, "forever", path], stdout=subprocess.PIPE) as writer:
            try:
                assert writer.stdout.readline() == b"ready\n"
                time.sleep(moments.uniform(0, 0.05))
            finally:
                writer.kill()
        with h5py.File(path, "r") as file:
            status = file["status"][:].ravel()
            values = file["E"][:].reshape(6, 4, 5)
            assert status[0] == 1
            for point in np.flatnonzero(status == 1):
                assert (values[point] == trajectory(point)).all()


def test_a_running_file_can_be_read(tmp_path, engine):
    path = tmp_path / "running.h5"
    with subprocess.Popen([MAKE_STORE, "forever", path], stdout=subprocess.PIPE) as writer:
        try:
            assert writer.stdout.readline() == b"ready\n"
            with xr.open_dataset(path, engine=engine) as data:
                assert data.status.values[0, 0] == 1
            assert writer.poll() is None
        finally:
            writer.kill()

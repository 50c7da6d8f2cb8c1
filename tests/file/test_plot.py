"""examples/plot.py on made-up result files of each kind: what is drawn, said and refused."""
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import xarray as xr

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLOT = ROOT / "examples" / "plot.py"
PNG = b"\x89PNG\r\n\x1a\n"


def variable(dims, values, long_name, units="1"):
    return (dims, values, {"long_name": long_name, "units": units})


def ledger(dims, values):
    return (dims, np.asarray(values, dtype="u1"),
            {"long_name": "what became of the point", "units": "1",
             "flag_values": np.array([0, 1, 2, 3], dtype="u1"),
             "flag_meanings": "pending done diverged failed"})


def write(path, data, coords):
    xr.Dataset(data, coords, {"title": "Wilson-Cowan sweep"}).to_netcdf(path, engine="h5netcdf")
    return path


def nodes(n):
    return variable("node", np.array([f"V{k}" for k in range(n)], dtype=object), "brain region")


@pytest.fixture
def grid(tmp_path):
    """G x tau_e, mean over 3 nodes and a trajectory; E_mean is 10 i + j + node."""
    i, j, k = np.ogrid[:8, :9, :3]
    status = np.ones((8, 9))
    status[2, 3], status[7, :2] = 2, 0
    mean = np.where((status == 1)[:, :, None], 10.0 * i + j + k, np.nan)
    wave = np.sin(np.arange(50) / 5)[None, None, :, None] + mean[:, :, None, :]
    return write(tmp_path / "grid.h5", {
        "E": variable(("G", "tau_e", "time", "node"), wave, "excitatory activity over time"),
        "E_mean": variable(("G", "tau_e", "node"), mean, "mean of excitatory activity", "mV"),
        "status": ledger(("G", "tau_e"), status),
    }, {"G": variable("G", np.linspace(0, 0.7, 8), "global coupling"),
        "tau_e": variable("tau_e", np.geomspace(1, 256, 9), "time constant", "ms"),
        "time": variable("time", np.arange(50) * 0.1, "time", "ms"), "node": nodes(3)})


@pytest.fixture
def curve(tmp_path):
    """G alone, no nodes to average; last = G squared; long enough for the table to be thinned."""
    g = np.linspace(0, 2, 101)
    return write(tmp_path / "curve.h5", {
        "x_last": variable(("G", "node"), (g ** 2)[:, None], "value after the last step", "mV"),
        "status": ledger("G", np.ones(101)),
    }, {"G": variable("G", g, "global coupling"), "node": variable("node", [0], "node")})


@pytest.fixture
def scattered(tmp_path):
    rng = np.random.default_rng(1)
    a, b = rng.random(40), rng.random(40)
    return write(tmp_path / "zip.h5", {
        "E_mean": variable(("point", "node"), (a * b)[:, None] * np.ones(2), "mean activity"),
        "status": ledger("point", [1] * 38 + [0, 3]),
    }, {"a": variable("point", a, "gain"), "b": variable("point", b, "bias", "nA"),
        "point": variable("point", np.arange(40), "point"), "node": nodes(2)})


def run(*argument):
    return subprocess.run([sys.executable, str(PLOT), *map(str, argument)], capture_output=True,
                          text=True, check=False)


def drawn(path, *argument):
    picture = path.with_suffix(".out.png")
    done = run(path, *argument, "-o", picture)
    assert done.returncode == 0, done.stderr
    assert picture.read_bytes().startswith(PNG)
    assert picture.stat().st_size > 5000
    return done


def table(path, *argument):
    done = run(path, *argument, "--table")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("argument", [
    (), ("--node", "V1"), ("--x", "tau_e"), ("E",), ("E", "--select", "G=0.2"),
    ("E", "--time", "last"), ("E", "--x", "time", "--y", "node"), ("status",),
    ("--select", "tau_e=2", "--select", "G=0.1"),
])
def test_a_grid_is_drawn_in_every_way(grid, argument):
    drawn(grid, *argument)


def test_other_designs_are_drawn(curve, scattered):
    drawn(curve)
    drawn(scattered)
    drawn(scattered, "--x", "b")


def test_the_mean_is_the_default_and_says_what_it_averages(grid):
    out = table(grid, "--select", "tau_e=1")
    assert "mean of excitatory activity, mean over 3 nodes [mV]" in out
    assert "tau_e = 1 ms" in out
    row = next(line for line in out.splitlines() if line.split()[:1] == ["0.1"])
    assert row.split() == ["0.1", "11"]  # 10 * 1 + 0 + mean(0, 1, 2)


def test_one_node_is_not_averaged(grid):
    out = table(grid, "--select", "tau_e=1", "--node", "V2")
    assert "mean over 3 nodes" not in out and "node = V2" in out
    assert next(line for line in out.splitlines() if line.split()[:1] == ["0.1"]).split()[1] == "12"


def test_points_not_done_are_left_out_and_counted(grid):
    out = table(grid)
    assert "3 of 72 points left out: 2 pending, 1 diverged" in out
    assert "nan" in out


def test_values_of_unfinished_points_are_never_shown(tmp_path):
    path = write(tmp_path / "half.h5", {
        "E_mean": variable("G", np.array([1.0, 2.0, 777.0]), "mean"),
        "status": ledger("G", [1, 1, 0]),
    }, {"G": variable("G", np.arange(3.0), "coupling")})
    assert "777" not in table(path)


def test_seeds_are_averaged_over_finished_points(tmp_path):
    path = write(tmp_path / "seeds.h5", {
        "E_mean": variable(("G", "seed"), np.array([[1.0, 3.0], [5.0, 900.0]]), "mean"),
        "status": ledger(("G", "seed"), [[1, 1], [1, 2]]),
    }, {"G": variable("G", np.arange(2.0), "coupling"), "seed": variable("seed", [7, 8], "seed")})
    out = table(path)
    assert "mean over 2 seeds" in out
    assert [line.split() for line in out.splitlines()[-2:]] == [["0", "2"], ["1", "5"]]


def test_phases_give_their_order_parameter_over_nodes(tmp_path):
    theta = np.array([[[0.1, 0.1], [0.1, 0.1 + np.pi / 2]], [[6.2, 6.2], [6.2, 6.2]]])
    path = write(tmp_path / "phases.h5", {
        "theta_last": variable(("G", "seed", "node"), theta, "phase: after the last step", "rad"),
        "status": ledger(("G", "seed"), np.ones((2, 2))),
    }, {"G": variable("G", np.arange(2.0), "coupling"), "node": nodes(2),
        "seed": variable("seed", [7, 8], "seed")})
    out = table(path)
    assert "order parameter of 2 nodes, mean over 2 seeds" in out and "mean over 2 seeds" in out
    assert [line.split() for line in out.splitlines()[-2:]] == [["0", "0.85355"], ["1", "1"]]


@pytest.fixture
def oscillators(tmp_path):
    """Angles of 30 nodes, four seeds, turning, and drawn together as G grows; one seed is lost."""
    rng = np.random.default_rng(3)
    g = np.linspace(0, 1, 6)
    spread = (1 - g)[:, None, None, None] * rng.uniform(-np.pi, np.pi, (1, 4, 1, 30))
    phase = spread + 0.7 * np.arange(40)[None, None, :, None] + rng.uniform(0, 6, (1, 4, 1, 1))
    theta = np.mod(phase + 0.05 * rng.standard_normal((6, 4, 40, 30)), 2 * np.pi)
    status = np.ones((6, 4))
    status[2, 1] = 2
    theta[2, 1] = np.nan
    dims = ("G", "seed", "time", "node")
    still = ("G", "seed", "node")
    path = write(tmp_path / "phases.h5", {
        "theta_mean": variable(still, theta.mean(2), "phase: mean over time", "rad"),
        "theta_variance": variable(still, theta.var(2), "phase: variance over time", "(rad)^2"),
        "theta_last": variable(still, theta[:, :, -1], "phase: value after the last step", "rad"),
        "theta": variable(dims, theta, "phase", "rad"),
        "status": ledger(("G", "seed"), status),
    }, {"G": variable("G", g, "global coupling"), "seed": variable("seed", [1, 2, 3, 4], "seed"),
        "time": variable("time", np.arange(40.0), "time", "ms"), "node": nodes(30)})
    return path, theta


def last_column(out, n):
    return [float(line.split()[-1]) for line in out.splitlines()[-n:]]


def test_the_order_parameter_comes_before_its_mean_over_time_and_seeds(oscillators):
    path, theta = oscillators
    r = abs(np.exp(1j * theta).mean(3))  # (G, seed, time)
    for argument in (("--time", "mean"), ("--time", "mean", "--node", "mean"),
                     ("--select", "time=mean", "--select", "seed=mean")):
        out = table(path, "theta", *argument)
        assert "order parameter of 30 nodes, mean over time and 4 seeds" in " ".join(out.split())
        assert "1 of 24 points left out: 1 diverged" in out
        found = last_column(out, 6)
        np.testing.assert_allclose(found, np.nanmean(r, (1, 2)), rtol=2e-4)
        assert found[0] < 0.4 < found[3] < found[5] and found[5] > 0.99
    one = last_column(table(path, "theta", "--time", "mean", "--select", "seed=3"), 6)
    np.testing.assert_allclose(one, r[:, 2].mean(1), rtol=2e-4)
    at_end = last_column(table(path, "theta_last"), 6)
    np.testing.assert_allclose(at_end, np.nanmean(r[:, :, -1], 1), rtol=2e-4)
    drawn(path, "theta", "--time", "mean")
    drawn(path, "theta")


def test_an_angle_of_one_node_is_averaged_on_the_circle(oscillators):
    path, theta = oscillators
    out = table(path, "theta", "--node", "V3", "--time", "mean", "--select", "seed=1")
    assert "length of the mean of exp(i theta) over time" in " ".join(out.split())
    wanted = abs(np.exp(1j * theta[:, 0, :, 3]).mean(1))
    np.testing.assert_allclose(last_column(out, 6), wanted, rtol=2e-4)


def test_statistics_of_an_angle_are_not_the_default_picture(oscillators, tmp_path):
    path, _ = oscillators
    assert "order parameter of 30 nodes" in table(path)
    with xr.open_dataset(path, engine="h5netcdf") as data:
        data = data.load()
    without = tmp_path / "last.h5"
    data.drop_vars(["theta", "time"]).to_netcdf(without, engine="h5netcdf")
    assert table(without).splitlines()[-8].split()[-1] == "theta_last"
    with_x = tmp_path / "x.h5"
    data["x_mean"] = data.theta_mean.assign_attrs(units="1", long_name="x: mean over time")
    data.to_netcdf(with_x, engine="h5netcdf")
    assert table(with_x).splitlines()[1].startswith("  x: mean over time, mean over 30 nodes")
    only = tmp_path / "only.h5"
    data[["theta_variance", "theta_mean", "status"]].to_netcdf(only, engine="h5netcdf")
    assert "phase: variance over time" in table(only)


def test_a_long_table_is_thinned_and_keeps_its_ends(curve):
    out = table(curve)
    assert "12 of 101 rows" in out
    rows = [line.split() for line in out.splitlines() if line.split()[:1] in (["0"], ["2"])]
    assert rows == [["0", "0"], ["2", "4"]]


def test_a_scattered_design_lists_both_parameters(scattered):
    out = table(scattered)
    assert "b [nA]" in out and "2 of 40 points left out: 1 pending, 1 failed" in out


def test_a_single_number_is_printed(grid):
    done = run(grid, "--select", "G=0.1", "--select", "tau_e=1", "--node", "V0")
    assert done.returncode == 0
    assert ": 10" in done.stdout


def test_table_alone_writes_no_picture(curve):
    table(curve)
    assert not list(curve.parent.glob("*.png"))


@pytest.mark.parametrize("argument, expected", [
    (("E_men",), "did you mean 'E_mean'"),
    (("E_mean", "--select", "Q=1"), "There are: G, tau_e, node"),
    (("E_mean", "--select", "G"), "AXIS=VALUE"),
    (("E_mean", "--select", "G=high"), "from 0 to 0.7"),
    (("E_mean", "--select", "G=9"), "lies outside 0 to 0.7"),
    (("E_mean", "--node", "V9"), "V0, V1, V2"),
    (("E_mean", "--x", "zeta"), "There are: G, tau_e, node"),
    (("E_mean", "--x", "G", "--y", "G"), "both name 'G'"),
    (("E", "--x", "time", "--time", "mean"), "'time' is averaged"),
    (("-o", "/no/such/folder/x.png"), "cannot be written"),
])
def test_mistakes_are_answered_with_what_there_is(grid, argument, expected):
    done = run(grid, *argument)
    assert done.returncode == 2
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_is_no_result_is_refused(tmp_path):
    other = tmp_path / "other.h5"
    other.write_text("not HDF5")
    for path in (other, tmp_path / "absent.h5"):
        done = run(path)
        assert done.returncode == 2 and path.name in done.stderr and "Traceback" not in done.stderr

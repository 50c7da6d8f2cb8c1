"""The program's numbers against numbers from elsewhere: exact arithmetic, NumPy written here, and
what theory says of noise and of phase oscillators.
"""

import os
import pathlib
import sys

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import assert_same, march, needs_program, write  # noqa: E402

pytestmark = needs_program


def result(path):
    with h5py.File(path, "r") as file:
        assert (file["status"][()] == 1).all()
        return {name: item[()] for name, item in file.items() if isinstance(item, h5py.Dataset)}


def worst(found, expected):
    """Largest distance as a share of the largest value expected."""
    return np.abs(found - expected).max() / np.abs(expected).max()


# --- Lorenz 1963: RK4 with h = 1e-3 up to t = 1, in exact arithmetic (40 decimal digits) ----------

LORENZ = """
model: lorenz63
axes:
{axes}
parameters: {{beta: {beta}}}
initial: {{x: {start}, y: {other}, z: {other}}}
time: {{dt: 0.001, duration: 1}}
integrator: rk4
precision: fp64
record: {{last: all}}
"""

# beta, start (x, y = z), rho -> x, y, z
LORENZ_EXACT = [
    ("2.666", 1, 0, 21, (-6.4495699834436577, -8.8925906723813162, 14.651992900314946)),
    ("2.666", 1, 0, 0, (4.5399929800634759e-5, 0, 0)),
    ("2.666", 10, 10, 21, (10.807054702364106, 15.799611057276377, 16.743241284280763)),
    ("2.6666666666666667", 1, 0, 28,
     (-9.4084505649665169, -9.0961990717592545, 28.581627618873402)),
]


@pytest.mark.parametrize("beta, start, other, rho, exact", LORENZ_EXACT)
def test_lorenz_equals_rk4_in_exact_arithmetic(tmp_path, beta, start, other, rho, exact):
    axes = "  rho: [0, 10, 21, 28]"
    text = LORENZ.format(axes=axes, beta=beta, start=start, other=other)
    data = result(march(write(tmp_path / "s.yaml", text), tmp_path / "r.h5"))
    at = data["rho"].tolist().index(rho)
    found = [data[f"{name}_last"][at] for name in "xyz"]
    np.testing.assert_allclose(found, exact, rtol=1e-9, atol=0)


def test_lorenz_starts_where_an_axis_says(tmp_path):
    axes = "  initial.x: [1, 10]\n  initial.y: [0, 10]\n  initial.z: [0, 10]\n  rho: [0, 21]"
    text = LORENZ.format(axes=axes, beta=2.666, start=0, other=0)
    text = "\n".join(line for line in text.splitlines() if not line.startswith("initial:"))
    data = result(march(write(tmp_path / "s.yaml", text), tmp_path / "r.h5", ranks=2))
    assert data["x_last"].shape == (2, 2, 2, 2)
    for beta, start, other, rho, exact in LORENZ_EXACT[:3]:
        at = (int(start == 10), int(other == 10), int(other == 10), int(rho == 21))
        found = [data[f"{name}_last"][at] for name in "xyz"]
        np.testing.assert_allclose(found, exact, rtol=1e-9, atol=0)


# --- networks against NumPy -----------------------------------------------------------------------


def connectome(folder):
    """A real connectome if there is one, else a random symmetric matrix of its kind."""
    if os.environ.get("GM_CONNECTOMES"):
        return pathlib.Path(os.environ["GM_CONNECTOMES"]) / "enigma_dk68" / "weights.csv"
    random = np.random.default_rng(7)
    weights = np.triu(random.gamma(2, 3, (68, 68)) * (random.random((68, 68)) < 0.3), 1)
    np.savetxt(folder / "weights.csv", weights + weights.T, fmt="%.17g", delimiter=",")
    return folder / "weights.csv"


def step_with(slope, state, time, dt, integrator, inputs):
    """One step; inputs(time, stage_time) is what the step's slopes see from outside."""
    k1 = slope(state, inputs(time, time))
    if integrator == "euler":
        return state + dt * k1
    if integrator == "heun":
        k2 = slope(state + dt * k1, inputs(time, time + dt))
        return state + dt / 2 * (k1 + k2)
    middle = inputs(time, time + dt / 2)
    k2 = slope(state + dt / 2 * k1, middle)
    k3 = slope(state + dt / 2 * k2, middle)
    k4 = slope(state + dt * k3, inputs(time, time + dt))
    return state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def trajectory(slope, state, dt, n_step, every, integrator, inputs=lambda *_: None):
    """[sample][state][node] after every `every` steps."""
    samples = []
    for n in range(n_step):
        state = step_with(slope, state, n * dt, dt, integrator, inputs)
        if (n + 1) % every == 0:
            samples.append(state)
    return np.array(samples)


def hopf_slope(weights, a, w, big_g, big_g_y):
    def slope(state, _):
        x, y = state
        growth = a - x * x - y * y
        pull_x = weights @ x - weights.sum(axis=1) * x
        pull_y = weights @ y - weights.sum(axis=1) * y
        slope_x = growth * x - w * y + big_g * pull_x
        slope_y = growth * y + w * x + big_g_y * pull_y
        return np.array([slope_x, slope_y])

    return slope


@pytest.mark.parametrize("precision, tolerance", [("fp32", 1e-5), ("fp64", 1e-10)])
@pytest.mark.parametrize("integrator", ["euler", "heun"])
def test_a_hopf_network_equals_numpy(tmp_path, integrator, precision, tolerance):
    source = connectome(tmp_path)
    weights = np.loadtxt(source, delimiter=",")
    np.fill_diagonal(weights, 0)
    weights /= weights.max()
    start = np.linspace(-0.5, 0.5, len(weights))
    np.savetxt(tmp_path / "start.txt", start, fmt="%.17g")
    sweep = write(tmp_path / "s.yaml", f"""
model: hopf
network: {{weights: {source}, normalise: maximum, symmetric: required, self_connections: drop}}
axes:
  G: [0, 0.02, 0.1]
  w: [0.1, 0.2]
parameters: {{a: 0.25, G_y: 0.03}}
initial: {{x: {{file: start.txt}}, y: 0.1}}
time: {{dt: 0.1, duration: 100}}
integrator: {integrator}
precision: {precision}
record: {{trajectory: {{variables: all, every: 100}}}}
""")
    data = result(march(sweep, tmp_path / "r.h5"))
    assert data["x"].shape == (3, 2, 10, len(weights))
    for i, big_g in enumerate([0, 0.02, 0.1]):
        for j, w in enumerate([0.1, 0.2]):
            slope = hopf_slope(weights, 0.25, w, big_g, 0.03)
            state = np.array([start, np.full(len(weights), 0.1)])
            expected = trajectory(slope, state, 0.1, 1000, 100, integrator)
            assert worst(data["x"][i, j], expected[:, 0]) < tolerance
            assert worst(data["y"][i, j], expected[:, 1]) < tolerance


def wilson_cowan_slope(weights, big_g):
    def gain(x):
        return 1 / (1 + np.exp(-1.5 * (x - 3)))

    def slope(state, drive):
        e, i = state
        in_e = 16 * e - 12 * i + big_g * (weights @ e) + drive
        in_i = 15 * e - 3 * i + 0.1
        return np.array([(-e + (1 - e) * gain(in_e)) / 2.5, (-i + (1 - i) * gain(in_i)) / 3.75])

    return slope


def save_signal(folder, kind, signal):
    """Write the signal in a format; returns the sweep file's words for it."""
    if kind == "npy":
        np.save(folder / "drive.npy", signal)
    elif kind == "csv":
        np.savetxt(folder / "drive.csv", signal, fmt="%.17g", delimiter=",")
    else:
        with h5py.File(folder / "drive.h5", "w") as file:
            file["group/drive"] = signal
            file["other"] = np.zeros(3)
        return "file: drive.h5, dataset: /group/drive"
    return f"file: drive.{kind}"


@pytest.mark.parametrize("interpolation", ["linear", "hold"])
@pytest.mark.parametrize("integrator", ["heun", "rk4"])
def test_a_shared_input_equals_numpy_from_every_format(tmp_path, interpolation, integrator):
    random = np.random.default_rng(3)
    n_node, n_step, every = 9, 500, 5
    weights = random.random((n_node, n_node))
    np.save(tmp_path / "w.npy", weights)
    times = np.arange(n_step // every + 2)[:, None]
    signal = 0.6 + 0.4 * np.sin(times / 3 + np.arange(n_node)) + 0.2 * random.random(n_node)
    paths = []
    for kind in ("npy", "csv", "h5"):
        source = save_signal(tmp_path, kind, signal)
        sweep = write(tmp_path / f"{kind}.yaml", f"""
model: wilson_cowan
network: {{weights: w.npy, normalise: none, symmetric: as_is, self_connections: keep}}
axes: {{G: [0, 0.5, 2]}}
inputs:
  p_e: {{{source}, step: 0.5, interpolation: {interpolation}}}
  p_i: 0.1
time: {{dt: 0.1, duration: 50}}
integrator: {integrator}
precision: fp64
record: {{trajectory: {{variables: all, every: 50}}}}
""")
        paths.append(march(sweep, tmp_path / f"{kind}_result.h5"))
    assert_same(paths[1], paths[0])
    assert_same(paths[2], paths[0])
    data = result(paths[0])

    def inputs(time, stage_time):  # in units of samples, exact at the samples
        at = (stage_time if interpolation == "linear" else time) / 0.5
        low = int(np.floor(at + 1e-9))
        part = max(at - low, 0) if interpolation == "linear" else 0
        return signal[low] + part * (signal[low + 1] - signal[low])

    for p, big_g in enumerate([0, 0.5, 2]):
        slope = wilson_cowan_slope(weights, big_g)
        start = np.full((2, n_node), 0.05)
        expected = trajectory(slope, start, 0.1, n_step, 50, integrator, inputs)
        assert worst(data["E"][p], expected[:, 0]) < 1e-10
        assert worst(data["I"][p], expected[:, 1]) < 1e-10


def test_one_column_of_input_reaches_every_node(tmp_path):
    signal = np.sin(np.arange(30) / 2)
    np.save(tmp_path / "w.npy", np.ones((3, 3)))
    np.save(tmp_path / "one.npy", signal)
    np.save(tmp_path / "all.npy", np.repeat(signal[:, None], 3, axis=1))
    paths = [march(write(tmp_path / f"{name}.yaml", f"""
model: wilson_cowan
network: {{weights: w.npy, normalise: none, symmetric: as_is, self_connections: drop}}
inputs: {{p_e: {{file: {name}.npy, step: 1, interpolation: linear}}}}
time: {{dt: 0.1, duration: 20}}
integrator: heun
record: {{last: all}}
"""), tmp_path / f"{name}.h5") for name in ("one", "all")]
    assert_same(*paths)


# --- theory ---------------------------------------------------------------------------------------


def order_parameter(theta):
    return np.abs(np.exp(1j * theta).mean(axis=-1))


def test_kuramoto_falls_into_step_above_the_critical_coupling_only(tmp_path):
    n, spread = 200, 0.05
    omega = 0.25 + spread * np.random.default_rng(1).standard_normal(n)
    critical = 2 * spread * np.sqrt(2 * np.pi) / np.pi  # 2 / (pi * density at its top)
    np.savetxt(tmp_path / "omega.txt", omega, fmt="%.17g")
    np.save(tmp_path / "w.npy", np.ones((n, n)))
    data = result(march(write(tmp_path / "s.yaml", f"""
model: kuramoto
network: {{weights: w.npy, normalise: row, symmetric: required, self_connections: drop}}
axes: {{G: [0, {0.5 * critical}, {3 * critical}]}}
parameters: {{omega: {{file: omega.txt}}}}
initial: {{theta: {{uniform: [0, 6.283185307179586]}}}}
time: {{dt: 0.1, duration: 400, transient: 200}}
integrator: rk4
precision: fp64
record: {{last: all, trajectory: {{variables: all, every: 100}}}}
"""), tmp_path / "r.h5"))
    theta = data["theta"].astype(float)
    assert theta.min() >= 0 and theta.max() < 2 * np.pi
    assert (data["theta"][:, -1] == data["theta_last"]).all()
    order = order_parameter(theta).mean(axis=1)
    assert order[0] < 0.2 and order[1] < 0.35 and order[2] > 0.9
    start = theta[0, 0] - omega * 210  # uncoupled phases only turn: back to where they started
    turned = (start + omega * 400 - data["theta_last"][0] + np.pi) % (2 * np.pi) - np.pi
    assert np.abs(turned).max() < 1e-10


@pytest.mark.parametrize("integrator", ["euler", "heun"])
def test_noise_has_the_stationary_variance_of_theory(tmp_path, integrator):
    """Far below the bifurcation and without coupling, x and y are Ornstein-Uhlenbeck processes."""
    a, sigma, dt, n_seed, n_node = -1.0, 0.01, 0.05, 2048, 16
    np.save(tmp_path / "w.npy", np.ones((n_node, n_node)))
    data = result(march(write(tmp_path / "s.yaml", f"""
model: hopf
network: {{weights: w.npy, normalise: none, symmetric: required, self_connections: drop}}
axes: {{seed: {{range: [1, {n_seed}, 1]}}}}
parameters: {{a: {a}, w: 0, G: 0, sigma_x: {sigma}, sigma_y: {sigma}}}
initial: {{x: 0}}
time: {{dt: {dt}, duration: 10}}
integrator: {integrator}
record: {{last: all}}
"""), tmp_path / "r.h5"))
    keep = 1 + a * dt if integrator == "euler" else 1 + a * dt + (a * dt) ** 2 / 2
    push = 1 if integrator == "euler" else 1 + a * dt / 2
    variance = sigma**2 * dt * push**2 / (1 - keep**2)
    assert abs(variance / (sigma**2 / (2 * abs(a))) - 1) < 0.03
    x, y = (data[name].astype(float) / np.sqrt(variance) for name in ("x_last", "y_last"))
    n = x.size
    for sample in (x, y):
        assert abs(sample.mean()) < 5 / np.sqrt(n)
        assert abs((sample**2).mean() - 1) < 5 * np.sqrt(2 / n)
        assert abs((sample**4).mean() - 3) < 5 * np.sqrt(96 / n)
    for other in (y, np.roll(x, 1, axis=0), np.roll(x, 1, axis=1)):  # variable, point, node
        assert abs((x * other).mean()) < 5 / np.sqrt(n)


@pytest.mark.parametrize("precision, tolerance", [("fp32", 1e-6), ("fp64", 1e-13)])
def test_statistics_equal_those_of_the_whole_trajectory(tmp_path, precision, tolerance):
    np.save(tmp_path / "w.npy", np.ones((5, 5)))
    sweep = write(tmp_path / "s.yaml", f"""
model: hopf
network: {{weights: w.npy, normalise: row, symmetric: required, self_connections: drop}}
axes: {{G: [0, 0.1, 1], seed: [3, 4]}}
parameters: {{sigma_x: 0.05, sigma_y: 0.02}}
time: {{dt: 0.1, duration: 60, transient: 7.3}}
integrator: heun
precision: {precision}
record: {{last: all, mean: all, variance: all, min: all, max: all,
          trajectory: {{variables: all, every: 1}}}}
""")
    data = result(march(sweep, tmp_path / "all.h5"))
    assert data["x"].shape == (3, 2, 527, 5)
    np.testing.assert_allclose(data["time"], 7.3 + 0.1 * np.arange(1, 528), rtol=1e-14)
    for name in "xy":
        samples = data[name].astype(float)
        assert (data[f"{name}_last"] == data[name][:, :, -1]).all()
        assert (data[f"{name}_min"] == data[name].min(axis=2)).all()
        assert (data[f"{name}_max"] == data[name].max(axis=2)).all()
        assert worst(data[f"{name}_mean"], samples.mean(axis=2)) < tolerance
        assert worst(data[f"{name}_variance"], samples.var(axis=2)) < tolerance
    march(sweep, tmp_path / "some.h5", "--set", "record.trajectory.every=13")
    some = result(tmp_path / "some.h5")
    assert some["x"].shape == (3, 2, 40, 5)
    assert (some["x"] == data["x"][:, :, 12::13]).all()
    assert (some["time"] == data["time"][12::13]).all()

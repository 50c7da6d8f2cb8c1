"""A file that a run has left unfinished is completed by the same command to the same bits, and it
opens while it is written. What does not belong into a file is refused.
"""

import json
import pathlib
import shutil
import sys

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import (RING, assert_finished_points, assert_same, full_sweep, kill_tree,  # noqa: E402
                     march, needs_program, run, runs, start, wait_until, write)

pytestmark = needs_program

SWEEP = full_sweep("N_POINT")
HOW = ["--tile", 16, "--chunk", 450, "--threads", 1]
SECONDS = 1.8  # of marching: finished points are entered about once a second


def summary(sweep, output, *args, **options):
    done = run("run", sweep, "-o", output, "--json", *args, **options)
    assert done.code == 0, done.err
    return json.loads(done.out)


@pytest.fixture(scope="module")
def long_run(tmp_path_factory):
    """A sweep as long as SECONDS on two ranks of this machine, and its result."""
    folder = tmp_path_factory.mktemp("long")
    n_point = 640
    for _ in range(5):  # how fast the machine is may change while it is measured
        sweep = write(folder / "s.yaml", SWEEP.replace("N_POINT", str(n_point)))
        wall = summary(sweep, folder / "whole.h5", "--overwrite", *HOW, ranks=2)["wall_s"]
        if 0.8 * SECONDS < wall < 2 * SECONDS:
            break
        n_point = max(64, int(n_point * SECONDS / wall))
    return sweep, folder / "whole.h5"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("short")
    sweep = write(folder / "s.yaml", SWEEP.replace("N_POINT", "40"))
    return sweep, march(sweep, folder / "whole.h5")


@pytest.fixture
def short_run(finished, tmp_path):
    """A finished run of 40 points, and a copy of it in which the last 25 are pending."""
    sweep, whole = finished
    part = tmp_path / "part.h5"
    shutil.copy(whole, part)
    with h5py.File(part, "r+") as file:
        file["status"][15:] = 0
        for name in ("E", "E_last", "I_mean", "E_variance"):
            file[name][15:] = np.nan
    return sweep, whole, part


def start_quietly(sweep, output, ranks):
    return start("run", sweep, "-o", output, "--quiet", *HOW, ranks=ranks)


def end(process, seconds=20):
    """Wait for mpirun, which ends itself once a rank is gone."""
    try:
        return process.communicate(timeout=seconds)[1]
    finally:
        kill_tree(process)


def test_the_file_opens_while_the_run_writes_it(long_run, tmp_path):
    xarray = pytest.importorskip("xarray")
    sweep, whole = long_run
    output = tmp_path / "r.h5"
    process = start_quietly(sweep, output, 2)
    try:
        wait_until(output.exists)
        n_look = 0
        while process.poll() is None:
            assert_finished_points(output, whole)
            for engine in ("netcdf4", "h5netcdf"):
                with xarray.open_dataset(output, engine=engine) as data:
                    pending = data.status.values == 0
                    assert data.E_mean.dims == ("G", "node") and data.E.sizes["node"] == 16
                    assert np.isfinite(data.E_mean.values[~pending]).all()
            info = json.loads(run("info", output, "--json").out)
            assert info["pending"] + info["done"] == info["points"] == len(pending)
            n_look += 1
        assert n_look >= 2
    finally:
        error = end(process)
    assert process.returncode == 0, error
    assert_same(output, whole)
    info = json.loads(run("info", output, "--json").out)
    assert info["pending"] == 0 and info["done"] == info["points"]


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_only_what_is_missing_is_computed(short_run, ranks):
    sweep, whole, part = short_run
    with h5py.File(part, "r+") as file:
        file["E_last"][3] = 17  # a finished point is left alone, so this stays
    report = summary(sweep, part, ranks=ranks)
    assert (report["points"], report["points_before"], report["done"]) == (40, 15, 25)
    with h5py.File(part) as file:
        assert (file["E_last"][3] == 17).all()
        assert file["run"][()].tolist() == [0] * 15 + [1] * 25
        with h5py.File(whole) as other:
            assert file["E_last"][4:].tobytes() == other["E_last"][4:].tobytes()
            assert file["E"][()].tobytes() == other["E"][()].tobytes()
    assert len(runs(part)) == 2


def test_a_finished_file_is_not_touched(short_run):
    sweep, whole, _ = short_run
    before = whole.stat(), whole.read_bytes()
    for ranks in (0, 3):
        done = run("run", sweep, "-o", whole, ranks=ranks)
        assert done.code == 0
        assert len(done.messages) == 1 and "nothing to do" in done.messages[0]
    assert (whole.stat().st_mtime_ns, whole.stat().st_ino) == (before[0].st_mtime_ns,
                                                               before[0].st_ino)
    assert whole.read_bytes() == before[1]


def test_overwrite_replaces_a_finished_file_and_another_sweep(short_run, tmp_path):
    sweep, whole, part = short_run
    assert summary(sweep, part, "--overwrite", ranks=2)["done"] == 40
    assert_same(part, whole)
    assert len(runs(part)) == 1
    assert summary(sweep, part, "--overwrite", "--set", "axes.G=[1,2]", ranks=2)["done"] == 2


@pytest.mark.parametrize("setting, key, old, new", [
    ("time.dt=0.05", "time.dt", "0.1", "0.05"),
    ("axes.G={linspace: [0, 4, 40]}", "axes.G", "40 values from 0 to 3,",
     "40 values from 0 to 4\n"),
    ("axes.G=[0, 3]", "axes.G", "40 values from 0 to 3,", "2 values: 0 3"),
    ("axes.G={range: [0, 3, 0.0769230769230]}", "axes.G", "40 values from 0 to 3, hash ",
     "40 values from 0 to 3, hash "),
    ("axes.seed=[1]", "axes", "G,", "G, seed"),
    ("parameters.c_ee=15", "parameters.c_ee", "16", "15"),
    ("seed=5", "seed", "0", "5"),
    ("precision=fp64", "precision", "fp32", "fp64"),
    ("integrator=euler", "integrator", "heun", "euler"),
    ("record.min=all", "record.min", "(nothing)", "E I"),
    ("record.last=null", "record.last", "E I", "(nothing)"),
    ("network.normalise=row", "network.normalise", "maximum", "row"),
    ("initial.E={uniform: [0, 0.2]}", "initial.E", "uniform 0", "uniform 0"),
])
def test_a_changed_sweep_is_refused_and_the_change_named(short_run, setting, key, old, new):
    sweep, _, part = short_run
    before = part.read_bytes()
    done = run("run", sweep, "-o", part, "--set", setting, ranks=2)
    assert done.code == 3
    text = "\n".join(done.messages)
    assert f"  {key}: the file has {old}" in text
    assert f"the sweep asks for {new}" in text
    assert "--overwrite" in text and text.count("holds another sweep") == 1
    assert part.read_bytes() == before


def test_what_changes_no_number_is_no_change(short_run, tmp_path):
    """Another place of the files, another spelling of a number, another order of the keys."""
    sweep, whole, part = short_run
    (tmp_path / "else").mkdir()
    shutil.copy(RING, tmp_path / "else" / "w.csv")
    text = sweep.read_text().replace(str(RING), "w.csv").replace("dt: 0.1", "dt: 1.0e-1")
    lines = text.strip().splitlines()
    start_of_last = next(i for i, line in enumerate(lines) if line.startswith("inputs"))
    lines = [lines[start_of_last], *lines[:start_of_last], *lines[start_of_last + 1:]]
    moved = write(tmp_path / "else" / "s.yaml", "\n".join(lines) + "\n")
    assert summary(moved, part)["points_before"] == 15
    assert_same(part, whole)


def test_a_changed_content_of_an_input_file_is_refused(tmp_path):
    shutil.copy(RING, tmp_path / "w.csv")
    np.savetxt(tmp_path / "drive.csv", np.linspace(0, 1, 300))
    text = SWEEP.replace(str(RING), "w.csv").replace("N_POINT", "4")
    drive = "p_e: {file: drive.csv, step: 1, interpolation: hold}"
    sweep = write(tmp_path / "s.yaml", text.replace("p_e: 0.6", drive))
    output = march(sweep, tmp_path / "r.h5")
    np.savetxt(tmp_path / "drive.csv", np.linspace(0, 1.001, 300))
    done = run("run", sweep, "-o", output)
    assert done.code == 3 and "inputs.p_e: other numbers in the file\n" in done.err
    assert "network.weights" not in done.err and "hash" not in done.err
    np.savetxt(tmp_path / "drive.csv", np.linspace(0, 1, 300))
    weights = np.loadtxt(RING, delimiter=",")
    weights[0, 1] = weights[1, 0] = weights[0, 1] + 1e-9
    np.savetxt(tmp_path / "w.csv", weights, fmt="%.17g", delimiter=",")
    done = run("run", sweep, "-o", output)
    assert done.code == 3 and "network.weights: other numbers in the file\n" in done.err
    assert "inputs.p_e" not in done.err
    weights = weights[:3, :3]
    np.savetxt(tmp_path / "w.csv", weights, fmt="%.17g", delimiter=",")
    done = run("run", sweep, "-o", output)
    assert ("network.weights: the file has 16 x 16 numbers, the sweep asks for 3 x 3 numbers\n"
            in done.err)


def test_changed_labels_and_values_per_node_are_named_in_words(tmp_path):
    np.savetxt(tmp_path / "tau.csv", np.full(16, 2.5))
    write(tmp_path / "labels.txt", "\n".join(f"V{k}" for k in range(16)))
    text = SWEEP.replace("N_POINT", "4").replace(f"{RING}", f"{RING}, labels: labels.txt")
    text = text.replace("parameters: {", "parameters: {tau_e: {file: tau.csv}, ")
    sweep = write(tmp_path / "s.yaml", text)
    output = march(sweep, tmp_path / "r.h5")
    np.savetxt(tmp_path / "tau.csv", np.full(16, 2.6))
    write(tmp_path / "labels.txt", "\n".join(f"W{k}" for k in range(16)))
    done = run("run", sweep, "-o", output)
    assert done.code == 3 and done.messages[1:3] == [
        "  network.labels: other labels in the file",
        "  parameters.tau_e: other numbers in the file"]
    text = text.replace("tau_e: {file: tau.csv}", "tau_e: 2.5").replace(", labels: labels.txt", "")
    done = run("run", write(tmp_path / "t.yaml", text), "-o", output)
    assert done.messages[1:3] == [
        "  network.labels: the file has 16 labels, the sweep asks for none",
        "  parameters.tau_e: the file has one value per node, the sweep asks for 2.5"]


def test_another_kernel_is_refused_unless_mixing_is_allowed(short_run):
    sweep, _, part = short_run
    older = {"GRIDMARCH_CPU_LEVEL": "x86-64-v2"}
    with h5py.File(part) as file:
        if "x86-64-v2" in file["provenance"].attrs["kernel"].decode():
            pytest.skip("this processor has no better level than x86-64-v2")
    before = part.read_bytes()
    done = run("run", sweep, "-o", part, env=older, ranks=2)
    assert done.code == 3 and "--allow-mixed" in done.err and "x86-64-v2" in done.err
    assert part.read_bytes() == before
    done = run("run", sweep, "-o", part, "--allow-mixed", env=older, ranks=2)
    assert done.code == 0, done.err
    with h5py.File(part) as file:
        assert (file["status"][()] == 1).all()
        assert file["run"][()].tolist() == [0] * 15 + [1] * 25
    kernels = [json.loads(text)["kernel"] for text in runs(part)]
    assert "x86-64-v2" not in kernels[0] and "x86-64-v2" in kernels[1]


def test_a_partial_file_of_a_killed_start_is_no_obstacle(short_run, tmp_path):
    sweep, whole, _ = short_run
    write(tmp_path / "r.h5.partial", "left behind")
    assert_same(march(sweep, tmp_path / "r.h5", ranks=2), whole)
    assert not (tmp_path / "r.h5.partial").exists()

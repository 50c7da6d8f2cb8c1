"""Each point's data have a checksum, so that damage on the disk is found and computed again."""

import pathlib
import shutil
import sys
import zlib

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import RING, assert_same, march, needs_program, provenance, run, write  # noqa: E402

pytestmark = needs_program

DAMAGED = 10
SWEEP = f"""
model: wilson_cowan
network: {{weights: {RING}, normalise: maximum, symmetric: required, self_connections: drop}}
axes:
  G: {{linspace: [0, 3, 7]}}
  seed: [1, 2, 3, 4, 5]
parameters: {{sigma_e: 0.02}}
time: {{dt: 0.1, duration: 40, transient: 5}}
integrator: heun
record: {{last: all, mean: [E], variance: [I], trajectory: {{variables: all, every: 7}}}}
"""
DIVERGING = """
model: lorenz63
axes: {initial.x: [1, 1.e+200, 2, -1.e+250]}
time: {dt: 0.01, duration: 1}
integrator: rk4
precision: fp64
record: {last: all}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("verify")
    march(write(path / "s.yaml", SWEEP), path / "r.h5", "--tile", 4, "--chunk", 11, ranks=3)
    return path


@pytest.fixture
def result(folder, tmp_path):
    return pathlib.Path(shutil.copy(folder / "r.h5", tmp_path / "r.h5"))


def test_python_computes_the_same_checksums(folder):
    with h5py.File(folder / "r.h5") as file:
        names = file["checksum"].attrs["covers"].decode().split()
        assert set(names) == {"E_last", "I_last", "E_mean", "I_variance", "E", "I", "failed_step"}
        for point in np.ndindex(file["status"].shape):
            checksum = 0
            for name in names:
                checksum = zlib.crc32(file[name][point].tobytes(), checksum)
            assert file["checksum"][point] == checksum


def test_checksums_do_not_depend_on_ranks_tiles_and_chunks(folder, tmp_path):
    whole = march(folder / "s.yaml", tmp_path / "whole.h5")
    assert_same(folder / "r.h5", whole)  # which compares the variable `checksum`, too


def test_a_sound_file_is_found_sound(result):
    before = result.read_bytes()
    done = run("verify", result)
    assert done.code == 0 and "35 finished points checked, all as computed" in done.out
    assert result.read_bytes() == before


def flip(path, name, byte_of_variable):
    """Turn one bit of a variable's data, past HDF5."""
    with h5py.File(path) as file:
        offset = file[name].id.get_offset() + byte_of_variable
        row = file[name][0, 0].nbytes
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 16]))
    return byte_of_variable // row


@pytest.mark.parametrize("name", ["E_last", "E_mean", "I_variance", "E", "I", "failed_step"])
def test_one_bit_is_found_and_its_point_computed_again(folder, result, name):
    with h5py.File(result) as file:
        n_byte = file[name][()].nbytes
    point = flip(result, name, n_byte * 2 // 3)
    done = run("verify", result)
    assert done.code == DAMAGED
    assert f"damaged: point {point}, [{point // 5}, {point % 5}]\n" in done.out
    assert done.out.count("damaged") == 1
    assert "1 of 35" in done.err and "--retry-damaged" in done.err
    again = run("run", folder / "s.yaml", "-o", result, "--retry-damaged", ranks=2)
    assert again.code == 0 and "1 of 35 points are missing" in again.err
    assert_same(result, folder / "r.h5")
    assert run("verify", result).code == 0
    with h5py.File(result) as file:
        assert file["run"][()].ravel().tolist() == [int(i == point) for i in range(35)]


def test_retrying_a_sound_file_does_nothing(folder, result):
    done = run("run", folder / "s.yaml", "-o", result, "--retry-damaged", "--retry-failed", ranks=2)
    assert done.code == 0 and "nothing to do" in done.err
    assert_same(result, folder / "r.h5")
    with h5py.File(result) as file:
        assert (file["run"][()] == 0).all()


def test_pending_points_are_not_judged(folder, result):
    with h5py.File(result, "r+") as file:
        file["status"][2] = 0
        file["E"][2] = np.nan
    assert "30 finished points checked, all as computed" in run("verify", result).out
    assert run("run", folder / "s.yaml", "-o", result).code == 0
    assert_same(result, folder / "r.h5")


def test_a_finished_point_that_lost_its_checksum_is_damaged(result):
    with h5py.File(result, "r+") as file:
        file["checksum"][1, 2] = -1
    done = run("verify", result)
    assert done.code == DAMAGED and "damaged: point 7, [1, 2]\n" in done.out


def test_a_status_that_means_nothing_is_named(result):
    with h5py.File(result, "r+") as file:
        file["status"][1, 2] = 9
    done = run("verify", result)
    assert done.code == 3 and "the status of point 7 is 9" in done.err


def test_a_file_of_a_version_without_checksums_is_resumed(folder, result):
    with h5py.File(result, "r+") as file:
        del file["checksum"]
        del file["provenance"].attrs["coordinate_checksums"]
        file["status"][3] = 0
    done = run("verify", result)
    assert done.code == 0 and "30 without a checksum, from a version" in done.out
    assert "coordinates not checked" in done.out
    assert run("run", folder / "s.yaml", "-o", result, ranks=2).code == 0
    with h5py.File(result) as file, h5py.File(folder / "r.h5") as whole:
        assert file["E"][()].tobytes() == whole["E"][()].tobytes()
        assert (file["status"][()] == 1).all() and "checksum" not in file
    assert "35 without a checksum" in run("verify", result).out


def test_checksums_that_were_removed_are_missed(result):
    with h5py.File(result, "r+") as file:
        del file["checksum"]
    done = run("verify", result)
    assert done.code == DAMAGED and "'checksum' is gone" in done.err
    assert "35 without a checksum\n" in done.out


def test_python_computes_the_same_checksums_of_coordinates(folder):
    words = provenance(folder / "r.h5")["coordinate_checksums"].split()
    sums = dict(word.split("=") for word in words)
    assert set(sums) == {"G", "seed", "time", "node"}
    with h5py.File(folder / "r.h5") as file:
        for name, crc in sums.items():
            assert int(crc, 16) == zlib.crc32(file[name][()].tobytes())


@pytest.mark.parametrize("name", ["G", "seed", "time"])
def test_a_changed_coordinate_is_named(result, name):
    with h5py.File(result, "r+") as file:
        file[name][2] += 1
    done = run("verify", result)
    assert done.code == DAMAGED and f"coordinates {name} are not those" in done.err
    assert f"changed: coordinates {name}\n" in done.out
    assert "35 finished points checked, all as computed" in done.out


def test_a_coordinate_that_is_gone_is_named(result):
    with h5py.File(result, "r+") as file:
        file.move("time", "when")
    done = run("verify", result)
    assert done.code == 3 and "no variable 'time'" in done.err


@pytest.mark.parametrize("text", ["G", "G=", "G=12x", "E_last"])
def test_checksums_of_coordinates_that_make_no_sense_are_refused(result, text):
    with h5py.File(result, "r+") as file:
        file["provenance"].attrs.modify("coordinate_checksums", np.bytes_(text))
    done = run("verify", result)
    assert done.code == 3 and "not a list of checksums" in done.err


@pytest.mark.parametrize("covers", ["gone", "G", "E_last provenance", "E_last node"])
def test_a_list_of_variables_that_makes_no_sense_is_refused(result, covers):
    with h5py.File(result, "r+") as file:
        file["checksum"].attrs.modify("covers", np.bytes_(covers))
    done = run("verify", result)
    assert done.code == 3 and "r.h5" in done.err


def test_what_is_no_result_is_refused(tmp_path):
    assert run("verify", tmp_path / "gone.h5").code == 4
    assert run("verify", write(tmp_path / "x.h5", "no")).code == 3
    assert run("verify").code == 2


def test_points_that_failed_are_computed_again_when_asked(tmp_path):
    sweep = write(tmp_path / "s.yaml", DIVERGING)
    output = march(sweep, tmp_path / "r.h5")
    shutil.copy(output, tmp_path / "first.h5")
    done = run("run", sweep, "-o", output)
    assert done.code == 0 and "nothing to do" in done.err
    done = run("run", sweep, "-o", output, "--retry-failed", ranks=2)
    assert done.code == 0 and "2 of 4 points are missing" in done.err
    assert_same(output, tmp_path / "first.h5")
    with h5py.File(output) as file:
        assert file["status"][()].tolist() == [1, 2, 1, 2]
        assert file["run"][()].tolist() == [0, 1, 0, 1]
    assert run("verify", output).code == 0


def test_all_failed_is_an_error_each_time(tmp_path):
    sweep = write(tmp_path / "s.yaml", DIVERGING.replace("1, 1.e+200, 2", "1.e+220, 1.e+200"))
    for args in ([], [], ["--retry-failed"]):
        done = run("run", sweep, "-o", tmp_path / "r.h5", *args)
        assert done.code == 8 and done.err.count("every point diverged") == 1

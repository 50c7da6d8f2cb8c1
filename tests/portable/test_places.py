"""The bundle runs from any folder, also through a link, and its numbers do not depend on it."""

import os
import re
import shutil

import pytest
from bundle import BUNDLE, call, make_sweep, march, needs_bundle
from program import PROGRAM, assert_same, march as march_native

pytestmark = needs_bundle


def mpirun_of_the_system():
    """Its version, where it is Open MPI's."""
    if not shutil.which("mpirun"):
        return None
    found = re.match(r"mpirun \(Open MPI\) (\S+)", call("mpirun", "--version"))
    return found and found.group(1)


@pytest.fixture(scope="module", name="reference")
def reference_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    return march(make_sweep(folder), folder / "reference.h5")


def test_ranks_under_its_own_mpirun_make_the_same_bits(reference, tmp_path):
    assert_same(march(make_sweep(tmp_path), tmp_path / "out.h5", ranks=3), reference)


@pytest.mark.skipif(not (mpirun_of_the_system() or "").startswith("4"),
                    reason="no mpirun of Open MPI 4 here")
def test_ranks_under_the_mpirun_of_open_mpi_4_make_the_same_bits(reference, tmp_path):
    output = march(make_sweep(tmp_path), tmp_path / "out.h5", ranks=2, mpirun="mpirun")
    assert_same(output, reference)


def test_runs_from_a_folder_with_a_space(reference, tmp_path):
    bundle = tmp_path / "a folder" / "gridmarch"
    shutil.copytree(BUNDLE, bundle)
    assert_same(march(make_sweep(tmp_path), tmp_path / "out.h5", 2, bundle), reference)


def test_runs_through_a_link_to_its_launcher(tmp_path):
    (tmp_path / "gm").symlink_to(BUNDLE / "bin" / "gridmarch")
    (tmp_path / "relative").symlink_to(os.path.relpath(BUNDLE / "bin" / "mpirun", tmp_path))
    assert "gridmarch" in call(tmp_path / "gm", "--version")
    said = call(tmp_path / "relative", "-n", 2, "--oversubscribe", "gridmarch", "--version")
    assert said.count("gridmarch ") >= 1


def test_needs_no_home_folder():
    for name in ("gridmarch", "mpirun"):
        assert "rror" not in call("env", "-u", "HOME", BUNDLE / "bin" / name, "--version")


def test_transports_that_a_site_asks_for_do_not_stop_it(reference, tmp_path):
    wishes = ["OMPI_MCA_pml=ucx", "OMPI_MCA_mtl=ofi", "OMPI_MCA_osc=ucx"]
    assert_same(march(make_sweep(tmp_path), tmp_path / "out.h5", 2, variables=wishes), reference)


@pytest.mark.skipif(not PROGRAM, reason="GRIDMARCH is not set")
def test_a_native_build_makes_the_same_bits(reference, tmp_path):
    assert_same(march_native(make_sweep(tmp_path), tmp_path / "native.h5"), reference)

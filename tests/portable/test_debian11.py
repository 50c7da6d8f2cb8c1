"""The bundle in an older system, glibc 2.31: the same bits as here."""

import os
import pathlib
import shutil

import pytest
from bundle import BUNDLE, call, make_sweep, march, needs_bundle
from program import assert_same

HERE = pathlib.Path(__file__).resolve().parent

pytestmark = [
    needs_bundle,
    pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("debootstrap"),
                       reason="needs debootstrap and root to make a Debian 11"),
]


def test_two_ranks_in_debian_11_make_the_same_bits(tmp_path):
    sweep = make_sweep(tmp_path)
    said = call(HERE / "debian11.sh", BUNDLE, tmp_path, "/bundle/bin/mpirun", "-n", 2,
                "--oversubscribe", "--bind-to", "none", "gridmarch", "run", "--backend", "cpu",
                "/mnt/sweep.yaml", "-o", "/mnt/old.h5")
    assert said.count("x86-64-v") == 2, said
    assert_same(tmp_path / "old.h5", march(sweep, tmp_path / "here.h5"))


def test_debian_11_has_the_older_glibc(tmp_path):
    assert "2.31" in call(HERE / "debian11.sh", BUNDLE, tmp_path, "ldd", "--version")

"""Spack's recipe, against a stand-in for Spack's own modules: does it load, and does it fit our build?"""

import pathlib
import re
import sys
import types

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
REPO = ROOT / "spack" / "spack_repo" / "gridmarch"
# Names in Spack's builtin repository (random123: its headers alone), looked up when this was written.
KNOWN_PACKAGES = {"c", "cmake", "ninja", "mpi", "hdf5", "libyaml", "random123", "zlib-api"}
DIRECTIVES = ("version", "license", "variant", "depends_on", "conflicts", "requires", "generator")


class Variant:
    def __init__(self, value):
        self.value = value


class Spec:
    """A concrete spec: variants by name."""

    def __init__(self, **variants):
        self.variants = {name: Variant(value) for name, value in variants.items()}

    def satisfies(self, text):
        return bool(self.variants[text[1:]].value) == (text[0] == "+")

    def __getitem__(self, name):
        return types.SimpleNamespace(prefix=f"/opt/{name}")


class CMakePackage:
    def define(self, name, value):
        value = {True: "ON", False: "OFF"}.get(value, value) if not isinstance(value, list) else ";".join(value)
        return f"-D{name}={value}"

    def define_from_variant(self, name, variant):
        return self.define(name, self.spec.variants[variant].value)


class CudaPackage:
    pass


@pytest.fixture
def recipe(monkeypatch):
    """The class, and what it declares: (directive, first argument, the named ones)."""
    declared = []
    package = types.ModuleType("spack.package")
    for name in DIRECTIVES:
        setattr(package, name, lambda *args, _name=name, **named: declared.append((_name, args[0], named)))
    modules = {"spack": types.ModuleType("spack"), "spack.package": package}
    for name in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        modules[name] = types.ModuleType(name)
    for name, base in (("cmake", CMakePackage), ("cuda", CudaPackage)):
        modules[f"spack_repo.builtin.build_systems.{name}"] = types.ModuleType(name)
        setattr(modules[f"spack_repo.builtin.build_systems.{name}"], base.__name__, base)
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    space = {}
    path = REPO / "packages" / "gridmarch" / "package.py"
    exec(compile(path.read_text(), path, "exec"), space)
    return space["Gridmarch"], declared


def args_of(recipe, **variants):
    package = recipe[0]()
    package.spec = Spec(**{"cuda": False, "nvrtc": False, "static": False, "cuda_arch": ("none",), **variants})
    return dict(arg[2:].split("=", 1) for arg in package.cmake_args())


def test_variants_become_options_that_the_build_knows(recipe):
    assert args_of(recipe)["GRIDMARCH_CUDA"] == "OFF"
    full = args_of(recipe, cuda=True, static=True, cuda_arch=("80", "90"))
    assert full == {"GRIDMARCH_CUDA": "ON", "GRIDMARCH_CUDA_ARCH": "80;90", "GRIDMARCH_TESTS": "OFF",
                    "HDF5_USE_STATIC_LIBRARIES": "ON"}
    known = set(re.findall(r"(?:option|set)\((GRIDMARCH_\w+)", (ROOT / "CMakeLists.txt").read_text()))
    assert {name for name in full if name.startswith("GRIDMARCH_")} <= known
    assert "GRIDMARCH_CUDA_ARCH" in (ROOT / "kernels" / "CMakeLists.txt").read_text()


def test_nvrtc_is_found_through_the_environment(recipe):
    env = {}
    package = recipe[0]()
    package.spec = Spec(cuda=True, nvrtc=True, static=False)
    package.setup_run_environment(types.SimpleNamespace(set=env.__setitem__))
    assert env == {"CUDA_HOME": "/opt/cuda"}
    assert '"CUDA_HOME"' in (ROOT / "kernels" / "cuda" / "nvrtc.c").read_text()


def test_the_recipe_names_what_the_build_looks_for(recipe):
    declared = recipe[1]
    names = {re.split(r"[@ +~]", first)[0] for kind, first, _ in declared if kind == "depends_on"}
    assert names == KNOWN_PACKAGES
    cmake = (ROOT / "CMakeLists.txt").read_text()
    assert ["cmake@3.25:"] == [first for _, first, _ in declared if first.startswith("cmake@")]
    assert "cmake_minimum_required(VERSION 3.25)" in cmake and "HDF5_VERSION VERSION_LESS 1.10" in cmake
    assert {first for kind, first, _ in declared if kind == "variant"} == {"static", "nvrtc"}
    readme = (ROOT / "spack" / "README.md").read_text()
    assert all(f"`{v}" in readme for v in ("+cuda", "+nvrtc", "+static", "cuda_arch="))


def test_repository_and_environment_have_todays_layout():
    yaml = pytest.importorskip("yaml")
    assert yaml.safe_load((REPO / "repo.yaml").read_text()) == {"repo": {"namespace": "gridmarch", "api": "v2.0"}}
    environment = yaml.safe_load((ROOT / "spack" / "environments" / "gpu_cluster.yaml").read_text())["spack"]
    repo = (ROOT / "spack" / "environments" / environment["repos"]["gridmarch"]).resolve()
    assert repo == REPO and re.match(r"gridmarch@develop \+cuda \+nvrtc cuda_arch=\d+$", environment["specs"][0])
    assert (ROOT / "spack" / "environments" / environment["develop"]["gridmarch"]["path"]).resolve() == ROOT

"""Spack's recipe for gridmarch; spack/README.md says how to use it."""

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Gridmarch(CMakePackage, CudaPackage):
    """Marches parameter sweeps of time-stepped models on clusters of GPUs, or on CPUs."""

    # There is no release yet: `spack develop` or `spack dev-build` builds the checkout.
    version("develop")

    license("BSD-3-Clause")

    variant("static", default=False, description="Link HDF5 statically")
    variant("nvrtc", default=False, description="Find NVRTC at run time, to compile users' models for GPUs")

    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")

    depends_on("mpi")
    depends_on("hdf5@1.10: +hl")
    depends_on("hdf5 ~shared", when="+static")
    depends_on("libyaml")
    depends_on("random123", type="build")
    depends_on("zlib-api")

    conflicts("+nvrtc", when="~cuda", msg="NVRTC compiles for GPUs: give +cuda")
    requires("%gcc", msg="gridmarch is developed with GCC")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define("GRIDMARCH_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
            self.define("GRIDMARCH_TESTS", False),
            self.define_from_variant("HDF5_USE_STATIC_LIBRARIES", "static"),
        ]
        arch = self.spec.variants["cuda_arch"].value if self.spec.satisfies("+cuda") else ("none",)
        if "none" not in arch:
            args.append(self.define("GRIDMARCH_CUDA_ARCH", list(arch)))
        return args

    def setup_build_environment(self, env):
        if self.spec.satisfies("+cuda"):
            env.set("CUDA_HOME", self.spec["cuda"].prefix)

    def setup_run_environment(self, env):
        if self.spec.satisfies("+nvrtc"):
            env.set("CUDA_HOME", self.spec["cuda"].prefix)

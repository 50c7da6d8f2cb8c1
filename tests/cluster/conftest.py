"""What the tests on a cluster share: hosts, Slurm, and a sweep with its result."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cluster import Hosts, Slurm, sweep_and_expected, why_not  # noqa: E402


def while_needed(make, *tools):
    why = why_not(*tools)
    if why:
        pytest.skip(why)
    made = make()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def hosts():
    yield from while_needed(Hosts, "mpirun")


@pytest.fixture(scope="module")
def slurm():
    yield from while_needed(Slurm, "slurmctld", "slurmd", "munged", "srun")


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """A sweep file, and its result by one process on this machine."""
    return sweep_and_expected(tmp_path_factory.mktemp("sweep"))


@pytest.fixture(autouse=True)
def no_jobs_left(request):
    """A test leaves its nodes to the next, also one that fails or kills an srun."""
    yield
    if "slurm" in request.fixturenames:
        slurm = request.getfixturevalue("slurm")
        slurm.ask("scancel", "--user=root")
        slurm.wait_for_nodes()

"""The checks that guard the tree find what they are there to find."""
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUPPORT = ROOT / "tests" / "support"


def check(name, tree):
    return subprocess.run(["bash", str(SUPPORT / name), str(tree)], capture_output=True, text=True,
                          check=False)


@pytest.fixture
def tree(tmp_path):
    """A small tree in which every include is allowed."""
    files = {
        "src/core/plan.h": "#include <stdint.h>\n",
        "src/core/plan.c": '#include "plan.h"\n#include "core/plan.h"\n',
        "io/store.c": '#include <hdf5.h>\n#include <mpi.h>\n#include "core/plan.h"\n#include "store.h"\n',
        "io/store.h": '#include "core/plan.h"\n',
        "mpi/comm.h": "#include <mpi.h>\n",
        "kernels/cuda/launch.c": '#include <cuda_runtime_api.h>\n#include "kernels/backend.h"\n',
        "kernels/backend.h": '#include "core/plan.h"\n',
        "src/app/main.c": '#include "io/store.h"\n#include "mpi/comm.h"\n#include "kernels/backend.h"\n',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_allowed_includes_pass(tree):
    done = check("check_rooms.sh", tree)
    assert done.returncode == 0, done.stdout
    assert "0 out of place" in done.stdout


@pytest.mark.parametrize("name, line, why", [
    ("src/core/bad.c", '#include "io/store.h"', "core may not know io"),
    ("src/core/bad.c", '#include "../../io/store.h"', "core may not know io"),
    ("src/core/bad.c", "#include <mpi.h>", "mpi.h belongs to"),
    ("src/core/bad.c", "  #  include <hdf5.h>", "hdf5.h belongs to io/"),
    ("mpi/bad.c", '#include "kernels/backend.h"', "mpi may not know kernels"),
    ("io/bad.h", '#include "mpi/comm.h"', "io may not know mpi"),
    ("kernels/cpu/bad.c", "#include <cuda_runtime.h>", "belongs to kernels/cuda/"),
    ("kernels/bad.c", "#include <mpi.h>", "mpi.h belongs to"),
    ("io/bad.c", '#include "app/run.h"', "io may not know app"),
    ("src/app/bad.c", "#include <hdf5.h>", "hdf5.h belongs to io/"),
    ("kernels/cuda/bad.cu", '#include "io/missing.h"', "kernels may not know io"),
])
def test_an_include_across_a_wall_is_named(tree, name, line, why):
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_text("/* head */\n" + line + "\n")
    done = check("check_rooms.sh", tree)
    assert done.returncode == 1
    assert f"{name}:2:" in done.stdout and why in done.stdout
    assert "1 out of place" in done.stdout


def test_a_tree_without_includes_is_not_called_clean(tmp_path):
    for room in ("src", "kernels", "mpi", "io"):
        (tmp_path / room).mkdir()
    assert check("check_rooms.sh", tmp_path).returncode == 1


@pytest.fixture
def codes(tmp_path):
    for name in ("src/core/status.h", "docs/exit-codes.md"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    return tmp_path


def test_the_page_of_exit_codes_matches_the_header():
    done = check("check_exit_codes.sh", ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name, old, new", [
    ("docs/exit-codes.md", "| 4 | `GM_E_IO`", "| 5 | `GM_E_IO`"),
    ("docs/exit-codes.md", "| bad command line |", "| bad command |"),
    ("src/core/status.h", "X(GM_E_USAGE, 2,", "X(GM_E_NEW, 9, \\\n \"new\") X(GM_E_USAGE, 2,"),
])
def test_a_difference_between_page_and_header_is_found(codes, name, old, new):
    text = (codes / name).read_text()
    assert old in text
    (codes / name).write_text(text.replace(old, new, 1))
    done = check("check_exit_codes.sh", codes)
    assert done.returncode == 1
    assert "does not match" in done.stderr

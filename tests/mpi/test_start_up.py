"""Start-up on many ranks: what is read is read by one rank, however many there are."""

import ctypes
import os
import pathlib
import struct
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import march, needs_program, run, write  # noqa: E402

IN_OPEN = 0x20
EVENT = struct.Struct("iIII")

pytestmark = needs_program


class Watch:
    """Counts how often files are opened, by inotify."""

    def __init__(self, paths):
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.fd < 0:
            pytest.skip("no inotify here")
        self.name = {libc.inotify_add_watch(self.fd, str(path).encode(), IN_OPEN): path.name for path in paths}
        assert min(self.name) > 0, "cannot watch the files"

    def take(self):
        """File name -> opened so often since the last call."""
        count = dict.fromkeys(self.name.values(), 0)
        try:
            events = os.read(self.fd, 1 << 16)
        except BlockingIOError:
            return count
        while events:
            wd, _, _, length = EVENT.unpack_from(events)
            count[self.name[wd]] += 1
            events = events[EVENT.size + length:]
        return count


@pytest.fixture
def files(tmp_path):
    model = run("models", "--template", "mine").out
    rows = "\n".join(",".join(str((i * 7 + j * 7) % 5) for j in range(6)) for i in range(6))
    return [write(tmp_path / "mine.h", model), write(tmp_path / "w.csv", rows + "\n"),
            write(tmp_path / "names.txt", "".join(f"region {i}\n" for i in range(6))),
            write(tmp_path / "s.yaml", "model: ./mine.h\nnetwork: {weights: w.csv, labels: names.txt, normalise: maximum,"
                                       " symmetric: as_is, self_connections: keep}\n"
                                       "time: {dt: 0.1, duration: 2}\naxes: {seed: {range: [1, 8, 1]}}\n"
                                       "integrator: heun\nrecord: {last: all}\n")]


def test_inputs_are_opened_as_often_by_six_ranks_as_by_one(tmp_path, files):
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    march(files[-1], tmp_path / "first.h5", env=env)  # compiles; the kernel lies in the cache afterwards
    kernels = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    watch = Watch([*files, *kernels])
    march(files[-1], tmp_path / "one.h5", env=env)
    one = watch.take()
    march(files[-1], tmp_path / "six.h5", ranks=6, env=env)
    assert watch.take() == one
    assert kernels and all(one[path.name] > 0 for path in kernels), one
    assert all(0 < n <= 2 for name, n in one.items() if name in ("s.yaml", "mine.h", "w.csv", "names.txt")), one

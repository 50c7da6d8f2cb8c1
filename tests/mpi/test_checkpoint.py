"""A run that is killed or stopped within a tile goes on from its last checkpoint, with other ranks,
tiles and chunks, to the same bits; a checkpoint that is damaged or does not fit is not used."""

import json
import pathlib
import sys

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import RING, assert_same, march, needs_program, provenance, run, write  # noqa: E402

pytestmark = needs_program

STOPPED, RESULT = 9, 3
NETWORK = f"""
model: wilson_cowan
network: {{weights: {RING}, normalise: maximum, symmetric: required, self_connections: drop}}
axes: {{G: {{linspace: [0, 3, 24]}}, seed: [1, 2]}}
parameters: {{sigma_e: 0.02}}
initial: {{E: {{uniform: [0, 0.1]}}}}
inputs: {{p_e: {{file: drive.csv, step: 0.7, interpolation: linear}}}}
time: {{dt: 0.1, duration: 40, transient: 5}}
integrator: heun
record: {{last: all, mean: all, variance: [E, in_e], min: [I], max: [in_e],
         trajectory: {{variables: [E, in_e], every: 7}}}}
"""
PLAIN = """
model: lorenz63
design: zip
axes: {rho: {linspace: [0, 28, 48]}, sigma: {linspace: [9, 11, 48]}}
time: {dt: 0.005, duration: 2}
integrator: rk4
record: {last: all, variance: all, trajectory: {variables: [x], every: 3}}
"""
PHASES = f"""
model: kuramoto
network: {{weights: {RING}, normalise: spectral, symmetric: as_is, self_connections: keep}}
axes: {{G: {{linspace: [0, 3, 48]}}}}
parameters: {{sigma: 0.1}}
initial: {{theta: {{uniform: [0, 6]}}}}
time: {{dt: 0.1, duration: 40}}
integrator: euler
record: {{mean: all}}
"""
SWEEPS = {
    "network fp32": (NETWORK, []),
    "network fp64": (NETWORK, ["precision=fp64"]),
    "network rk4": (NETWORK, ["integrator=rk4", "parameters=null"]),
    "plain fp64": (PLAIN, ["precision=fp64"]),
    "phases": (PHASES, []),
}
EACH_CHUNK = ["--checkpoint", 1e-6, "--threads", 1]  # one before every chunk but a tile's first
# 400 steps of 48 points.
KILL = ["--tile", 10, "--chunk", 20, *EACH_CHUNK]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("checkpoint")
    np.savetxt(path / "drive.csv", 0.6 + 0.4 * np.sin(np.arange(60)), fmt="%.17g")
    write(path / "s.yaml", NETWORK)
    march(path / "s.yaml", path / "whole.h5", "--quiet")
    return path


def midway(output):
    """Points saved midway, and the least steps that they have done."""
    told = json.loads(run("info", output, "--json").out)
    return told["midway"], told["midway_steps"]


def march_to_a_fault(sweep, output, fault, *args, ranks=0):
    done = run("run", sweep, "-o", output, "--quiet", *args, ranks=ranks,
               env={"GRIDMARCH_FAULT": fault})
    assert done.code not in (0, 2, 3, 4), done.err
    return done


def complete(sweep, output, whole, *args, ranks=0, expected=""):
    """The same command again: it says what it goes on from, and ends as if never interrupted."""
    done = run("run", sweep, "-o", output, *args, ranks=ranks)
    assert done.code == 0 and expected in done.err, done.err
    assert_same(output, whole)
    assert not output.with_name(output.name + ".checkpoint").exists()
    return done


@pytest.mark.parametrize("name", SWEEPS)
def test_killed_midway_again_and_again_with_other_ranks_tiles_and_chunks(folder, tmp_path, name):
    text, settings = SWEEPS[name]
    change = [word for one in settings for word in ("--set", one)]
    sweep, output = write(folder / f"{name}.yaml", text), tmp_path / "r.h5"
    whole = march(sweep, tmp_path / "whole.h5", *change)
    march_to_a_fault(sweep, output, "launch#1@12=kill", *change, *KILL, ranks=2)
    n, steps = midway(output)
    assert n > 0 and 0 < steps < 400
    march_to_a_fault(sweep, output, "launch#0@9=kill", *change, "--tile", 7, "--chunk", 33,
                     *EACH_CHUNK, ranks=3)
    n, again = midway(output)
    assert n > 0 and 0 < again < 400
    complete(sweep, output, whole, *change, "--tile", 48, "--chunk", 11, expected="go on from where they were saved")


def test_info_and_plan_tell_of_checkpoints(folder, tmp_path):
    output = tmp_path / "r.h5"
    march_to_a_fault(folder / "s.yaml", output, "launch@12=kill", *KILL)
    steps = midway(output)[1]
    (tmp_path / "link.h5").symlink_to(output)
    for path in (output, tmp_path / "link.h5"):
        assert f"10 pending points saved after {steps} of 400 steps" in run("info", path).out
    plan = run("plan", folder / "s.yaml", "-o", output, "--tile", 16).out
    # label, failed step; states; statistics of E, I and in_e; running checksums of two trajectories
    record = 32 + 8 + 2 * 16 * 4 + 3 * 16 * (2 * 8 + 3 * 4) + 8
    assert f"checkpoint   {16 * record / 1024:.1f} KiB for a tile" in plan


# Before anything is written, after the records, after they are on the disk; of the first checkpoint,
# which makes the file, and of a later one.
@pytest.mark.parametrize("moment", [1, 2, 3, 4, 5, 6, 22, 23, 24])
def test_a_kill_between_any_two_steps_of_writing_a_checkpoint(folder, tmp_path, moment):
    output = tmp_path / "r.h5"
    march_to_a_fault(folder / "s.yaml", output, f"checkpoint@{moment}=kill", *KILL)
    n, steps = midway(output)
    assert (n, steps > 0) == ((0, False) if moment == 1 else (10, True))
    complete(folder / "s.yaml", output, folder / "whole.h5")


def flip(path, offset):
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 1]))


def records(output):
    """Where the records of points 0, 1, 2 begin, of both copies, the newer one first."""
    data = output.with_name(output.name + ".checkpoint").read_bytes()
    stride = (len(data) - 4096) // (2 * 48)
    copies = [4096, 4096 + 48 * stride]
    step = [int.from_bytes(data[at + 16:at + 24], sys.byteorder) for at in copies]
    assert min(step) > 0 and step[0] != step[1]
    return stride, sorted(copies, key=lambda at: -step[copies.index(at)]), sorted(step)


def interrupted(folder, output):
    march_to_a_fault(folder / "s.yaml", output, "launch@12=kill", *KILL)
    return records(output)


def test_a_changed_bit_in_a_record_is_noticed_and_the_one_before_it_counts(folder, tmp_path):
    output = tmp_path / "r.h5"
    stride, (new, old), (older, newer) = interrupted(folder, output)
    assert midway(output) == (10, newer)
    for byte in (0, 20, 40, stride - 1):  # checksum, step, state
        flip(f"{output}.checkpoint", new + stride + byte)
        assert midway(output) == (10, older)
        flip(f"{output}.checkpoint", new + stride + byte)
    flip(f"{output}.checkpoint", new + stride + 40)
    flip(f"{output}.checkpoint", old + 2 * stride + 40)
    flip(f"{output}.checkpoint", new + 2 * stride + 50)
    done = complete(folder / "s.yaml", output, folder / "whole.h5", ranks=2,
                    expected=f"9 of them go on from where they were saved, step {older} or later")
    assert "1 of them begin again" in done.err


def test_a_record_counts_only_with_the_trajectory_before_it(folder, tmp_path):
    """As after a copy of an older result was put back."""
    output = tmp_path / "r.h5"
    interrupted(folder, output)
    with h5py.File(output, "r+") as file:
        file["in_e"][0, 0, 0, 3] += 1  # points 0 and 3
        file["E"][1, 1, 0, 0] = np.nan
    done = complete(folder / "s.yaml", output, folder / "whole.h5", ranks=3,
                    expected="8 of them go on from where they were saved")
    assert "2 of them begin again" in done.err and "trajectories" in done.err


def test_checkpoints_of_another_kernel_are_not_used(folder, tmp_path):
    output, level = tmp_path / "r.h5", {"GRIDMARCH_CPU_LEVEL": "x86-64-v2"}
    interrupted(folder, output)
    done = run("run", folder / "s.yaml", "-o", output, "--allow-mixed", env=level)
    assert done.code == 0, done.err
    same = "x86-64-v2" in provenance(output)["kernel"]
    assert same or "10 of them begin again" in done.err
    assert same or "go on" not in done.err


@pytest.mark.parametrize("length", [0, 3, 50, 4096, 9000])
def test_a_file_of_checkpoints_that_is_cut_off(folder, tmp_path, length):
    output = tmp_path / "r.h5"
    interrupted(folder, output)
    with open(f"{output}.checkpoint", "r+b") as file:
        file.truncate(length)
    done = complete(folder / "s.yaml", output, folder / "whole.h5", ranks=2)
    assert ("removed" in done.err) == (length < 80)


def test_another_result_in_the_place_of_the_first_begins_anew(folder, tmp_path):
    output = tmp_path / "r.h5"
    interrupted(folder, output)
    done = complete(folder / "s.yaml", output, folder / "whole.h5", "--overwrite")
    assert "go on" not in done.err
    interrupted(folder, tmp_path / "other.h5")
    (tmp_path / "other.h5").unlink()
    done = complete(folder / "s.yaml", tmp_path / "other.h5", folder / "whole.h5")
    assert "go on" not in done.err


def test_checkpoints_of_another_sweep_are_removed(folder, tmp_path):
    output, other = tmp_path / "r.h5", tmp_path / "o.h5"
    interrupted(folder, output)
    march_to_a_fault(folder / "s.yaml", other, "launch@12=kill", "--set", "axes.seed=[3, 4]", *KILL)
    (tmp_path / "o.h5.checkpoint").rename(tmp_path / "r.h5.checkpoint")
    complete(folder / "s.yaml", output, folder / "whole.h5", expected="of another sweep: removed")


@pytest.mark.parametrize("kind", ["text", "folder"])
def test_what_is_no_checkpoint_is_left_alone(folder, tmp_path, kind):
    place = tmp_path / "r.h5.checkpoint"
    if kind == "folder":
        place.mkdir()
    else:
        write(place, "my notes on r.h5")
    done = run("run", folder / "s.yaml", "-o", tmp_path / "r.h5")
    assert done.code == RESULT and "r.h5.checkpoint" in done.err and "rename it" in done.err
    assert place.is_dir() or place.read_text() == "my notes on r.h5"
    assert not (tmp_path / "r.h5").exists()


@pytest.mark.parametrize("fault", ["checkpoint#1@1=fail", "checkpoint#1@5=fail", "checkpoint@1+=fail"])
def test_a_checkpoint_that_cannot_be_written_costs_a_warning_and_not_the_run(folder, tmp_path, fault):
    output = tmp_path / "r.h5"
    done = run("run", folder / "s.yaml", "-o", output, *KILL, ranks=2,
               env={"GRIDMARCH_FAULT": fault})
    assert done.code == 0 and "warning: rank 1: cannot write" in done.err, done.err
    assert "r.h5.checkpoint" in done.err and "going on without checkpoints" in done.err
    assert_same(output, folder / "whole.h5")
    assert list(tmp_path.iterdir()) == [output]


def test_what_is_left_of_a_complete_sweep_is_removed(folder, tmp_path):
    output = tmp_path / "r.h5"
    interrupted(folder, output)
    saved = (tmp_path / "r.h5.checkpoint").read_bytes()
    complete(folder / "s.yaml", output, folder / "whole.h5")
    (tmp_path / "r.h5.checkpoint").write_bytes(saved)
    complete(folder / "s.yaml", output, folder / "whole.h5", expected="nothing to do")


def test_a_run_shorter_than_a_tile_gets_on_each_time(tmp_path):
    """Chunks take 0.1 s by a fault, and a run hardly has time for one tile: by and by all is done."""
    write(tmp_path / "s.yaml", NETWORK.replace("{file: drive.csv, step: 0.7, interpolation: linear}",
                                               "0.6"))
    sweep, output = tmp_path / "s.yaml", tmp_path / "r.h5"
    whole = march(sweep, tmp_path / "whole.h5", "--json")
    begin = run("run", sweep, "-o", tmp_path / "whole.h5", "--overwrite", "--quiet", "--json")
    start_up = json.loads(begin.out)["start_up_s"]
    n_midway = 0
    for attempt in range(60):
        done = run("run", sweep, "-o", output, "--tile", 48, "--chunk", 10, "--threads", 1,
                   "--checkpoint", 0, "--max-time", int(2 + 3 * start_up),
                   env={"GRIDMARCH_FAULT": "launch%100=100"})
        assert done.code == (0 if "points done in" in done.err and "stopped" not in done.err
                             else STOPPED), done.err
        n_midway += "48 of them go on from where they were saved" in done.err
        if done.code == 0:
            break
        assert "0 of 48 points are done" in done.err and "48 are saved midway" in done.err
    assert done.code == 0 and n_midway > 0, attempt
    assert_same(output, whole)


@pytest.mark.parametrize("text", ["-1", "soon", "5x", "nan", ""])
def test_an_interval_that_is_none_is_refused(folder, tmp_path, text):
    done = run("run", folder / "s.yaml", "-o", tmp_path / "r.h5", f"--checkpoint={text}")
    assert done.code == 2 and "--checkpoint" in done.err

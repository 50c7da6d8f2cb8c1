"""Bad sweep files, data, paths and flags are refused before anything is computed or written: with
the documented exit code, one message that names place, finding and remedy, and within seconds.

The cases run on three ranks, so that a message that is there three times is found.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import zlib

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import kill_tree, needs_program, run, start, wait_until, write  # noqa: E402

pytestmark = needs_program

SWEEP = """\
model: wilson_cowan
network:
  weights: w.csv
  labels: labels.txt
  normalise: maximum
  symmetric: required
  self_connections: drop
axes:
  G: [0, 1]
parameters:
  tau_e: {file: tau.csv}
inputs:
  p_e: {file: drive.csv, step: 1, interpolation: linear}
time: {dt: 0.1, duration: 10}
integrator: heun
record: {mean: all}
"""
WEIGHTS = "0,1,2\n1,0,3\n2,3,0\n"
FEW_SECONDS = 15  # generous: a loaded machine, three ranks, a sanitizer


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "s.yaml", SWEEP)
    write(tmp_path / "w.csv", WEIGHTS)
    write(tmp_path / "labels.txt", "A\nB\nC\n")
    write(tmp_path / "tau.csv", "2\n3\n4\n")
    np.savetxt(tmp_path / "drive.csv", np.ones((11, 3)), delimiter=",")
    return tmp_path


def refused(folder, args, code, fragments, ranks=3):
    """The code, all fragments in a message that is there once, and the folder as it was."""
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    done = run(*args, ranks=ranks, cwd=folder, timeout=60)
    text = "\n".join(done.messages)
    assert done.code == code, (done.code, done.err)
    missing = [part for part in fragments if part not in text]
    assert not missing, f"{missing} not in:\n{text}"
    assert len(set(done.messages)) == len(done.messages), text
    assert done.out == "" and "Sanitizer" not in done.err and "HDF5-DIAG" not in done.err
    assert done.seconds < FEW_SECONDS
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    return text


def edited(folder, old, new):
    assert SWEEP.count(old) == 1
    write(folder / "s.yaml", SWEEP.replace(old, new))


def test_the_sweep_that_all_cases_spoil_is_good(folder):
    done = run("run", "s.yaml", "-o", "r.h5", ranks=3, cwd=folder)
    assert done.code == 0, done.err


# --- the sweep file: old text, new text, what the message must contain ----------------------------

SWEEP_CASES = {
    "unknown model": ("wilson_cowan", "wilson_cowen",
                      ["s.yaml:1:8: ", "'wilson_cowen'", "did you mean 'wilson_cowan'?",
                       "lorenz63"]),
    "no model": ("model: wilson_cowan\n", "", ["s.yaml: ", "model is missing"]),
    "misspelt section": ("axes:", "axis:", ["s.yaml:8:1: ", "'axis'", "did you mean 'axes'?"]),
    "misspelt key": ("normalise:", "normalize:",
                     ["s.yaml:5:3: ", "'normalize'", "did you mean 'normalise'?",
                      "network.normalise is missing"]),
    "misspelt parameter": ("tau_e: {", "taue: {",
                           ["s.yaml:11:3: ", "'taue'", "did you mean 'tau_e'?", "c_ee"]),
    "misspelt axis": ("G: [", "GG: [", ["s.yaml:9:3: ", "'GG'", "did you mean 'G'?"]),
    "misspelt input": ("p_e: {", "p_ee: {", ["s.yaml:13:3: ", "'p_ee'", "did you mean 'p_e'?"]),
    "misspelt state": ("mean: all", "mean: [e]",
                       ["s.yaml:16:17: ", "'e'", "did you mean 'E'?", "E, I"]),
    "misspelt choice": ("heun", "huen",
                        ["s.yaml:15:13: ", "'huen'", "did you mean 'heun'?", "euler, heun, rk4"]),
    "no choice made": ("  symmetric: required\n", "",
                       ["network.symmetric is missing", "as_is, required, averaged"]),
    "empty record": ("{mean: all}", "{}", ["s.yaml:16:9: ", "record is empty", "trajectory"]),
    "dt does not divide the duration": ("duration: 10", "duration: 10.03",
                                        ["s.yaml:14:27: ", "time.duration 10.03", "10 and 10.1"]),
    "dt of zero": ("dt: 0.1", "dt: 0", ["s.yaml:14:12: ", "time.dt", "greater than 0", "found 0"]),
    "negative duration": ("duration: 10", "duration: -10",
                          ["s.yaml:14:27: ", "greater than 0", "-10"]),
    "all transient": ("duration: 10", "duration: 10, transient: 10",
                      ["s.yaml:14:42: ", "leaves nothing to record"]),
    "more steps than can be counted": ("duration: 10", "duration: 1.0e+30",
                                       ["s.yaml:14:27: ", "at most 1e12"]),
    "zero points": ("[0, 1]", "[]", ["s.yaml:9:6: ", "axes.G", "number of values", "found 0"]),
    "negative count": ("[0, 1]", "{linspace: [0, 1, -5]}",
                       ["s.yaml:9:24: ", "axes.G", "number of values", "-5"]),
    "count of parts": ("[0, 1]", "{linspace: [0, 1, 2.5]}",
                       ["s.yaml:9:24: ", "whole number", "'2.5'"]),
    "huge count": ("[0, 1]", "{linspace: [0, 1, 1.0e+12]}", ["s.yaml:9:24: ", "134217728"]),
    "step that does not fit": ("[0, 1]", "{range: [0, 1, 0.3]}",
                               ["s.yaml:9:21: ", "whole number of steps", "0.9 and 1.2"]),
    "logspace through zero": ("[0, 1]", "{logspace: [0, 1, 3]}",
                              ["s.yaml:9:17: ", "greater than 0", "not exponents"]),
    "text for a number": ("[0, 1]", "[0, one]", ["s.yaml:9:10: ", "a number", "'one'"]),
    "infinite number": ("[0, 1]", "[0, .inf]", ["s.yaml:9:10: ", "finite", "'.inf'"]),
    "axis over an input": ("G: [", "p_e: [", ["s.yaml:9:3: ", "p_e is an input",
                                              "inputs cannot be swept yet", "acts alike"]),
    "value twice": ("[0, 1]", "[0, 1, 0]", ["s.yaml:9:13: ", "values 1 and 3 are both 0",
                                            "the first at s.yaml:9:7", "zip"]),
    "seed twice": ("G: [0, 1]", "seed: [4, 4]", ["s.yaml:9:13: ", "values 1 and 2 are both 4"]),
    "integrator of elsewhere": ("heun", "rk45", ["s.yaml:15:13: ", "no integrator is adaptive"]),
    "negative seed": ("axes:", "seed: -1\naxes:", ["s.yaml:8:7: ", "seed", "0 or more", "-1"]),
    "seed of parts": ("G: [0, 1]", "seed: [0.5, 1]", ["s.yaml:9:9: ", "whole numbers", "0.5"]),
    "axis and parameter": ("parameters:", "parameters:\n  G: 1",
                           ["s.yaml:11:3: ", "parameters.G", "axes.G", "s.yaml:9:3"]),
    "zip of unequal lengths": ("  G: [0, 1]", "  G: [0, 1]\n  c_ee: [1, 2, 3]\ndesign: zip",
                               ["s.yaml:10:3: ", "c_ee has 3 values", "G has 2"]),
    "samples too rare": ("mean: all", "trajectory: {variables: all, every: 101}",
                         ["s.yaml:16:46: ", "leaves no sample", "100 steps"]),
    "too many samples": ("duration: 10}\nintegrator: heun\nrecord: {mean: all}",
                         "duration: 1.0e+9}\nintegrator: heun\n"
                         "record: {trajectory: {variables: all, every: 2}}",
                         ["s.yaml:16:46: ", "5000000000 samples", "134217728"]),
    "no steps between samples": ("mean: all", "trajectory: {variables: all, every: 0}",
                                 ["s.yaml:16:46: ", "1 or more", "found 0"]),
    "negative noise": ("parameters:", "parameters:\n  sigma_e: -0.1",
                       ["s.yaml:11:3: ", "noise amplitude", "sigma_e", "-0.1", "0 or more"]),
    "network for a plain ODE": ("wilson_cowan", "lorenz63", ["network", "lorenz63"]),
    "not YAML": ("{mean: all}", "{mean: all", ["s.yaml:", "not YAML"]),
    "tab": ("  weights", "\tweights", ["s.yaml:3:1: ", "a tab; indent with spaces"]),
    "anchor": ("[0, 1]", "&x [0, 1]", ["s.yaml:9:6: ", "anchors"]),
    "key twice": ("integrator: heun", "integrator: heun\nintegrator: heun",
                  ["s.yaml:16:1: ", "'integrator'", "twice", "s.yaml:15:1"]),
    "list for a sweep": (SWEEP, "- 1\n- 2\n", ["s.yaml", "a mapping"]),
    "empty file": (SWEEP, "", ["s.yaml", "empty"]),
    "not text": (SWEEP, "model: \x01\n", ["s.yaml:1:8: ", "not plain UTF-8 text"]),
    "wrong weights file": ("w.csv", "v.csv", ["s.yaml:3:12: ", "v.csv", "No such file"]),
    "weights are a folder": ("w.csv", ".", ["s.yaml:3:12: ", "it is a folder"]),
    "no labels file": ("labels.txt", "label.txt", ["s.yaml:4:11: ", "label.txt", "No such file"]),
    "no TVB folder": ("weights: w.csv\n  labels: labels.txt", "tvb: nowhere",
                      ["s.yaml:3:8: ", "no folder", "nowhere"]),
    "everything at once": ("""\
  normalise: maximum
  symmetric: required
  self_connections: drop
axes:
  G: [0, 1]
""", """\
  normalise: maximal
  symetric: required
  self_connections: drop
axes:
  H: [0, 1]
colour: blue
""", ["s.yaml:5:14: ", "did you mean 'maximum'?", "s.yaml:6:3: ", "did you mean 'symmetric'?",
      "network.symmetric is missing", "s.yaml:9:3: ", "'H'", "s.yaml:10:1: ", "'colour'"]),
}


@pytest.mark.parametrize("case", SWEEP_CASES)
def test_a_bad_sweep_file_is_refused(folder, case):
    old, new, fragments = SWEEP_CASES[case]
    edited(folder, old, new)
    refused(folder, ["run", "s.yaml", "-o", "r.h5"], 2, fragments)


# --- data files: name, content, what the message must contain -------------------------------------

DATA_CASES = {
    "not square": ("w.csv", "0,1,2\n1,0,3\n", ["s.yaml:3:12: ", "2 rows x 3 columns"]),
    "ragged": ("w.csv", "0,1,2\n1,0\n2,3,0\n", ["w.csv:2: ", "2 fields, expected 3 as in line 1"]),
    "no number": ("w.csv", "0,1,2\n1,x,3\n2,3,0\n", ["w.csv:2:2: ", "'x' is not a number"]),
    "NaN": ("w.csv", "0,1,2\n1,nan,3\n2,3,0\n", ["s.yaml:3:12: ", "row 2, column 2 is nan"]),
    "not symmetric": ("w.csv", "0,1,2\n9,0,3\n2,3,0\n",
                      ["s.yaml:3:12: ", "not symmetric", "row 2, column 1 is 9",
                       "row 1, column 2 is 1"]),
    "empty": ("w.csv", "", ["s.yaml:3:12: ", "w.csv", "empty"]),
    "all zero": ("w.csv", "0,0,0\n0,0,0\n0,0,0\n", ["cannot be normalised", "largest modulus"]),
    "zip archive": ("w.csv", "PK\x03\x04\0\0", ["w.csv: ", "zip archive"]),
    "too few labels": ("labels.txt", "A\nB\n", ["s.yaml:4:11: ", "2 labels for 3 nodes"]),
    "label twice": ("labels.txt", "A\nB\nA\n", ["labels.txt:3: ", "'A' also stands in line 1"]),
    "too many values per node": ("tau.csv", "1\n2\n3\n4\n",
                                 ["s.yaml:11:17: ", "4 rows x 1 columns", "3 x 1 or 1 x 3"]),
    "NaN per node": ("tau.csv", "1\nnan\n3\n", ["s.yaml:11:17: ", "value 2 is nan"]),
    "input too short": ("drive.csv", "1,1,1\n" * 10,
                        ["s.yaml:13:15: ", "lasts 9 ms", "10 samples", "needs 11 samples"]),
    "input for other nodes": ("drive.csv", "1,1\n" * 11,
                              ["s.yaml:13:15: ", "11 rows (times) x 2 columns (nodes)",
                               "3 nodes"]),
    "input transposed": ("drive.csv", (",".join(["1"] * 11) + "\n") * 3,
                         ["s.yaml:13:15: ", "rows and columns swapped?"]),
    "NaN in the input": ("drive.csv", "1,1,1\n" * 5 + "1,nan,1\n" * 6,
                         ["s.yaml:13:15: ", "row 6, column 2 is nan"]),
}


@pytest.mark.parametrize("case", DATA_CASES)
def test_bad_data_is_refused(folder, case):
    name, content, fragments = DATA_CASES[case]
    write(folder / name, content)
    refused(folder, ["run", "s.yaml", "-o", "r.h5"], 2, fragments)


def test_all_bad_data_is_listed_at_once(folder):
    for case in ("not square", "NaN per node", "label twice"):
        name, content, _ = DATA_CASES[case]
        write(folder / name, content)
    edited(folder, "drive.csv", "gone.csv")
    refused(folder, ["run", "s.yaml", "-o", "r.h5"], 2,
            ["2 rows x 3 columns", "'A' also stands", "gone.csv"])


def test_a_tvb_folder_without_its_labels_is_refused(folder):
    (folder / "tvb").mkdir()
    write(folder / "tvb" / "weights.txt", WEIGHTS.replace(",", " "))
    edited(folder, "weights: w.csv\n  labels: labels.txt", "tvb: tvb")
    refused(folder, ["run", "s.yaml", "-o", "r.h5"], 2, ["s.yaml:3:8: ", "centres.txt"])


def test_a_dataset_that_is_not_there_is_refused_with_those_that_are(folder):
    with h5py.File(folder / "drive.h5", "w") as file:
        file["drive"] = np.ones((11, 3))
        file["other"] = np.ones(3)
    edited(folder, "file: drive.csv", "file: drive.h5, dataset: /drove")
    refused(folder, ["run", "s.yaml", "-o", "r.h5"], 2, ["'/drove'", "drive, other"])
    edited(folder, "file: drive.csv", "file: drive.h5")
    refused(folder, ["run", "s.yaml", "-o", "r.h5"], 2, ["2 datasets", "drive, other"])


# --- the command line -----------------------------------------------------------------------------

OPTION_CASES = {
    "unknown command": (["rum", "s.yaml"], ['"rum"', 'did you mean "run"', "doctor"]),
    "unknown option": (["run", "s.yaml", "--ouput", "x.h5"],
                       ["--ouput", "did you mean --output", "gridmarch run --help"]),
    "no target": (["run"], ["gridmarch run SWEEP.yaml"]),
    "no target of info": (["info"], ["gridmarch info FILE.h5"]),
    "two targets around --": (["run", "s.yaml", "--", "t.yaml"],
                              ["s.yaml", "t.yaml", "one file at a time"]),
    "two targets": (["run", "s.yaml", "t.yaml"], ["s.yaml", "t.yaml", "one file at a time"]),
    "option cut short": (["run", "s.yaml", "--max-tim", "3"], ["--max-tim", "did you mean --max-time"]),
    "long option without its value": (["models", "--template"], ["--template: its value is missing"]),
    "template named like a model": (["models", "--template", "hopf"], ["a built-in model has this name"]),
    "option without its value": (["run", "s.yaml", "-o"], ["-o", "its value is missing"]),
    "option of another command": (["info", "r.h5", "--tile", "3"], ["gridmarch info", "--tile"]),
    "value for a flag": (["run", "s.yaml", "--quiet=yes"], ["--quiet=yes"]),
    "tile of zero": (["run", "s.yaml", "--tile", "0"], ["--tile 0", "from 1 to"]),
    "tile too large": (["run", "s.yaml", "--tile", "1073741825"], ["from 1 to 1073741824"]),
    "negative tile": (["run", "s.yaml", "--tile", "-3"], ["--tile -3", "from 1 to"]),
    "tile in words": (["run", "s.yaml", "--tile", "many"], ["--tile many", "whole number"]),
    "chunk of parts": (["run", "s.yaml", "--chunk", "1.5"], ["--chunk 1.5", "whole number"]),
    "chunk too large": (["run", "s.yaml", "--chunk", "9" * 30], ["--chunk 999", "from 1 to"]),
    "too many threads": (["run", "s.yaml", "--threads", "5000"], ["--threads 5000", "4096"]),
    "unknown architecture": (["compile", "s.yaml", "--arch", "x86-64-v9", "-o", "s.kernel"],
                             ["'x86-64-v9'", "x86-64-v3", "sm_90"]),
    "no rank": (["plan", "s.yaml", "--ranks", "0"], ["--ranks 0", "from 1 to"]),
    "unknown backend": (["run", "s.yaml", "--backend", "tpu"], ["--backend tpu", "cuda or cpu"]),
    "unknown model": (["models", "hopff"], ['"hopff"', 'did you mean "hopf"']),
    "no result named": (["run", "s.yaml"], ["no result file is named", "-o FILE", "output: FILE"]),
    "result without a name": (["run", "s.yaml", "-o", ""], ["no result file is named"]),
    "no sweep file": (["run", "gone.yaml", "-o", "r.h5"], ["gone.yaml", "No such file"]),
    "header for a sweep": (["run", "mine/jr.h", "-o", "r.h5"],
                           ["mine/jr.h is a model's header", "(YAML) names it: model: ./jr.h"]),
    "header for a plan": (["plan", "jr.h"],
                          ["jr.h is a model's header", "(YAML) names it: model: ./jr.h"]),
    "folder for a sweep": (["run", ".", "-o", "r.h5"], [".", "it is a folder"]),
    "setting without =": (["run", "s.yaml", "-o", "r.h5", "--set", "time.dt"],
                          ["--set time.dt: ", "key=value"]),
    "setting of nothing": (["run", "s.yaml", "-o", "r.h5", "--set", "time.dt="],
                           ["--set time.dt=: ", "null removes"]),
    "setting of an unknown key": (["run", "s.yaml", "-o", "r.h5", "--set", "time.td=1"],
                                  ["--set time.td=1: ", "'td'", "did you mean 'dt'?"]),
    "setting of a bad value": (["run", "s.yaml", "-o", "r.h5", "-s", "time.dt=fast"],
                               ["--set time.dt=fast: ", "a number", "'fast'"]),
    "removal of what is not there": (["run", "s.yaml", "-o", "r.h5", "-s", "axes.w=null"],
                                     ["--set axes.w=null: ", "there is no 'w'"]),
    "setting against the file": (["run", "s.yaml", "-o", "r.h5", "-s", "parameters.G=1"],
                                 ["--set parameters.G=1: ", "axes.G", "s.yaml:9:3"]),
    "noise under rk4": (["run", "s.yaml", "-o", "r.h5", "-s", "integrator=rk4", "-s",
                         "parameters.sigma_i=0.1"],
                        ["--set integrator=rk4: ", "sigma_i", "heun (stochastic Heun)"]),
}


@pytest.mark.parametrize("case", OPTION_CASES)
def test_a_bad_command_line_is_refused(folder, case):
    args, fragments = OPTION_CASES[case]
    assert refused(folder, args, 2, fragments) == refused(folder, args, 2, fragments, ranks=0)


def test_cuda_without_a_gpu_is_refused(folder):
    if "GPU       ok" in run("doctor").out:
        pytest.skip("there is a GPU here")
    refused(folder, ["run", "s.yaml", "-o", "r.h5", "--backend", "cuda"], 6,
            ["--backend cuda", "gridmarch doctor"])


# --- the output path ------------------------------------------------------------------------------

OUTPUT_CASES = {
    "missing folder": ("gone/r.h5", 4, ["gone/r.h5", "no such folder"]),
    "file for a folder": ("w.csv/r.h5", 4, ["w.csv/r.h5", "ot a directory"]),
    "folder": ("somewhere", 3, ["somewhere", "not a regular file"]),
    "text file": ("notes.txt", 3, ["notes.txt", "not an HDF5 file"]),
    "someone else's HDF5 file": ("other.h5", 3, ["other.h5", "not a result of gridmarch"]),
    "empty file": ("empty.h5", 3, ["empty.h5", "not an HDF5 file"]),
    "file cut short": ("cut.h5", 3, ["cut.h5"]),
}


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
@pytest.mark.parametrize("case", OUTPUT_CASES)
def test_an_output_that_is_not_ours_is_left_alone(folder, case, overwrite):
    output, code, fragments = OUTPUT_CASES[case]
    (folder / "somewhere").mkdir()
    write(folder / "empty.h5", "")
    write(folder / "notes.txt", "A\n")
    with h5py.File(folder / "other.h5", "w") as file:
        file["status"] = np.zeros(2, np.uint8)
    shutil.copy(folder / "other.h5", folder / "cut.h5")
    os.truncate(folder / "cut.h5", 1000)
    refused(folder, ["run", "s.yaml", "-o", output, *overwrite], code, fragments)


def test_a_run_of_many_steps_takes_little_memory(folder):
    """More steps than any memory could hold; the file is there once all memory is taken."""
    process = start("run", "s.yaml", "-o", "r.h5", "-s", "inputs.p_e=1", "-s",
                    "time={dt: 1, duration: 1.0e+12}", cwd=folder)
    try:
        wait_until(lambda: (folder / "r.h5").exists() or process.poll() is not None, seconds=60)
        assert process.poll() is None, process.communicate()[1]
    finally:
        kill_tree(process)
        process.communicate()


@pytest.mark.parametrize("name", ["s.yaml", "w.csv", "labels.txt", "tau.csv", "drive.csv"])
@pytest.mark.parametrize("ending", ["", ".partial"])
def test_an_output_that_would_replace_an_input_is_refused(folder, name, ending):
    (folder / name).rename(folder / f"r.dat{ending}")
    sweep = f"r.dat{ending}" if name == "s.yaml" else "s.yaml"
    if name != "s.yaml":
        edited(folder, name, f"r.dat{ending}")
    if name == "drive.csv" and not ending:  # also if it is a result that might be replaced
        run("run", "s.yaml", "-o", "in.h5", "-s", "inputs.p_e=1", "-s", "network=none", "-s",
            "parameters.tau_e=2", "-s", "axes={G: {linspace: [0, 1, 11]}}", cwd=folder)
        (folder / "in.h5").rename(folder / "r.dat")
        edited(folder, "drive.csv", "r.dat, dataset: G")
    refused(folder, ["run", sweep, "-o", "r.dat", "--overwrite"], 3,
            [f"r.dat{ending} is an input of this sweep"])


def test_a_status_that_does_not_exist_is_noticed(folder):
    assert run("run", "s.yaml", "-o", "r.h5", cwd=folder).code == 0
    with h5py.File(folder / "r.h5", "r+") as file:
        file["status"][1] = 77
    refused(folder, ["run", "s.yaml", "-o", "r.h5"], 3, ["r.h5", "damaged", "point 1 is 77"])
    refused(folder, ["info", "r.h5"], 3, ["r.h5", "damaged", "point 1 is 77"])


@pytest.mark.parametrize("command", [["info", "r.h5"], ["run", "s.yaml", "-o", "r.h5"]])
def test_a_pipe_is_no_result(folder, command):
    os.mkfifo(folder / "r.h5")
    refused(folder, command, 4 if command[0] == "info" else 3, ["r.h5", "not a "])


NAMED = {
    "sweep": (["plan", "odd"], ["odd: "]),
    "model": (["plan", "s.yaml", "-s", "model=./odd"], ["--set model=./odd: ", "odd: "]),
    "header": (["models", "./odd"], ["odd'"]),
    "weights": (["plan", "s.yaml", "-s", "network.weights=odd"], ["'odd'"]),
    "labels": (["plan", "s.yaml", "-s", "network.labels=odd"], ["'odd'"]),
    "values per node": (["plan", "s.yaml", "-s", "parameters.tau_e.file=odd"], ["'odd'"]),
    "input": (["plan", "s.yaml", "-s", "inputs.p_e.file=odd"], ["'odd'"]),
    "kernel": (["run", "s.yaml", "-o", "r.h5", "--kernel", "odd"], ["odd: "]),
    "measured": (["plan", "s.yaml", "--measured", "odd"], ["--measured odd: "]),
    "info": (["info", "odd"], ["'odd'"]),
    "verify": (["verify", "odd"], ["'odd'"]),
}


@pytest.mark.parametrize("named", NAMED)
def test_only_regular_files_are_read(folder, named):
    """A pipe that nobody writes to would block, /dev/zero never ends."""
    args, fragments = NAMED[named]
    odd = folder / "odd"
    for make in (lambda: os.mkfifo(odd), lambda: odd.symlink_to("/dev/zero")):
        make()
        done = run(*args, cwd=folder, timeout=FEW_SECONDS)
        odd.unlink()
        assert done.code == (4 if named in ("info", "verify") else 2), done.err
        assert all(part in done.err for part in [*fragments, "it is not a regular file"]), done.err
        assert not (folder / "r.h5").exists()


def test_info_refuses_what_is_no_result(folder):
    refused(folder, ["info", "labels.txt"], 3, ["labels.txt", "not an HDF5 file"])
    refused(folder, ["info", "gone.h5"], 4, ["gone.h5", "no such file"])


def test_a_result_larger_than_the_disk_is_refused_before_it_is_made(folder):
    huge = ["--set", "axes={G: {linspace: [0, 1, 1.0e+6]}, seed: {range: [0, 999999, 1]}}"]
    refused(folder, ["run", "s.yaml", "-o", "r.h5", *huge], 4, ["the result needs", "are free"])
    write(folder / "edge.yaml", """\
model: lorenz63  # 22 bytes a point: a little short of 2^63
axes:
  sigma: {linspace: [0, 1, 700150]}
  rho: {linspace: [0, 1, 748752]}
  beta: {linspace: [0, 1, 799720]}
time: {dt: 0.1, duration: 1}
integrator: heun
record: {last: [x]}
""")
    refused(folder, ["run", "edge.yaml", "-o", "r.h5"], 4, ["the result needs", "are free"])
    axes = ", ".join(f"{name}: {{linspace: [0, 1, 1.0e+6]}}" for name in ("G", "a_e", "a_i"))
    refused(folder, ["run", "s.yaml", "-o", "r.h5", "--set", f"axes={{{axes}}}"], 2,
            ["2^63 bytes"])


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("mount"), reason="only root can mount")
def test_a_full_disk_is_noticed_before_the_run(folder):
    disk = folder / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", disk], check=False,
                      capture_output=True).returncode != 0:
        pytest.skip("mounting is not allowed here")
    try:
        big = ["--set", "axes.G={linspace: [0, 1, 200000]}"]
        refused(folder, ["run", "s.yaml", "-o", "disk/r.h5", *big], 4, ["disk/r.h5", "are free"])
        write(disk / "filler", "x" * (2 << 20))  # too little, yet more than the numbers alone
        refused(folder, ["run", "s.yaml", "-o", "disk/r.h5"], 4, ["disk/r.h5"])
        assert [path.name for path in disk.iterdir()] == ["filler"]
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"),
                    reason="needs root, to become another user")
@pytest.mark.parametrize("what, code, fragments", [
    ("folder", 4, ["r.h5", "not writable", "permission denied"]),
    ("sweep", 2, ["s.yaml", "Permission denied"]),
    ("weights", 2, ["s.yaml:3:12: ", "w.csv", "Permission denied"]),
    ("result", 4, ["r.h5", "permission denied"]),
])
def test_missing_permission_is_named(folder, what, code, fragments):
    write(folder / "r.h5", "")
    closed = {"folder": folder, "sweep": folder / "s.yaml", "weights": folder / "w.csv",
              "result": folder / "r.h5"}[what]
    if what != "result":
        (folder / "r.h5").unlink()
    for path in [folder, *folder.parents][:3]:
        path.chmod(0o755 if path != folder else 0o777)
    closed.chmod(0o555 if what == "folder" else 0o000)
    program = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
               os.environ["GRIDMARCH"], "run", "s.yaml", "-o", "r.h5", "--backend", "cpu"]
    if subprocess.run([*program[:5], "--version"], check=False, capture_output=True).returncode:
        pytest.skip("another user cannot reach the program")
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False,
                          timeout=60)
    assert done.returncode == code, done.stderr
    assert all(part in done.stderr for part in fragments), done.stderr
    assert what == "result" or not (folder / "r.h5").exists()


MATRIX = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]], dtype=float)
WELL_PACKED = {
    "gzip": {"compression": "gzip", "chunks": (2, 2)},
    "shuffled gzip with checksums": {"compression": "gzip", "shuffle": True, "fletcher32": True},
    "chunks alone": {"chunks": (1, 3)},
    "a chunk beyond the end": {"chunks": (5, 5), "maxshape": (None, None), "compression": "gzip"},
    "compact or in one piece": {},
}


def packed(folder, **how):
    """The sweep with its weights in an HDF5 file."""
    edited(folder, "weights: w.csv", "weights: w.h5")
    with h5py.File(folder / "w.h5", "w") as file:
        file.create_dataset("w", data=MATRIX, **how)


@pytest.mark.parametrize("case", WELL_PACKED)
def test_packed_tables_are_read(folder, case):
    packed(folder, **WELL_PACKED[case])
    assert run("plan", "s.yaml", "-o", "r.h5", cwd=folder).code == 0


@pytest.mark.parametrize("how, words", [
    ({"compression": "lzf"}, "'lzf' (32000)"), ({"scaleoffset": 2}, "(6)")])
def test_tables_with_filters_that_cannot_be_checked_are_refused(folder, how, words):
    packed(folder, **how)
    refused(folder, ["run", "s.yaml", "-o", "r.h5"], 2, ["w.h5", words, "save it with gzip"])


@pytest.mark.parametrize("how, chunk", [
    ({"compression": "gzip"}, zlib.compress(MATRIX.tobytes()[:-8])),  # unpacks to less
    ({"compression": "gzip"}, zlib.compress(MATRIX.tobytes() + bytes(8))),
    ({"compression": "gzip"}, zlib.compress(b"")),
    ({"compression": "gzip"}, zlib.compress(MATRIX.tobytes())[:-9]),
    ({"compression": "gzip"}, b"nonsense"),
    ({"fletcher32": True}, b"ab"),
])
def test_a_damaged_part_of_a_packed_table_is_refused(folder, how, chunk):
    packed(folder, chunks=(3, 3), **how)
    with h5py.File(folder / "w.h5", "r+") as file:
        file["w"].id.write_direct_chunk((0, 0), chunk)
    refused(folder, ["run", "s.yaml", "-o", "r.h5"], 2,
            ["w.h5", "damaged: the part from row 1, column 1"])


def test_a_table_that_lies_in_other_files_is_refused(folder):
    edited(folder, "weights: w.csv", "weights: w.h5")
    (folder / "raw").write_bytes(MATRIX.tobytes())
    with h5py.File(folder / "w.h5", "w") as file:
        file.create_dataset("w", shape=(3, 3), dtype=float, external=[("raw", 0, 72)])
    refused(folder, ["run", "s.yaml", "-o", "r.h5"], 2, ["w.h5", "other files"])

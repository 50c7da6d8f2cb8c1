"""The commands as a user meets them: help, models, plan, info, doctor; what is printed where."""

import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import (EXAMPLES, RING, ROOT, assert_same, command, environment, march,  # noqa: E402
                     needs_program, run, start, write)

pytestmark = needs_program

COMMANDS = ["run", "plan", "compile", "models", "info", "verify", "doctor"]
EXAMPLE = EXAMPLES / "wilson_cowan.yaml"


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return march(EXAMPLE, tmp_path_factory.mktemp("cli") / "r.h5", "--quiet")


# --- help and version -----------------------------------------------------------------------------


@pytest.mark.parametrize("args", [[], ["--help"], ["-h"], ["help"]])
def test_help_lists_every_command(args):
    done = run(*args)
    assert done.code == 0 and done.err == ""
    assert all(re.search(rf"^  {name}\b", done.out, re.M) for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name):
    done = run(name, "--help")
    assert done.code == 0 and done.err == ""
    assert done.out.startswith(f"usage: gridmarch {name}")
    assert run(name, "-h").out == done.out


def test_every_option_that_help_shows_is_taken():
    values = {"--set", "--output", "--tile", "--chunk", "--threads", "--ranks", "--kernel", "--arch",
              "--max-time", "--patience", "--checkpoint", "--measured",
              "--rate", "--bandwidth"}
    for name in ("run", "plan", "compile"):
        text = run(name, "--help").out
        for option in set(re.findall(r"--[a-z][a-z-]+", text)) - {"--backend", "--engine", "--schedule"}:
            done = run(name, f"{option}=1" if option in values else option, "--help")
            assert done.out == text, (name, option, done.err)
    for option in ("--set", "--output", "--backend", "--tile", "--chunk", "--threads"):
        assert option in run("run", "--help").out and option in run("plan", "--help").out


def test_help_wins_over_what_stands_beside_it():
    assert run("run", "gone.yaml", "--help").out == run("run", "--help").out


@pytest.mark.parametrize("word", ["--version", "version"])
def test_version_is_one_line(word):
    done = run(word)
    assert done.code == 0 and re.fullmatch(r"gridmarch \d+\.\d+\.\d+\S*\n", done.out)


@pytest.mark.parametrize("word", ["--version", "--help", "models", "doctor"])
def test_under_mpirun_it_is_said_once(word):
    first = run(word).out.splitlines()[0]
    done = run(word, ranks=3)
    assert done.code == 0 and done.out.splitlines().count(first) == 1


# --- models and doctor ----------------------------------------------------------------------------


def test_models_lists_all_and_explains_each():
    done = run("models")
    names = [line.split()[0] for line in done.out.splitlines()]
    assert done.code == 0 and {"hopf", "kuramoto", "lorenz63", "wilson_cowan"} <= set(names)
    for name in names:
        one = run("models", name)
        assert one.code == 0 and one.out.startswith(f"{name}: ")
        assert "\nstates" in one.out and "\nparameters" in one.out


def test_a_model_shows_its_units_defaults_inputs_and_noise():
    out = run("models", "wilson_cowan").out
    assert re.search(r"^  tau_e +2\.5 +ms +excitatory time constant$", out, re.M)
    assert re.search(r"^  p_e +0 +1 +outside drive of E$", out, re.M)
    assert re.search(r"^  net +sum_j W_ij E_j$", out, re.M)
    assert "sigma_e" in out.split("\nnoise")[1]


def test_doctor_names_every_layer():
    done = run("doctor")
    assert done.code == 0 and done.err == ""
    for layer in ("gridmarch", "C library", "MPI", "HDF5", "CPU", "Compiler", "GPU"):
        assert re.search(rf"^{layer}\b", done.out, re.M), layer


def test_a_setting_given_as_an_option_is_told_how_it_is_given():
    done = run("plan", "sweep.yaml", "--precision", "fast")
    assert done.code == 2
    assert "--set precision=VALUE" in done.err


# --- plan -----------------------------------------------------------------------------------------


def test_plan_says_what_a_run_would_do(tmp_path):
    done = run("plan", EXAMPLE, "-o", tmp_path / "r.h5", "--ranks", 4)
    assert done.code == 0
    for words in (r"wilson_cowan, heun, fp32", r"16 nodes", r"points +40: G 40",
                  r"steps +10000 of 0\.1 ms: 1000 in all, the first 200 \(2000 steps\) not recorded",
                  r"noise +off", r"inputs +p_e 0\.6\n +p_i 0\n",
                  r"ranks +4, at most 10 points each",
                  r"engine +lanes: 16 points side by side in vector registers", r"tile +\d+ points, chunk \d+ steps",
                  r"r\.h5, 1010\.7 KiB", r"E_mean +\(G, node\) +2\.5 KiB",
                  r"E +\(G, time, node\) +1000\.0 KiB", r"would be made new"):
        assert re.search(words, done.out), words
    assert not list(tmp_path.iterdir())


def test_fast_is_fp32_on_a_cpu(tmp_path):
    found = [march(EXAMPLE, tmp_path / f"{precision}.h5", "--set", f"precision={precision}")
             for precision in ("fp32", "fast")]
    assert_same(*found)


def test_plan_tells_what_the_result_file_means_for_a_run(result, tmp_path):
    assert "is complete: nothing to do" in run("plan", EXAMPLE, "-o", result).out
    other = run("plan", EXAMPLE, "-o", result, "--set", "seed=3")
    assert other.code == 3 and "E_mean" in other.out and "would be refused" in other.out
    assert other.messages[0].endswith("holds another sweep; 1 setting changed:")
    assert other.messages[1] == "  seed: the file has 0, the sweep asks for 3"
    assert run("plan", EXAMPLE, "-o", result, "--set", "seed=3", "--overwrite").code == 2
    assert run("plan", EXAMPLE, "-o", tmp_path / "gone" / "r.h5", ranks=2).code == 4
    assert "none named" in run("plan", EXAMPLE, "--set", "output=null").out


def test_plan_works_for_sweeps_too_large_to_run():
    axes = "axes={G: {linspace: [0, 1, 100000]}, seed: {range: [1, 1000, 1]}}"
    done = run("plan", EXAMPLE, "--set", axes, "-o", "r.h5")
    assert done.code == 4 and "points       100000000" in done.out and "TiB" in done.out
    assert "the result needs" in done.err


def test_plan_of_5e9_points_takes_no_memory_for_each():
    """A byte a point would be 4.6 GiB."""
    axes = "axes={G: {range: [1, 70000, 1]}, seed: {range: [1, 70000, 1]}}"
    process = start("plan", EXAMPLE, "--set", axes, "--set", "output=null")
    out = process.stdout.read()
    _, state, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(state)
    assert process.returncode == 0 and "points       4900000000: G 70000 x seed 70000" in out
    assert usage.ru_maxrss < 1 << 20  # KiB


def test_plan_names_the_dimensions_of_the_result(tmp_path):
    axes = "axes={G: [0, 1], initial.I: [0, 0.1], seed: [1, 2]}"
    assert "E_mean         (G, initial_I, seed, node)  " in run("plan", EXAMPLE, "--set", axes).out
    out = run("plan", EXAMPLE, "--set", axes, "--set", "design=zip").out
    assert "E              (point, time, node)  " in out
    assert "x_last         (rho)  " in run("plan", EXAMPLES / "lorenz63.yaml").out


def test_plan_on_three_ranks_speaks_once(tmp_path):
    out = run("plan", EXAMPLE, "-o", tmp_path / "r.h5", ranks=3).out
    assert out.count("model ") == 1 and "ranks        3, at most 14 points each" in out


# --- run and info ---------------------------------------------------------------------------------


def test_run_reports_on_standard_error_only(tmp_path):
    done = run("run", EXAMPLE, "-o", tmp_path / "r.h5", ranks=2)
    assert done.code == 0 and done.out == ""
    assert "40 points done in" in done.err and "on 2 ranks (cpu)" in done.err
    assert re.search(r"^rank +host +device$", done.err, re.M)


def test_output_of_the_sweep_file_lies_where_the_program_runs(tmp_path):
    assert run("run", EXAMPLE, "--quiet", cwd=tmp_path).code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["wilson_cowan.h5"]


@pytest.mark.parametrize("far", [False, True])
def test_a_link_at_the_output_path_stays_and_its_target_is_written(result, tmp_path, far):
    """Also when nothing is there yet, when the link is relative, and with --overwrite."""
    (tmp_path / "scratch").mkdir()
    (tmp_path / "here").mkdir()
    target, link = tmp_path / "scratch" / "t.h5", tmp_path / "here" / "r.h5"
    if far:  # a link to a link, one absolute
        (tmp_path / "scratch" / "middle").symlink_to(target)
        link.symlink_to("../scratch/middle")
    else:
        link.symlink_to("../scratch/t.h5")

    def check(expected):
        assert link.is_symlink() and target.is_file() and not target.is_symlink()
        assert_same(target, expected)
        assert [path.name for path in link.parent.iterdir()] == ["r.h5"]
        assert not list(target.parent.glob("*.partial"))

    march(EXAMPLE, link, "--quiet")
    check(result)
    inode = target.stat().st_ino
    assert "nothing to do" in run("run", EXAMPLE, "-o", link, ranks=2).err
    assert target.stat().st_ino == inode
    march(EXAMPLE, link, "--quiet", "--overwrite", ranks=2)
    check(result)
    assert "holds another sweep" in run("run", EXAMPLE, "-o", link, "--set", "seed=4").err
    march(EXAMPLE, link, "--quiet", "--overwrite", "--set", "axes.G=[1]")
    check(march(EXAMPLE, tmp_path / "one.h5", "--quiet", "--set", "axes.G=[1]"))


@pytest.mark.parametrize("ranks", [0, 3])
def test_quiet_prints_nothing(tmp_path, ranks):
    for again in ("computed", "complete"):
        done = run("run", EXAMPLE, "-o", tmp_path / "r.h5", "-q", ranks=ranks)
        assert (done.code, done.out, done.err) == (0, "", ""), again


@pytest.mark.parametrize("ranks", [0, 3])
def test_json_of_a_run_holds_the_summary(tmp_path, ranks):
    done = run("run", EXAMPLE, "-o", tmp_path / "r.h5", "--json", "--quiet", ranks=ranks)
    found = json.loads(done.out)
    assert done.err == ""
    assert found["file"] == str(tmp_path / "r.h5") and found["backend"] == "cpu"
    assert (found["points"], found["done"], found["diverged"]) == (40, 40, 0)
    assert (found["ranks"], found["steps"], found["nodes"]) == (max(ranks, 1), 10000, 16)
    assert len(found["devices"]) == max(ranks, 1)
    for key in ("wall_s", "start_up_s", "march_s", "point_steps_per_s", "node_steps_per_s", "bytes",
                "tile_points", "chunk_steps", "read_s", "device_s", "create_s", "finish_s"):
        assert found[key] > 0, key
    assert (found["model"], found["precision"]) == ("wilson_cowan", "fp32")
    phases = [found[key] for key in ("read_s", "device_s", "compile_s", "create_s")]
    assert min(phases) >= 0 and sum(phases) <= found["start_up_s"] * (1 + 1e-6)
    assert 0 <= found["wait_s"] <= found["wall_s"]


def test_info_shows_progress_settings_and_origin(result):
    out = run("info", result).out
    assert "40 done" in out and "(100.0% computed)" in out
    assert "parameters.c_ee: 16" in out and "kernel    cpu" in out
    found = json.loads(run("info", result, "--json").out)
    assert (found["points"], found["done"], found["pending"]) == (40, 40, 0)
    assert found["settings"]["model"] == "wilson_cowan" and found["kernel"].startswith("cpu")
    assert found["settings"]["axes"] == "G"
    assert found["settings"]["axes.G"].startswith("40 values from 0 to 3")
    assert found["runs"][0]["ranks"] == 1 and found["runs"][0]["devices"][0]["rank"] == 0


NOTE = "note: theta is an angle: its "


def test_statistics_of_an_angle_get_one_note(tmp_path):
    output = ["-o", tmp_path / "r.h5", "--set", "time.duration=10"]
    some = ["--set", "record.mean=all", "--set", "record.max=all"]
    for ranks in (0, 2):
        for name in ("plan", "run"):
            done = run(name, EXAMPLES / "kuramoto.yaml", *output, *some, ranks=ranks)
            notes = [line for line in done.messages if line.startswith("note: ")]
            assert done.code == 0
            assert notes == [NOTE + "mean, max rarely mean something; record last or trajectory"]
            (tmp_path / "r.h5").unlink(missing_ok=True)
    done = run("run", EXAMPLES / "kuramoto.yaml", *output, *some, "--quiet")
    assert (done.code, done.err) == (0, "")
    assert "note" not in run("plan", EXAMPLES / "kuramoto.yaml").err
    assert "note" not in run("plan", EXAMPLE).err


def test_a_file_name_with_blanks_quotes_and_umlauts(tmp_path):
    folder = tmp_path / 'a "b" ü'
    folder.mkdir()
    output = march(EXAMPLE, folder / "r 1%s.h5", "--quiet", ranks=2)
    assert json.loads(run("info", output, "--json").out)["file"] == str(output)


# --- where the output goes ------------------------------------------------------------------------


@pytest.mark.parametrize("args", [["models"], ["doctor"], ["--help"], ["plan", EXAMPLE],
                                  ["info", "RESULT"]])
def test_a_reader_that_has_left_does_no_harm(args, result):
    """A broken pipe ends the program as it ends any other; it does not crash or hang."""
    args = [result if word == "RESULT" else word for word in args]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(command(args), stdout=writing, stderr=subprocess.PIPE, text=True,
                          env=environment(), timeout=60, check=False)
    os.close(writing)
    assert done.returncode in (4, -13), done.stderr
    assert "Sanitizer" not in done.stderr


def test_standard_output_that_cannot_be_written_is_an_error():
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run(command(["models"]), stdout=full, stderr=subprocess.PIPE,
                              env=environment(), timeout=60, check=False)
    assert done.returncode == 4 and b"gridmarch: " in done.stderr


def test_compile_replaces_a_kernel_and_nothing_else(tmp_path):
    sweep = tmp_path / "s.yaml"
    shutil.copy(EXAMPLES / "lorenz63.yaml", sweep)
    text = sweep.read_text(encoding="utf-8")
    done = run("compile", str(sweep), "-o", str(sweep))
    assert done.code == 2 and "no compiled kernel" in done.err
    assert sweep.read_text(encoding="utf-8") == text
    for _ in range(2):
        assert run("compile", str(sweep), "-o", str(tmp_path / "k.kernel")).code == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="making a device takes root")
def test_a_device_named_as_the_kernel_file_stays(tmp_path):
    device = tmp_path / "full"
    os.mknod(device, 0o600 | stat.S_IFCHR, os.makedev(1, 7))
    done = run("compile", str(EXAMPLES / "lorenz63.yaml"), "-o", str(device))
    assert done.code == 4 and "No space left" in done.err
    assert stat.S_ISCHR(device.stat().st_mode)


def test_closed_standard_streams_do_not_hurt_the_result(result, tmp_path):
    """The first files that are opened could get the numbers of the streams, and the messages."""
    words = " ".join(f"'{word}'" for word in command(["run", EXAMPLE, "-o", tmp_path / "r.h5"]))
    subprocess.run(["sh", "-c", f"exec {words} <&- >&- 2>&-"], env=environment(), timeout=60,
                   check=True)
    assert_same(tmp_path / "r.h5", result)
    assert (tmp_path / "r.h5").stat().st_size == result.stat().st_size


def test_every_example_can_be_planned():
    examples = sorted(EXAMPLES.glob("*.yaml"))
    assert len(examples) >= 4
    for example in examples:
        assert run("plan", example).code == 0, example


def test_the_readme_sweep_runs_as_printed(tmp_path):
    """Saved where the README says, relative to a checkout."""
    readme = (ROOT / "README.md").read_text()
    before, rest = readme.split("```yaml\n")[:2]
    name = before.split("Save this as `")[1].split("`")[0]
    assert name == "examples/my.yaml"
    shutil.copytree(EXAMPLES / "data", tmp_path / "examples" / "data")
    write(tmp_path / name, rest.split("```")[0])
    done = run("run", name, cwd=tmp_path)
    assert done.code == 0, done.err
    assert "120 points done" in done.err and (tmp_path / "my.h5").is_file()


def test_the_documented_example_is_accepted(tmp_path):
    """The complete example of docs/sweep-file.md, with files for what it names."""
    text = (ROOT / "docs" / "sweep-file.md").read_text()
    example = text.split("```yaml\n")[1].split("```")[0]
    (tmp_path / "data").mkdir()
    for name in ("ring16.csv", "ring16_labels.csv"):
        (tmp_path / "data" / name).write_bytes((RING.parent / name).read_bytes())
    write(tmp_path / "data" / "tau.csv", "2.5\n" * 16)
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "data" / "drive.h5", "w") as file:
        file["drive"] = [[0.5]] * 2001
    done = run("plan", write(tmp_path / "s.yaml", example))
    assert done.code == 0, done.err
    assert "points       800: G 40 x initial.I 2 x seed 10" in done.out
    assert "noise        on" in done.out

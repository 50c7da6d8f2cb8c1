"""Files made to harm: what a sweep file and a result file can bring about, what others may have put in
the place of a run's own files, and what the program never does."""

import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import PROGRAM, RING, ROOT, march, needs_program, run, write  # noqa: E402

pytestmark = needs_program

SWEEP = f"""
model: wilson_cowan
network: {{weights: {RING}, normalise: maximum, symmetric: required, self_connections: drop}}
axes: {{G: {{linspace: [0, 3, 4]}}}}
inputs: {{p_e: 0.6}}
time: {{dt: 0.1, duration: 10}}
integrator: heun
record: {{last: all}}
"""
PRECIOUS = "written by hand\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of the user, with all that the program may use below it."""
    for name, variable in (("home", "HOME"), ("cache", "XDG_CACHE_HOME"), ("temporary", "TMPDIR")):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / name))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    write(pathlib.Path("s.yaml"), SWEEP)
    return tmp_path


def files(folder):
    """Every path below a folder but those of Open MPI's sessions."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")
            if "ompi." not in str(path) and "pmix" not in str(path)}


# --- no shell, no locale --------------------------------------------------------------------------


@pytest.mark.skipif(not shutil.which("nm"), reason="nm is not installed")
def test_no_function_that_runs_a_shell_or_sets_a_locale_is_called():
    listed = subprocess.run(["nm", "-D", "--undefined-only", PROGRAM], capture_output=True, text=True,
                            check=True).stdout
    called = {line.split()[-1].split("@")[0] for line in listed.splitlines()}
    assert "posix_spawn" in called  # the compiler's, with its path and a list of arguments
    assert not called & {"system", "popen", "wordexp", "execl", "execlp", "execle", "execv", "execvp",
                         "execvpe", "posix_spawnp", "setlocale", "mktemp", "tmpnam", "tempnam", "gets"}


@pytest.mark.parametrize("name", ["$(touch harmed)`touch harmed`;touch harmed|touch harmed",
                                  "-o harmed \"-o harmed\" '\ntouch harmed\n"])
def test_names_are_no_commands(folder, name):
    work = folder / "work" / name
    work.mkdir()
    shutil.copy(ROOT / "kernels" / "models" / "wilson_cowan.h", work / f"{name}.h")
    shutil.copy(RING, work / f"{name}.csv")
    sweep = write(work / f"{name}.yaml", SWEEP.replace("wilson_cowan", json.dumps(f"./{name}.h"))
                  .replace(str(RING), json.dumps(f"{name}.csv")))
    march(sweep, work / f"{name}.h5", env={"TMPDIR": str(work)})
    assert not [path for path in files(folder) if path.split("/")[-1] == "harmed"]


LOCALE_LIBRARY = "#include <locale.h>\n__attribute__((constructor)) static void set(void)\n" \
                 "{ setlocale(LC_ALL, \"\"); }\n"


def test_a_german_locale_changes_no_number(folder):
    """Set by a library, as one that draws or speaks might do."""
    if not shutil.which("localedef") or not shutil.which("cc"):
        pytest.skip("localedef and a C compiler are needed to make a locale and a library that sets it")
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"],
                          capture_output=True, check=False)
    if made.returncode > 1 or not (folder / "de_DE.UTF-8").exists():
        pytest.skip("localedef has no German locale to make")
    write(folder / "set.c", LOCALE_LIBRARY)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "set.so", folder / "set.c"], check=True)
    german = {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8", "LOCPATH": str(folder),
              "LD_PRELOAD": str(folder / "set.so"),
              "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0"}
    said = subprocess.run(["awk", "BEGIN { printf \"%.1f\", 1.5 }"], env=dict(os.environ, **german),
                          capture_output=True, text=True, check=False).stdout
    options = ["-s", "time.dt=0.05", "--json"]
    march("s.yaml", "plain.h5", *options)
    done = run("run", "s.yaml", "-o", "german.h5", *options, env=german)
    assert done.code == 0, done.err
    summary = json.loads(done.out)
    assert isinstance(summary, dict) and said in ("1,5", "1.5", "")
    with h5py.File("plain.h5") as plain, h5py.File("german.h5") as other:
        assert plain["provenance"].attrs["canonical"] == other["provenance"].attrs["canonical"]
        assert plain["E_last"][()].tobytes() == other["E_last"][()].tobytes()
    again = run("info", "german.h5", "--json", env=german)
    assert again.code == 0 and json.loads(again.out)["points"] == 4


# --- what a sweep file can do ---------------------------------------------------------------------


def test_a_run_writes_one_file_and_nothing_else(folder):
    write(folder / "work" / "s.yaml", SWEEP + "output: r.h5\n")
    before = files(folder)
    done = run("run", "s.yaml")
    assert done.code == 0, done.err
    assert files(folder) - before == {"work/r.h5"}


@pytest.mark.parametrize("output", ["/proc/self/environ", "/proc/r.h5", "/dev/null", "/dev/stdout",
                                    "s.yaml", "/"])
def test_an_output_that_is_no_place_for_a_file_is_refused(folder, output):
    write(folder / "work" / "s.yaml", SWEEP + f"output: {output}\n")
    before = files(folder)
    done = run("run", "s.yaml", "--overwrite")
    assert done.code in (3, 4) and len(done.messages) == 1, done.err
    assert files(folder) == before and stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.parametrize("name", ["/dev/zero", "/proc/self/mem", "pipe"])
def test_an_input_that_is_no_file_is_refused(folder, name):
    os.mkfifo("pipe")
    path = os.path.abspath(name)
    words = [word for key in ("network.weights", "network.labels", "parameters.tau_e.file")
             for word in ("-s", f"{key}={path}")]
    done = run("plan", "s.yaml", *words, timeout=30)
    assert done.code == 2 and done.err.count(f"cannot read '{path}': ") == 3, done.err


def test_a_model_that_is_a_pipe_is_refused(folder):
    os.mkfifo("pipe.h")
    done = run("plan", "s.yaml", "-s", "model=./pipe.h", timeout=30)
    assert done.code == 2 and "pipe.h: it is not a regular file" in done.err, done.err


# --- files that others may have put there ---------------------------------------------------------


@pytest.fixture
def precious(folder):
    path = write(folder / "precious", PRECIOUS)
    path.chmod(0o640)
    return path


@pytest.mark.parametrize("ending, options", [
    ("", []), ("", ["--overwrite"]), (".partial", []), (".partial", ["--overwrite"]), (".lock", []),
    (".lock", ["--take-over"]), (".checkpoint", []), (".stop", [])])
def test_what_a_planted_link_leads_to_is_left_alone(folder, precious, ending, options):
    os.symlink(precious, f"r.h5{ending}")
    done = run("run", "s.yaml", "-o", "r.h5", *options)
    assert done.code in (0, 3, 4, 9), done.err
    assert precious.read_text() == PRECIOUS and precious.stat().st_mode & 0o777 == 0o640
    assert done.code != 0 or not os.path.islink("r.h5")


@pytest.mark.parametrize("ending", [".lock", ".checkpoint"])
def test_a_file_that_has_the_name_by_chance_is_left_alone(folder, ending):
    write(pathlib.Path(f"r.h5{ending}"), PRECIOUS)
    done = run("run", "s.yaml", "-o", "r.h5", "--overwrite")
    assert done.code == 3 and f"r.h5{ending}" in done.err and "rename it" in done.err
    assert pathlib.Path(f"r.h5{ending}").read_text() == PRECIOUS


@pytest.mark.parametrize("ending", [".partial", ".lock", ".checkpoint", ".stop"])
def test_a_planted_pipe_is_no_hang(folder, ending):
    os.mkfifo(f"r.h5{ending}")
    done = run("run", "s.yaml", "-o", "r.h5", timeout=30)
    assert done.code in (0, 3, 4, 9), done.err


def test_a_lock_file_leads_to_no_other_file_and_commands_no_terminal(folder):
    """Its process number becomes part of a path, and its holder is shown."""
    os.mkfifo("stat")
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    write(pathlib.Path("r.h5.lock"), f"host \x1b]0;harmed\x07\nplace {boot}/{os.readlink('/proc/self/ns/pid')}\n"
          f"pid 1/cwd/../{os.getcwd()}\nstart 1\njob \nsince never\n")
    done = run("run", "s.yaml", "-o", "r.h5", "--take-over", timeout=30)
    assert done.code == 0, done.err
    assert "taking over" in done.err and "\x1b" not in done.err and "\x07" not in done.err


# --- cache and temporary files --------------------------------------------------------------------


@pytest.mark.parametrize("mask", [0o000, 0o022])
def test_cache_and_temporary_files_are_private(folder, mask):
    """The compiler is a program of ours that notes how its files may be read."""
    shutil.copy(ROOT / "kernels" / "models" / "wilson_cowan.h", "mine.h")
    write(pathlib.Path("s.yaml"), SWEEP.replace("wilson_cowan", "./mine.h"))
    real = shutil.which("cc")
    compiler = write(folder / "cc", "#!/bin/sh\nfor a; do case $a in -I*) "
                     f"stat -c %a \"${{a#-I}}\" >> {folder}/modes;; esac; done\nexec {real} \"$@\"\n")
    compiler.chmod(0o755)
    old = os.umask(mask)
    try:
        march("s.yaml", "r.h5", env={"CC": str(compiler)})
    finally:
        os.umask(old)
    assert set((folder / "modes").read_text().split()) == {"700"}
    kept = [path for path in (folder / "cache").rglob("*")]
    assert len(kept) == 2  # the folder and the kernel
    assert all(path.stat().st_mode & 0o077 == 0 for path in kept)
    assert not [path for path in files(folder) if path.startswith("temporary/")]


# --- files on which the HDF5 library fails --------------------------------------------------------

FOUND = ROOT / "tests" / "fuzz" / "found"


def table_plan(path, *options, **how):
    write(pathlib.Path("t.yaml"), SWEEP.replace(str(RING), str(path)))
    return run("plan", "t.yaml", *options, **how)


@pytest.mark.parametrize("path", sorted((FOUND / "hdf5").glob("library_*")), ids=lambda path: path.name)
def test_a_table_that_crashes_the_library_is_refused(folder, path):
    done = table_plan(path, timeout=60)
    assert done.code == 2, (done.code, done.err)
    assert path.name in done.err and "Signal" not in done.err


@pytest.mark.parametrize("path", sorted((FOUND / "result").glob("library_*")), ids=lambda path: path.name)
def test_a_result_that_crashes_the_library_ends_no_command_by_a_signal(folder, path):
    shutil.copy(path, "r.h5")
    os.truncate("r.h5", 160 << 10)
    for command in (["info", "r.h5"], ["verify", "r.h5"], ["run", "s.yaml", "-o", "r.h5"],
                    ["plan", "s.yaml", "--measured", "r.h5"]):
        done = run(*command, timeout=60)
        assert done.code in (0, 2, 3, 10), (command, done.code, done.err)
        assert "Signal" not in done.err


def test_a_table_of_numbers_of_gigabytes_is_refused_at_once(folder):
    done = table_plan(FOUND / "hdf5" / "numbers_of_4_gib.h5", timeout=60)
    assert done.code == 2 and "claims numbers of 4294901764 bytes each" in done.err, done.err
    assert done.seconds < 5


@pytest.fixture
def table(folder):
    with h5py.File("w.h5", "w") as file:
        file["w"] = np.eye(3)
    return folder / "work" / "w.h5"


@pytest.mark.parametrize("action, words", [("kill", "crashes the HDF5 library"),
                                           ("exit", "crashes the HDF5 library"),
                                           ("fail", "crashes the HDF5 library"),
                                           ("100000", "does not get done with it in 10 s")])
def test_a_library_that_fails_on_a_table_is_told_in_one_line(table, action, words):
    """Dies, exits, takes all memory, hangs: in the process that tries the file alone."""
    if action == "fail" and table_has_sanitizer():
        pytest.skip("a sanitizer's memory has no limit")
    done = table_plan(table, timeout=60, env={"GRIDMARCH_FAULT": f"probe@1={action}"})
    assert done.code == 2 and len(done.messages) == 1, done.err
    assert words in done.err and "w.h5" in done.err


def table_has_sanitizer():
    return b"__asan_init" in pathlib.Path(PROGRAM).read_bytes()


def test_a_library_that_fails_on_a_result_is_told_by_one_rank(folder):
    march("s.yaml", "r.h5")
    for ranks in (1, 3):
        done = run("run", "s.yaml", "-o", "r.h5", ranks=ranks, timeout=60,
                   env={"GRIDMARCH_FAULT": "probe@1=kill"})
        assert done.code == 3 and done.err.count("crashes the HDF5 library") == 1, done.err
    for command in (["info"], ["verify"]):
        done = run(*command, "r.h5", env={"GRIDMARCH_FAULT": "probe@1=kill"})
        assert done.code == 3 and "'r.h5' is damaged" in done.err, done.err


def test_what_a_run_makes_itself_is_not_tried(folder):
    march("s.yaml", "r.h5", env={"GRIDMARCH_FAULT": "probe@1=kill"})


# --- a result file from elsewhere -----------------------------------------------------------------

COMMANDS = "\x1b]0;harmed\x07 \x1b[2J \u009b2J \x08\x7f"


def changed_text(path, group, name, text):
    with h5py.File(path, "r+") as file:
        attributes = file[group].attrs
        size = len(attributes[name]) if isinstance(attributes[name], (str, bytes)) else 64
        del attributes[name]
        attributes.create(name, np.bytes_(text.encode()[:max(size, 64)]))


def test_texts_of_a_result_command_no_terminal(folder):
    march("s.yaml", "r.h5")
    for name in ("kernel", "canonical"):
        changed_text("r.h5", "provenance", name, f"G: {COMMANDS}\n")
    for command in (["info", "r.h5"], ["info", "r.h5", "--json"], ["verify", "r.h5"],
                    ["run", "s.yaml", "-o", "r.h5"]):
        done = run(*command)
        assert not [sign for sign in "\x1b\x07\x08\x7f\u009b" if sign in done.out + done.err]
        assert command[0] != "info" or done.out.count("harmed") == 2
        if "--json" in command:
            json.loads(done.out)


def test_the_record_of_a_run_commands_no_terminal(folder):
    march("s.yaml", "r.h5")
    whole = pathlib.Path("r.h5").read_bytes()
    pathlib.Path("r.h5").write_bytes(re.sub(rb'("device": ")...', b'\\1\x1b[J', whole))
    for command in (["info"], ["info", "--json"]):
        done = run(*command, "r.h5")
        assert done.code == 0 and "\x1b" not in done.out and "?[J" in done.out

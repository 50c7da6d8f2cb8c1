"""The job scripts as they stand, under a real Slurm of two nodes with four GPUs each (by name only:
the program computes on the CPU), and the one for PBS with stand-ins for PBS."""

import os
import pathlib
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cluster import messages, n_done  # noqa: E402
from program import (PROGRAM, ROOT, assert_same, environment, needs_program,  # noqa: E402
                     wait_until, write)

pytestmark = needs_program

SCRIPTS = ROOT / "jobscripts"
WRAPPER = f"""#!/bin/bash
# The program, slow while there is a file `slow` beside this one.
if [ -e "${{0%/*}}/slow" ]; then export GRIDMARCH_FAULT=launch%100=500; fi
exec {PROGRAM} "$@" --backend cpu --tile 1 --chunk 400 --threads 1 --quiet EXTRA
"""


def wrapper(folder, extra="", slow=True):
    """A stand-in for the program; slow until the file beside it is gone."""
    (folder / "bin").mkdir()
    path = write(folder / "bin" / "gridmarch", WRAPPER.replace("EXTRA", extra))
    path.chmod(0o755)
    if slow:
        (folder / "bin" / "slow").touch()
    return path


def submit(slurm, folder, *words, slow=True):
    return slurm.sbatch(*words, cwd=folder, env={"GRIDMARCH": str(wrapper(folder, slow=slow))})


def test_running_out_of_time_requeues_until_the_sweep_is_complete(slurm, case, tmp_path):
    """Slurm looks at the time every half a minute: of a job of a minute it warns within that."""
    number = submit(slurm, tmp_path, "--time=1", "--signal=USR1@30",
                    SCRIPTS / "slurm_multi_node.sbatch", case[0], tmp_path / "r.h5")
    wait_until(lambda: slurm.job(number)["Restarts"] == "1", seconds=180, pause=0.2)
    log = next(tmp_path.glob("*.log"))
    said = messages(log.read_text())
    assert len(said) == 1 and said[0].startswith("stopped by SIGUSR1"), log.read_text()
    assert n_done(tmp_path / "r.h5") < 128
    (tmp_path / "bin" / "slow").unlink()
    slurm.start_again(number, lambda: n_done(tmp_path / "r.h5") == 128)
    assert_same(tmp_path / "r.h5", case[1])


@pytest.mark.parametrize("script", ["slurm_single_node.sbatch", "slurm_multi_node.sbatch"])
def test_scancel_does_not_requeue(slurm, case, tmp_path, script):
    number = submit(slurm, tmp_path, SCRIPTS / script, case[0], tmp_path / "r.h5")
    wait_until(lambda: n_done(tmp_path / "r.h5") > 0, seconds=180)
    slurm.ask("scancel", number)
    slurm.wait_for(number, "CANCELLED")
    wait_until(lambda: not slurm.processes(PROGRAM, "n1") + slurm.processes(PROGRAM, "n2"))
    time.sleep(1)  # a script that asks for a requeue would have done so
    found = slurm.job(number)
    assert found["JobState"] == "CANCELLED" and found["Restarts"] == "0"
    assert 0 < n_done(tmp_path / "r.h5") < 128
    assert not (tmp_path / "r.h5.lock").exists()


def test_an_array_takes_a_sweep_each(slurm, case, tmp_path):
    sweeps = [write(tmp_path / f"{name}.yaml", case[0].read_text()) for name in ("a", "b")]
    number = submit(slurm, tmp_path, "--array=0-2", SCRIPTS / "slurm_array.sbatch",
                    tmp_path / "results", *sweeps, slow=False)
    for place, state in (0, "COMPLETED"), (1, "COMPLETED"), (2, "FAILED"):
        slurm.wait_for(f"{number}_{place}", state)
    for name in ("a", "b"):
        assert_same(tmp_path / "results" / f"{name}.h5", case[1])
    assert "--array=0-1 takes them all" in next(tmp_path.glob("*_2.log")).read_text()


def test_the_script_for_pbs_submits_the_next_job_until_the_sweep_is_complete(case, tmp_path):
    program = wrapper(tmp_path, '$([ -e "${0%/*}/slow" ] && echo --max-time 4s)')
    qsub = write(tmp_path / "bin" / "qsub", f'#!/bin/bash\necho "$@" >> {tmp_path}/qsub.log\n')
    qsub.chmod(0o755)
    env = environment(
        PATH=f"{tmp_path}/bin:{os.environ['PATH']}", GRIDMARCH=str(program), SWEEP=str(case[0]),
        RESULT="r.h5", PBS_O_WORKDIR=str(tmp_path),
        PBS_NODEFILE=str(write(tmp_path / "nodes", "localhost\nlocalhost\n")))

    def job():
        return subprocess.run(["bash", SCRIPTS / "pbs_multi_node.pbs"], env=env, cwd="/",
                              capture_output=True, text=True, timeout=60, check=False)
    first = job()
    assert first.returncode == 9 and n_done(tmp_path / "r.h5") < 128, first.stderr
    asked = (tmp_path / "qsub.log").read_text()
    assert asked == (f"-v SWEEP={case[0]},RESULT=r.h5,GRIDMARCH={program},"
                     "SCRIPT=pbs_multi_node.pbs pbs_multi_node.pbs\n")
    (tmp_path / "bin" / "slow").unlink()
    second = job()
    assert second.returncode == 0, second.stderr
    assert (tmp_path / "qsub.log").read_text() == asked
    assert_same(tmp_path / "r.h5", case[1])

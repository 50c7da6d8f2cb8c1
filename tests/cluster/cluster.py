"""Two hosts on this machine, and Slurm on them: private, and gone with the process that made them.

hosts.sh says what a host is. Slurm's controller and munge run on n1, a slurmd on each; all their
files lie in one folder of their own, and their ports are those of the hosts' own network.
"""

import datetime
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import time

import h5py
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import (PROGRAM, RING, Done, descendants, environment, kill, march,  # noqa: E402
                     wait_until, write)

HOSTS = pathlib.Path(__file__).resolve().with_name("hosts.sh")
NAMESPACES = ["--net", "--uts", "--mount", "--pid"]
SWEEP = f"""
model: wilson_cowan
network: {{weights: {RING}, normalise: maximum, symmetric: required, self_connections: drop}}
axes: {{G: {{linspace: [0, 3, 128]}}}}
parameters: {{sigma_e: 0.02, sigma_i: 0.01}}
inputs: {{p_e: 0.6}}
time: {{dt: 0.1, duration: 200}}
integrator: heun
record: {{last: all, mean: all, trajectory: {{variables: [E], every: 900}}}}
"""
SLOW = "launch%100=200"  # a chunk takes so many ms at least: half a minute on four ranks
CONFIGURATION = """
ClusterName=test
SlurmctldHost=n1
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
TmpFS={folder}/tmp.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
SlurmdTimeout=10
KillWait=10
SchedulerParameters=bf_interval=1,sched_interval=2,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName=n[1-2] CPUs=32 RealMemory=64000 Gres=gpu:4
PartitionName=p Nodes=n[1-2] Default=YES MaxTime=60
"""


def sweep_and_expected(folder):
    """A sweep file, and its result by one process on this machine."""
    sweep = write(folder / "s.yaml", SWEEP)
    return sweep, march(sweep, folder / "expected.h5", "--quiet")


def gridmarch(sweep, output, *args):
    """The command line of a run of tiles of one point."""
    return [PROGRAM, "run", sweep, "-o", output, "--backend", "cpu", "--tile", 1, *args]


def n_done(output):
    """Finished points of a result, which may be on its way."""
    if not output.exists():
        return 0
    with h5py.File(output) as file:
        return int((file["status"][()] == 1).sum())


def messages(text):
    """What the program says of itself."""
    mark = "gridmarch: "
    return [line[len(mark):] for line in text.splitlines() if line.startswith(mark)]


def why_not(*tools):
    """Why hosts cannot be made here, or "". Tools are commands that are needed besides."""
    for tool in ("unshare", "nsenter", "setpriv", "ip", "pgrep", *tools):
        if not shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
            return f"{tool} is not installed (.ci/install.sh cluster)"
    if os.geteuid() != 0:
        return "only root may make hosts out of namespaces"
    tried = subprocess.run(
        ["unshare", *NAMESPACES, "--fork", "--mount-proc", "sh", "-c",
         "hostname x && ip link set lo up && ip link add eth0 type veth peer name eth1 && "
         "mount -t tmpfs tmpfs /dev/shm"],
        capture_output=True, text=True, check=False)
    return f"no namespaces here: {tried.stderr.strip()}" if tried.returncode else ""


class Hosts:
    """The hosts n1 and n2."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gridmarch-cluster-"))
        self.folder.chmod(0o755)  # munge wants its socket within everybody's reach
        with open(self.folder / "hosts.log", "wb") as log:
            self.outer = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "unshare", *NAMESPACES, "--fork",
                 "--kill-child", "--mount-proc", HOSTS, self.folder], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log)
        wait_until((self.folder / "ready").exists)
        self.first = subprocess.check_output(["pgrep", "--parent", str(self.outer.pid)],
                                             text=True).strip()
        self.second = (self.folder / "n2.pid").read_text().strip()
        self.agent = self.folder / "agent"  # in the place of ssh
        self.agent.write_text(f'#!/bin/sh\nexec {HOSTS} {self.folder} "$@"\n')
        self.agent.chmod(0o755)

    def enter(self, host="n1"):
        """The start of a command line that runs there."""
        into = ["nsenter", "--target", self.first, *NAMESPACES, "--wd=."]
        return into + (["nsenter", "--target", self.second, *NAMESPACES, "--wd=."]
                       if host == "n2" else [])

    def start(self, *words, host="n1", env=None, cwd=None):
        return subprocess.Popen([*self.enter(host), *map(str, words)], cwd=cwd,
                                env=environment(**(env or {})), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *words, host="n1", env=None, cwd=None, timeout=60):
        """Run a command on a host to its end; one that hangs fails the test."""
        begin = time.monotonic()
        process = self.start(*words, host=host, env=env, cwd=cwd)
        out, err, seconds = finish(process, timeout, begin)
        return Done(process.returncode, out, err, seconds)

    def mpirun(self, *words, hosts="n1:2,n2:2"):
        """The command line of a program of Open MPI 4 on both hosts."""
        return ["mpirun", "--mca", "plm_rsh_agent", self.agent, "--host", hosts,
                "--bind-to", "none", *words]

    def processes(self, program, host):
        """Ids of those processes of a host that run a program."""
        done = self.run("pgrep", "--full", "--ns", 1, "--nslist", "uts", f"^{program}", host=host)
        return [int(word) for word in done.out.split()]

    def kill(self, pid, host, signal="KILL"):
        self.run("kill", "-s", signal, pid, host=host)

    def clear(self, process, *programs):
        """Kill what a run may have left, on both hosts; process.error is what it said."""
        if hasattr(process, "error"):
            return
        for host in ("n1", "n2"):
            for pid in {pid for program in programs for pid in self.processes(program, host)}:
                self.kill(pid, host)
        for pid in [*descendants(process.pid), process.pid]:
            kill(pid)
        process.error = process.communicate(timeout=30)[1]

    def link(self, state):
        """The cable between the hosts: `up` or `down`."""
        self.run("ip", "link", "set", "eth0", state)

    def stop(self):
        kill(self.outer.pid)  # and with it both hosts
        self.outer.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def finish(process, timeout, begin):
    """Output, messages and seconds of a process, which must end in time."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        for pid in [*descendants(process.pid), process.pid]:
            kill(pid)
        out, err = process.communicate()
        pytest.fail(f"{process.args} did not end within {timeout} s\n{out}\n{err}")
    return out, err, time.monotonic() - begin


class Slurm(Hosts):
    """A Slurm of two nodes. Commands run on n1, as on a login node."""

    def __init__(self):
        super().__init__()
        self.daemons = []
        try:
            self.begin()
        except BaseException:
            self.stop()
            raise

    def begin(self):
        folder = self.folder
        self.configuration = folder / "slurm.conf"
        self.configuration.write_text(CONFIGURATION.format(folder=folder))
        (folder / "gres.conf").write_text(f"NodeName=n[1-2] Name=gpu File={folder}/gpu[0-3]\n")
        for name in ("gpu0", "gpu1", "gpu2", "gpu3"):  # devices to look at, never to open
            os.mknod(folder / name, 0o600 | stat.S_IFCHR, os.stat("/dev/null").st_rdev)
        for name in ("state", "tmp.n1", "tmp.n2", "spool.n1", "spool.n2"):
            (folder / name).mkdir()
        key = folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(os.urandom(128))
        self.daemon("n1", "munged", "--foreground", "--force", f"--key-file={key}",
                    f"--socket={folder}/munge.socket", f"--pid-file={folder}/munged.pid",
                    f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed")
        wait_until((folder / "munge.socket").exists)
        self.daemon("n1", "slurmctld", "-D", "-f", self.configuration)
        for node in ("n1", "n2"):
            self.start_node(node)
        self.wait_for_nodes()

    def daemon(self, host, *words):
        env = environment(PATH=os.environ["PATH"] + ":/usr/sbin:/sbin",
                          SLURM_CONF=str(self.configuration))
        with open(self.folder / f"{words[0]}.{host}.out", "ab") as log:
            process = subprocess.Popen([*self.enter(host), *map(str, words)], env=env,
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.daemons.append(process)

    def start_node(self, node):
        for folder, pattern in (f"spool.{node}", "*pmix.*"), (f"tmp.{node}", "*"):
            for left in (self.folder / folder).glob(pattern):  # by a node that died
                shutil.rmtree(left) if left.is_dir() else left.unlink()
        self.daemon(node, "slurmd", "-D", "-N", node, "-f", self.configuration)

    def states(self):
        """Of the nodes."""
        return self.ask("sinfo", "--noheader", "--Node", "--format=%T").out.split()

    def wait_for_nodes(self):
        wait_until(lambda: self.states() == ["idle", "idle"], seconds=120, pause=0.1)

    def start_again(self, number, is_done):
        """Let a requeued job start now and not in two minutes, until it has done its work."""
        def begun():
            begin = datetime.datetime.fromisoformat(self.job(number)["EligibleTime"])
            if begin - datetime.datetime.now() > datetime.timedelta(seconds=10):
                self.ask("scontrol", "update", f"JobId={number}", "StartTime=now")
            return is_done()
        self.wait_for_nodes()
        for node in ("n1", "n2"):  # each step's files stay until its slurmstepd ends
            wait_until(lambda on=node: not self.processes("slurmstepd", on), seconds=120, pause=0.1)
        wait_until(begun, seconds=240, pause=0.5)
        self.wait_for(number, "COMPLETED")

    def ask(self, *words, env=None, cwd=None, timeout=60):
        """Run a command of Slurm's. Nothing of Slurm may wait for ever."""
        return self.run("timeout", timeout, *words, timeout=timeout + 10, cwd=cwd,
                        env={"SLURM_CONF": str(self.configuration), **(env or {})})

    def begin_job(self, *words, env=None, cwd=None, timeout=120):
        """The same, without waiting."""
        return self.start("timeout", timeout, *words, cwd=cwd,
                          env={"SLURM_CONF": str(self.configuration), **(env or {})})

    def sbatch(self, *words, env=None, cwd=None):
        """Submit; the job's number."""
        done = self.ask("sbatch", "--parsable", *words, env=env, cwd=cwd)
        assert done.code == 0, done.err
        return done.out.strip()

    def job(self, number):
        """What Slurm knows of a job, by the names of `scontrol show job`."""
        text = self.ask("scontrol", "--oneliner", "show", "job", number).out
        return dict(word.split("=", 1) for word in text.split() if "=" in word)

    def wait_for(self, number, *states, seconds=180):
        def there():
            found = self.job(number)
            return found if found.get("JobState") in states else None
        return wait_until(there, seconds=seconds, pause=0.2)

    def stop(self):
        super().stop()
        for process in self.daemons:
            process.wait()

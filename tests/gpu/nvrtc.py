"""Without NVRTC: built-in models run with the kernels in the program, a user's model is told what to do,
and a kernel compiled before takes NVRTC's place. With it: a run that is killed while it fills a cold cache
spoils nothing."""
import os
import shutil
import subprocess
import time

import numpy as np

from common import PROGRAM, run, values

HERE = os.path.dirname(os.path.abspath(__file__))
SWEEP = """model: MODEL
network: {weights: w.csv, normalise: row, symmetric: as_is, self_connections: drop}
axes: {G: {linspace: [0, 1, 9]}}
time: {dt: 0.1, duration: 40}
integrator: heun
record: {last: all, mean: all}
"""
CUDA = ("--backend", "cuda")
HIDDEN = {"GRIDMARCH_NVRTC": "none"}


def report(title, good, detail=""):
    print(f"{title}: {'ok' if good else 'WRONG ' + detail}")
    return good


def equal(a, b):
    a, b = values(a), values(b)
    return sorted(a) == sorted(b) and all(a[name].tobytes() == b[name].tobytes() for name in a)


def call(*words, ranks=0, **env):
    launcher = ["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none"] if ranks else []
    return subprocess.run([*launcher, PROGRAM, *words], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **env}, check=False)


def march(sweep, output, *options, **env):
    return call("run", sweep, "-o", output, "--overwrite", *CUDA, *options, **env)


def built_in_model():
    run(SWEEP.replace("MODEL", "hopf"), "built_in.h5", *CUDA, "--no-compile")
    done = march("built_in.h5.yaml", "hidden.h5", **HIDDEN)
    return report("a built-in model runs without NVRTC, with the kernels of --no-compile",
                  done.returncode == 0 and equal("built_in.h5", "hidden.h5"), done.stderr)


def engine_of_plan():
    """plan names what would march: it depends on the points, the compiler, and --engine."""
    good = True
    for words, env, wanted in (
            (["--set", "axes.G={linspace: [0, 1, 20000]}"], {}, "matrix: products on tensor cores"),
            ([], {}, "block: a block of threads per point (few points)"),
            (["--engine", "matrix"], {}, "matrix: products on tensor cores"),
            ([], HIDDEN, "block: a block of threads per point (the kernel built into the program)")):
        done = call("plan", "built_in.h5.yaml", *CUDA, *words, **env)
        good &= report(f"plan says {wanted.split(' (')[0]!r}, {' '.join(words) or 'nine points'}",
                       f"engine       {wanted}" in done.stdout, done.stdout + done.stderr)
    return good


def users_model():
    shutil.copy(os.path.join(HERE, "..", "..", "kernels", "models", "hopf.h"), "own.h")
    run(SWEEP.replace("MODEL", "./own.h"), "own.h5", *CUDA)
    sweep = "own.h5.yaml"
    good = True
    for ranks in (0, 2):
        done = march(sweep, "a.h5", "--share-gpu", ranks=ranks, **HIDDEN)
        words = ("own.h must be compiled, and here it cannot be: GRIDMARCH_NVRTC is none",
                 f"`gridmarch compile {sweep} --arch sm_")
        good &= report(f"a user's model is told what to do, {ranks or 1} ranks",
                       done.returncode == 6 and all(done.stderr.count(w) == 1 for w in words),
                       done.stderr)
    done = call("compile", sweep, *CUDA)
    kernel = done.stdout.split(":")[0]
    good &= report("compile leaves a kernel beside the sweep file",
                   done.returncode == 0 and kernel.startswith(f"{sweep}.sm_"), done.stderr)
    for ranks in (0, 2):
        done = march(sweep, "b.h5", "--share-gpu", ranks=ranks, **HIDDEN)
        good &= report(f"which is used where NVRTC is missing, {ranks or 1} ranks",
                       done.returncode == 0 and equal("own.h5", "b.h5")
                       and f"using the kernel in {kernel}" in done.stderr, done.stderr)
    os.rename(kernel, "other.kernel")
    done = march(sweep, "c.h5", "--kernel", "other.kernel", **HIDDEN)
    return good & report("and by --kernel FILE", done.returncode == 0 and equal("own.h5", "c.h5"),
                         done.stderr)


def names_in(folder):
    return os.listdir(folder) if os.path.isdir(folder) else []


def cold_cache():
    """Killed as soon as the cache's folder appears, which is then still empty, and a little later."""
    cache = os.path.abspath("cold")
    folder = os.path.join(cache, "gridmarch")
    cold = {"XDG_CACHE_HOME": cache}
    good, n_half = True, 0
    for pause in np.linspace(0, 0.0005, 6):
        shutil.rmtree(cache, ignore_errors=True)
        process = subprocess.Popen([PROGRAM, "run", "own.h5.yaml", "-o", "d.h5", "--overwrite", "--quiet",
                                    *CUDA], env={**os.environ, **cold}, stderr=subprocess.DEVNULL)
        while process.poll() is None and not os.path.isdir(folder):
            pass
        time.sleep(pause)
        process.kill()
        process.wait()
        n_half += not any(len(name) == 32 for name in names_in(folder))
        done = march("own.h5.yaml", "d.h5", **cold)
        good &= done.returncode == 0 and equal("own.h5", "d.h5")
        good &= len([name for name in names_in(folder) if len(name) == 32]) == 1
    return report(f"runs killed while they fill a cold cache, {n_half} of 6 before the kernel was whole", good)


def spoilt_cache():
    folder = os.path.join(os.environ["XDG_CACHE_HOME"], "gridmarch")
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "r+b") as file:
            file.truncate(os.path.getsize(file.name) // 2)
    done = march("own.h5.yaml", "e.h5")
    return report("a cache cut in half is made anew", done.returncode == 0 and equal("own.h5", "e.h5")
                  and "compiled" in done.stderr, done.stderr)


def main():
    rng = np.random.default_rng(6)
    np.savetxt("w.csv", rng.random((40, 40)), delimiter=",")
    checks = [built_in_model(), engine_of_plan(), users_model(), cold_cache(), spoilt_cache()]
    raise SystemExit(0 if all(checks) else 1)


if __name__ == "__main__":
    main()

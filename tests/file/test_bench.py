"""The benchmark: it runs on a CPU, and what it counts in machine code is what is there."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in ("support", "gpu", "bench"):
    sys.path.insert(0, str(ROOT / "tests" / folder))
import cubin  # noqa: E402
import roofline  # noqa: E402
import sass  # noqa: E402
import workloads  # noqa: E402
from program import EXAMPLES, environment, needs_program, run  # noqa: E402

BENCH = ROOT / "tests" / "bench" / "bench.py"


def bench(*args, **env):
    return subprocess.run([sys.executable, BENCH, "--backend", "cpu", "--quick", *map(str, args)],
                          env=environment(**env), capture_output=True, text=True, timeout=600)


# --- the whole ------------------------------------------------------------------------------------


@needs_program
def test_all_of_it_runs_on_a_cpu(tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = bench("--json", tmp_path / "b.json", GM_SCRATCH=str(scratch))
    assert done.returncode == 0, done.stderr
    assert not list(scratch.iterdir())
    found = json.loads((tmp_path / "b.json").read_text())
    rows = {row["name"]: row for row in found["workloads"]}
    assert [*rows, "errors"] == bench("--list").stdout.split()
    for row in rows.values():
        assert row["march_s"] > 0 and row["diverged"] == 0, row["name"]
        rate = row["points"] * row["steps"] * row["nodes"] / row["march_s"]
        assert row["node_steps_per_s"] == pytest.approx(rate)
        assert "bound" not in row and "ratio_to_simple" not in row  # of a GPU alone
        assert f"\n{row['name']} " in done.stdout
    assert rows["record-4-ranks"]["same"] is True
    parts = rows["record-all"]["overlap"]
    assert parts["ratio"] == pytest.approx(rows["record-all"]["wall_s"] / parts[parts["slowest"]])
    errors = {row["model"]: row for row in found["errors"]}
    assert set(errors) == {"wilson_cowan", "hopf", "kuramoto", "jansen_rit", "wong_wang"}
    assert all(0 < row["rms"] <= row["max"] < 1e-3 for row in errors.values())


@needs_program
def test_some_of_it_runs_by_name():
    done = bench("--only", "lorenz", "engine-block-fp64")
    assert done.returncode == 0, done.stderr
    for name in ("engine-block-fp64-100", "engine-block-fp64-16896", "lorenz-fp32", "lorenz-fp64"):
        assert f"\n{name} " in done.stdout
    assert "wc-" not in done.stdout and "engine-matrix" not in done.stdout


@needs_program
def test_a_workload_that_fails_is_named_and_the_others_go_on(tmp_path):
    """A program that cannot march one model."""
    broken = tmp_path / "program"
    broken.write_text(f'#!/bin/sh\ncase "$*" in *lorenz-fp32*) exit 7;; esac\n'
                      f'exec {os.environ["GRIDMARCH"]} "$@"\n')
    broken.chmod(0o755)
    done = bench("--only", "lorenz", GRIDMARCH=str(broken))
    assert done.returncode == 1 and "FAILED\nlorenz-fp32: " in done.stderr
    assert "\nlorenz-fp64 " in done.stdout


def test_a_name_that_no_workload_has_is_refused():
    done = bench("--only", "nothing")
    assert done.returncode == 1 and "--list names them all" in done.stderr


# --- counting in machine code ---------------------------------------------------------------------

# Two instructions as cuobjdump prints them: text, then two words; the second holds the stall.
VERBATIM = """
	code for sm_90
		Function : gm_march
	.headerflags	@"EF_CUDA_64BIT_ADDRESS EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)"
        /*0000*/                   LDC R1, c[0x0][0x28] ;                                     /* 0x00000a00ff017b82 */
                                                                                              /* 0x000fe20000000800 */
        /*0070*/               @P0 EXIT ;                                                     /* 0x000000000000094d */
                                                                                              /* 0x000fea0003800000 */
		..........
"""

STEP = """
0100 MUFU.RCP R1, R2
0110 @P0 BRA 0x100
0200 LDS.128 R4, [R3]
0210 HGMMA.64x72x16.F32.BF16 R24, R4, gdesc[UR4], !UPT
0220 FFMA R1, R2, R3, R4
0230 @!P0 BRA 0x280
0240 IMAD.WIDE.U32 R6, R7, R8, R10
0250 MUFU.RSQ R1, R2
0260 @P1 BRA 0x240
0270 MUFU.EX2 R1, R2
0280 @P2 BRA 0x2b0
0290 FFMA R1, RZ, R3, RZ
02a0 FSETP.NEU.AND P1, PT, R24, RZ, PT
02b0 @P3 BRA 0x2d0
02c0 MUFU.EX2 R5, R6
02d0 DFMA R8, R8, R8, R10
02e0 IADD3 R0, R0, 0x1, RZ
02f0 @!P4 BRA 0x200
0300 FFMA R1, R2, R3, R4
0310 @P0 BRA 0x300
0320 EXIT
0330 BRA 0x330
"""


def listing(text, stall=3):
    """As cuobjdump prints it, all with the same stall."""
    lines = []
    for line in text.split("\n"):
        address, _, words = line.partition(" ")
        if words:
            lines.append(f"        /*{address}*/  {words} ;  /* 0x0000000ff017b82a */")
            lines.append(f"{'':40s}/* 0x{stall << 41:016x} */")
    return "\n".join(lines)


def test_instructions_are_read_as_cuobjdump_prints_them():
    first, second = sass.read(VERBATIM)
    assert (first.address, first.opcode, first.guarded, first.stall) == (0, "LDC", False, 1)
    assert (second.address, second.opcode, second.guarded, second.stall) == (0x70, "EXIT", True, 5)


def test_the_loop_is_the_widest_and_rare_stretches_are_left_out():
    loop = sass.step_loop(listing(STEP))
    assert loop.opcodes == {
        "LDS.128": 1, "HGMMA.64x72x16.F32.BF16": 1, "FFMA": 1, "MUFU.EX2": 1, "DFMA": 1, "IADD3": 1,
        "BRA": 4}
    assert loop.stall == 3 * 10
    assert [dict(inner.opcodes) for inner in loop.skipped] == [
        {"IMAD.WIDE.U32": 1, "MUFU.RSQ": 1, "BRA": 1}]
    assert loop.nested == []


def test_a_loop_that_no_branch_jumps_over_is_nested():
    text = STEP.replace("0230 @!P0 BRA 0x280", "0230 NOP")
    loop = sass.step_loop(listing(text))
    assert [inner.size() for inner in loop.nested] == [3] and loop.skipped == []
    assert loop.opcodes["MUFU.RSQ"] == 1


def test_text_without_a_loop_has_none():
    assert sass.step_loop(VERBATIM) is None
    assert sass.step_loop("") is None


def test_steps_of_a_turn_are_told_from_the_loop_that_takes_the_rest():
    several = "".join(f"{0x100 + 16 * i:04x} DFMA R8, R8, R8, R10\n" for i in range(12))
    text = several + "01c0 @P0 BRA 0x100\n01d0 DADD R1, R2, R3\n01e0 DMUL R1, R2, R3\n" \
        "01f0 DFMA R1, R2, R3, R4\n0200 @P0 BRA 0x1d0\n"
    assert sass.steps_at_once(listing(text)) == 4
    assert sass.steps_at_once(listing(several + "01c0 @P0 BRA 0x100\n")) == 1


def test_what_spills_is_read():
    text = " Function gm_pack:\n  REG:20 STACK:0 SHARED:1024\n Function gm_march:\n" \
        "  REG:255 STACK:48 SHARED:1024 LOCAL:0\n"
    assert cubin.usage(text) == (255, 48) and cubin.usage("") == (-1, -1)


# --- bounds ---------------------------------------------------------------------------------------


def workload(**more):
    return workloads.Workload("w", {}, **{"points": 16896, "steps": 10, "dt": 0.1, **more})


def test_a_bound_is_cycles_times_warps_over_the_clock():
    """16,896 points, 64 a block of 4 warps: 264 blocks, 2 on each of 132, so 2 warps a quarter."""
    loop = sass.Loop()
    loop.opcodes.update({"MUFU.EX2": 10, "FFMA.FTZ": 30, "DFMA": 5, "LDS.128": 4, "IADD3": 7,
                         "HGMMA.64x72x8.F32.TF32": 2, "IMAD.WIDE": 3})
    loop.stall = 100
    kernel = cubin.Kernel("matrix", 64, 128, 16, 9, loop=loop)
    bounds = roofline.step_bounds(kernel, workload(), 132, 1e9)
    cycles = {term: round(1e9 * seconds) for term, seconds in bounds.items()}
    assert cycles == {"special": 160, "fp32": 60, "issue": 122, "fp64": 20, "tensor": 144,
                      "integer": 28, "multiply": 12, "shared": 8 * (16 + 9), "warp": 100}
    assert roofline.binding(bounds) == ("shared", bounds["shared"])


def test_loops_over_sources_are_counted_with_all_turns():
    """360 nodes are 45 fragments: 5 warps have 9 each, for 22 pairs of sources and a half one."""
    inner = sass.Loop()
    inner.opcodes.update({"HMMA.1688.F32.TF32": 72})
    loop = sass.Loop(nested=[inner, inner])
    loop.opcodes.update({"HMMA.1688.F32.TF32": 144 + 2 * 27})
    kernel = cubin.Kernel("matrix", 16, 160, 16, 9, loop=loop)
    step, counts_all = roofline.whole_step(kernel, workload(nodes=360))
    assert counts_all and step.size() == 2 * 9 * (22 * 4 + 3)
    kernel.rows = 32
    assert roofline.products(kernel, workload(nodes=360)) == 2 * 2 * 9 * (22 * 4 + 3)


def test_noise_is_counted_by_what_is_drawn():
    """9 fragments of 16 points are 36 values of a lane, each with two noises in a step."""
    draw = sass.Loop()
    draw.opcodes.update({"STS.128": 4, "FFMA": 4})  # 16 numbers a turn
    kernel = cubin.Kernel("matrix", 64, 128, 16, 9, loop=sass.Loop(skipped=[draw, sass.Loop()]))
    step, counts_all = roofline.whole_step(kernel, workload(noises=2, integrator="euler"))
    assert counts_all and step.opcodes["FFMA"] == 4 * 36 * 2 / 16
    kernel = cubin.Kernel("matrix", 64, 128, 16, 9, loop=sass.Loop())
    assert roofline.whole_step(kernel, workload(noises=2))[1] is False


def test_what_is_counted_once_is_said():
    kernel = cubin.Kernel("block", 1, 96, loop=sass.Loop(nested=[sass.Loop()]))
    assert roofline.whole_step(kernel, workload())[1] is False


# --- kernels, which need no GPU to compile --------------------------------------------------------


@needs_program
@pytest.mark.parametrize("engine, precision", [("matrix", "fp32"), ("matrix", "fp64"),
                                               ("block", "fp32")])
def test_a_kernel_tells_how_it_is_cut(tmp_path, engine, precision):
    path = tmp_path / "k.kernel"
    done = run("compile", EXAMPLES / "wilson_cowan.yaml", "--arch", "sm_90", "--engine", engine,
               "--set", f"precision={precision}", "-o", path)
    if done.code != 0:
        pytest.skip(done.err.strip())
    kernel = cubin.read(str(path), 16)
    assert kernel.engine == engine and kernel.threads % 32 == 0
    if engine == "matrix":
        assert kernel.block_points % (8 if precision == "fp64" else 16) == 0
    else:
        assert (kernel.block_points, kernel.threads) == (1, 32)
    if cubin.cuobjdump():
        assert kernel.registers > 0 and kernel.loop.size(("MUFU",)) > 0


def test_another_file_is_no_kernel(tmp_path):
    (tmp_path / "x").write_bytes(b"\x7fELF" + bytes(100))
    with pytest.raises(ValueError, match="no file of `gridmarch compile`"):
        cubin.content(str(tmp_path / "x"))

"""The least time a step can take on a GPU: each unit's work in it over what the unit can do.

Cycles that a warp's instruction keeps a unit of its sub-partition (a quarter of a multiprocessor)
busy on sm_90: from the table of throughputs in the CUDA C++ Programming Guide; matrix products
(HMMA, HGMMA, DMMA), which it does not list, as measured. Where a rate is not sure the faster one
stands here, so that a bound stays one.
"""
import math
import re

import sass
from workloads import N_STAGE

ARCHITECTURE = "sm_90"  # the only one with these rates

TERMS = {
    "special": "special functions",
    "fp32": "fp32 arithmetic",
    "issue": "issue slots",
    "fp64": "fp64 arithmetic",
    "tensor": "matrix products",
    "integer": "integers and logic",
    "multiply": "integer products",
    "shared": "shared memory",
    "warp": "one warp's own order",
}
PCIE_BYTES_PER_S = 55e9  # pinned memory, PCIe 5.0 x16, as measured

FP32 = re.compile(r"F(FMA|ADD|MUL)(32I)?$")
FP64 = re.compile(r"D(FMA|ADD|MUL|SETP|MNMX)$")
LOGIC = re.compile(r"(IADD3?|LOP3?|SHF|LEA|ISETP|FSETP|SEL|FSEL|FMNMX|V?IMNMX|VIADD|PRMT|PLOP3|IABS"
                   r"|BMSK|F2FP|POPC)$")
PRODUCTS = ("HMMA", "HGMMA", "DMMA")
WIDTH = re.compile(r"\.(U8|S8|U16|S16|64|128)\b")
BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}


def product_cycles(opcode):
    """(tensor core, shared memory) cycles of a matrix product."""
    wide = re.match(r"HGMMA\.64x(\d+)x", opcode)
    if wide:  # four warps read 32 bytes of weights a column together
        return int(wide[1]) / 2, int(wide[1]) / 16
    if opcode.startswith("DMMA"):
        return 16, 0
    small = opcode.startswith("HMMA.1688") and "TF32" not in opcode
    return 3.45 if small else 6.9, 0


def lane_bytes(opcode):
    """What a lane reads or writes with one instruction."""
    width = WIDTH.search(opcode)
    return BYTES[width[1]] if width else 4


def stored_bytes(loop):
    """Of a lane, in shared memory."""
    return sum(n * lane_bytes(opcode) for opcode, n in loop.opcodes.items()
               if opcode.startswith("STS"))


def shared_cycles(opcode, is_broadcast):
    """Of the multiprocessor's shared memory, 128 bytes a cycle. A broadcast moves one lane's."""
    return 1 if is_broadcast else max(lane_bytes(opcode) * 32 / 128, 1)


def unit_cycles(loop, engine):
    """Cycles of each term for one warp's step; `shared` those of the whole multiprocessor."""
    cycles = dict.fromkeys(TERMS, 0.0)
    for opcode, n in loop.opcodes.items():
        base = opcode.split(".")[0]
        cycles["issue"] += n
        if base == "MUFU":
            cycles["special"] += 8 * n
        elif FP32.match(base):
            cycles["fp32"] += n
        elif FP64.match(base):
            cycles["fp64"] += 2 * n
        elif base in PRODUCTS:
            tensor, shared = product_cycles(opcode)
            cycles["tensor"] += tensor * n
            cycles["shared"] += shared * n
        elif base == "IMAD":
            cycles["multiply"] += 2 * n
        elif base in ("LDS", "STS"):  # a block's threads read the same sources
            cycles["shared"] += shared_cycles(opcode, engine == "block" and base == "LDS") * n
        elif LOGIC.match(base):
            cycles["integer"] += 2 * n
    cycles["warp"] = loop.stall
    return cycles


def products(kernel, workload):
    """Matrix products of a warp in a step: fragment.cuh takes so many for 16 sources."""
    n_fragment = math.ceil(workload.nodes / 8)
    whole, half = {"fp32": (4, 3), "fast": (1, 1), "fp64": (4, 2)}[workload.precision]
    pairs = n_fragment // 2 * whole + n_fragment % 2 * half
    tiles = kernel.rows // (8 if workload.precision == "fp64" else 16)
    return N_STAGE[workload.integrator] * workload.couplings * kernel.fragments * tiles * pairs


def drawn_bytes(kernel, workload):
    """Normal numbers of a lane's values that a step uses up: they come by one, two or four."""
    values = kernel.fragments * kernel.rows // 4
    words = workload.noises if workload.noises < 3 else math.ceil(workload.noises / 4) * 4
    return values * words * (8 if workload.precision == "fp64" else 4)


def whole_step(kernel, workload):
    """The loop of a step with all turns of the loops in it: those over sources, from the number of
    their products, and that which draws noise, from what it stores. False: some are counted
    once, or draws that are no loop with every step."""
    step = sass.Loop()
    step.add(kernel.loop, 1 / kernel.steps)
    nested, skipped = kernel.loop.nested, kernel.loop.skipped
    if kernel.engine != "matrix":
        return step, not nested and not workload.noises
    inner = sum(loop.size(PRODUCTS) for loop in nested)
    if inner:
        turns = (products(kernel, workload) - step.size(PRODUCTS) + inner) / inner
        for loop in nested:
            step.add(loop, turns - 1)
    drawing = [loop for loop in skipped if workload.noises and stored_bytes(loop) > 0]
    for loop in drawing:
        step.add(loop, drawn_bytes(kernel, workload) / stored_bytes(loop) / len(drawing))
    return step, (not nested or inner > 0) and bool(drawing or not workload.noises)


def warps_per_unit(kernel, n_point, n_multiprocessor):
    """Warps that the busiest sub-partition has to march, at least."""
    blocks = math.ceil(math.ceil(n_point / kernel.block_points) / n_multiprocessor)
    return math.ceil(blocks * kernel.threads / 32 / 4)


def step_bounds(kernel, workload, n_multiprocessor, clock_hz):
    """Seconds that a step of all points takes at least, by term."""
    warps = warps_per_unit(kernel, workload.points, n_multiprocessor)
    times = {"warp": 1, "shared": 4 * warps}
    cycles = unit_cycles(whole_step(kernel, workload)[0], kernel.engine)
    return {term: c * times.get(term, warps) / clock_hz for term, c in cycles.items()}


def binding(bounds):
    """(term, seconds) of the largest bound."""
    term = max(bounds, key=bounds.get)
    return term, bounds[term]

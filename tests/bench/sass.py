"""One time step in machine code: its loop in the text of `cuobjdump -sass`, and what is in it.

The loop is the backward branch that spans most. Counted is what a step that goes well executes. A
stretch that a branch can jump over is left out if it holds a loop or a call of its own (angles
that are very large, noise drawn for several steps), or neither touches memory nor the units for
special functions and matrices (the search for the state that is not finite). A loop that is left
out is reported, so that whoever knows its trips can add it.
"""
import collections
import re
from dataclasses import dataclass, field

# "        /*0690*/              @!P0 BRA 0x6d0 ;      /* 0x0000000000..47 */", then a second word.
INSTRUCTION = re.compile(r"\s+/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;\s+/\* 0x[0-9a-f]+ \*/")
CONTROL = re.compile(r"\s+/\* 0x([0-9a-f]{16}) \*/")
GUARD = re.compile(r"@!?U?P\w+ +")
ADDRESS = re.compile(r"0x([0-9a-f]+)$")
ARITHMETIC = re.compile(r"[FD](FMA|ADD|MUL)\b")
WORK = ("MUFU", "HMMA", "HGMMA", "DMMA", "LDS", "STS", "LDG", "LD", "STG", "ST")


@dataclass
class Instruction:
    address: int
    opcode: str  # "IMAD.WIDE.U32"
    guarded: bool
    target: int = -1  # of a branch
    stall: int = 1  # cycles until the next one of the same warp may go, as the assembler wrote it

    @property
    def base(self):
        return self.opcode.split(".")[0]


@dataclass
class Loop:
    """What one turn executes."""

    opcodes: collections.Counter = field(default_factory=collections.Counter)
    stall: int = 0
    skipped: list = field(default_factory=list)  # loops left out, as Loop
    nested: list = field(default_factory=list)  # loops within, counted as one turn each, as Loop

    def size(self, bases=None):
        """Number of instructions, of some kinds or of all."""
        return sum(n for opcode, n in self.opcodes.items()
                   if bases is None or opcode.split(".")[0] in bases)

    def add(self, other, times):
        """Count a loop within so many times more."""
        for opcode, n in other.opcodes.items():
            self.opcodes[opcode] += n * times
        self.stall += other.stall * times


def read(text):
    """Instructions of a listing that holds one function."""
    found = []
    for line in text.splitlines():
        match = INSTRUCTION.match(line)
        if match:
            words = GUARD.sub("", match[2], count=1)
            opcode, _, operands = words.partition(" ")
            is_branch = opcode.split(".")[0] == "BRA"
            address = ADDRESS.search(operands) if is_branch else None
            guarded = words != match[2] or (is_branch and "," in operands)
            found.append(Instruction(int(match[1], 16), opcode, guarded,
                                     int(address[1], 16) if address else -1))
            continue
        match = CONTROL.match(line)
        if match and found:
            found[-1].stall = max(int(match[1], 16) >> 41 & 15, 1)
    return found


def backward(code):
    return [i for i in code if 0 <= i.target < i.address]


def within(code, first, last):
    return [i for i in code if first <= i.address <= last]


def is_side_track(code, used):
    """Is this stretch, less what is left out of it already, one that a usual step jumps over?"""
    left = [i for i in code if i.address in used]
    inside = {i.address for i in code}
    loops = any(i.target in inside for i in backward(left))
    return loops or any(i.base == "CALL" for i in left) or not any(i.base in WORK for i in left)


def usual(code):
    """Addresses of the instructions of a stretch that a step which goes well executes."""
    used = {i.address for i in code}
    jumps = [i for i in code if i.guarded and i.target > i.address]
    for jump in sorted(jumps, key=lambda i: i.target - i.address):
        over = [i for i in code if jump.address < i.address < jump.target]
        if is_side_track(over, used):
            used -= {i.address for i in over}
    return used


def count(code):
    """Loop of the instructions of one turn."""
    loop, used = Loop(), usual(code)
    for i in code:
        if i.address in used:
            loop.opcodes[i.opcode] += 1
            loop.stall += i.stall
    for branch in backward(code[:-1]):
        kind = loop.nested if branch.address in used else loop.skipped
        kind.append(count(within(code, branch.target, branch.address)))
    return loop


def widest_loop(code):
    """Its first and last address, or None."""
    branches = backward(code)
    if not branches:
        return None
    widest = max(branches, key=lambda i: i.address - i.target)
    return widest.target, widest.address


def step_loop(text):
    """The loop over time steps, or None where the text has no loop."""
    code = read(text)
    place = widest_loop(code)
    return count(within(code, *place)) if place else None


def steps_at_once(text):
    """Steps of one turn of that loop: where there are several, a second loop takes the rest of them
    one by one, and has so much less arithmetic."""
    code = read(text)
    place = widest_loop(code)
    rest = place and widest_loop([i for i in code if i.address > place[1]])
    if not rest:
        return 1
    several, one = (sum(n for opcode, n in count(within(code, *p)).opcodes.items()
                        if ARITHMETIC.match(opcode)) for p in (place, rest))
    return max(round(several / one), 1) if one else 1

"""A kernel that `gridmarch compile` made, taken apart: its machine code, registers, shape.

The file is a line of text, then a cubin, which is an ELF file. `cuobjdump` of the CUDA Toolkit reads
the code; where there is none, what it would tell stays empty.
"""
import os
import re
import shutil
import struct
import subprocess
from dataclasses import dataclass

import sass

MAGIC = b"gridmarch-kernel-1 "
FOLDERS = ("/usr/local/cuda/bin",)
SHAPE = "gm_matrix_shape"  # of kernels/cuda/matrix.cu


@dataclass
class Kernel:
    engine: str  # "matrix", "block", "thread per point"
    block_points: int
    threads: int
    rows: int = 1  # matrix: points of a warp
    fragments: int = 0  # matrix: of 8 nodes that a warp holds
    registers: int = -1
    stack_bytes: int = -1  # of a thread: what spills, and arrays that are indexed at run time
    loop: sass.Loop | None = None
    steps: int = 1  # of a turn of the loop


def content(path):
    """The cubin of a kernel file."""
    with open(path, "rb") as file:
        head = file.readline(256)
        if not head.startswith(MAGIC):
            raise ValueError(f"{path} is no file of `gridmarch compile`")
        return file.read()


def sections(elf):
    """(name offset, type, file offset, size, link) of each section of a 64-bit ELF file."""
    at, = struct.unpack_from("<Q", elf, 0x28)
    size, n = struct.unpack_from("<HH", elf, 0x3A)
    return [struct.unpack_from("<II16xQQI", elf, at + i * size) for i in range(n)]


def symbol(elf, wanted):
    """Bytes of a variable with initial values, or None."""
    table = sections(elf)
    for _, kind, offset, size, link in table:
        if kind != 2:  # a symbol table
            continue
        names = table[link][2]
        for entry in range(offset, offset + size, 24):
            name, _, _, section, value, length = struct.unpack_from("<IBBHQQ", elf, entry)
            begin = names + name
            if elf[begin:elf.index(b"\0", begin)] == wanted.encode():
                begin = table[section][2] + value
                return elf[begin:begin + length]
    return None


def shape(elf, n_node):
    """How the kernel is cut, from what it says itself or from how march.cu always is."""
    own = symbol(elf, SHAPE)
    if own:
        block_points, threads, _, rows, fragments = struct.unpack("<5i", own)
        return Kernel("matrix", block_points, threads, rows, fragments)
    if n_node > 0:
        return Kernel("block", 1, (n_node + 31) // 32 * 32)
    return Kernel("thread per point", 128, 128)


def cuobjdump():
    path = os.pathsep.join([os.environ.get("PATH", ""), *FOLDERS])
    return shutil.which("cuobjdump", path=path)


def usage(text, function="gm_march"):
    """(registers, stack bytes) of a function in the text of `cuobjdump -res-usage`."""
    match = re.search(rf"Function {function}:\s+REG:(\d+) STACK:(\d+)", text)
    return (int(match[1]), int(match[2])) if match else (-1, -1)


def read(path, n_node):
    """The kernel in a file. n_node 0: a plain ODE."""
    elf = content(path)
    kernel = shape(elf, n_node)
    tool = cuobjdump()
    if tool is None:
        return kernel
    plain = path + ".cubin"
    with open(plain, "wb") as file:
        file.write(elf)
    texts = []
    for options in (["-res-usage"], ["-sass", "-fun", "gm_march"]):
        done = subprocess.run([tool, *options, plain], capture_output=True, text=True, timeout=120)
        texts.append(done.stdout + done.stderr * (options[0] == "-res-usage"))
    os.remove(plain)
    kernel.registers, kernel.stack_bytes = usage(texts[0])
    kernel.loop = sass.step_loop(texts[1])
    if n_node == 0:  # the steps of a plain ODE are so short that several make a turn
        kernel.steps = sass.steps_at_once(texts[1])
    return kernel

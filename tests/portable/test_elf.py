"""What the bundle's programs ask of a system: nothing but glibc, of 2.17 or later."""

import re
import subprocess

from bundle import BUNDLE, needs_bundle

pytestmark = needs_bundle

ALLOWED = re.compile(r"lib(c|m|dl|rt|pthread|util)\.so\.\d+|ld-linux-x86-64\.so\.2")
FLOOR = (2, 17)


def elf_files():
    found = [path for path in sorted(BUNDLE.rglob("*"))
             if path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF"]
    assert {path.name for path in found} >= {"gridmarch", "mpirun", "prterun", "prted"}
    return found


def read(option, path):
    return subprocess.run(["objdump", option, path], capture_output=True, text=True,
                          check=True).stdout


def test_only_libraries_of_glibc_are_needed():
    for path in elf_files():
        needed = re.findall(r"NEEDED\s+(\S+)", read("-p", path))
        assert "libc.so.6" in needed, path
        assert not [name for name in needed if not ALLOWED.fullmatch(name)], f"{path}: {needed}"


def test_no_symbol_is_newer_than_the_floor():
    for path in elf_files():
        versions = {tuple(map(int, text.split(".")))
                    for text in re.findall(r"GLIBC_([0-9.]+)", read("-T", path))}
        assert versions and max(versions) <= FLOOR, f"{path}: {sorted(versions)[-3:]}"
        assert "GLIBC_PRIVATE" not in read("-T", path), path


def test_no_program_looks_for_libraries_in_folders_of_the_build_machine():
    for path in elf_files():
        assert not re.search(r"R(UN)?PATH", read("-p", path)), path


def test_checksums_hold():
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=BUNDLE, check=True)

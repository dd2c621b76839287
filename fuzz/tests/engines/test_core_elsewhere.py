"""The core in C on other systems: AArch64 under emulation, and musl, each against a plain walk of the automaton."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from overlong.conformance.vectors.suites.suite import core_vectors
from waiting import HUNG

pytestmark = pytest.mark.long

FOLDER = Path(__file__).parents[2] / "oss-fuzz"
SOURCE = FOLDER.parents[1] / "reference" / "overlong" / "reference" / "core"
SYSTEMS = {"aarch64": ("aarch64-linux-gnu-gcc", ["qemu-aarch64"]), "musl": ("musl-gcc", [])}
"""For each system its compiler, and the words before a program."""
MAIN = """
#include <stdint.h>
#include <stdio.h>
int LLVMFuzzerTestOneInput(const uint8_t *octets, size_t size);
int main(void) {
  static uint8_t octets[65536];
  for (int low, high; (low = getchar()) != EOF && (high = getchar()) != EOF;) {
    const size_t size = (size_t)(low | high << 8);
    if (fread(octets, 1, size, stdin) != size) return 2;
    LLVMFuzzerTestOneInput(octets, size);
  }
  return puts("read all") < 0;
}
"""
"""Reads inputs, each behind its length in two octets."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the program's own sources."""
    folder = tmp_path_factory.mktemp("core")
    (folder / "main.c").write_text(MAIN)
    with (folder / "core_tables.h").open("wb") as file:
        subprocess.run([sys.executable, FOLDER / "core_tables.py"], stdout=file, check=True, timeout=HUNG)
    return folder


def run_on(system, folder, decoding):
    compiler, words = SYSTEMS[system]
    for program in (compiler, *words):
        if shutil.which(program) is None:
            pytest.skip(f"no {program} on PATH")
    output = folder / f"{decoding.stem}-{system}"
    sources = [folder / "main.c", FOLDER / "fuzz_core.c", SOURCE / "columns.c", decoding]
    command = [compiler, "-std=c11", "-O2", "-static", f"-I{SOURCE}", f"-I{folder}", *sources, "-o", output]
    subprocess.run(command, check=True, timeout=HUNG)
    inputs = [vector.octets for vector in core_vectors()]
    given = b"".join(len(octets).to_bytes(2, "little") + octets for octets in inputs)
    return subprocess.run([*words, output], input=given, capture_output=True, timeout=HUNG, check=False)


@pytest.mark.parametrize("system", SYSTEMS)
def test_it_reads_as_the_automaton_does(folder, system):
    done = run_on(system, folder, SOURCE / "decoding.c")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"read all\n", b"")


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_fault_is_found_there(folder, system):
    right = "= (uint32_t)number"
    text = (SOURCE / "decoding.c").read_text("ascii")
    assert text.count(right) == 1
    wrong = folder / "wrong.c"
    wrong.write_text(text.replace(right, "= (uint16_t)number"))
    done = run_on(system, folder, wrong)
    assert done.returncode != 0
    assert b"differs from the walk" in done.stderr

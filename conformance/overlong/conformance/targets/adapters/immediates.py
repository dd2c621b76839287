"""Prints the numbers that a function of a shared library names: ``immediates.py LIBRARY SYMBOL ...``.

It reads the file and runs nothing of it: from each function's first instruction it follows every jump within the
library, and calls as far as functions that the called ones call. Thresholds stand in what compares, adds, subtracts and
loads; numbers of other instructions are masks of bits, sizes of frames, or places of memory. The output is a line of
numbers, ascending.

It is a process of its own: the disassembler is foreign code, and the library may be anything.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":  # make this package importable from anywhere
    if (_root := str(Path(__file__).resolve().parents[4])) not in sys.path:
        sys.path.insert(0, _root)

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from overlong.conformance.targets.adapters.facts import GREATEST, LEAST
from overlong.conformance.targets.elf import EXECUTABLE, NONSENSE, Elf

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

capstone: Any = import_module("capstone")  # it has no types
x86: Any = import_module("capstone.x86")
arm64: Any = import_module("capstone.arm64")

_MOST = 1 << 13
"""The instructions that are read; a validator has some hundreds."""
_AT_ONCE = 1 << 7
"""The octets of code that are read at once: few, since jumps end most."""
_DEEP = 2
"""The calls behind one another that are followed: what is further away reports errors, mostly."""


class _Processor(NamedTuple):
    """How code is read: the disassembler's words for a kind of processor."""

    kind: tuple[int, int]
    immediate: int
    memory: int
    names: frozenset[str]
    """The instructions whose numbers matter."""
    always: frozenset[str]
    """The jumps that always go."""
    frame: frozenset[int]
    """Registers that hold places of memory: what is added to them is no threshold."""


_PROCESSORS = {
    62: _Processor(
        (capstone.CS_ARCH_X86, capstone.CS_MODE_64),
        x86.X86_OP_IMM,
        x86.X86_OP_MEM,
        frozenset({"cmp", "add", "sub", "mov", "movabs", "lea"}),
        frozenset({"jmp", "notrack jmp", "bnd jmp"}),
        frozenset({x86.X86_REG_RSP, x86.X86_REG_RBP, x86.X86_REG_RIP}),
    ),
    183: _Processor(
        (capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM),
        arm64.ARM64_OP_IMM,
        arm64.ARM64_OP_MEM,
        frozenset({"cmp", "cmn", "ccmp", "add", "adds", "sub", "subs", "mov", "movz"}),
        frozenset({"b", "br"}),
        frozenset({arm64.ARM64_REG_SP, arm64.ARM64_REG_X29}),
    ),
}
"""By the number of the processor's kind in ELF."""


def immediates(file: int, symbols: Iterable[str]) -> list[int]:
    """The numbers that these functions name, ascending.

    Raises:
        OSError: the file cannot be read.
    """
    try:
        elf = Elf(file)
        processor = _PROCESSORS.get(elf.machine)
        starts = [address for address in map(elf.symbol, symbols) if address is not None]
        if processor is None:
            return []
        found = {abs(number) for number in _walk(elf, processor, starts)}
    except NONSENSE:
        return []
    return sorted(number for number in found if LEAST <= number <= GREATEST)


def _walk(elf: Elf, processor: _Processor, starts: list[int]) -> Iterator[int]:
    """The numbers in all instructions that can be reached, the nearest functions first."""
    reader = capstone.Cs(*processor.kind)
    reader.detail = True
    seen, functions = set[int](), starts
    for _ in range(1 + _DEEP):
        todo, functions = functions, list[int]()
        while todo:
            for instruction in _straight(elf, reader, todo.pop()):
                if instruction.address in seen or len(seen) >= _MOST:
                    break
                seen.add(instruction.address)
                goes_on = functions if instruction.group(capstone.CS_GRP_CALL) else todo
                goes = goes_on is functions or instruction.group(capstone.CS_GRP_JUMP)
                for operand in instruction.operands:
                    if operand.type == processor.immediate:
                        if goes:
                            goes_on.append(operand.imm)
                        elif _counts(instruction, processor):
                            yield _shifted(operand)
                    elif operand.type == processor.memory and instruction.mnemonic == "lea":
                        if operand.mem.base == x86.X86_REG_RIP:  # perhaps the address of a function
                            functions.append(instruction.address + instruction.size + operand.mem.disp)
                        elif operand.mem.base not in processor.frame:
                            yield operand.mem.disp
                if instruction.group(capstone.CS_GRP_RET) or instruction.mnemonic in processor.always:
                    break


def _counts(instruction: Any, processor: _Processor) -> bool:
    registers = {operand.reg for operand in instruction.operands if operand.type == capstone.CS_OP_REG}
    return instruction.mnemonic in processor.names and registers.isdisjoint(processor.frame)


def _shifted(operand: Any) -> int:
    """The number of an operand, which AArch64 may shift."""
    shift = getattr(operand, "shift", None)
    return int(operand.imm) << (int(shift.value) if shift is not None and shift.type else 0)


def _straight(elf: Elf, reader: Any, address: int) -> Iterator[Any]:
    """The instructions from an address on, if there is code."""
    while True:
        place = elf.place(address)
        if place is None or not place[2] & EXECUTABLE:
            return
        octets = elf.at(place[0], min(place[1], _AT_ONCE))
        before = address
        for instruction in reader.disasm(octets, address):
            yield instruction
            address = instruction.address + instruction.size
        if address == before:
            return


def main() -> None:
    """Print the numbers of the functions on the command line."""
    library, *symbols = sys.argv[1:]
    file = os.open(library, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    print(*immediates(file, symbols))


if __name__ == "__main__":
    main()

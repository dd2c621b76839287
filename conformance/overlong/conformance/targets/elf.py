"""Reads ELF files of 64 bits by the System V ABI (chapters 4 and 5): segments, the dynamic section, symbols, code.

The file may be anything: reads are bounded, and what is nonsense gives errors of :data:`NONSENSE`. What identifies a
library is its soname, its build id, as ld's ``--build-id`` writes it, and the package that installed it.

``elf.py LIBRARY SYMBOL ...`` is a program: it prints the numbers that functions name, on a line, ascending, and runs
nothing of them. From each function's first instruction it follows every jump within the library, and calls as far as
functions that the called ones call. Thresholds stand in what compares, adds, subtracts and loads; numbers of other
instructions are masks of bits, sizes of frames, or places of memory. It is a process of its own: the disassembler is
foreign code.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":  # make this package importable from anywhere
    if (_root := str(Path(__file__).resolve().parents[3])) not in sys.path:
        sys.path.insert(0, _root)

import hashlib
import os
import re
import stat
import struct
import subprocess
from functools import cached_property, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from overlong.conformance.support.printable import printable
from overlong.conformance.targets.adapters.facts import GREATEST, LEAST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

NONSENSE = (struct.error, IndexError, OverflowError, ValueError)
"""The errors of what is no ELF file, or a broken one."""
LOAD, DYNAMIC, NOTE = 1, 2, 4
"""Types of segments."""
STRTAB, SONAME = 5, 14
"""Tags of the dynamic section."""
EXECUTABLE = 1
"""The flag of segments that hold code."""
_DYNSYM = 11
"""The type of the section of dynamic symbols."""
_CODE = (2, 10)
"""Types of symbols: functions, and functions that are chosen when the file is loaded."""
_SEGMENTS, _ENTRIES, _SECTIONS, _SYMBOLS, _NAME, _NAMES = 512, 1 << 12, 1 << 10, 1 << 20, 256, 1 << 26
"""The most that are read: program headers, dynamic entries, section headers, symbols, octets of a name and of all."""
_OF_64_BITS = 2
_LONGEST = 1 << 12  # octets of a symbol whose address is asked
_BUILD_ID = 3
"""The type of a build id among notes of the owner ``GNU``."""
_TABLES, _NOTES, _ID = 16, 1 << 16, 64
"""The most that are read: tables of notes, octets of each, octets of a build id."""
_SHOWN = 16
_DPKG = "/usr/bin/dpkg-query"
_ASK_SECONDS = 2.0
_PACKAGED = ("/usr/", "/lib", "/opt/")
"""Where packages install libraries; ``/usr/local`` is the administrator's."""


class Segment(NamedTuple):
    """A program header."""

    kind: int
    flags: int
    offset: int
    address: int
    size: int
    """The octets in the file."""


class Elf:
    """An open ELF file."""

    def __init__(self, file: int) -> None:
        """Read its header.

        Raises:
            OSError: it cannot be read.
            ValueError, struct.error: it is no ELF file.
        """
        self._file = file
        self._head = self.at(0, 64)
        if self._head[:4] != b"\x7fELF" or self._head[4] != _OF_64_BITS or self._head[5] not in (1, 2):
            raise ValueError("no ELF file of 64 bits")
        self.order = "<>"[self._head[5] - 1]
        (self.machine,) = struct.unpack_from(f"{self.order}H", self._head, 18)
        """The number of its processor's kind."""

    def at(self, place: int, size: int) -> bytes:
        """The octets at an offset; empty beyond the end of the file."""
        try:
            os.lseek(self._file, place, os.SEEK_SET)
        except OSError:
            return b""
        return os.read(self._file, size)

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """Its program headers."""
        form = struct.Struct(f"{self.order}IIQQ8xQ")
        return tuple(Segment(*fields) for fields in self._table(form, 32, 54, _SEGMENTS))

    @cached_property
    def dynamic(self) -> dict[int, int]:
        """The entries of the dynamic section, by tag."""
        form = struct.Struct(f"{self.order}QQ")
        found = next((each for each in self.segments if each.kind == DYNAMIC), None)
        if found is None:
            return {}
        octets = self.at(found.offset, min(found.size, _ENTRIES * form.size))
        return dict(form.iter_unpack(octets[: len(octets) // form.size * form.size]))

    def place(self, address: int) -> tuple[int, int, int] | None:
        """The offset in the file, the octets that follow in the segment, and its flags; None if nothing is there."""
        for each in self.segments:
            if each.kind == LOAD and each.address <= address < each.address + each.size:
                by = address - each.address
                return each.offset + by, each.size - by, each.flags
        return None

    def name(self, address: int) -> str:
        """The text at an address; empty if there is none."""
        place = self.place(address)
        if place is None:
            return ""
        name, end, _ = self.at(place[0], _NAME).partition(b"\0")
        return name.decode("utf-8", "backslashreplace") if end else ""

    def symbol(self, wanted: str) -> int | None:
        """The address of a dynamic symbol; None if it has none."""
        name = wanted.encode("utf-8", "surrogateescape")
        return next((address for found, _, address in self._symbols() if found == name), None)

    def functions(self) -> set[str]:
        """The names of the functions that it defines for others."""
        code = (name for name, kind, _ in self._symbols() if kind & 15 in _CODE and 0 < len(name) < _NAME)
        return {name.decode("utf-8", "backslashreplace") for name in code}

    def _symbols(self) -> Iterator[tuple[bytes, int, int]]:
        """Name, kind and address of each dynamic symbol that it defines."""
        names = self.place(self.dynamic.get(STRTAB, 0))
        if names is None:
            return
        table, form = self.at(names[0], min(names[1], _NAMES)), struct.Struct(f"{self.order}IBBHQQ")
        sections = self._table(struct.Struct(f"{self.order}4xI16xQQ"), 40, 58, _SECTIONS)
        for _, place, size in (each for each in sections if each[0] == _DYNSYM):
            octets = self.at(place, min(size, _SYMBOLS * form.size))
            for start, kind, _, _, address, _ in form.iter_unpack(octets[: len(octets) // form.size * form.size]):
                end = table.find(b"\0", start, start + _LONGEST)
                if address and end >= 0:
                    yield table[start:end], kind, address

    @property
    def is_cut(self) -> bool:
        """True if the file ends before its section headers do, which linkers write last."""
        table, size, number = self._place_of(40, 58)
        return number > 0 and not self.at(table + size * number - 1, 1)

    def _table(self, form: struct.Struct, place: int, sizes: int, most: int) -> Iterator[tuple[int, ...]]:
        """The beginnings of a table's entries: the header has its offset, their size and their number.

        Args:
            form: of the beginning of an entry.
            place: where the header has the offset.
            sizes: where it has the other two.
            most: the most entries that are read.
        """
        table, size, number = self._place_of(place, sizes)
        if size < form.size:
            return
        octets = self.at(table, size * min(number, most))
        for start in range(0, len(octets) - form.size + 1, size):
            yield form.unpack_from(octets, start)

    def _place_of(self, place: int, sizes: int) -> tuple[int, int, int]:
        """A table's offset, the size of its entries, and their number; the arguments are those of :meth:`_table`."""
        (table,) = struct.unpack_from(f"{self.order}Q", self._head, place)
        return (table, *struct.unpack_from(f"{self.order}HH", self._head, sizes))


@lru_cache(maxsize=16)
def version_of(library: str) -> str:
    """``libglib2.0-0 2.74.6-2, libglib-2.0.so.0, build id 4d54…``; its digest if none of these is known.

    Empty if there is no such file. It is safe to show.
    """
    try:
        file = os.open(library, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError):
        return ""
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return ""
        soname, build_id = names_in(file)
        said = (_package(os.path.realpath(library)), printable(soname, 60), f"build id {build_id}" if build_id else "")
        if any(said):
            return ", ".join(filter(None, said))
        with open(file, "rb", closefd=False) as opened:
            opened.seek(0)
            return f"sha256 {hashlib.file_digest(opened, 'sha256').hexdigest()[:_SHOWN]}"
    except OSError:
        return ""
    finally:
        os.close(file)


def names_in(file: int) -> tuple[str, str]:
    """The soname and the build id, in hexadecimal, of an open ELF file; each empty if it has none.

    Raises:
        OSError: it cannot be read.
    """
    try:
        elf = Elf(file)
        notes = [each for each in elf.segments if each.kind == NOTE][:_TABLES]
        build_ids = (_build_id(elf.at(each.offset, min(each.size, _NOTES)), elf.order) for each in notes)
        return _soname(elf), next(filter(None, build_ids), "")
    except NONSENSE:
        return "", ""


def _build_id(notes: bytes, order: str) -> str:
    place = 0
    while place + 12 <= len(notes):
        name, size, kind = struct.unpack_from(f"{order}III", notes, place)
        start = place + 12 + -(-name // 4) * 4
        if kind == _BUILD_ID and notes[place + 12 : place + 12 + name] == b"GNU\0" and 0 < size <= _ID:
            found = notes[start : start + size]
            return found.hex() if len(found) == size else ""
        place = start + -(-size // 4) * 4
    return ""


def _soname(elf: Elf) -> str:
    tags = elf.dynamic
    return elf.name(tags[STRTAB] + tags[SONAME]) if STRTAB in tags and SONAME in tags else ""


def _package(library: str) -> str:
    """The Debian package that installed a file, and its version; empty if that is not quickly found."""
    if not library.startswith(_PACKAGED) or library.startswith("/usr/local/") or re.search(r"[*?\[\\]", library):
        return ""
    if not Path(_DPKG).is_file():
        return ""
    before = library.removeprefix("/usr")  # its path before /lib became a link to /usr/lib
    owner = re.match(r"([a-z0-9][a-z0-9+.-]*(?::[a-z0-9-]+)?): /", _asked("-S", "--", library, before))
    return "" if owner is None else printable(_asked("-W", "-f", "${Package} ${Version}", "--", owner[1]).strip(), 80)


def _asked(*words: str) -> str:
    """The version in dpkg's database."""
    try:
        asked = subprocess.run(
            [_DPKG, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ASK_SECONDS,
            cwd="/",
            env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ""
    return asked.stdout.decode("utf-8", "backslashreplace")


_MOST = 1 << 13
"""The instructions that are read; a validator has some hundreds."""
_AT_ONCE = 1 << 7
"""The octets of code that are read at once: few, since jumps end most."""
_DEEP = 2
"""The calls behind one another that are followed: what is further away reports errors, mostly."""


class _Processor(NamedTuple):
    """How code is read: the disassembler's words for a kind of processor."""

    kind: str
    mode: str
    names: frozenset[str]
    """The instructions whose numbers matter."""
    always: frozenset[str]
    """The jumps that always go."""
    frame: tuple[str, ...]
    """Registers that hold places of memory: what is added to them is no threshold."""


_PROCESSORS = {
    62: _Processor(
        "X86",
        "64",
        frozenset({"cmp", "add", "sub", "mov", "movabs", "lea"}),
        frozenset({"jmp", "notrack jmp", "bnd jmp"}),
        ("RSP", "RBP", "RIP"),
    ),
    183: _Processor(
        "ARM64",
        "ARM",
        frozenset({"cmp", "cmn", "ccmp", "add", "adds", "sub", "subs", "mov", "movz"}),
        frozenset({"b", "br"}),
        ("SP", "X29"),
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
    kind, capstone = processor.kind, cast("Any", import_module("capstone"))  # late, and it has no types
    words = vars(import_module(f"capstone.{kind.lower()}"))
    frame = {words[f"{kind}_REG_{each}"] for each in processor.frame}
    reader = capstone.Cs(getattr(capstone, f"CS_ARCH_{kind}"), getattr(capstone, f"CS_MODE_{processor.mode}"))
    reader.detail = True

    def counts(instruction: Any) -> bool:
        registers = {operand.reg for operand in instruction.operands if operand.type == capstone.CS_OP_REG}
        return instruction.mnemonic in processor.names and registers.isdisjoint(frame)

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
                    if operand.type == words[f"{kind}_OP_IMM"]:
                        if goes:
                            goes_on.append(operand.imm)
                        elif counts(instruction):
                            yield _shifted(operand)
                    elif operand.type == words[f"{kind}_OP_MEM"] and instruction.mnemonic == "lea":
                        if operand.mem.base == words["X86_REG_RIP"]:  # perhaps the address of a function
                            functions.append(instruction.address + instruction.size + operand.mem.disp)
                        elif operand.mem.base not in frame:
                            yield operand.mem.disp
                if instruction.group(capstone.CS_GRP_RET) or instruction.mnemonic in processor.always:
                    break


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

"""UTF-8 as tables in C: printed from the reference, so that no range is written by hand."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlong.reference import dialect
from overlong.reference.layout import load_layout
from planted.bugs import DECODERS, LIBRARY

if TYPE_CHECKING:
    from collections.abc import Iterable

SOURCE = Path(__file__).parent / "planted.c"
OCTETS = range(0x100)


def tables() -> dict[str, Any]:
    """The tables by name; the top of ``utf8.h`` says what they hold."""
    automaton, layout = dialect().automaton, load_layout("rfc2279")
    rows = [layout.announced(octet) for octet in OCTETS]
    tail = layout.rows[-1].templates[-1]
    bits = [
        tail.bits(octet) if layout.is_tail(octet) else 0 if row is None else row.templates[0].bits(octet)
        for octet, row in zip(OCTETS, rows, strict=True)
    ]
    return {
        "NEXT": automaton.table,
        "ACCEPTING": automaton.accepting,
        "DEAD": automaton.dead,
        "LENGTH": [0 if row is None else len(row.templates) for row in rows],
        "BITS": bits,
        "TAIL_BITS": tail.free,
        "TAIL": list(map(layout.is_tail, OCTETS)),
    }


def header() -> str:
    """The text of ``tables.h``."""
    all_tables = tables()
    numbers = ", ".join(f"{name} = {all_tables.pop(name)}" for name in ("DEAD", "TAIL_BITS"))
    rows = f"{{{', '.join(map(_array, all_tables.pop('NEXT')))}}}"
    arrays = [f"static const unsigned char {name}[] = {_array(row)};" for name, row in all_tables.items()]
    return "\n".join((f"enum {{ {numbers} }};", f"static const unsigned char NEXT[][256] = {rows};", *arrays, ""))


def _array(numbers: Iterable[int]) -> str:
    return f"{{{', '.join(str(int(number)) for number in numbers)}}}"


def build(folder: Path, compiler: str = "cc") -> None:
    """Put the decoders with planted bugs into a folder: build the shared library, and copy the Python file.

    Raises:
        OSError: there is no compiler.
        subprocess.CalledProcessError: the compiler failed and printed why.
    """
    (folder / "tables.h").write_text(header(), "ascii")
    library = folder / LIBRARY
    words = [compiler, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", f"-I{folder}"]
    subprocess.run([*words, "-o", str(library), str(SOURCE)], check=True)
    shutil.copy(SOURCE.parent / DECODERS, folder)

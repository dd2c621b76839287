"""Proposes the functions of a shared library that ``overlong.toml`` can list: by their names, or by their types."""

from __future__ import annotations

import re
import textwrap
from itertools import chain
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.support.printable import printable
from overlong.conformance.targets.adapters.abi import ABIS, QUESTION_ABIS, question_abi
from overlong.conformance.targets.elf import NONSENSE, Elf

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from overlong.conformance.targets.prototypes import Shape

_NAMES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"utf_?16(le|be)?.*utf_?8_?(len|size)|(len|size).*utf_?16.*utf_?8|utf8_length_from_utf16", ("size-from-utf16",)),
    (r"(len|size).*(utf_?32|ucs_?4).*utf_?8|utf8_length_from_utf32", ("size-from-utf32",)),
    (r"(utf_?16|u16|u_str).*to.*(utf_?8|u8)|from_?utf_?16", ("from-utf16",)),
    (r"(utf_?32|ucs_?4|u32|wc).*to.*(utf_?8|u8|mb)|from_?(utf_?32|ucs_?4)", ("from-utf32",)),
    (r"latin_?1.*utf_?8", ("from-latin1",)),
    (r"utf_?16_length|count_?utf_?16", ("count-utf16",)),
    (r"(utf_?8|u8).*to.*(utf_?16|u16)|to_?utf_?16", ("to-utf16", "utf16")),
    (r"(utf_?8|u8).*to.*(utf_?32|ucs_?4|u32)|to_?(utf_?32|ucs_?4)|decode", ("to-utf32", "utf32", "utf16")),
    (r"iterate", ("iterate",)),
    (r"scrub|make_?valid|sanitize|to_?valid|repair", ("utf8",)),
    (r"check|valid|is_?utf_?8|verif|well_?formed", ("bool", "int", "errpos", "ptr-or-null", "result", "glib", "error")),
    (r"trim", ("trim-partial",)),
    (r"trunc|cut|shorten|prefix", ("truncate",)),
    (r"boundary|is_?start", ("is-boundary",)),
    (r"floor", ("floor",)),
    (r"ceil", ("ceil",)),
    (r"prev|back|last", ("previous",)),
    (r"next|forward|mbtouc|get_?char", ("next",)),
    (r"count|mbs?n?len|utf_?8_(str)?n?len|utf_?8_length", ("count-scalars",)),
)
"""What a function's name may say, and the beginnings of the ABIs that it then may have, the likeliest first."""


def exported(library: Path) -> list[str]:
    """The names of the functions that a library exports.

    Raises:
        TargetError: it is no ELF file that exports functions; the message says what to name.
        OSError: it cannot be read.
    """
    shown = printable(str(library))
    with library.open("rb", buffering=0) as file:
        try:
            elf = Elf(file.fileno())
            found, is_cut = sorted(elf.functions()), elf.is_cut
        except NONSENSE:
            raise TargetError(f"{shown}: no shared library (ELF); name a file such as ./libfoo.so") from None
    if not found:
        why = "ends before its table of symbols; copy or build it again" if is_cut else "exports no function"
        raise TargetError(f"{shown}: {why}")
    return found


def proposed(symbols: Sequence[str], shapes: Mapping[str, Shape] | None) -> dict[str, str]:
    """The ABI of each function that probably has one.

    Args:
        symbols: exported.
        shapes: of those that a header declares; None: there is no header.
    """
    abis = {name: each.prototype for name, each in ABIS.items() if not each.functions}
    abis |= {name: question_abi(name).prototype for name in QUESTION_ABIS}
    of_shape: dict[str, Shape] = {}
    if shapes is not None:
        from overlong.conformance.targets.prototypes import shape_of

        of_shape = {name: shape_of(prototype) for name, prototype in abis.items()}
    found: dict[str, str] = {}
    for symbol in symbols:
        beginnings = list(
            chain.from_iterable(names for said, names in _NAMES if re.search(said, symbol, re.IGNORECASE))
        )
        likely = [name for each in beginnings for name in abis if name.partition("(")[0] == each]
        if shapes is not None:
            shape = shapes.get(symbol, ())
            likely = [name for name in likely if shape and _fits(of_shape[name], shape)]
        elif not re.search(r"utf|u8|str|text", symbol, re.IGNORECASE):
            likely = []
        if likely:
            found[symbol] = likely[0]
    return found


def _fits(wanted: Shape, shape: Shape) -> bool:
    """True if a function of this shape may be called as one of that shape."""
    return len(wanted) == len(shape) and all(
        one == other or {one, other} <= {"in1", "pointer"} or (one, other) == ("pointer-cell", "pointer")
        for one, other in zip(wanted, shape, strict=True)
    )


def section(name: str, library: str, found: Mapping[str, str], others: Sequence[str], *, by_type: bool) -> str:
    """The section of ``overlong.toml`` for a library.

    Args:
        name: of the target.
        library: its file, as in the section.
        found: the ABI of each function.
        others: the other functions that it exports.
        by_type: a header was read.
    """
    read = "names and types" if by_type else "names only (--header FILE reads types)"
    lines = [
        f"# Proposed by {read}. Compare each abi with 'overlong target abis' and the",
        f"# documentation of its function; put this into overlong.toml; then run: overlong certify {name}",
        f"[targets.{name}]",
        f"library = {_quoted(library)}",
    ]
    for symbol, abi in found.items():
        lines += ["", f"[[targets.{name}.function]]", f"symbol = {_quoted(symbol)}", f"abi = {_quoted(abi)}"]
    if others:
        words = f"Also exported, without a proposal: {', '.join(map(printable, others))}"
        lines += ["", *textwrap.wrap(words, 110, initial_indent="# ", subsequent_indent="#   ")]
    return "\n".join((*lines, ""))


def name_of(library: Path) -> str:
    """``foo`` of ``libfoo.so.1``."""
    stem = library.name.partition(".so")[0].removeprefix("lib")
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-") or "library"


def _quoted(text: str) -> str:
    import tomlkit

    return tomlkit.item(text).as_string()

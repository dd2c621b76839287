# ruff: noqa: INP001
"""Print a header of C for ``fuzz_core.c``: an automaton and a layout as the core gets them, and for a simple walk.

python3 core_tables.py > core_tables.h
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from overlong.conformance.sweep.compiled import character_bits
from overlong.reference import dialect
from overlong.reference.native import _gathering, _nibbles
from overlong.reference.tables import ShiftAutomaton

if TYPE_CHECKING:
    from collections.abc import Iterable

SPOKEN = dialect()


def row(numbers: Iterable[int]) -> str:
    """An initializer."""
    return "{" + ",".join(f"{int(number)}u" for number in numbers) + "}"


def words(table: bytes) -> str:
    """An initializer of words."""
    return row(np.frombuffer(table, np.uint64))


def main() -> None:
    """Print it."""
    automaton, (lead, tails) = SPOKEN.automaton, character_bits(SPOKEN.layout)
    assert automaton.dead is not None, "octets can be ill-formed"
    shifts = ShiftAutomaton(automaton)
    begins = np.array([to != automaton.dead for to in automaton.table[0]])
    bits, nibbles = SPOKEN.layout.bits_by_octet(begins.tolist()), _nibbles(automaton)
    assert nibbles is not None, "the core reads it by rows"
    gathering = _gathering(SPOKEN, nibbles)
    halves = [words(gathering.picks[at : at + 16]) for at in range(0, len(gathering.picks), 16)]
    picks = [f"{{{places}, {bits}}}" for places, bits in zip(halves[::2], halves[1::2], strict=True)]
    _, accepting, dead, plain = shifts.words
    walk = f"{{rows, {accepting}u, {dead}u, {plain}u}}"
    for name, value in {
        "uint8_t table[][256]": "{" + ",".join(map(row, automaton.table)) + "}",
        "uint8_t accepting[]": row(automaton.accepting),
        "uint64_t dead": automaton.dead,
        "uint8_t lead_bits[256]": row(lead.tolist()),
        "uint64_t tail_bits": int(tails[0]),
        "uint64_t rows[256]": row(shifts.rows),
        "automaton words": walk,
        "uint8_t begins[256]": row(begins.tolist()),
        "shifts by_shifts": f"{{{walk}, begins, 1u, {', '.join(map(words, nibbles))}}}",
        "layout by_layout": f"{{{row(bits)}, {gathering.free}u, {gathering.single}u, "
        f"{words(gathering.within)}, {{{', '.join(picks)}}}}}",
    }.items():
        print(f"static const {name} = {value};")


if __name__ == "__main__":
    main()

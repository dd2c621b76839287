# ruff: noqa: INP001
"""Print a header of C for ``fuzz_core.c``: an automaton and a layout as the core gets them, and for a simple walk.

python3 core_tables.py > core_tables.h
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from overlong.conformance.sweep.compiled.packed import PackedAutomaton
from overlong.conformance.sweep.compiled.tables import CharacterBits
from overlong.reference import dialect
from overlong.reference.blocks import Edge
from overlong.reference.native import _blocks, _layout
from overlong.reference.shift import ShiftAutomaton

if TYPE_CHECKING:
    from collections.abc import Iterable

SPOKEN = dialect()


def row(numbers: Iterable[int]) -> str:
    """An initializer."""
    return "{" + ",".join(f"{int(number)}u" for number in numbers) + "}"


def main() -> None:
    """Print it."""
    automaton, bits = SPOKEN.automaton, CharacterBits.of(SPOKEN.layout)
    assert automaton.dead is not None, "octets can be ill-formed"
    packed, shifts = PackedAutomaton(automaton), ShiftAutomaton.of(automaton)
    assert shifts.dead is not None, "it is the same automaton"
    begins = np.array([to != automaton.dead for to in automaton.table[0]])
    states, ends, edges = _blocks(automaton)
    assert states, "the core reads it in blocks"
    _, accepting, dead, plain = packed.words.tolist()
    for name, value in {
        "uint8_t table[][256]": "{" + ",".join(map(row, automaton.table)) + "}",
        "uint8_t accepting[]": row(automaton.accepting),
        "uint64_t dead": automaton.dead,
        "uint8_t lead_bits[256]": row(bits.lead.tolist()),
        "uint64_t tail_bits": int(bits.layout[0]),
        "uint64_t packed[256]": row(packed.transitions.tolist()),
        "automaton words": f"{{packed, {accepting}u, {dead}u, {plain}u}}",
        "uint64_t rows[256]": row(shifts.rows),
        "uint8_t begins[256]": row(begins.tolist()),
        "edge edges[]": "{" + ",".join(map(row, [*edges, Edge(states, 0, 0, 0)])) + "}",
        "shifts by_shifts": f"{{rows, begins, {shifts.dead}u, {plain}u, edges, {states}u, {len(ends)}u, {row(ends)}}}",
        "layout by_layout": f"{{{plain}u, {row(_layout(SPOKEN, begins).tolist())}}}",
    }.items():
        print(f"static const {name} = {value};")


if __name__ == "__main__":
    main()

# pyright: basic
"""The task of a compiled loop: a row of words that it and its source of strings share."""

from __future__ import annotations

from typing import NamedTuple

from overlong.conformance.targets.adapters.compiled.memory import fields

BEHIND = 128
"""Octets of what stands around a string that are kept behind it."""


class LoopTask(NamedTuple):
    """Numbers and addresses. Words of the source's own stand behind them."""

    automaton: int
    """Address of the words of a ``PackedAutomaton``."""
    lead: int
    """These two: of a ``CharacterBits``."""
    layout: int
    layout_rows: int
    unit: int
    """Octets in a unit of the output; 0: it is not judged."""
    judges_offsets: int
    signature: int
    """Octets at the start of a string whose output is not judged, as a word; and a mask of them, 0 for none."""
    signature_mask: int
    has_nul_trait: int
    """Where a string with octet 00 is refused is not judged."""
    functions: int
    """Address of the addresses of the functions."""
    room: int
    """Units that have room for each octet of the input, and how many more."""
    more: int
    input: int
    """Address of the string; all around it is filled."""
    before: int
    """Address of the string that is asked before."""
    behind: int
    """The octet after a string."""
    out: int
    wanted: int
    """Room for the output that is expected."""
    cells: int
    progress: int
    kinds: int
    """Address of the kind of string number 0, which may lie outside of the memory there is."""
    source: int
    """Address of a compiled function of this task. From string ``next`` on it lays out a run of strings of one length
    that differ in their last piece only: all words from ``length_before`` on, and in the input what stands before that
    piece, and around the string. What the loop does not write of a string is there, too."""
    earlier: int = 0
    """Axes of the string that is asked before each, and is not judged."""
    next: int = 0
    """The number of the first string of the run."""
    length_before: int = 0
    """Octets of the string that is asked before."""
    strings: int = 1
    """How many there are in it."""
    whole: int = 0
    """Octets of each, and those before the last piece."""
    length: int = 0
    words: int = 0
    """Address of the last pieces, or their beginnings, as words: the first octet lowest."""
    at: int = 0
    """Where such a word is written, shifted so far, with what stands below it there."""
    shift: int = 0
    head: int = 0
    pieces: int = 0
    """Address of the last pieces, one behind the other."""
    read: int = 0
    """Address of what the automaton makes of each: bit 0 is 1 if the state behind it accepts; the others are how many
    of its octets were read when a state last accepted, -1 if none did."""
    seen: int = 0
    """Before the last piece: where a state last accepted, the state, bits of the number of a character that is begun,
    and the units that are expected. Units below zero: there is no such output."""
    state: int = 0
    value: int = 0
    units: int = 0


get, put = fields(LoopTask._fields)

# pyright: basic
"""The task of a compiled loop: a row of words that the loop shares with its source of strings."""

from __future__ import annotations

from typing import NamedTuple

from overlong.conformance.targets.adapters.compiled import WORD

ALIGNED = 64
"""The octets from one multiple to the next: a line of the cache, a register of the widest vector unit."""
BEHIND = 128
"""The number of filling octets that are kept after a string."""


class LoopTask(NamedTuple):
    """Numbers and addresses. The source's own words follow them."""

    automaton: int
    """The address of the words of a ``PackedAutomaton``."""
    lead: int
    """This and the next are the addresses of a ``CharacterBits``."""
    layout: int
    layout_rows: int
    unit: int
    """The octets of an output unit; 0: output is not judged."""
    judges_offsets: int
    signature: int
    """The first octets, as a word, of strings that are set aside; and their mask, 0 for none."""
    signature_mask: int
    has_nul_trait: int
    """1 if the error offset in a string with octet 00 is not judged."""
    functions: int
    """The address of the functions' addresses."""
    room: int
    """The output units with room for each octet of the input, and the additional units."""
    more: int
    input: int
    """The address of the memory for strings, a multiple of ``ALIGNED``; a string begins up to 63 octets after it."""
    before: int
    """The address of the earlier string."""
    behind: int
    """The octet after a string."""
    out: int
    wanted: int
    """The address of room for the expected output."""
    cells: int
    progress: int
    kinds: int
    """The address of the kind of string number 0; it may be outside the allocated memory."""
    source: int
    """The address of a compiled function of this task. It lays out the run from string ``next`` on: strings of one
    length that differ only in their last piece. It sets all words from ``length_before`` on, and writes the input
    before that piece, around the string, and wherever the loop does not write."""
    earlier: int = 0
    """The number of axes of the earlier string, which is not judged."""
    next: int = 0
    """The number of the first string of the run."""
    length_before: int = 0
    """The octets of the earlier string."""
    address: int = 0
    """The address of the strings of the run; the memory around it is filled."""
    strings: int = 1
    """The number of strings in the run."""
    whole: int = 0
    """The octets of each string, and those before its last piece."""
    length: int = 0
    words: int = 0
    """The address of the last pieces, or their beginnings, as words: the first octet lowest."""
    at: int = 0
    """The address at which such a word is written, its shift, and the octets below it there."""
    shift: int = 0
    head: int = 0
    pieces: int = 0
    """The address of the concatenated last pieces."""
    read: int = 0
    """The address of the automaton's result for each: bit 0 is 1 if the final state accepts; the other bits are the
    piece's octets read when a state last accepted, -1 if none did."""
    seen: int = 0
    """Before the last piece: the last accepting offset, the state, the bits so far of a begun character's number, and
    the expected units. Units below zero: there is no such output."""
    state: int = 0
    value: int = 0
    units: int = 0


LEVEL = 8 * WORD
"""The octets of a level: the current choice of an axis, and the state before it."""
PLACE, STATE, SEEN, LENGTH, VALUE, UNITS = range(0, 6 * WORD, WORD)


class GridWords(NamedTuple):
    """The words after a :class:`LoopTask`: numbers and addresses of a grid, with :class:`PieceTable`'s arrays."""

    made: int
    """The address at which the common part of strings is made, before it is copied to theirs."""
    around: int
    """The octet before a string."""
    octets: int
    starts: int
    axes: int
    alike: int
    padded: int
    verdicts: int
    short: int
    """1 if no choice of the last axis is longer than a word: then the loop writes it."""
    longest_last: int
    last_axis: int
    levels: int
    spare: int
    """The address of a word that is never read."""
    dirty: int
    """The number of octets from a string's address that may differ from the filling around it."""
    begun: int = -1
    """A string's number minus its last piece's number; below zero: nothing has been laid out."""

# pyright: basic
"""The task of the core's loop: numbers and addresses, in the order of the structs in ``reference/core``."""

from __future__ import annotations

from typing import NamedTuple

WORD = 8
"""The octets of a machine word."""
AROUND = 128
"""The number of filling octets that are kept before and after a string."""
PLACES = 64
"""The number of places where a string may start: a line of the cache, a register of the widest vector unit."""


class LoopTask(NamedTuple):
    """Numbers and addresses. The source's own words follow them."""

    by: int
    """The address of the words of a ``ShiftAutomaton``."""
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
    base: int
    """The address of memory for a string, which starts at one of :data:`PLACES`; what is around them is filled."""
    before: int
    """The address of the earlier string."""
    around: int
    """The octet before a string, and the one after it."""
    behind: int
    out: int
    wanted: int
    """The address of room for the expected output."""
    cells: int
    progress: int
    kinds: int
    """The address of the kind of string number ``origin``."""
    origin: int
    lay_out: int
    """The address of a function of the core that lays out the run from string ``next`` on, and sets all words from
    ``length_before`` on."""
    earlier: int = 0
    """The number of axes of the earlier string, which is not judged."""
    next: int = 0
    """The number of the first string of the run."""
    length_before: int = 0
    """The octets of the earlier string."""
    strings: int = 1
    """The number of strings in the run."""
    input: int = 0
    """Their address."""
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
    """The address of the automaton's verdict on each: bit 0 is 1 if the final state accepts; the other bits are the
    piece's octets read when a state last accepted, -1 if none did."""
    seen: int = 0
    """Before the last piece: the last accepting offset, the state, the bits so far of a begun character's number, and
    the expected units. Units below zero: there is no such output."""
    state: int = 0
    value: int = 0
    units: int = 0


class Level(NamedTuple):
    """The words of an axis: its current choice, and what stands before it."""

    choice: int = 0
    state: int = 0
    seen: int = 0
    length: int = 0
    value: int = 0
    units: int = 0


class GridWords(NamedTuple):
    """The words after a :class:`LoopTask`: numbers and addresses of a grid, with :class:`PieceTable`'s arrays."""

    octets: int
    starts: int
    axes: int
    alike: int
    padded: int
    verdicts: int
    is_short: int
    """1 if no choice of the last axis is longer than a word: then the loop writes it."""
    is_placed: int
    """1 if the choice of the first axis is the address modulo :data:`PLACES`."""
    longest_last: int
    last_axis: int
    levels: int
    line: int
    """The address of room for a string without its last piece, and of room for an earlier string."""
    earlier: int
    spare: int
    """The address of a word that is never read."""
    dirty: int
    """How far behind ``base`` there may be something else than what is around a string."""
    begun: int = -1
    """A string's number minus its last piece's number; below zero: nothing has been laid out."""

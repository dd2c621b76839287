"""The tables by which the core reads octets fast (``core/decoding.c``, ``core/automaton.h``), from an automaton.

Many octets at once, each with the three before it (John Keiser and Daniel Lemire, "Validating UTF-8 in less than one
instruction per byte", 2021: their tables are typed in, these are derived). A processor looks up a row of octets at once
in a table of 16, so by halves of octets: nibbles. The core finds an octet wrong if

- it has the wrong place: it can stand only within a character, and none before it needs more octets, or the reverse; or
- it can be no second octet after the octet before it.

:meth:`Nibbles.of` checks that an automaton can be read so:

1. Octets with the same upper nibble have the same place: they begin characters of one length, which is at most four,
   or they stand within characters. Some of them may be live nowhere.
2. The second octets after a first one are all that stand within characters and have certain upper nibbles. The third
   and fourth octets are all that stand within characters.

Why the answer is exact: let octet i be the first that kills the automaton. The octets before it have the right places,
so none of them is found, and each that can begin a character begins one. If octet i is live somewhere, it has the wrong
place, or is a wrong second octet, so it is found. If it is live nowhere, the one after it is found, whatever that is.
So nothing before octet i is found, and from the last octet before that can begin a character, a walk of the automaton
finds the error. Octets beyond it mean nothing.

The numbers of many characters at once. A processor can pick octets from a row of 16, by their places (so do simdutf's
decoders, whose tables are typed in). For each four octets of a text, where characters end among them and the three
before tells what to pick: for each character that ends among the four, its octets, brought to four by zeros before
them. It also tells which bits of these belong to the number. The core joins the bits, of many characters at once.
:meth:`Gathering.of` checks that a layout can be read so:

1. A character's length, which is at most four, tells which bits of its octets belong to the number.
2. All octets within characters have equally many of them.

Octet by octet, with a whole column of the transition table in one 64-bit word (Per Vognsen, "Shift-based DFAs",
https://gist.github.com/pervognsen/218ea17743e1442e59bb60d29b1aa725): :class:`ShiftAutomaton`. State ``i`` is named by
its shift, ``4 * i``. The row of an octet holds, at bits ``4 * i + 2`` and up, the number of the state that the octet
leads to from state ``i``, so that shifting it by ``4 * i`` leaves that state's own shift in bits 2 to 5. One step is
``state = row[octet] >> state & 60``. The load of the row does not depend on the state; the only dependency from octet
to octet is one shift and one mask. Fifteen states fit into 64 bits; RFC 3629 has nine.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

from overlong.reference.automaton import OCTETS

if TYPE_CHECKING:
    from overlong.reference.automaton import Automaton
    from overlong.reference.dialect import Dialect
    from overlong.reference.layout import Row


NIBBLES = range(16)
_LONGEST = 4
"""The most octets of a character."""
_WITHIN = 1 << 7
"""The bit of octets that stand within characters; the lower ones are for flaws of second octets."""


class Nibbles(NamedTuple):
    """For each nibble an octet: the octets found wrong are those whose ``(high & low & second | third | fourth) ^
    within`` is not 0. All but ``low`` are for upper nibbles.
    """

    high: bytes
    """Of the octet before."""
    low: bytes
    """Of the octet before."""
    second: bytes
    third: bytes
    """Of the octet two before."""
    fourth: bytes
    """Of the octet three before."""
    within: bytes

    @classmethod
    def of(cls, automaton: Automaton) -> Nibbles:
        """Raises:
        ValueError: the automaton does not meet the conditions above.
        """
        characters = _Characters(automaton)
        places: list[set[int]] = [set() for _ in NIBBLES]
        for octet in characters.within:
            places[octet >> 4].add(0)
        for octet in characters.begins:
            places[octet >> 4].add(characters.length(octet))
        if any(len(each) > 1 for each in places):
            raise ValueError("octets with the same upper nibble have different places in characters")
        lengths = [max(each, default=1) for each in places]  # 0: within characters

        # A flaw is a bit of some pairs: upper nibbles of the first octet, its lower nibbles, upper ones of the second.
        flaws: dict[tuple[frozenset[int], frozenset[int]], set[int]] = {}
        for upper in NIBBLES:
            wrong = [characters.wrong_after(upper << 4 | lower, lengths) for lower in NIBBLES]
            lowers = [frozenset(lower for lower in NIBBLES if after in wrong[lower]) for after in NIBBLES]
            for each in set(lowers) - {frozenset()}:
                flaw = each, frozenset(after for after in NIBBLES if lowers[after] == each)
                flaws.setdefault(flaw, set()).add(upper)
        if 1 << len(flaws) > _WITHIN:
            raise ValueError(f"its second octets have {len(flaws)} flaws; the most are 7")
        columns = [(uppers, *flaw) for flaw, uppers in flaws.items()]
        high, low, second = (
            [sum(1 << bit for bit, column in enumerate(columns) if nibble in column[part]) for nibble in NIBBLES]
            for part in range(3)
        )
        return cls(
            high=bytes(bits | _WITHIN * (length > 1) for bits, length in zip(high, lengths, strict=True)),
            low=bytes(bits | _WITHIN for bits in low),
            second=bytes(bits | _WITHIN for bits in second),
            third=bytes(_WITHIN * (length > 2) for length in lengths),
            fourth=bytes(_WITHIN * (length > 3) for length in lengths),
            within=bytes(_WITHIN * (length == 0) for length in lengths),
        )

    def length(self, first: int) -> int:
        """The length of a character with that first octet."""
        return 1 + sum(table[first >> 4] // _WITHIN for table in (self.high, self.third, self.fourth))


class _Characters:
    """The octets of an automaton's characters."""

    def __init__(self, automaton: Automaton) -> None:
        self._table = automaton.table
        self._live = [{octet for octet in OCTETS if row[octet] != automaton.dead} for row in automaton.table]
        self.begins = self._live[0]
        self.within = set[int]().union(*self._live[1:])

    def length(self, first: int) -> int:
        """The length of the characters with that first octet.

        Raises:
            ValueError: they do not meet the conditions.
        """
        states, length = {self._table[0][first]}, 1
        while states != {0}:
            if length == _LONGEST or 0 in states:
                raise ValueError("a character's first octet does not tell its length, of at most four octets")
            if length > 1 and any(self._live[each] != self.within for each in states):
                raise ValueError("a third or fourth octet depends on those before it")
            states = {self._table[each][octet] for each in states for octet in self._live[each]}
            length += 1
        return length

    def wrong_after(self, octet: int, lengths: list[int]) -> set[int]:
        """The upper nibbles of octets that have the right place after an octet, but cannot follow it.

        Raises:
            ValueError: they do not meet the conditions.
        """
        length = lengths[octet >> 4]
        if octet in self.within or (octet in self.begins and length == 1):
            return set()
        wrong = {nibble for nibble in NIBBLES if length <= 1 or lengths[nibble] == 0}
        if octet in self.begins:  # else it is live nowhere: whatever follows is found
            second = self._live[self._table[0][octet]]
            uppers = {each >> 4 for each in second}
            if second != {each for each in self.within if each >> 4 in uppers}:
                raise ValueError("second octets with the same upper nibble differ")
            wrong -= uppers
        return wrong


_NOWHERE = b"\x80"
"""The place of a picked zero."""
_ROW = 16
_SEEN = 2 * _LONGEST - 1
"""Four octets, and the three before."""


class Gathering(NamedTuple):
    """The tables, as ``layout`` of ``core/decoding.h`` has them."""

    free: int
    """The count of bits of each octet within a character that belong to the number."""
    single: int
    """The bits of a character's only octet that belong to the number."""
    within: bytes
    """For each upper nibble FF, if its octets stand within characters."""
    picks: bytes
    """For each set of ends the places of 16 octets, and their bits that belong to numbers."""

    @classmethod
    def of(cls, spoken: Dialect, nibbles: Nibbles) -> Gathering:
        """Raises:
        ValueError: the layout does not meet the conditions above.
        """
        rows: dict[int, Row] = {}
        for octet in OCTETS:
            row = spoken.layout.announced(octet)
            if spoken.automaton.table[0][octet] != spoken.automaton.dead and row is not None:
                length = nibbles.length(octet)
                if len(row.templates) != length or rows.setdefault(length, row) != row:
                    raise ValueError("a character's length does not tell which bits belong to its number")
        free = {template.free for row in rows.values() for template in row.templates[1:]}
        if len(free) != 1:
            raise ValueError("octets within characters have different counts of bits that belong to the number")
        return cls(
            free=free.pop(),
            single=rows[1].templates[0].bits(0xFF),
            within=bytes(0xFF * (each > 0) for each in nibbles.within),
            picks=b"".join(_picks(ends, rows) for ends in range(1 << _SEEN)),
        )


def _picks(ends: int, rows: dict[int, Row]) -> bytes:
    places = bits = b""
    begin = 0
    for place in range(_SEEN):
        if not ends >> place & 1:
            continue
        if place >= _LONGEST - 1:  # it is one of the four
            row = rows.get(place + 1 - begin)  # there is no other length
            places += bytes(range(begin, place + 1) if row else ()).rjust(_LONGEST, _NOWHERE)
            bits += bytes(mask for _, mask in (row.free_bits if row else ())).rjust(_LONGEST, b"\0")
        begin = place + 1
    return places.ljust(_ROW, _NOWHERE) + bits.ljust(_ROW, b"\0")


STEP = 4
"""The difference between the shifts of consecutive states."""
MOST_STATES = 15
"""The greatest number of states that fit."""
_WORD = 8


AUTOMATON_WORDS = ("transitions", "accepting", "dead", "plain")
"""What the core reads of an automaton (``core/automaton.h``), each a word of 64 bits: the address of the rows; a bit
for each accepting state, at its shift; the shift of the state from which no word is accepted, or -1; and a bit in each
octet of a word: octets without it stay in the start state, which accepts, so a loop can skip words of them. 0: it can
skip none."""


class ShiftAutomaton:
    """An automaton of at most fifteen states, whose states are numbered by their shifts; 0 is the start."""

    def __init__(self, automaton: Automaton) -> None:
        """Write the rows of an automaton.

        Raises:
            ValueError: it has more than fifteen states.
        """
        if len(automaton) > MOST_STATES:
            raise ValueError(
                f"an automaton of {len(automaton)} states does not fit a shift automaton, "
                f"whose 64-bit rows hold {MOST_STATES}"
            )
        self._count = len(automaton)
        self.rows = array(
            "Q", [sum(row[octet] << STEP * state + 2 for state, row in enumerate(automaton.table)) for octet in OCTETS]
        )
        """For each octet a 64-bit word: two bits above the shift of each state, the number of the next."""
        accepting = sum(1 << STEP * state for state, accepts in enumerate(automaton.accepting) if accepts)
        dead = -1 if automaton.dead is None else STEP * automaton.dead
        plain = int.from_bytes(bytes([_plain(automaton)]) * _WORD, "little", signed=True)
        self.words = array("q", (self.rows.buffer_info()[0], accepting, dead, plain))
        """:data:`AUTOMATON_WORDS`; the core gets their address."""

    def __len__(self) -> int:
        """The number of states."""
        return self._count

    @property
    def address(self) -> int:
        """Where the words are. Whoever passes it on keeps this object alive."""
        return self.words.buffer_info()[0]


def _plain(automaton: Automaton) -> int:
    """The highest bit such that octets without it stay in the start, which accepts; 0: there is none."""
    if not automaton.accepting[0]:
        return 0
    moves = [octet for octet, to in enumerate(automaton.table[0]) if to != 0]
    return next((1 << bit for bit in reversed(range(8)) if all(octet >> bit & 1 for octet in moves)), 0)

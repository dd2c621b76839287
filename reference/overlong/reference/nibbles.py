"""The tables by which many octets are judged at once, each with the three before it (``core/decoding.c``).

Theory of operation (John Keiser and Daniel Lemire, "Validating UTF-8 in less than one instruction per byte", 2021:
their tables are typed in, these are derived). A processor looks up a row of octets at once in a table of 16, so by
halves of octets: nibbles. The core finds an octet wrong if

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
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from overlong.reference.automaton import OCTETS

if TYPE_CHECKING:
    from overlong.reference.automaton import Automaton

NIBBLES = range(16)
MOST = 4
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
            if length == MOST or 0 in states:
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

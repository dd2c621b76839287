"""Scalar values from order alone: a second derivation that knows nothing of bits.

UTF-8 preserves sorting, so the well-formed characters, sorted by their octets, are the scalar values in
ascending order. Counting paths in the automaton gives the rank of a character. The rank, corrected for the gap
that RFC 3629 section 3 reserves for UTF-16, is its scalar value.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product, zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.reference.automaton import Automaton

SURROGATES = range(0xD800, 0xE000)
"""Reserved for UTF-16, never scalar values (RFC 3629 section 3; Unicode D71 to D76)."""

LEAD_SURROGATES, TRAIL_SURROGATES = range(0xD800, 0xDC00), range(0xDC00, 0xE000)
"""The first and the second half of a UTF-16 pair (Unicode D71, D73)."""

SIGNATURE = 0xFEFF
"""The byte order mark (RFC 3629 section 6)."""

CODE_POINTS = range(0x110000)
"""The UTF-16 accessible range (RFC 3629 section 3; Unicode D10)."""


def joined(lead: int, trail: int) -> int:
    """The supplementary character of a UTF-16 pair (Unicode D91)."""
    return 0x10000 + ((lead - LEAD_SURROGATES.start) << 10) + (trail - TRAIL_SURROGATES.start)


def from_utf16(units: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The code points of UTF-16 code units, each with its place; pairs become one, other surrogates stay (RFC 2781)."""
    paired = False
    for place, (unit, after) in enumerate(zip_longest(units, units[1:], fillvalue=0)):
        if paired:
            paired = False
        elif paired := unit in LEAD_SURROGATES and after in TRAIL_SURROGATES:
            yield place, joined(unit, after)
        else:
            yield place, unit


def scalar_values() -> Iterator[int]:
    """Every Unicode scalar value, ascending: 1,112,064 of them (Unicode D76)."""
    yield from range(SURROGATES.start)
    yield from range(SURROGATES.stop, CODE_POINTS.stop)


def scalar_of_rank(rank: int) -> int:
    """The scalar value at that place in the order, counted from 0."""
    return rank if rank < SURROGATES.start else rank + len(SURROGATES)


@lru_cache(maxsize=16)
def well_formed_products(automaton: Automaton) -> tuple[tuple[range, ...], ...]:
    """Every well-formed character as products of octet ranges, in octet order: nine for RFC 3629."""

    def visit(state: int, prefix: tuple[range, ...]) -> Iterator[tuple[range, ...]]:
        row, octet = automaton.table[state], 0
        while octet < len(row):
            end = octet
            while end < len(row) and row[end] == row[octet]:
                end += 1
            if row[octet] != automaton.dead:
                ranges = (*prefix, range(octet, end))
                if automaton.accepting[row[octet]]:
                    yield ranges
                else:
                    yield from visit(row[octet], ranges)
            octet = end

    return tuple(visit(0, ()))


def characters(automaton: Automaton) -> Iterator[bytes]:
    """Every well-formed character's octets, in octet order."""
    for ranges in well_formed_products(automaton):
        yield from map(bytes, product(*ranges))


class Ranking:
    """The rank of each well-formed character in octet order, by counting."""

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        self._completions: dict[int, int] = {}
        self._below: dict[int, list[int]] = {}  # state -> for each octet, characters before it

    def rank(self, octets: bytes) -> int:
        """The number of well-formed characters that come before ``octets``.

        Raises:
            ValueError: ``octets`` is not one well-formed character.
        """
        automaton = self._automaton
        states = [0, *automaton.walk(octets)]
        ends = [place for place, state in enumerate(states) if place and automaton.accepting[state]]
        if ends[:1] != [len(octets)]:
            raise ValueError(f"{octets.hex(' ').upper() or 'no octets'}: not one well-formed character")
        return sum(self._before(state)[octet] for state, octet in zip(states, octets, strict=False))

    def _before(self, state: int) -> list[int]:
        if state not in self._below:
            counts, total = list[int](), 0
            for to in self._automaton.table[state]:
                counts.append(total)
                total += self._count(to)
            self._below[state] = counts
        return self._below[state]

    def _count(self, state: int) -> int:
        """The number of words that lead from ``state`` to the end of the character."""
        if self._automaton.accepting[state]:
            return 1
        if state == self._automaton.dead:
            return 0
        if state not in self._completions:
            self._completions[state] = sum(self._count(to) for to in self._automaton.table[state])
        return self._completions[state]

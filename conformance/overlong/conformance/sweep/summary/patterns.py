# pyright: basic
"""Patterns: the least octets that make a string diverge, as products of octet ranges."""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from overlong.conformance.examination.products import SHOWN, exactly, merged
from overlong.conformance.sweep.summary.diagram import MINUS, OR
from overlong.reference.theory import in_shortlex

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from overlong.conformance.examination.products import Product
    from overlong.conformance.sweep.summary.diagram import Level
    from overlong.reference.automaton import Automaton

_LONGEST = 12
"""The most octets of a guessed pattern: longer strings are text."""
MOST = 64
"""The most patterns to compare with a set; a set with more has no short description by patterns."""


def minimal_factors(sets: Sequence[tuple[Level, int]]) -> list[Product] | None:
    """The members of a set that contain no shorter member, as products.

    Args:
        sets: the members of length 1, 2 and so on, over all octets.

    Returns:
        None if there are more than :data:`MOST` products.
    """
    found: list[Product] = []
    shorter: Level | None = None
    containing = 0  # the strings, one octet shorter, that contain a member
    for level, members in sets:
        covered = 0
        if shorter is not None:
            before = int(level.intern(np.full((1, level.width), containing))[0])
            covered = level.combine(before, shorter.followed_by_any(containing, level), OR)
        new = list(islice(products_of(level, level.combine(members, covered, MINUS)), MOST + 1 - len(found)))
        found += new
        if len(found) > MOST:
            return None
        shorter, containing = level, level.combine(members, covered, OR)
    return found


def factors_among(strings: Iterable[bytes]) -> list[Product] | None:
    """The same for a sample of a set: a guess to compare with the whole set. None if there are too many to name."""
    found: list[bytes] = []
    for string in in_shortlex(set(strings)):
        if not any(each in string for each in found):
            found.append(string)
            if len(found) > SHOWN or len(string) > _LONGEST:
                return None
    return merged(exactly(string) for string in found if string)


def products_of(level: Level, node: int) -> Iterator[Product]:
    """The strings of a set as products of sets of octets."""
    row = level.row(node)
    for each in dict.fromkeys(row.tolist()):  # in the order of their least octets
        if each:
            octets = frozenset(np.flatnonzero(row == each).tolist())
            if level.below is None:
                yield (octets,)
            else:
                yield from ((octets, *rest) for rest in products_of(level.below, each))


@lru_cache(maxsize=1 << 14)  # each string is asked for twice
def middle(octets: bytes, automaton: Automaton) -> tuple[bytes, bool]:
    """The ill-formed part of a string: it begins after a whole character, and is as short as the rest allows.

    Returns:
        the octets (none if the string is well-formed), and True if they end the string.
    """
    states = [0, *automaton.walk(octets)]
    if automaton.accepting[states[-1]]:
        return b"", True
    first = max(place for place, state in enumerate(states) if automaton.accepting[state])
    last, place = len(octets), len(octets)
    leading = _leading(automaton)
    lead_on = frozenset(state for state in range(len(automaton)) if automaton.accepting[state])  # then its completion
    while lead_on and place > first + 1:
        place -= 1
        lead_on = leading(lead_on, octets[place])
        last = place if 0 in lead_on else last
    return octets[first:last], last == len(octets)


@lru_cache(maxsize=1)
def _leading(automaton: Automaton) -> Callable[[frozenset[int], int], frozenset[int]]:
    """The states from which an octet leads into one of some states."""

    @cache
    def leading(to: frozenset[int], octet: int) -> frozenset[int]:
        return frozenset(state for state, row in enumerate(automaton.table) if row[octet] in to)

    return leading


def made_of(octets: bytes, patterns: Collection[Product], automaton: Automaton) -> bool:
    """True if a string consists of well-formed text and patterns."""
    reached = {0}
    for place in range(len(octets)):
        if place in reached:
            state = 0
            for end in range(place, len(octets)):
                state = automaton.table[state][octets[end]]
                if automaton.accepting[state]:
                    reached.add(end + 1)
                if state in {0, automaton.dead}:  # the rest continues from there, or the string fails
                    break
            reached |= {place + len(each) for each in patterns if _stands_at(each, octets, place)}
    return len(octets) in reached


def _stands_at(pattern: Product, octets: bytes, place: int) -> bool:
    part = octets[place : place + len(pattern)]
    return len(part) == len(pattern) and all(octet in some for octet, some in zip(part, pattern, strict=True))

"""Differences of an automaton from the expected one, in words: ``if F4 after ED counts as F0``."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from overlong.conformance.examination.products import product_in_words
from overlong.reference.theory import access_words, characterising_set

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.examination.products import Product
    from overlong.reference.automaton import Automaton

_MOST = 3
"""The most differences that a sentence names."""


def differences_in_words(expected: Automaton, found: Automaton) -> str:
    """The transitions that differ, in words; empty if that takes more than a few words.

    Each state of the expected automaton is compared with the state of ``found`` that the same octets lead to, or with
    the most similar state, whichever takes fewer words. The words count only if they describe ``found`` completely.
    """
    led = [found.run(word) for word in access_words(expected)]
    said = [_compared(expected, found, places) for places in (led, _most_alike(expected, found))]
    whole = [each for each in said if each]
    shortest: list[str] = min(whole, key=len, default=list[str]())
    return " and ".join(shortest)


def _compared(expected: Automaton, found: Automaton, places: Sequence[int]) -> list[str]:
    """The differences of ``found``, if the states correspond so; none if they do not describe it completely."""
    said: list[str] = []
    for state, place in enumerate(places):
        if expected.accepting[state] != found.accepting[place]:
            said.append(f"a string may {'' if found.accepting[place] else 'not '}end {_after(expected, state)}")
        groups: dict[int, set[int]] = {}
        for octet, to in enumerate(found.table[place]):
            if to not in places:
                return []
            if to != places[expected.table[state][octet]]:
                groups.setdefault(to, set()).add(octet)
        for to, octets in groups.items():
            counts = _counts_as(expected, places.index(to), octets)
            said.append(f"{product_in_words((frozenset(octets),))} {_after(expected, state)} {counts}")
    return said if len(said) <= _MOST else []


def _most_alike(expected: Automaton, found: Automaton) -> list[int]:
    """For each state the one of ``found`` that agrees on most short words; on a tie, the one its octets lead to."""
    ends = characterising_set(expected)
    words = [*ends, *(bytes([octets.least]) + end for octets in expected.classes for end in ends)]
    says = [[found.accepts(word, place) for word in words] for place in range(len(found))]
    places = [0]
    for state, access in enumerate(access_words(expected)[1:], 1):
        wanted = [expected.accepts(word, state) for word in words]
        reached = found.run(access)
        alike = [sum(a == b for a, b in zip(wanted, each, strict=True)) for each in says]
        places.append(max(range(len(found)), key=lambda place: (alike[place], place == reached)))
    return places


def _after(expected: Automaton, state: int) -> str:
    if state == 0:
        return "at the beginning of a character"
    if state == expected.dead:
        return "after an error"
    shortest, *others = islice(_products(expected, state), 2)
    return f"after {product_in_words(shortest)}" + (" or the like" if others else "")


def _counts_as(expected: Automaton, state: int, octets: set[int]) -> str:
    if state == 0:
        return "ends a character"
    if state == expected.dead:
        return "is an error"
    if all(expected.table[0][octet] == state for octet in octets):
        return "begins a character"
    return f"counts as {product_in_words(next(_products(expected, state)))}"


def _products(expected: Automaton, state: int) -> Iterator[Product]:
    """The products that lead to a state from the start of a character, the shortest first."""
    paths: list[tuple[int, Product]] = [(0, ())]
    for _ in range(len(expected)):
        longer: dict[tuple[int, Product], set[int]] = {}
        for reached, product in paths:
            for octet, to in enumerate(expected.table[reached]):
                if to not in {0, expected.dead}:
                    longer.setdefault((to, product), set()).add(octet)
        paths = [(to, (*product, frozenset(octets))) for (to, product), octets in longer.items()]
        yield from (product for to, product in paths if to == state)

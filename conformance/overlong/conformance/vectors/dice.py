"""Draws characters, texts and pieces from the grammar, by a seed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, TypeVar

from overlong.conformance.vectors.pieces import pieces
from overlong.reference.order import well_formed_products

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.reference.automaton import Automaton

T = TypeVar("T")
_LONG = 0.06
"""The share of texts that are longer than a few blocks."""


class Dice:
    """Draws by a seed: ``random.Random.random`` yields the same numbers in every version of Python."""

    def __init__(self, seed: int, automaton: Automaton) -> None:
        self.share = random.Random(seed).random  # noqa: S311 (no secret)
        self._products = tuple(well_formed_products(automaton))
        self._wrong = pieces(automaton).ill_formed

    def below(self, end: int) -> int:
        """A number from 0 to before ``end``."""
        return int(self.share() * end)

    def one_of(self, choices: Sequence[T]) -> T:
        """One of them."""
        return choices[self.below(len(choices))]

    def character(self) -> bytes:
        """A well-formed character: first its kind, so that all are equally frequent, then its octets."""
        return bytes(self.one_of(octets) for octets in self.one_of(self._products))

    def text(self) -> bytes:
        """Well-formed text, of one kind of characters or of many."""
        length = self.below(2000 if self.share() < _LONG else self.one_of((4, 20, 80)))
        kinds = self.one_of(((self.character(),), (b"a", self.character()), ()))
        found = bytearray()
        while len(found) < length:
            found += self.one_of(kinds) if kinds else self.character()
        return bytes(found)

    def piece(self) -> bytes:
        """A piece that may be ill-formed: an error of some kind, a character with a lost or changed octet, or any."""
        kind = self.below(4)
        if kind == 0:
            return self.one_of(self._wrong)
        if kind == 1:
            return bytes(self.below(256) for _ in range(1 + self.below(4)))
        octets = bytearray(self.character())
        place = self.below(len(octets))
        if kind == 2:
            del octets[place]
        else:
            octets[place] = self.below(256)
        return bytes(octets)

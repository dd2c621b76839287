"""Plans that no decoder can be tuned to: strings drawn from the grammar by a seed."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from overlong.conformance.sweep.grid import Axis, Grid
from overlong.conformance.sweep.plans.kind import KindOfPlan
from overlong.conformance.sweep.plans.pieces import pieces
from overlong.reference.order import well_formed_products

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.vectors.profile import Profile
    from overlong.reference.automaton import Automaton

T = TypeVar("T")

GRIDS = 64
_TEXTS, _PIECES, _BETWEEN, _BEHIND = 16, 15, 4, 4
"""Choices of text before, of pieces (besides none), of text between and behind: 65 536 strings a grid."""
_MORE_PIECES = 127
"""The choices of pieces for a campaign: 4 194 304 strings a grid."""
DRAWN_IN_CAMPAIGN = ((1 + _MORE_PIECES) // (1 + _PIECES)) ** 2
"""The number of ``drawn`` plans that have as many strings as a ``campaign`` plan."""
_LONG = 0.06
"""The share of texts that are longer than a few blocks."""


class _Dice:
    """Draws by a seed: ``random.Random.random`` yields the same numbers in every version of Python."""

    def __init__(self, seed: int, automaton: Automaton) -> None:
        self._random = random.Random(seed).random  # noqa: S311
        self._products = tuple(well_formed_products(automaton))
        self._wrong = pieces(automaton).ill_formed

    def below(self, end: int) -> int:
        return int(self._random() * end)

    def one_of(self, choices: Sequence[T]) -> T:
        return choices[self.below(len(choices))]

    def character(self) -> bytes:
        """A well-formed character: first its kind, so that all are equally frequent, then its octets."""
        return bytes(self.one_of(octets) for octets in self.one_of(self._products))

    def text(self) -> bytes:
        """Well-formed text, of one kind of characters or of many."""
        length = self.below(2000 if self._random() < _LONG else self.one_of((4, 20, 80)))
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


def _drawn(profile: Profile, seed: int, many_pieces: int = _PIECES) -> Iterator[Grid]:
    """Two pieces that may be ill-formed, with text before, between and after them: all drawn."""
    dice = _Dice(seed, profile.dialect.automaton)
    for _ in range(GRIDS):
        before, between, behind = (tuple(dice.text() for _ in range(many)) for many in (_TEXTS, _BETWEEN, _BEHIND))
        first, second = ((b"", *(dice.piece() for _ in range(many_pieces))) for _ in range(2))
        yield Grid(
            (
                Axis("text before it", before),
                Axis("first piece", first),
                Axis("text between", between),
                Axis("second piece", second),
                Axis("text behind it", behind),
            )
        )


DRAWN = KindOfPlan("drawn", "4 194 304 strings that the seed {} draws from the grammar", *(_drawn, 0, 1, 999_999_999))
CAMPAIGN = KindOfPlan(
    "campaign",
    "268 435 456 strings that the seed {} draws from the grammar",
    partial(_drawn, many_pieces=_MORE_PIECES),
    *(0, 1, 999_999_999),
)

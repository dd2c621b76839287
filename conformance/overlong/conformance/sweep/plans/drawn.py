"""Plans that no decoder can be tuned to: strings drawn from the grammar by a seed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from overlong.conformance.sweep.grid import Grid, Scheme
from overlong.conformance.vectors.pieces import Dice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.vector import Profile

GRIDS = 64
_TEXTS, _PIECES, _BETWEEN, _BEHIND = 16, 15, 4, 4
"""Choices of text before, of pieces (besides none), of text between and behind: 65 536 strings a grid."""
_MORE_PIECES = 127
"""The choices of pieces for a campaign: 4 194 304 strings a grid."""
DRAWN_IN_CAMPAIGN = ((1 + _MORE_PIECES) // (1 + _PIECES)) ** 2
"""The number of ``drawn`` plans that have as many strings as a ``campaign`` plan."""


_SAMPLE = (2, 3, 1, 2)
"""The same for a sample: 64 strings a grid. Few, so that the slowest target bears them, with new text in each grid."""


def _drawn(
    profile: Profile,
    seed: int,
    many: tuple[int, int, int, int] = (_TEXTS, _PIECES, _BETWEEN, _BEHIND),
    grids: int = GRIDS,
) -> Iterator[Grid]:
    """Two pieces that may be ill-formed, with text before, between and after them: all drawn."""
    dice = Dice(seed, profile.dialect.automaton)
    texts, many_pieces, *others = many
    for _ in range(grids):
        before, between, behind = (tuple(dice.text() for _ in range(each)) for each in (texts, *others))
        first, second = ((b"", *(dice.piece() for _ in range(many_pieces))) for _ in range(2))
        yield Grid((before, first, between, second, behind))


DRAWN = Scheme("drawn", "4 194 304 strings that the seed {} draws from the grammar", *(_drawn, 0, 1, 999_999_999))
CAMPAIGN = Scheme(
    "campaign",
    "268 435 456 strings that the seed {} draws from the grammar",
    partial(_drawn, many=(_TEXTS, _MORE_PIECES, _BETWEEN, _BEHIND)),
    *(0, 1, 999_999_999),
)
SAMPLE = Scheme(
    "sample",
    "2 048 strings that the seed {} draws from the grammar",
    partial(_drawn, many=_SAMPLE, grids=32),
    *(0, 1, 999_999_999),
)

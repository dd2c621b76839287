"""The distances between decoders, and the order that puts near ones side by side."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.models.pair_maps import NOT_TOLD

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from overlong.conformance.results.model import Map, Subject

Distances = dict[tuple[int, int], float]
"""The distance, from 0 to 1, of each two places, the lower place first."""


class Joined(NamedTuple):
    """Two joined groups of decoders, and their distance; a group is a place or a :class:`Joined`."""

    left: Joined | int
    right: Joined | int
    distance: float


def distances(subjects: Sequence[Subject]) -> tuple[Distances, str]:
    """The distances of all pairs, and their meaning. They compare maps if all decoders have the same, else causes."""
    named = [tuple(each.name for each in subject.maps) for subject in subjects]
    if named[0] and all(names == named[0] for names in named):
        return _of_maps([subject.maps for subject in subjects]), "share of pairs of octets that they answer differently"
    causes = [frozenset(cause.key for cause in subject.causes) for subject in subjects]
    apart = {
        (one, other): len(causes[one] ^ causes[other]) / max(len(causes[one] | causes[other]), 1)
        for one, other in combinations(range(len(causes)), 2)
    }
    return apart, "share of their causes of divergence that only one of them has"


def joined(count: int, apart: Distances) -> Joined | int:
    """All decoders, the nearest two groups joined again and again (average linkage; Sokal and Michener 1958)."""
    groups: dict[int, tuple[Joined | int, int]] = {place: (place, 1) for place in range(count)}
    near = dict(apart)
    for new in range(count, 2 * count - 1):
        distance, one, other = min((distance, *pair) for pair, distance in near.items())
        del near[one, other]
        (left, of_one), (right, of_other) = groups.pop(one), groups.pop(other)
        for group in groups:
            to_one = near.pop((min(group, one), max(group, one)))
            to_other = near.pop((min(group, other), max(group, other)))
            near[group, new] = (to_one * of_one + to_other * of_other) / (of_one + of_other)
        groups[new] = Joined(left, right, distance), of_one + of_other
    return groups.popitem()[1][0]


def leaves(group: Joined | int) -> list[int]:
    """The places in a group, from left to right."""
    result: list[int] = []
    stack = [group]
    while stack:
        each = stack.pop()
        if isinstance(each, int):
            result.append(each)
        else:
            stack += [each.right, each.left]
    return result


def _of_maps(maps: Sequence[Iterable[Map]]) -> Distances:
    """The octets of all maps are joined and compared as one large number: a non-zero octet of the exclusive or is a
    difference.

    Most pieces are equal for all decoders; these are only counted.
    """
    rows = [b"".join(each.answers for each in some) for some in maps]
    kinds = {row: number for number, row in enumerate(dict.fromkeys(rows))}
    size = len(rows[0])
    pieces = [slice(at, at + _PIECE) for at in range(0, size, _PIECE)]
    apart = [piece for piece in pieces if len({row[piece] for row in kinds}) > 1]
    alike = size - sum(len(rows[0][piece]) for piece in apart)
    alike -= rows[0].count(NOT_TOLD) - sum(rows[0][piece].count(NOT_TOLD) for piece in apart)
    numbers: dict[int, tuple[int, int]] = {}
    for row, kind in kinds.items():
        left = b"".join(row[piece] for piece in apart)
        numbers[kind] = int.from_bytes(left, "big"), int.from_bytes(left.translate(_TOLD), "big")
    left_size = sum(len(rows[0][piece]) for piece in apart)
    known: dict[tuple[int, int], float] = {}
    for one, other in combinations(kinds.values(), 2):
        told = numbers[one][1] & numbers[other][1]
        compared = alike + told.to_bytes(left_size, "big").count(0xFF)
        same = ((numbers[one][0] ^ numbers[other][0]) & told).to_bytes(left_size, "big").count(0)
        known[one, other] = (left_size - same) / max(compared, 1)
    places = [kinds[row] for row in rows]
    return {
        (one, other): known.get((min(places[one], places[other]), max(places[one], places[other])), 0.0)
        for one, other in combinations(range(len(rows)), 2)
    }


_PIECE = 64
_TOLD = bytes(0 if answer == NOT_TOLD else 0xFF for answer in range(256))

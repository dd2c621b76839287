"""The similarity of decoders: a triangle of distances, with near ones side by side, and the tree of their groups."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from overlong.conformance.report.pictures.distances import Joined, distances, joined, leaves
from overlong.conformance.report.pictures.svg import image, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.report.pictures.distances import Distances
    from overlong.conformance.results.model import Report

_MOST = 120  # decoders; their square is drawn
_NUMBERED = 24  # up to here each cell has its number
_BOUNDS = (0.0, 0.001, 0.01, 0.05, 0.2)  # the last distance of each shade but the lightest
_LIGHT = 3  # the first shade that the page's ink can be read on
_WORDS = ("alike", "up to 0.1 %", "up to 1 %", "up to 5 %", "up to 20 %", "more")
_LEFT, _TOP, _TREE = 190, 24, 160


def similarity(report: Report) -> str:
    """The measured decoders of a report, compared with each other; empty if the comparison shows nothing."""
    subjects = [each for each in report.subjects if each.claims or each.causes or each.maps][:_MOST]
    if len(subjects) < 2:
        return ""
    apart, what = distances(subjects)
    pairs = {round(_distance(apart, one, other), 3) for one in range(len(subjects)) for other in range(one)}
    if pairs == {1.0}:  # no two decoders are alike
        return ""
    tree = joined(len(subjects), apart)
    order = leaves(tree)
    cell = 30 if len(order) <= _NUMBERED else 14
    side = cell * len(order)
    names = [f"{each.id[:25]}…" if len(each.id) > 26 else each.id for each in (subjects[at] for at in order)]
    label = f"Distances of {len(order)} decoders: {what}; nearest first: {', '.join(names)}"
    body = [
        *(words(_LEFT - 8, _TOP + cell * (at + 0.5) + 4, name, anchor="end") for at, name in enumerate(names)),
        f'<g transform="translate({_LEFT} {_TOP}) scale({cell})">{"".join(_heat(order, apart))}</g>',
        *(_numbers(order, apart, cell) if len(order) <= _NUMBERED else ()),
        *_dendrogram(tree, order, cell, _LEFT + side + 12),
        *_legend(_TOP + side + 16, what),
    ]
    return image("similarity", label, (max(_LEFT + side + _TREE + 24, 640), _TOP + side + 76), body)


def _distance(apart: Distances, one: int, other: int) -> float:
    return 0.0 if one == other else apart[min(one, other), max(one, other)]


def _heat(order: Sequence[int], apart: Distances) -> Iterator[str]:
    """A path for each shade. Only the lower triangle is drawn, since the upper is the same."""
    shades: dict[int, list[str]] = {}
    for row, one in enumerate(order):
        start = 0
        levels = [bisect_left(_BOUNDS, _distance(apart, one, other)) for other in order[: row + 1]]
        for at in range(1, row + 2):
            if at > row or levels[at] != levels[start]:
                shades.setdefault(levels[start], []).append(f"M{start} {row}h{at - start}v1h-{at - start}z")
                start = at
    for shade, parts in sorted(shades.items()):
        yield f'<path class="heat h{shade}" d="{"".join(parts)}"/>'


def _numbers(order: Sequence[int], apart: Distances, cell: int) -> Iterator[str]:
    """The distances in per cent."""
    for row, one in enumerate(order):
        for column, other in enumerate(order[:row]):
            distance = 100 * _distance(apart, one, other)
            x, y = _LEFT + cell * (column + 0.5), _TOP + cell * (row + 0.5) + 4
            dark = " dark" if bisect_left(_BOUNDS, distance / 100) < _LIGHT else ""
            yield words(x, y, _per_cent(distance), f"number{dark}", anchor="middle")


def _per_cent(distance: float) -> str:
    if not distance:
        return "0"
    return "<.1" if distance < 0.1 else f"{distance:.1f}" if distance < 9.95 else f"{distance:.0f}"


def _dendrogram(tree: Joined | int, order: Sequence[int], cell: int, left: float) -> Iterator[str]:
    """The tree beside the rows: the point where two branches meet shows their distance, on a scale of square roots."""
    rows = {place: at for at, place in enumerate(order)}
    farthest = tree.distance if isinstance(tree, Joined) else 0.0
    parts: list[str] = []
    places: dict[Joined | int, tuple[float, float]] = {
        place: (left, _TOP + cell * (row + 0.5)) for place, row in rows.items()
    }
    pending: list[Joined | int] = [tree]
    while pending:
        group = pending[-1]
        if isinstance(group, int) or group in places:
            pending.pop()
            continue
        missing = [each for each in (group.left, group.right) if each not in places]
        if missing:
            pending += missing
            continue
        pending.pop()
        (x1, y1), (x2, y2) = places[group.left], places[group.right]
        x = max(x1, x2, left + 8 + (_TREE - 24) * ((group.distance / farthest) ** 0.5 if farthest else 0))
        parts.append(f"M{x1:g} {y1:g}H{x:.1f}V{y2:g}H{x2:g}")
        places[group] = float(f"{x:.1f}"), (y1 + y2) / 2
    yield f'<path class="tree" d="{"".join(parts)}"/>'


def _legend(y: float, what: str) -> Iterator[str]:
    yield words(8, y + 12, f"distance, in per cent: {what}", "quiet")
    for at, meaning in enumerate(_WORDS):
        x = 8 + at * 104
        yield f'<rect class="heat h{at}" x="{x}" y="{y + 24}" width="16" height="14"/>'
        yield words(x + 22, y + 36, meaning, "quiet")

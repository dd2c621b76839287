"""Pictures of a whole report: decoders by claims, how alike they are, and the findings of a campaign over time."""

from __future__ import annotations

import math
from bisect import bisect_left
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.models.pair_maps import NOT_TOLD
from overlong.conformance.protocol.observation import CLAIMS
from overlong.conformance.report.html.svg import image, words
from overlong.conformance.results.model import FAILS, HOLDS
from overlong.conformance.support.printable import thousands

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from overlong.conformance.results.model import Map, Moment, Report, Subject


_CELL_WIDTH, _CELL_HEIGHT, _NAMES, _HEADS, _BETWEEN = 30, 22, 190, 150, 26
_MOST_OF_CLAIMS = 200  # decoders, and columns
_SEVERAL = 0.1  # share of failing vectors of a category from which on the cell is darker
_OPEN = "\N{EN DASH}"
_KINDS = {
    "holds": ("✓", "good"),
    "fails": ("✗", "bad"),
    "some": ("✗", "bad"),
    "most": ("✘", "bad"),
    "open": (_OPEN, "quiet"),
}
"""The kinds of cells: a glyph, and the class of its ink."""


def claims_picture(report: Report) -> str:
    """The decoders of a report by claims, and by categories of vectors if recorded; empty without these."""
    subjects = [each for each in report.subjects if each.claims or each.categories][:_MOST_OF_CLAIMS]
    claims = _in_order((each.claims for each in subjects), list(CLAIMS))
    categories = _in_order((each.categories for each in subjects), ())
    if not subjects or not claims + categories:
        return ""
    aside = _NAMES + len(claims) * _CELL_WIDTH + (_BETWEEN if claims and categories else 0)
    width = aside + len(categories) * _CELL_WIDTH + 110
    height = _HEADS + len(subjects) * _CELL_HEIGHT + 34
    failing = sum(FAILS in each.claims.values() for each in subjects)
    label = f"{len(subjects)} decoders by {len(claims)} claims and {len(categories)} categories of vectors; "
    label += f"{failing} of them fail a claim"
    body = [
        *(words(_NAMES + at * _CELL_WIDTH + 20, _HEADS - 8, claim, turned=True) for at, claim in enumerate(claims)),
        *(
            words(aside + at * _CELL_WIDTH + 20, _HEADS - 8, each, "quiet", turned=True)
            for at, each in enumerate(categories)
        ),
    ]
    cells: dict[str, list[str]] = {}
    for row, subject in enumerate(subjects):
        y = _HEADS + row * _CELL_HEIGHT
        body.append(
            words(_NAMES - 8, y + 16, subject.id if len(subject.id) <= 26 else f"{subject.id[:25]}…", anchor="end")
        )
        kinds = [(_NAMES + at * _CELL_WIDTH, _of_claim(subject, claim)) for at, claim in enumerate(claims)]
        kinds += [(aside + at * _CELL_WIDTH, _of_category(subject, each)) for at, each in enumerate(categories)]
        for x, kind in kinds:
            cells.setdefault(kind, []).append(f"M{x:g} {y}h{_CELL_WIDTH}v{_CELL_HEIGHT}h-{_CELL_WIDTH}z")
        body += _glyphs(kinds, y + 16)
    grounds = [f'<path class="cell {kind}" d="{"".join(parts)}"/>' for kind, parts in sorted(cells.items())]
    legend = f"✓ holds   ✗ fails   {_OPEN} not measured" if claims else ""
    if categories:
        legend += (
            "   ·   " if claims else ""
        ) + "of a category: ✓ nothing went wrong   ✗ something   ✘ a tenth or more"
    body.append(words(8, height - 10, legend, "quiet"))
    return image("claims", label, (max(width, 640), height), grounds + body)


def _in_order(some: Iterable[Iterable[str]], first: Sequence[str]) -> list[str]:
    """All names in these, some first; not more than can be drawn."""
    keys = dict.fromkeys(key for each in some for key in each)
    return [*(key for key in first if key in keys), *(key for key in keys if key not in first)][:_MOST_OF_CLAIMS]


def _of_claim(subject: Subject, claim: str) -> str:
    return {HOLDS: "holds", FAILS: "fails"}.get(subject.claims.get(claim, ""), "open")


def _of_category(subject: Subject, category: str) -> str:
    asked, failing = subject.categories.get(category, (0, 0))
    if not asked:
        return "open"
    return "holds" if not failing else "most" if failing / asked >= _SEVERAL else "some"


def _glyphs(kinds: Sequence[tuple[float, str]], y: float) -> Iterator[str]:
    """The glyphs of a row: a text for each ink, whose characters have places of their own."""
    inks: dict[str, list[tuple[float, str]]] = {}
    for x, kind in kinds:
        glyph, ink = _KINDS[kind]
        inks.setdefault(ink, []).append((x + _CELL_WIDTH / 2, glyph))
    for ink, some in sorted(inks.items()):
        places = " ".join(f"{x:g}" for x, _ in some)
        glyphs = "".join(glyph for _, glyph in some)
        yield f'<text class="{ink}" text-anchor="middle" y="{y:g}" x="{places}">{glyphs}</text>'


_AXIS, _ABOVE, _WIDTH, _HEIGHT = 64, 34, 560, 240
_POINTS = 600  # points of a line; more points than pixels show nothing more
_ROUND = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 18000, 36000, 86400)
_APART = 46  # between two labels of time
_LEAST = 0.1  # seconds at the left end


def discovery(report: Report) -> str:
    """The number of findings of a campaign over time; empty if the campaign recorded no moments."""
    moments = sorted((each for each in report.discovery if math.isfinite(each.seconds)), key=lambda each: each.seconds)
    if not moments:
        return ""
    last = max(moments[-1].seconds, 10 * _LEAST)
    first = max(min(moments[0].seconds, last / 10), _LEAST)
    most = max(each.findings for each in moments)

    def x(seconds: float) -> float:
        share = math.log(max(seconds, first) / first) / math.log(last / first)
        return round(_AXIS + _WIDTH * share, 1)

    def y(findings: int) -> float:
        return round(_ABOVE + _HEIGHT * (1 - findings / max(most, 1)), 1)

    steps = _steps(moments)
    line = f"M{x(first):g} {y(0):g}" + "".join(f"H{x(each.seconds):g}V{y(each.findings):g}" for each in steps)
    executions = f"{thousands(moments[-1].executions)} executions"
    label = f"Divergences over time: {most} in {_time(moments[-1].seconds)}, {executions}"
    dots = [f'<circle class="dot" cx="{x(each.seconds):g}" cy="{y(each.findings):g}" r="3"/>' for each in steps]
    body = [
        words(8, 16, "divergences found ↑", "axis"),
        words(_AXIS + _WIDTH, _ABOVE + _HEIGHT + 40, "time (logarithmic) →", "axis", anchor="end"),
        *_axis_of_time(first, last, x),
        *_axis_of_findings(most, y),
        f'<path class="steps" d="{line}H{_AXIS + _WIDTH}"/>',
        *(dots if len(dots) <= 60 else ()),
        words(_AXIS, _ABOVE + _HEIGHT + 40, executions, "quiet"),
    ]
    return image("discovery", label, (_AXIS + _WIDTH + 24, _ABOVE + _HEIGHT + 52), body)


def _steps(moments: Sequence[Moment]) -> list[Moment]:
    """The moments with new findings; evenly thinned out if there are very many."""
    found: list[Moment] = []
    for each in moments:
        if each.findings > (found[-1].findings if found else 0):
            found.append(each)
    if len(found) <= _POINTS:
        return found
    return [found[at * (len(found) - 1) // (_POINTS - 1)] for at in range(_POINTS)]


def _axis_of_time(first: float, last: float, x: Callable[[float], float]) -> Iterator[str]:
    bottom, before = _ABOVE + _HEIGHT, 0.0
    for seconds in (_LEAST, *_ROUND):
        if first <= seconds <= last and x(seconds) - before >= _APART:
            before = x(seconds)
            yield f'<path class="grid" d="M{x(seconds):g} {_ABOVE}V{bottom + 4}"/>'
            yield words(x(seconds), bottom + 18, _time(seconds), "tick", anchor="middle")


def _axis_of_findings(most: int, y: Callable[[int], float]) -> Iterator[str]:
    step = max(1, 10 ** max(len(str(most)) - 1, 0) // 2)
    while most / step > 6:
        step *= 2
    for findings in range(0, most + 1, step):
        yield f'<path class="grid" d="M{_AXIS - 4} {y(findings):g}H{_AXIS + _WIDTH}"/>'
        yield words(_AXIS - 8, y(findings) + 4, str(findings), "tick", anchor="end")


def _time(seconds: float) -> str:
    """``30 s``, ``5 min``, ``2 h``."""
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.3g} s"


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


_MOST_ALIKE = 120  # decoders; their square is drawn
_NUMBERED = 24  # up to here each cell has its number
_BOUNDS = (0.0, 0.001, 0.01, 0.05, 0.2)  # the last distance of each shade but the lightest
_LIGHT = 3  # the first shade that the page's ink can be read on
_SHADES = ("alike", "up to 0.1 %", "up to 1 %", "up to 5 %", "up to 20 %", "more")
_LEFT, _TOP, _TREE = 190, 24, 160


def similarity(report: Report) -> str:
    """The measured decoders of a report, compared with each other; empty if the comparison shows nothing."""
    subjects = [each for each in report.subjects if each.claims or each.causes or each.maps][:_MOST_ALIKE]
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
        *_legend_of_shades(_TOP + side + 16, what),
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


def _legend_of_shades(y: float, what: str) -> Iterator[str]:
    yield words(8, y + 12, f"distance, in per cent: {what}", "quiet")
    for at, meaning in enumerate(_SHADES):
        x = 8 + at * 104
        yield f'<rect class="heat h{at}" x="{x}" y="{y + 24}" width="16" height="14"/>'
        yield words(x + 22, y + 36, meaning, "quiet")

"""Maps of pairs of octets: of a decoder, of the reference, and of their difference."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.models.pair_maps import ALONE, NOT_TOLD
from overlong.conformance.report.pictures.svg import MIXED, SHORTEST, SIDE, image, path, regions, safe, words
from overlong.conformance.support.printable import thousands
from overlong.reference.automaton import OctetClass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.report.pictures.svg import Region
    from overlong.conformance.results.model import Map

DECODER, REFERENCE, DIFFERENCE = "decoder", "reference", "difference"
SAME_REFUSED, SAME_ACCEPTED, TOO_MUCH, TOO_LITTLE, OTHERWISE, UNTOLD = range(6)
"""The kinds of cells in a difference."""

BOUND = 24_000
"""The most characters of path data in a map; a map that needs more is drawn in blocks of cells."""
_NAMED = 48  # regions of a difference that have a tooltip
_RINGED = 40  # small regions that get a ring
_SMALL = 24  # cells
_CELL, _LEFT, _TOP = 2, 44, 56
_LINE = 30  # of the legend
_LARGEST = SIDE * _CELL


class _Kind(NamedTuple):
    """A kind of cells: its class, the glyph of its hatching in the legend, and its meaning."""

    style: str
    glyph: str
    means: str


_MIXED = _Kind("mixed", "▦", "several answers")
_ANSWERS = {
    0: _Kind("refused", " ", "not accepted"),
    1: _Kind("alone", "■", "accepted as it is"),
    2: _Kind("more-1", "▧", "with one octet more"),
    3: _Kind("more-2", "▨", "with two more"),
    4: _Kind("more-3", "▤", "with three more"),
    5: _Kind("more-4", "▥", "with four more"),
    NOT_TOLD: _Kind("untold", "?", "not told"),
    MIXED: _MIXED,
}
_DIFFERENCES = {
    SAME_REFUSED: _Kind("refused", " ", "both do not accept"),
    SAME_ACCEPTED: _Kind("same", "■", "both accept alike"),
    TOO_MUCH: _Kind("too-much", "+", "accepts, and should not"),
    TOO_LITTLE: _Kind("too-little", "-", "does not accept, and should"),
    OTHERWISE: _Kind("otherwise", "~", "accepts with other octets after it"),
    UNTOLD: _Kind("untold", "?", "not told"),
    MIXED: _MIXED,
}
_HATCHES = {
    "more-1": "M0 4L4 0",
    "more-2": "M0 0L4 4",
    "more-3": "M0 2H4",
    "more-4": "M2 0V4",
    "too-much": "M0 2H4M2 0V4",
    "too-little": "M0 0L4 4M0 4L4 0",
    "otherwise": "M0 2H4",
    "untold": "M0 1H2M2 3H4",
    "mixed": "M0 0H2V2H0zM2 2H4V4H2z",
}


@lru_cache(maxsize=256)
def map_picture(seen: Map, reference: Map, what: str) -> str:
    """A map, drawn.

    Args:
        seen: of a decoder.
        reference: of the same pairs.
        what: ``decoder``, ``reference`` or ``difference``.

    Raises:
        ValueError: the maps are not of the same pairs, or ``what`` names no map.
    """
    if seen.name != reference.name or len(seen.answers) != len(reference.answers) or len(seen.answers) != SIDE * SIDE:
        raise ValueError(f"a map of {safe(seen.name)} and one of {safe(reference.name)}: they cannot be compared")
    if what == DIFFERENCE:
        cells, known = differing(seen.answers, reference.answers), _DIFFERENCES
    elif what in (DECODER, REFERENCE):
        answers = seen.answers if what == DECODER else reference.answers
        cells, known = [answer if answer in _ANSWERS else NOT_TOLD for answer in answers], _ANSWERS
    else:
        raise ValueError(f"no map {what!r} to draw; there are {DECODER}, {REFERENCE} and {DIFFERENCE}")
    block, found = _within_bound(cells)
    counts = Counter(cells)
    legend = [kind for kind in known if kind in found or (kind in counts and kind != MIXED)]
    height = _TOP + _LARGEST + 20 + _LINE * (len(legend) + (block > 1))
    prefix = "" if seen.name == ALONE else seen.name
    label = f"Map of octets {f'after {prefix}' if prefix else 'one and two'}, {what}: " + "; ".join(
        f"{known[kind].means}: {thousands(counts[kind])}" for kind in known if counts[kind]
    )
    body = [
        *_hatches(known[kind] for kind in legend),
        *_axes(prefix),
        f'<g transform="translate({_LEFT} {_TOP}) scale({_CELL})" shape-rendering="crispEdges">',
        *_cells(found, known, counts, prefix, apart=what == DIFFERENCE),
        "</g>",
        _grid(),
        *(_rings(found) if what == DIFFERENCE else ()),
        *_legend([(known[kind], counts[kind]) for kind in legend], block),
    ]
    return image(f"map {what}", label, (_LEFT + _LARGEST + 16, height), body)


def differing(seen: Sequence[int], reference: Sequence[int]) -> list[int]:
    """The kind of difference for each pair of answers in two maps."""
    return [_difference(one, other) for one, other in zip(seen, reference, strict=True)]


@lru_cache(maxsize=1 << 10)
def _difference(one: int, other: int) -> int:
    if NOT_TOLD in (one, other):
        return UNTOLD
    if one == other:
        return SAME_ACCEPTED if one else SAME_REFUSED
    return TOO_MUCH if not other else TOO_LITTLE if not one else OTHERWISE


def _within_bound(cells: Sequence[int]) -> tuple[int, dict[int, list[Region]]]:
    """The finest drawing whose paths stay below the limit: the number of cells in a block, and the regions."""
    block = 1
    while True:
        found = regions(cells, block, SIDE * SIDE if block == SIDE // 8 else BOUND // SHORTEST)
        if found is not None and (block == SIDE // 8 or sum(len(path(some)) for some in found.values()) <= BOUND):
            return block, found
        block *= 2


def _cells(
    found: dict[int, list[Region]], known: dict[int, _Kind], counts: Counter[int], prefix: str, *, apart: bool
) -> Iterator[str]:
    """A path for each kind; for differences a path for each region, if there are few."""
    for kind, some in sorted(found.items()):
        style, means = known[kind].style, known[kind].means
        hatched = f' fill="url(#{{id}}-{style})"' if style in _HATCHES else ""
        by_itself = apart and kind in (TOO_MUCH, TOO_LITTLE, OTHERWISE) and len(some) <= _NAMED
        parts = [[each] for each in some] if by_itself else [some]
        for part in parts:
            if by_itself:
                title = f"{prefix} {_span(part[0].y, part[0].height)} {_span(part[0].x, part[0].width)}: {means}"
            else:
                title = means + (f": {thousands(counts[kind])} pairs" if kind != MIXED else "")
            said = f"<title>{safe(title.strip(), 200)}</title>"
            yield f'<path class="cell {style}"{hatched} d="{path(part)}">{said}</path>'


def _span(start: int, length: int) -> str:
    return str(OctetClass(tuple(range(start, start + length))))


def _rings(found: dict[int, list[Region]]) -> Iterator[str]:
    """Rings around differences of a few cells, which are too small to see."""
    small = [
        each for kind in (TOO_MUCH, TOO_LITTLE, OTHERWISE, MIXED) for each in found.get(kind, ())
        if each.width * each.height <= _SMALL
    ]  # fmt: skip
    for x, y, width, height in small if len(small) <= _RINGED else ():
        centre = _LEFT + (x + width / 2) * _CELL, _TOP + (y + height / 2) * _CELL
        yield f'<circle class="ring" cx="{centre[0]:g}" cy="{centre[1]:g}" r="{max(width, height) * _CELL / 2 + 6:g}"/>'


def _hatches(kinds: Iterator[_Kind] | Sequence[_Kind]) -> Iterator[str]:
    for kind in kinds:
        if kind.style in _HATCHES:
            yield (
                f'<pattern id="{{id}}-{kind.style}" width="4" height="4" patternUnits="userSpaceOnUse">'
                f'<rect class="under {kind.style}" width="4" height="4"/>'
                f'<path class="hatch {kind.style}" d="{_HATCHES[kind.style]}"/></pattern>'
            )


def _axes(prefix: str) -> Iterator[str]:
    """Labels of the axes: every sixteenth octet in hexadecimal, and the names of the axes."""
    end = _LARGEST
    after = f" after {prefix}" if prefix else ""
    number = len(prefix.split())
    names = ("first", "second", "third", "fourth", "fifth")
    down, right = names[min(number, 3)], names[min(number + 1, 4)]
    yield words(_LEFT + end, 18, f"{right} octet →", "axis", anchor="end")
    yield words(4, 18, f"{down} octet{after} ↓", "axis")
    for octet in range(0, SIDE, 16):
        yield words(_LEFT + octet * _CELL + 16, _TOP - 8, f"{octet:02X}", "tick", anchor="middle")
        yield words(_LEFT - 8, _TOP + octet * _CELL + 22, f"{octet:02X}", "tick", anchor="end")


def _grid() -> str:
    """A line at every sixteenth octet."""
    lines = "".join(
        f"M{_LEFT + at} {_TOP - 4}V{_TOP + _LARGEST}M{_LEFT - 4} {_TOP + at}H{_LEFT + _LARGEST}"
        for at in range(0, _LARGEST + 1, 16 * _CELL)
    )
    return f'<path class="grid" d="{lines}"/>'


def _legend(kinds: Sequence[tuple[_Kind, int]], block: int) -> Iterator[str]:
    y = _TOP + _LARGEST + 16
    for kind, count in kinds:
        fill = f' fill="url(#{{id}}-{kind.style})"' if kind.style in _HATCHES else ""
        yield f'<rect class="cell key {kind.style}"{fill} x="{_LEFT}" y="{y}" width="32" height="20"/>'
        yield words(_LEFT + 42, y + 17, kind.glyph, "glyph")
        counted = "" if kind == _MIXED else f": {thousands(count)}"
        yield words(_LEFT + 62, y + 17, f"{kind.means}{counted}", "legend")
        y += _LINE
    if block > 1:
        yield words(_LEFT, y + 17, f"many answers: drawn in blocks of {block} by {block} pairs", "legend")

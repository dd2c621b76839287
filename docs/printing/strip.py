"""A picture of an input and an error mode's output: SVG without font, script or network."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

from overlong.reference import ERROR_MODES, IllFormed, WellFormed, dialect
from overlong.reference.automaton import access_words
from overlong.reference.decoder import segments, taken
from overlong.reference.error_mode import Fold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.reference import Segment

_LEFT, _CELL, _HEIGHT, _GAP = 104, 66, 30, 22
_STATES, _OCTETS = 22, 34
_FOUND = _OCTETS + _HEIGHT + 8
_OUTPUT = _FOUND + _HEIGHT + _GAP
_GOOD, _BAD, _INK, _QUIET = "#e3f1e6", "#fbe3df", "#1f2328", "#59636e"


class Box(NamedTuple):
    """The output, and its octets from ``start`` to ``end``."""

    start: int
    end: int
    text: str
    good: bool


def strip(octets: bytes, mode: str) -> str:
    """A picture of three rows: octets with the states between them, their meaning, the output."""
    found = list(segments(octets))
    width = _LEFT + len(octets) * _CELL + 16
    height = _OUTPUT + _HEIGHT + 14
    told = "; ".join(f"{octets[box.start : box.end].hex(' ').upper()}: {box.text}" for box in boxes(octets, mode))
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'font-family="sans-serif" font-size="12" role="img">'
        ),
        f"<title>{escape(f'{mode}: {told}')}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        (
            '<pattern id="ill" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
            f'<rect width="6" height="6" fill="{_BAD}"/>'
            '<path d="M0 0V6" stroke="#e5a79c" stroke-width="1.5"/></pattern>'
        ),
        *(
            f'<text x="8" y="{top + 19}" fill="{_QUIET}">{name}</text>'
            for top, name in ((_OCTETS, "octets"), (_FOUND, "what they are"), (_OUTPUT, "output"))
        ),
        *_states(octets, found),
    ]
    for each in found:
        good = isinstance(each, WellFormed)
        start, end = each.offset, each.offset + each.length
        for offset in range(start, end):
            lines.extend(_box(Box(offset, offset + 1, f"{octets[offset]:02X}", good), _OCTETS, mono=True))
        lines.extend(_box(Box(start, end, "character" if good else "ill-formed", good), _FOUND))
    for box in boxes(octets, mode):
        lines.append(_arrow(box))
        lines.extend(_box(box, _OUTPUT, mono=box.text.startswith("U+")))
    return "\n".join((*lines, "</svg>")) + "\n"


def boxes(octets: bytes, mode: str) -> list[Box]:
    """An error mode's output, with its octets."""
    fold = Fold(ERROR_MODES[mode])
    result: list[Box] = []
    for each in taken(octets, ERROR_MODES[mode]):
        start, end, good = each.offset, each.offset + each.length, isinstance(each, WellFormed)
        owing = fold.owed != 0
        try:
            scalars = fold.put_out(each, octets)
        except IllFormed:
            return [*result, Box(start, len(octets), f"refused at offset {start}", good=False)]
        if not scalars and owing:  # part of the output before
            result[-1] = result[-1]._replace(end=end)
        elif len(scalars) == each.length:
            result += [Box(start + n, start + n + 1, _named(number), good) for n, number in enumerate(scalars)]
        else:
            result.append(Box(start, end, " ".join(map(_named, scalars)) or "nothing", good))
    return result


def _named(number: int) -> str:
    return f"U+{number:04X}"


def _x(offset: int) -> int:
    return _LEFT + offset * _CELL


def _states(octets: bytes, found: list[Segment]) -> Iterator[str]:
    """The automaton's state between octets; a cross where it has no transition and starts again."""
    automaton = dialect().automaton
    words = access_words(automaton)
    names = ["start"]
    for each in found:
        state = 0
        for octet in octets[each.offset : each.offset + each.length]:
            state = automaton.table[state][octet]
            names.append("" if state == automaton.dead else words[state].hex(" ").upper() or "start")
        if not isinstance(each, WellFormed):
            names[-1] = f"{names[-1]} \u2717".strip()
    yield f'<text x="8" y="{_STATES}" fill="{_QUIET}">state</text>'
    for offset, name in enumerate(names):
        yield (
            f'<text x="{_x(offset)}" y="{_STATES}" text-anchor="middle" fill="{_QUIET}" '
            f'font-family="monospace" font-size="11">{name}</text>'
        )


def _box(box: Box, top: int, *, mono: bool = False) -> Iterator[str]:
    x, width = _x(box.start) + 2, (box.end - box.start) * _CELL - 4
    fill = _GOOD if box.good else "url(#ill)"
    nothing = box.text == "nothing"
    look = f'fill="#ffffff" stroke="{_QUIET}" stroke-dasharray="4 3"' if nothing else f'fill="{fill}" stroke="{_INK}"'
    family = ' font-family="monospace"' if mono else ""
    yield f'<rect x="{x}" y="{top}" width="{width}" height="{_HEIGHT}" rx="3" {look}/>'
    yield (
        f'<text x="{x + width / 2:g}" y="{top + 19}" text-anchor="middle" fill="{_INK}"{family} stroke="#ffffff" '
        f'stroke-width="3" paint-order="stroke">{escape(box.text)}</text>'
    )


def _arrow(box: Box) -> str:
    middle = _x(box.start) + (box.end - box.start) * _CELL / 2
    foot = _OUTPUT - 3
    return (
        f'<path d="M{middle:g} {_FOUND + _HEIGHT + 2}V{foot}m-4 -5l4 5l4 -5" fill="none" stroke="{_INK}" '
        'stroke-width="1.2"/>'
    )

"""Pictures of one decoder: maps of pairs of octets, the walk of an input, and its automaton.

A map is that of a decoder, of the reference, or of their difference: a grid of 256 x 256 kinds as path data, which
consists of runs of a row, joined with equal runs of the rows above. A walk of octets through the automaton of a dialect
is drawn from top to bottom: a state, an octet, a state. The learned automaton stands beside that of the reference, as
``identify`` draws it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.models.pair_maps import ALONE, NOT_TOLD
from overlong.conformance.report.html.svg import image, safe, words
from overlong.conformance.support.printable import spaced_hex, thousands
from overlong.reference import DIALECTS, WellFormed, dialect, segments
from overlong.reference.automaton import OCTETS, OctetClass, access_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.conformance.results.model import Map, Subject
    from overlong.reference import Dialect


SIDE = 256
SHORTEST = len("M0 0h1v1h-1z")
"""The fewest characters of a rectangle's path."""
MIXED = -1
"""The kind of a block with answers of several kinds."""


Region = tuple[int, int, int, int]
"""A rectangle of cells, all of one kind: x, y, width and height."""


def regions(kinds: Sequence[int], block: int = 1, most: int = SIDE * SIDE) -> dict[int, list[Region]] | None:
    """For each kind its rectangles, which cover the grid without overlap.

    Args:
        kinds: of the cells, row by row.
        block: the number of cells in each direction that are drawn as one cell; if they differ, its kind is
        :data:`MIXED`.
        most: the most rectangles; if there are more, the search ends early, and the result is empty.
    """
    closed = 0
    found: dict[int, list[Region]] = {}
    open_runs: dict[
        tuple[int, int, int], int
    ] = {}  # x, width and kind of the runs of the last row, and the row in which each began
    side = SIDE // block
    for row in range(side + 1):
        runs = _runs(kinds, row, block) if row < side else []
        now = {run: open_runs.get(run, row) for run in runs}
        for (x, width, kind), start in open_runs.items():
            if (x, width, kind) not in now:
                at = x * block, start * block, width * block, (row - start) * block
                found.setdefault(kind, []).append(at)
                closed += 1
        if closed > most:
            return None
        open_runs = now
    return found


def path(some: Iterable[Region]) -> str:
    """``M12 3h4v2h-4z`` and so on."""
    return "".join(f"M{x} {y}h{width}v{height}h-{width}z" for x, y, width, height in some)


def _runs(kinds: Sequence[int], row: int, block: int) -> list[tuple[int, int, int]]:
    """Place, width and kind of each run of blocks in a row of them."""
    if block == 1:
        line: Iterable[int] = kinds[row * SIDE : (row + 1) * SIDE]
    else:
        lines = [kinds[at * SIDE : (at + 1) * SIDE] for at in range(row * block, (row + 1) * block)]
        line = [_kind([each[x : x + block] for each in lines]) for x in range(0, SIDE, block)]
    runs: list[tuple[int, int, int]] = []
    x = 0
    for kind, run in groupby(line):
        width = sum(1 for _ in run)
        runs.append((x, width, kind))
        x += width
    return runs


def _kind(rows: Sequence[Sequence[int]]) -> int:
    """The kind of all cells of a block; :data:`MIXED` if they differ."""
    first, kind = rows[0], rows[0][0]
    return kind if first.count(kind) == len(first) and all(each == first for each in rows) else MIXED


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
                x, y, width, height = part[0]
                title = f"{prefix} {_span(y, height)} {_span(x, width)}: {means}"
            else:
                title = means + (f": {thousands(counts[kind])} pairs" if kind != MIXED else "")
            said = f"<title>{safe(title.strip(), 200)}</title>"
            yield f'<path class="cell {style}"{hatched} d="{path(part)}">{said}</path>'


def _span(start: int, length: int) -> str:
    return str(OctetClass(tuple(range(start, start + length))))


def _rings(found: dict[int, list[Region]]) -> Iterator[str]:
    """Rings around differences of a few cells, which are too small to see."""
    several = (each for kind in (TOO_MUCH, TOO_LITTLE, OTHERWISE, MIXED) for each in found.get(kind, ()))
    small = [(x, y, width, height) for x, y, width, height in several if width * height <= _SMALL]
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


_HEAD, _TAIL = 4, 10  # steps drawn of a long walk: at its beginning, and at its end
_LONGEST_INPUT = 1 << 16
_ROW, _RAIL, _TEXT, _WIDTH, _RADIUS = 46, 26, 52, 640, 9
_LONGEST = 84  # characters of a line


@dataclass(frozen=True)
class WalkStep:
    """One octet read."""

    offset: int
    octet: int
    group: OctetClass
    """The class of the octet: octets that no state distinguishes from it."""
    to: int
    """The state after it."""
    stands: str
    """The state after it, in words."""
    open: str
    """The alternatives of the grammar that are possible after the octet; for the last step, the octets wanted."""


@lru_cache(maxsize=4096)
def walk(octets: bytes, profile: str, chunks: tuple[int, ...] | None = None) -> str:
    """A picture of the walk; empty if the profile is unknown, or the input is longer than 65 536 octets.

    Args:
        octets: the input.
        profile: ``rfc3629@1``; the number does not matter.
        chunks: lengths, if the input came in chunks; the picture has a line at each end of a chunk.
    """
    speaks = profile.partition("@")[0]
    if speaks not in DIALECTS or len(octets) > _LONGEST_INPUT:
        return ""
    automaton = dialect(speaks).automaton
    steps, end, state, unread = walked_through(octets, dialect(speaks))
    rows: list[str] = []
    y = 30.0
    rows.append(words(_TEXT, y + 5, "start", "strong"))
    nodes = [(y, "accepts" if automaton.accepting[0] else "inside")]
    edges = set(accumulate(chunks or ()))  # where chunks end
    for step in _shown(steps):
        y += _ROW
        if isinstance(step, str):
            rows.append(words(_TEXT, y + 5, step, "quiet"))
            continue
        last = step is steps[-1]
        kind = state if last else "accepts" if automaton.accepting[step.to] else "inside"
        nodes.append((y, kind))
        rows += _step(step, y, kind)
        if step.offset in edges and step.offset:
            line = f'<path class="cut" d="M8 {y - _ROW / 2:g}H{_WIDTH - 8}"/>'
            rows += [line, words(_WIDTH - 8, y - _ROW / 2 - 4, "next chunk", "quiet", anchor="end")]
    y += _ROW
    rows.append(words(_TEXT, y - 8, end, "dead strong" if state == "dies" else "strong"))
    if unread:
        more = "1 octet" if unread == 1 else f"{unread} octets"
        y += 20
        rows.append(words(_TEXT, y - 8, f"not read any more: {more}; nothing after this makes it well-formed", "quiet"))
    rail = f'<path class="rail" d="M{_RAIL} {nodes[0][0]:g}V{nodes[-1][0]:g}"/>'
    body = [rail, *rows, *(_node(*node) for node in nodes)]
    label = f"Walk of {spaced_hex(octets)} through the automaton of {speaks}: {end}"
    return image("walk", label, (_WIDTH, y + 6), body)


def walked_through(octets: bytes, spoken: Dialect) -> tuple[list[WalkStep], str, str, int]:
    """The steps of ``octets`` through the automaton, up to the one after which nothing can be accepted.

    Returns:
        The steps; how the walk ends, in words; ``accepts``, ``open`` or ``dies``; and the number of octets that it does
        not read after it has died.
    """
    automaton, unfolded, names = spoken.automaton, spoken.unfolded, access_words(spoken.automaton)
    groups = {octet: group for group in automaton.classes for octet in group.octets}
    steps: list[WalkStep] = []
    state = detail = 0
    for offset, octet in enumerate(octets):
        wanted = unfolded.open[detail]
        here = [each for each in wanted if octet in each.octets]
        state, detail = automaton.table[state][octet], unfolded.table[detail][octet]
        if state == automaton.dead:
            able = OctetClass(tuple(each for each in OCTETS if any(each in position.octets for position in wanted)))
            steps.append(WalkStep(offset, octet, groups[octet], state, "dead", f"no alternative has it; wanted {able}"))
            return steps, _flaw(octets, spoken), "dies", len(octets) - offset - 1
        forms = dict.fromkeys(str(each.form) for each in sorted(here, key=lambda each: each.index))
        name = names[state].hex(" ").upper() or "start"
        steps.append(WalkStep(offset, octet, groups[octet], state, name, "; ".join(forms)))
    if automaton.accepting[state]:
        return steps, "well-formed: the input ends between characters", "accepts", 0
    return steps, _flaw(octets, spoken), "open", 0


def _flaw(octets: bytes, spoken: Dialect) -> str:
    """The reference's report on the first error."""
    flaw = next(each for each in segments(octets, spoken=spoken) if not isinstance(each, WellFormed))
    count = "1 octet" if flaw.length == 1 else f"{flaw.length} octets"
    return f"ill-formed at offset {flaw.offset}, {count}: {flaw.defect.code} {flaw.defect.title}"


def _shown(steps: Sequence[WalkStep]) -> Iterator[WalkStep | str]:
    """The steps to draw, and a text for the steps left out."""
    left = len(steps) - _HEAD - _TAIL
    if left <= 1:
        yield from steps
        return
    yield from steps[:_HEAD]
    yield f"… {left} more octets, up to offset {steps[-_TAIL].offset - 1} …"
    yield from steps[-_TAIL:]


def _step(step: WalkStep, y: float, kind: str) -> Iterator[str]:
    """The text beside an edge and the state that it leads to."""
    dead = " dead" if kind == "dies" else ""
    yield words(_TEXT, y - 4, f"{step.octet:02X}", "octet strong" + dead)
    yield words(_TEXT + 30, y - 4, f"{step.octet:08b}", "octet")
    yield words(_TEXT + 118, y - 4, f"→ {step.stands}", "code" + dead)
    yield words(_WIDTH - 8, y - 4, f"offset {step.offset} · class {_cut(str(step.group), 36)}", "quiet", anchor="end")
    yield words(_TEXT, y + 14, _cut(step.open, _LONGEST), "code quiet" + dead)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _node(y: float, kind: str) -> str:
    """A state: a double circle if it accepts, a cross if the walk dies."""
    circle = f'<circle class="state {kind}" cx="{_RAIL}" cy="{y:g}" r="{_RADIUS}"/>'
    if kind == "dies":
        return circle + f'<path class="cross" d="M{_RAIL - 4} {y - 4:g}l8 8m0-8l-8 8"/>'
    if kind == "accepts":
        return circle + f'<circle class="state" cx="{_RAIL}" cy="{y:g}" r="4"/>'
    return circle


def automaton_picture(subject: Subject) -> str:
    """A decoder's learned automaton. If the decoder passes the verdict, this is the reference's, as complete-0 proves.

    Returns:
        SVG; empty if the automaton is unknown. The learned automaton comes from a file, and may be hostile.
    """
    from overlong.conformance.models.picture import Drawing, drawn_in_svg

    if subject.automaton is not None and subject.automaton.svg:
        return subject.automaton.svg
    speaks = subject.profile.partition("@")[0]
    whole = any(part.name == "complete-0" and not part.failing and part.asked == part.all for part in subject.parts)
    if subject.claims.get("verdict") != "holds" or speaks not in DIALECTS or not whole:
        return ""
    known = dialect(speaks).automaton
    return drawn_in_svg([Drawing(f"{speaks}, the reference; complete-0 shows that it is this", known, known)])

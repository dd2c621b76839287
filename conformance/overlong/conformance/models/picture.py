"""Pictures of a learned automaton and its reference, in SVG.

The dead state is left out: a missing edge is a refusal. States between characters are on the left, and again on the
right if an edge returns to them; the others are in columns, by the number of octets that they still need. An edge is
different, and red, if after the same words only one of the automata can go on, or accepts.

SVG has its colours as attributes, so that a file looks right anywhere; and classes, so that a page that includes it
can set its own colours (report/html/pictures.css).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

from overlong.conformance.models.pair_maps import lacking
from overlong.conformance.protocol.observation import Accepted
from overlong.conformance.support.printable import printable
from overlong.reference import dialect
from overlong.reference.automaton import OCTETS, Automaton, OctetClass, access_words
from overlong.reference.grammar import Position

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.models.identify import LearnedModel
    from overlong.reference.machine import Transducer

_COLUMN, _ROW, _RADIUS, _MARGIN = 200, 50, 15, 60
_SWEEPS = 8
_PLAIN, _DIFFERENT = "#333333", "#c40000"


@dataclass(frozen=True)
class Edge:
    """All octets from one state to another that are different, or all that are not."""

    origin: int
    to: int
    octets: OctetClass
    different: bool


@dataclass(frozen=True)
class Drawing:
    """One automaton to draw."""

    title: str
    automaton: Automaton
    other: Automaton

    @cached_property
    def edges(self) -> list[Edge]:
        """The edges, without those into the dead state."""
        pairs = _paired(self.automaton, self.other)
        result: list[Edge] = []
        for state, row in enumerate(self.automaton.table):
            groups: dict[tuple[int, bool], list[int]] = {}
            for octet in OCTETS:
                to = row[octet]
                if self.automaton.dead in (state, to):
                    continue
                different = any(self._differs(to, counterpart, octet) for counterpart in pairs[state])
                groups.setdefault((to, different), []).append(octet)
            result.extend(
                Edge(state, to, OctetClass(tuple(octets)), different) for (to, different), octets in groups.items()
            )
        return result

    def _differs(self, to: int, counterpart: int, octet: int) -> bool:
        there = self.other.table[counterpart][octet]
        return there == self.other.dead or self.other.accepting[there] != self.automaton.accepting[to]

    @cached_property
    def missing(self) -> dict[int, int]:
        """For each live state, the least number of octets to an accepting state."""
        return lacking(self.automaton)

    def name(self, state: int) -> str:
        """The name of a state: its access word."""
        word = access_words(self.automaton)[state]
        return word.hex(" ").upper() if word else "start"


def picture(model: LearnedModel, beside: str = "") -> str | None:
    """The learned automaton beside that of a dialect; None if no automaton was learned.

    Args:
        model: the results of identify.
        beside: the dialect; by default the identified one.
    """
    part = model.part("dialect")
    if part is None or part.machine is None:
        return None
    accepts_nothing = isinstance(model.oracles[part.operation][b""], Accepted)
    name = beside or part.name
    learned, known = _acceptor(part.machine, start=accepts_nothing), dialect(name).automaton
    beside_it = Drawing(f"{name}, the reference", known, learned)
    return drawn_in_svg([Drawing(f"{printable(model.target)}, as learned", learned, known), beside_it])


def drawn_in_svg(drawings: list[Drawing]) -> str:
    """Automata one below another."""
    return "\n".join(_svg(drawings)) + "\n"


def _acceptor(machine: Transducer, *, start: bool) -> Automaton:
    """The minimal automaton of a verdict machine's language."""
    states = {(0, start): 0}
    queue = [(0, start)]
    table: list[tuple[int, ...]] = []
    for state, _ in queue:
        row: list[int] = []
        for octet in OCTETS:
            to = machine.table[state][octet], machine.changes[state][octet] != "refused"
            if to not in states:
                states[to] = len(states)
                queue.append(to)
            row.append(states[to])
        table.append(tuple(row))
    accepting = tuple(accepts for _, accepts in queue)
    return Automaton(tuple(table), accepting, (frozenset[Position](),) * len(queue)).minimal()


def _paired(left: Automaton, right: Automaton) -> dict[int, set[int]]:
    """For each state of ``left``, the states of ``right`` to which the same words lead.

    The dead state counts only if there is no other: otherwise everything after one difference would differ, too.
    """
    seen = {(0, 0)}
    queue = [(0, 0)]
    for one, other in queue:
        for to in zip(left.table[one], right.table[other], strict=True):
            if to not in seen:
                seen.add(to)
                queue.append(to)
    pairs: dict[int, set[int]] = {}
    for one, other in seen:
        pairs.setdefault(one, set()).add(other)
    return {one: {other for other in others if other != right.dead} or others for one, others in pairs.items()}


def _svg(drawings: list[Drawing]) -> Iterator[str]:
    bodies: list[str] = []
    top, width = 0, 0
    for drawing in drawings:
        body, size = _panel(drawing, top)
        bodies.extend(body)
        width, top = max(width, size[0]), top + size[1]
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top}" width="{width}" height="{top}" '
        'font-family="sans-serif" font-size="12">'
    )
    yield f"<title>{escape(' and '.join(drawing.title for drawing in drawings))}</title>"
    yield '<rect class="automaton-paper" width="100%" height="100%" fill="#ffffff"/>'
    for name, colour in (("plain", _PLAIN), ("different", _DIFFERENT)):
        yield (
            f'<marker id="{name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
            'orient="auto" markerUnits="userSpaceOnUse">'
            f'<path class="automaton-tip {name}" d="M0 0L10 5L0 10z" fill="{colour}"/></marker>'
        )
    yield from bodies
    yield "</svg>"


Point = tuple[float, float]
Slot = tuple[str, int, int]
"""A place in a column: a state, on the left or the right, or the passage of an edge."""


def _panel(drawing: Drawing, top: int) -> tuple[list[str], tuple[int, int]]:
    """One automaton from ``top`` downwards, and its width and height."""
    far = max(drawing.missing.values(), default=0)
    routes = [_route(drawing, number, far) for number in range(len(drawing.edges))]
    columns = _ordered(drawing, routes, far)
    tallest = max(map(len, columns))
    places: dict[Slot, Point] = {}
    for column, slots in enumerate(columns):
        gap = tallest * _ROW / max(len(slots), 1)
        for rank, slot in enumerate(slots):
            places[slot] = _MARGIN + column * _COLUMN, top + _MARGIN + gap * (rank + 0.5)
    title = (
        f'<text class="automaton-title" x="{_MARGIN - 30}" y="{top + 32}" font-size="16" font-weight="bold">'
        f"{escape(drawing.title)}</text>"
    )
    lines = [title]
    labels: list[str] = []
    for edge, route in sorted(zip(drawing.edges, routes, strict=True), key=lambda pair: pair[0].different):
        line, label = _arrow([places[slot] for slot in route], edge)
        lines.append(line)
        labels.append(label)
    for (kind, state, _), place in places.items():
        if kind != "passing":
            lines.extend(_node(drawing, state, place))
    return [*lines, *labels], (2 * _MARGIN + (far + 1) * _COLUMN, 2 * _MARGIN + tallest * _ROW)


def _column(drawing: Drawing, state: int, far: int) -> int:
    return 0 if drawing.automaton.accepting[state] else 1 + far - drawing.missing[state]


def _route(drawing: Drawing, number: int, far: int) -> list[Slot]:
    """The slots of an edge: its ends, and one in each column between them."""
    edge = drawing.edges[number]
    first = _column(drawing, edge.origin, far)
    back = drawing.automaton.accepting[edge.to]
    last = far + 1 if back else _column(drawing, edge.to, far)
    step = 1 if last >= first else -1
    passing: list[Slot] = [("passing", number, column) for column in range(first + step, last, step)]
    return [("left", edge.origin, first), *passing, ("right" if back else "left", edge.to, last)]


def _ordered(drawing: Drawing, routes: list[list[Slot]], far: int) -> list[list[Slot]]:
    """The slots of each column from top to bottom, with few crossing edges (Sugiyama et al. 1981, barycentres)."""
    words = access_words(drawing.automaton)
    columns: list[list[Slot]] = [[] for _ in range(far + 2)]
    for state in sorted(drawing.missing, key=lambda state: words[state]):
        column = _column(drawing, state, far)
        columns[column].append(("left", state, column))
        if drawing.automaton.accepting[state]:
            columns[far + 1].append(("right", state, far + 1))
    near: dict[Slot, list[Slot]] = {}
    for route in routes:
        for slot in route:
            if slot[0] == "passing":
                columns[slot[2]].append(slot)
        for one, other in pairwise(route):
            near.setdefault(one, []).append(other)
            near.setdefault(other, []).append(one)
    for _ in range(_SWEEPS):
        for slots in columns[1:-1]:
            heights = {s: (rank + 0.5) / len(column) for column in columns for rank, s in enumerate(column)}
            slots.sort(key=lambda slot: fmean(heights[each] for each in near[slot]))
    return columns


def _arrow(points: list[Point], edge: Edge) -> tuple[str, str]:
    """An edge through its slots, and its label: at the first slot between its ends, or else in the middle."""
    colour, marker = (_DIFFERENT, "different") if edge.different else (_PLAIN, "plain")
    stroke = 2.5 if edge.different else 1.2
    (x, y), *rest = points
    x += _RADIUS
    path = f"M{x:.1f} {y:.1f}"
    for number, (x2, y2) in enumerate(rest, 1):
        end = x2 - _RADIUS - 3 if number == len(rest) else x2
        half = (end - x) / 2
        path += f"C{x + half:.1f} {y:.1f} {end - half:.1f} {y2:.1f} {end:.1f} {y2:.1f}"
        x, y = end, y2
    line = (
        f'<path class="automaton-edge {marker}" d="{path}" fill="none" stroke="{colour}" stroke-width="{stroke}" '
        f'marker-end="url(#{marker})"/>'
    )
    (x1, y1), (x2, y2) = points[0], points[1]
    label_x, label_y = (x2, y2) if len(points) > 2 else ((x1 + x2) / 2, (y1 + y2) / 2)
    octets = str(edge.octets).replace(" ", ", ")
    weight = ' font-weight="bold"' if edge.different else ""
    label = (
        f'<text class="automaton-label {marker}" x="{label_x:.1f}" y="{label_y - 4:.1f}" text-anchor="middle" '
        f'fill="{colour}"{weight} '
        f'stroke="#ffffff" stroke-width="4" paint-order="stroke" font-family="monospace">{octets}</text>'
    )
    return line, label


def _node(drawing: Drawing, state: int, place: Point) -> Iterator[str]:
    x, y = place
    for radius in (_RADIUS, _RADIUS - 4) if drawing.automaton.accepting[state] else (_RADIUS,):
        yield (
            f'<circle class="automaton-state" cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="#ffffff" '
            f'stroke="{_PLAIN}" stroke-width="1.4"/>'
        )
    yield (
        f'<text class="automaton-name" x="{x:.1f}" y="{y + _RADIUS + 13:.1f}" text-anchor="middle" font-size="11" '
        f'stroke="#ffffff" stroke-width="3" paint-order="stroke" fill="{_PLAIN}">{drawing.name(state)}</text>'
    )

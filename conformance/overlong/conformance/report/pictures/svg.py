"""The elements of all pictures, and a grid of 256 x 256 kinds as path data.

A path consists of runs of a row, joined with equal runs of the rows above.
"""

from __future__ import annotations

import hashlib
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LABEL = 40
"""The most characters of a name in a picture; the rest is cut."""
SIDE = 256
SHORTEST = len("M0 0h1v1h-1z")
"""The fewest characters of a rectangle's path."""
MIXED = -1
"""The kind of a block with answers of several kinds."""


def image(kind: str, label: str, size: tuple[float, float], body: Iterable[str]) -> str:
    """A whole picture.

    Args:
        kind: its class, beside ``picture``.
        label: its accessible name.
        size: width and height.
        body: its elements. ``{id}`` in an element is replaced by an id that no other picture has.
    """
    inner, label = "".join(body), safe(label, 1000)
    name = "p" + hashlib.sha256(f"{kind} {label} {inner}".encode()).hexdigest()[:10]
    width, height = (f"{each:g}" for each in size)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="picture {kind}" role="img" aria-label="{label}" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}">{inner.replace("{id}", name)}</svg>'
    )


def safe(text: str, limit: int = LABEL) -> str:
    """Hostile text on one line, escaped for XML."""
    return escape(printable(text, limit)).replace("{", "&#123;")


def words(x: float, y: float, text: str, kind: str = "", *, anchor: str = "start", turned: bool = False) -> str:
    """Text; ``turned`` makes it read upwards, at an angle that keeps it apart from its neighbours."""
    place = f'transform="translate({x:g} {y:g}) rotate(-55)"' if turned else f'x="{x:g}" y="{y:g}"'
    named = f' class="{kind}"' if kind else ""
    at = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f"<text {place}{named}{at}>{safe(text, 200)}</text>"


class Region(NamedTuple):
    """A rectangle of cells, all of one kind."""

    x: int
    y: int
    width: int
    height: int


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
                at = Region(x * block, start * block, width * block, (row - start) * block)
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

"""The table of many targets that a person reads: a row for each, a column for each claim, and why."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from overlong.conformance.kind import EARLIEST, POSITION, REPLACEMENT, STREAMING
from overlong.conformance.matrix import CONFORMS, DIVERGES
from overlong.conformance.printable import printable, spaced_hex, thousands
from overlong.conformance.report.terminal import Glyphs
from overlong.conformance.runner import FAILS, HOLDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.matrix import Row

_SHORT = {POSITION: "place", REPLACEMENT: "mode", STREAMING: "stream", EARLIEST: "early"}
"""Claims whose names are too long for a column."""
_SHOWN = 3
"""Buckets of one target that are written out."""


def columns_of(rows: Sequence[Row]) -> list[str]:
    """The claims that some target was measured by, in the order of the certificate."""
    claims = next((row.claims for row in rows if row.claims), dict[str, str]())
    return [claim for claim in claims if any(row.claims.get(claim) in (HOLDS, FAILS) for row in rows)]


def table(rows: Sequence[Row], *, width: int, encoding: str) -> Iterator[str]:
    """The lines of the table; what fails is told below it. None is wider than ``width``."""
    glyphs, claims = Glyphs(encoding), columns_of(rows)
    heads = [_SHORT.get(claim, claim) for claim in claims]
    room = max(width - sum(len(head) + 1 for head in heads), 12)
    name = min(max((len(printable(row.target)) for row in rows), default=6), room)
    yield " ".join([f"{'target':<{name}}", *heads]).rstrip()
    for row in rows:
        shown = printable(row.target)
        cells = [f"{shown if len(shown) <= name else shown[: name - 1] + '…':<{name}}"]
        if row.claims:
            cells += [f"{glyphs.of(row.claims[claim]):^{len(head)}}" for claim, head in zip(claims, heads, strict=True)]
        else:
            cells.append(row.state)
        yield " ".join(cells).rstrip()
    yield f"{glyphs.holds} holds   {glyphs.fails} fails   {glyphs.open} not measured"
    for row in rows:
        yield from _told(row, width)
    yield ""
    yield from textwrap.wrap(counted(rows), width)


def counted(rows: Sequence[Row]) -> str:
    """How many targets there are of each state."""
    states: dict[str, int] = {}
    for row in rows:
        states[row.state] = states.get(row.state, 0) + 1
    of_many = {CONFORMS: "conform", DIVERGES: "diverge"}
    parts = [f"{count} {of_many.get(state, state) if count > 1 else state}" for state, count in states.items()]
    return f"{len(rows)} target{'s' if len(rows) > 1 else ''}: {', '.join(parts)}"


def _told(row: Row, width: int) -> Iterator[str]:
    """Why a row is not all right."""
    if row.state == CONFORMS:
        return
    version = f" ({printable(row.version)})" if row.version else ""
    yield ""
    yield from textwrap.wrap(f"{printable(row.target)}{version}", width)
    if row.state != DIVERGES and row.why:
        why = printable(row.why)
        yield from textwrap.wrap(f"{row.state}: {why}", width, initial_indent="  ", subsequent_indent="    ")
    for bucket in row.buckets[:_SHOWN]:
        example = bucket["example"]
        more = f" (and {thousands(bucket['count'] - 1)} more)" if bucket["count"] > 1 else ""
        chunks = example["chunks"]
        cut = f" in chunks of {', '.join(map(str, chunks))}" if chunks and len(chunks) > 1 else ""
        line = (
            f"{bucket['code']} {bucket['title']}: {spaced_hex(bytes.fromhex(example['hex']))}{cut}: "
            f"expected {example['expected']['words']}, observed {example['observed']['words']}{more}"
        )
        yield from textwrap.wrap(printable(line, 1000), width, initial_indent="  ", subsequent_indent="    ")
    if (more_buckets := len(row.buckets) - _SHOWN) > 0:
        yield f"  and {more_buckets} more bucket{'s' if more_buckets > 1 else ''}"


def markdown(rows: Sequence[Row]) -> Iterator[str]:
    """The table alone, for an issue or a summary."""
    claims, glyphs = columns_of(rows), Glyphs("utf-8")
    yield f"| target | version | {' | '.join(claims)} |"
    yield f"|---|---|{'---|' * len(claims)}"
    for row in rows:
        cells = [glyphs.of(row.claims[claim]) if row.claims else row.state for claim in claims]
        yield f"| {_cell(row.target)} | {_cell(row.version)} | {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """Text that stays text in Markdown."""
    shown = printable(text)
    return "".join(f"\\{character}" if character in "\\`*_[]<>|&#!@" else character for character in shown)

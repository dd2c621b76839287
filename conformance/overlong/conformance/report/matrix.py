"""The table of many targets for a terminal: a row for each, a column for each claim, and the causes below."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from overlong.conformance.protocol.observation import (
    CLAIMS,
    EARLIEST,
    LIMITS,
    POSITION,
    REPLACEMENT,
    SEPARATE_VALUES,
    STREAMING,
)
from overlong.conformance.report.wording import Glyphs, given, observed, of_states, with_version
from overlong.conformance.results.headline import FAILING
from overlong.conformance.results.model import Standing, State
from overlong.conformance.results.run import FAILS, HOLDS
from overlong.conformance.support.printable import counted, printable, thousands

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.results.model import Subject

SHORT = {
    POSITION: "place",
    REPLACEMENT: "mode",
    STREAMING: "stream",
    EARLIEST: "early",
    SEPARATE_VALUES: "values",
    LIMITS: "limits",
}
"""Claims whose names are too long for a column."""
_LEAST = 10
"""The least width of the names of targets. If there is less room, the heads of claims are cut to two letters."""
_SHOWN = 3
"""The number of causes of one target that are written out."""


def columns_of(subjects: Sequence[Subject]) -> list[str]:
    """The claims of any target, in the order of the certificate."""
    return [claim for claim in CLAIMS if any(each.claims.get(claim) in (HOLDS, FAILS) for each in subjects)]


def tally(subjects: Sequence[Subject], width: int) -> list[str]:
    """``10 targets: 4 conform, 6 diverge``: the first lines, above the table."""
    return textwrap.wrap(f"{counted(len(subjects), 'target')}: {of_states(subjects)}", width)


def table(subjects: Sequence[Subject], *, width: int, encoding: str) -> Iterator[str]:
    """The lines of the table, with the failures below it. No line is wider than ``width``."""
    glyphs, claims = Glyphs(encoding), columns_of(subjects)
    words = heads = [SHORT.get(claim, claim) for claim in claims]
    if width - sum(len(head) + 1 for head in heads) < _LEAST:
        heads = [head[:2] for head in heads]
    cut = "~" if glyphs.open == "-" else "…"
    # behind a name stand the cells of its claims or, without claims, its state
    behind = ["".join(f" {head}" for head in heads), *(f" {each.state}" for each in subjects if not each.claims)]
    room = max(width - max(map(len, behind)), _LEAST)
    name = min(max((len(printable(each.id)) for each in subjects), default=6), room)
    yield " ".join([f"{'target':<{name}}", *heads]).rstrip()
    for each in subjects:
        shown = printable(each.id)
        cells = [f"{shown if len(shown) <= name else shown[: name - 1] + cut:<{name}}"]
        if each.claims:
            states = [each.claims.get(claim, "") for claim in claims]
            cells += [f"{glyphs.of(state):^{len(head)}}" for state, head in zip(states, heads, strict=True)]
        else:
            cells.append(each.state)
        yield " ".join(cells).rstrip()
    yield f"{glyphs.holds} holds   {glyphs.fails} fails   {glyphs.open} not measured"
    if heads != words:
        yield from textwrap.wrap(", ".join(words), width)
    for each in subjects:
        yield from _told(each, width)


def _told(subject: Subject, width: int) -> Iterator[str]:
    """The reasons why a target does not pass."""
    if subject.state is State.CONFORMS and not subject.stale and not subject.set_aside:
        return
    yield ""
    yield from with_version(printable(subject.id), subject.version, width)
    if subject.state not in (*FAILING, State.EXPECTED) and not subject.stale and subject.why:
        why = f"{subject.state}: {printable(subject.why)}"
        yield from textwrap.wrap(why, width, initial_indent="  ", subsequent_indent="    ")
    if subject.set_aside:
        yield from textwrap.wrap(printable(subject.set_aside), width, initial_indent="  ", subsequent_indent="    ")
    if subject.sign:
        words = f"look at the adapter first: {printable(subject.sign)}"
        yield from textwrap.wrap(words, width, initial_indent="  ", subsequent_indent="    ")
        yield f"  {counted(len(subject.causes), 'bucket')}"
    unexpected = [cause for cause in subject.told if cause.standing is not Standing.EXPECTED]
    for cause in unexpected[:_SHOWN]:
        more = f" (and {thousands(cause.count - 1)} more)" if cause.count > 1 else ""
        line = (
            f"{cause.code} {cause.title}: {given(cause)}: expected {cause.expected}, observed {observed(cause)}{more}"
        )
        yield from textwrap.wrap(printable(line, 1000), width, initial_indent="  ", subsequent_indent="    ")
    if (others := len(unexpected) - _SHOWN) > 0:
        yield f"  and {counted(others, 'more bucket')}"
    if expected := len(subject.told) - len(unexpected):
        yield f"  {counted(expected, 'bucket')} as expected"
    for cause in subject.stale:
        named = " ".join(filter(None, (cause.code, cause.vector)))
        line = f"stale expectation: {named}: {cause.reason}"
        yield from textwrap.wrap(printable(line, 1000), width, initial_indent="  ", subsequent_indent="    ")

"""A finding of a campaign as a block of lines, with its input abbreviated.

If the place of the flaw matters, the input of a finding is long, and mostly filler.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import OPERATIONS
from overlong.conformance.report.lines import command_lines
from overlong.conformance.report.wording import given, passed_through
from overlong.conformance.results.model import (
    MINIMAL,
    PEER,
    PEER_ANSWERS,
    PREDICTS,
    SENTENCE,
    STABLE,
    TELLING,
    Standing,
)
from overlong.conformance.support.printable import printable, runs, thousands

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.conformance.results.model import Cause
    from overlong.conformance.vectors.vector import Vector

_HEADS = {
    Standing.UNEXPECTED: "FAIL",
    Standing.EXPECTED: "EXPECTED",
    Standing.DIFFERENCE: "DIFFERENCE",
    Standing.NOT_COMPARABLE: "NOT COMPARABLE",
}
"""The first word of a cause; for other standings it is the standing in capitals."""
_INDENT = "     "
_NAME = 400
"""Characters of a target's name that are shown."""


def block(cause: Cause, target: str, width: int, further: Iterable[tuple[str, str]] = ()) -> Iterator[str]:
    """The lines about one finding.

    Args:
        cause: of a campaign's report.
        target: that has the finding.
        width: columns.
        further: more commands: title and words of each.
    """
    more = dict(cause.more)
    yield from head_of(cause, cause.id, printable(cause.section), width)
    asked = printable(OPERATIONS.get(cause.operation, cause.operation))
    name, expected = printable(target, _NAME), printable(cause.expected)
    observed = printable(passed_through(cause.observed, cause.octets))
    if is_difference(cause):
        name += f", and {printable(more.get(PEER, ''), _NAME)}"
        answers = [f"the first {observed}", f"the second {printable(more.get(PEER_ANSWERS, cause.expected))}"]
    else:
        answers = [f"expected {expected}", f"observed {observed}"]
    parts = [
        f"target {name}",
        *(f"{title} {printable(more[title], _NAME)}" for title in (SENTENCE, PREDICTS) if title in more),
        f"input {given(cause)}",
        *answers,
        *(f"{title} {printable(more[title])}" for title in (TELLING,) if title in more),
        f"where {printable(cause.place)}, {asked}" if cause.place else f"operation {asked}",
        f"{inputs(cause.count)}, {_stability(more)}{', perhaps not the shortest input' * (MINIMAL in more)}",
    ]
    for part in parts:
        yield from textwrap.wrap(part, width, initial_indent=_INDENT, subsequent_indent=f"{_INDENT}  ")
    for title, command in (("reproduce", cause.reproduce), *further):
        if command:
            yield from command_lines(command, f"{_INDENT}{title}: ")


def is_difference(cause: Cause) -> bool:
    """True if RFC 3629 leaves the answer open, so that the finding is no fault."""
    return cause.standing is Standing.DIFFERENCE


def head_of(cause: Cause, name: str, where: str, width: int) -> Iterator[str]:
    """``FAIL D-7f3a0c19  OV201 overlong form accepted``; if there is room, at its end the section that demands it.

    Args:
        cause: may hold hostile text.
        name: of its example.
        where: the section, safe to show.
        width: columns.
    """
    begins = _HEADS.get(cause.standing, cause.standing.value.upper())
    code = "" if is_difference(cause) else f"{printable(cause.code)} "
    head = f"{begins} {printable(name)}  {code}{printable(cause.title)}"
    if len(head) + len(where) + 2 <= width:
        yield f"{head}{where:>{width - len(head)}}" if where else head
    else:
        yield from textwrap.wrap(head, width, subsequent_indent=_INDENT)
        yield from textwrap.wrap(where, width, initial_indent=_INDENT, subsequent_indent=f"{_INDENT}  ")


def inputs(count: int) -> str:
    """``1 input``, ``18 441 inputs``."""
    return "1 input" if count == 1 else f"{thousands(count)} inputs"


def _stability(more: dict[str, str]) -> str:
    """How often the finding recurred when it was repeated."""
    shown, _, asked = more.get(STABLE, "").partition(" of ")
    times = f"{printable(shown)}/{printable(asked)}"
    return f"stable {times}" if shown == asked else f"UNSTABLE {times} in fresh processes"


def core(vector: Vector) -> tuple[int, int]:
    """The offsets of the part between the repetitions at both ends, in whole characters."""
    pieces, start, end = list(runs(vector.octets)), 0, len(vector.octets)
    if len(pieces) > 1 and pieces[0].repeats:
        start = max((each.offset for each in vector.segments if each.offset <= pieces[0].size), default=0)
    if len(pieces) > 1 and pieces[-1].repeats:
        behind = max(end - pieces[-1].size, start + 1)
        end = min((each.offset for each in vector.segments if each.offset >= behind), default=end)
    return start, end

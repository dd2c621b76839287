"""What a campaign found, for a person in a terminal: a block for each finding, what ran, a verdict."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.oracle.finding import claim_of
from overlong.conformance.protocol.wire import OPERATIONS
from overlong.conformance.report.text import SHOWN
from overlong.conformance.report.wording import Glyphs, verdict_words
from overlong.conformance.results.headline import WAITS, State, state_of
from overlong.conformance.results.model import ReportKind
from overlong.conformance.support.printable import counted, printable, thousands
from overlong.fuzz.minimise.stored import AGAIN
from overlong.fuzz.report.quantities import lasting
from overlong.fuzz.report.spelling import again, explain_command, how_given

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.conformance.vectors.profile import Profile
    from overlong.fuzz.campaign.status import Status
    from overlong.fuzz.minimise.stored import StoredFinding

_INDENT = "     "
_NAME = 400
"""Characters of a target's name that are shown."""


def summary(status: Status, folder: str, *, width: int, encoding: str) -> Iterator[str]:
    """The lines of the report, none of them styled, none (but commands) wider than ``width``."""
    dot = f" {Glyphs(encoding).dot} "
    yield dot.join((status.profile.name, f"engine {printable(status.engine)}", f"seed {status.seed}"))
    for target in status.targets:
        yield from textwrap.wrap(printable(target, _NAME), width, initial_indent="  ", subsequent_indent="    ")
    yield ""
    faults, differences = apart(status.findings)
    for stored in (*faults[:SHOWN], *differences[: max(0, SHOWN - len(faults))]):
        yield from block(stored, status.profile, folder, width)
        yield ""
    if (more := len(status.findings) - SHOWN) > 0:
        yield f"and {more} more: overlong finding list {printable(folder, 1000)}"
        yield ""
    yield from _what_ran(status, dot, width)
    for note in status.notes:
        yield from textwrap.wrap(f"note: {printable(note)}", width, subsequent_indent="  ")
    yield from textwrap.wrap(verdict(status), width, subsequent_indent="  ")


def apart(findings: Iterable[StoredFinding]) -> tuple[list[StoredFinding], list[StoredFinding]]:
    """Faults, and differences between targets that are none."""
    found = list(findings)
    return [each for each in found if not each.is_difference], [each for each in found if each.is_difference]


def block(stored: StoredFinding, profile: Profile, folder: str, width: int) -> Iterator[str]:
    """All that a person needs of one finding."""
    yield from head(stored, width)
    where = ", ".join(filter(None, (_at(stored), stored.placement, OPERATIONS[stored.operation])))
    target, expected, observed = printable(stored.target, _NAME), printable(stored.expected), printable(stored.observed)
    if stored.is_difference:
        target += f", and {printable(stored.peer, _NAME)}"
        answers = [f"the first {observed}", f"the second {expected}"]
    else:
        answers = [f"expected {expected}", f"observed {observed}"]
    parts = [
        f"target {target}",
        f"input {how_given(stored)}",
        *answers,
        f"where {where}",
        f"{inputs(stored.count)}, {stability(stored)}{'' if stored.minimal else ', perhaps not the least input'}",
    ]
    for part in parts:
        yield from textwrap.wrap(part, width, initial_indent=_INDENT, subsequent_indent=f"{_INDENT}  ")
    yield f"{_INDENT}reproduce: {printable(again(stored, profile, folder), 2000)}"
    if stored.is_difference:
        peer = replace(stored, target=stored.peer)
        yield f"{_INDENT}compare: {printable(again(peer, profile, folder), 2000)}"
    yield f"{_INDENT}explain: {printable(explain_command(stored, folder), 1000)}"


def head(stored: StoredFinding, width: int) -> Iterator[str]:
    """``FAIL D-7f3a0c19  OV201 overlong form accepted``, and at the end of the line where that is written."""
    text = f"{'DIFFERENCE' if stored.is_difference else 'FAIL'} {stored.id}  {kind_of(stored)}"
    if len(text) + len(stored.section) + 2 <= width:
        yield f"{text}{printable(stored.section):>{width - len(text)}}" if stored.section else text
    else:
        yield text
        yield f"{_INDENT}{printable(stored.section)}"


def kind_of(stored: StoredFinding) -> str:
    """``OV201 overlong form accepted``; what is no fault has no code."""
    return printable(stored.title if stored.is_difference else f"{stored.code} {stored.title}")


def _at(stored: StoredFinding) -> str:
    """What of the grammar was expected, and what stood there."""
    octets = f"an octet of {printable(stored.octets_at)}" if stored.octets_at else "the end of the input"
    return f"{printable(stored.form)} at {octets}" if stored.form else octets


def inputs(count: int) -> str:
    """``1 input``, ``18 441 inputs``."""
    return "1 input" if count == 1 else f"{thousands(count)} inputs"


def stability(stored: StoredFinding) -> str:
    """Whether it shows each time."""
    times = f"{stored.stable}/{AGAIN}"
    return f"stable {times}" if stored.is_stable else f"UNSTABLE {times} in fresh processes"


def _what_ran(status: Status, dot: str, width: int) -> Iterator[str]:
    """Figures side by side, none of them broken."""
    seconds = status.earlier + status.seconds
    reached, everything = status.edges
    row = inputs(status.inputs)
    for part in (
        f"{thousands(status.executions)} executions",
        f"corpus {thousands(status.corpus)}",
        f"reference edges {thousands(reached)} of {thousands(everything)}",
        *([f"target edges {thousands(status.coverage)}"] if status.coverage else []),
        f"{seconds:.1f} s" if seconds < 60 else lasting(seconds),
    ):
        if len(row) + len(dot) + len(part) > width:
            yield row
            row = f"  {part}"
        else:
            row += dot + part
    yield row


def verdict(status: Status) -> str:
    """What it comes to, in a line."""
    faults, differences = apart(status.findings)
    aside = f"; {counted(len(differences), 'difference')} that RFC 3629 leaves open" if differences else ""
    targets = counted(len(status.targets), "target")
    match state_of_campaign(status):
        case State.NOT_MEASURED:
            extent = "nothing ran"
        case State.INCOMPLETE:
            extent = f"{WAITS}; {inputs(status.inputs)}{aside}"
        case State.CONFORMS:
            extent = f"{inputs(status.inputs)}, {targets}{aside}"
        case _:
            wrong = len({stored.target for stored in faults})
            extent = f"{counted(len(faults), 'finding')} in {wrong} of {targets}, {inputs(status.inputs)}{aside}"
    return f"{words_of(status)}  {extent}"


def state_of_campaign(status: Status) -> State:
    """What it comes to: what was found stands, whatever waits to be examined."""
    failing = _failing(status)
    if not status.inputs:
        return State.NOT_MEASURED
    return state_of(failing, held=True, incomplete=status.faults_wait and not failing)


def words_of(status: Status) -> str:
    """The words with which the verdict begins, as in every other report."""
    return verdict_words(state_of_campaign(status), _failing(status), kind=ReportKind.FUZZ)


def _failing(status: Status) -> list[str]:
    """The claims that the faults refute."""
    return list(dict.fromkeys(claim_of(each.code, each.operation) for each in apart(status.findings)[0]))

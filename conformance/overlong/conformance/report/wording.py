"""Words that several reports share: the verdict, and what a decoder was given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.kind import NORMATIVE, VERDICT
from overlong.conformance.printable import printable, spaced_hex, thousands
from overlong.conformance.report.model import EXPECTED, MORE, Kind, Standing, State
from overlong.conformance.runner import FAILS, HOLDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from overlong.conformance.report.model import Cause, Subject

_OF_SEVERAL = {State.CONFORMS: "conform", State.DIVERGES: "diverge", State.EXPECTED: "diverge as expected"}
_FAULTS = frozenset({Standing.UNEXPECTED, Standing.REGRESSED, Standing.NEW})


def excused(cause: Cause) -> str | None:
    """Why a deviation is expected, perhaps in no words at all; None if it is not."""
    if cause.standing is Standing.EXPECTED:
        return cause.reason
    return dict(cause.more).get(EXPECTED)


def is_fault(cause: Cause) -> bool:
    """Whether somebody has to look at it: it is not expected, gone, as before, or no fault.

    In a diff as with ``--fail-on new``: of what was wrong before, only that which more inputs show now.
    """
    if excused(cause) is not None:
        return False
    return cause.standing in _FAULTS or MORE in dict(cause.more)


def faults(subject: Subject) -> tuple[Cause, ...]:
    """The causes that somebody has to look at."""
    return tuple(cause for cause in subject.causes if is_fault(cause))


def verdict(subject: Subject, kind: Kind = Kind.CERTIFY) -> str:
    """What the run came to, in capitals where it is a verdict of ``certify``; free of what a target says."""
    if subject.state is State.INCOMPLETE:
        return "INCOMPLETE"
    if subject.state is State.NOT_MEASURED:
        return "NOT MEASURED"
    if subject.state is State.NOTHING:
        return "NOTHING TO JUDGE"
    if kind is Kind.DIFF:
        return of_standings(subject.causes) or "NO DIFFERENCE"
    if subject.stale and not faults(subject):
        return counted(len(subject.stale), "STALE EXPECTATION").upper()
    if subject.state is State.EXPECTED:
        return f"0 unexpected ({counted(len(subject.causes), 'bucket')} as expected)"
    if subject.state is State.CONFORMS:
        return {Kind.SWEEP: "NO DIVERGENCES", Kind.FUZZ: "NOTHING FOUND"}.get(kind, "CONFORMANT")
    if subject.claims.get(VERDICT) == HOLDS and not subject.stale:
        failed = [claim for claim, state in subject.claims.items() if state == FAILS]
        if failed and not NORMATIVE.intersection(failed):
            return f"CONFORMANT EXCEPT {' and '.join(map(printable, failed))}"
    return {Kind.SWEEP: "DIVERGES", Kind.FUZZ: "DIVERGES"}.get(kind, "NOT CONFORMANT")


def of_standings(causes: Iterable[Cause]) -> str:
    """``2 regressed, 1 fixed``; in the order of the standings."""
    counts: dict[Standing, int] = {}
    for cause in causes:
        counts[cause.standing] = counts.get(cause.standing, 0) + 1
    return ", ".join(f"{thousands(counts[standing])} {standing}" for standing in Standing if standing in counts)


def of_states(subjects: Sequence[Subject]) -> str:
    """``2 conform, 1 diverges``; in the order of the states."""
    counts = {state: sum(subject.state is state for subject in subjects) for state in State}
    return ", ".join(of_state(number, state) for state, number in counts.items() if number)


def of_state(number: int, state: State) -> str:
    """``1 conforms``, ``20 conform``."""
    return f"{thousands(number)} {state.value if number == 1 else _OF_SEVERAL.get(state, state.value)}"


def counted(number: int, thing: str) -> str:
    """``1 cause``, ``1 200 causes``."""
    return f"{thousands(number)} {thing}{'' if number == 1 else 's'}"


def given(cause: Cause) -> str:
    """The octets, how they were cut, and what was decoded before: ``E2 82 AC in chunks of 2, 1``."""
    words = spaced_hex(cause.octets)
    if cause.chunks is not None and len(cause.chunks) > 1:
        words += f" in chunks of {', '.join(map(str, cause.chunks))}"
    if cause.earlier is not None:
        words += f", after a stream {spaced_hex(b''.join(cause.earlier))}"
        if len(cause.earlier) > 1:
            words += f" in chunks of {', '.join(str(len(chunk)) for chunk in cause.earlier)}"
    return words


def headline(cause: Cause) -> str:
    """``OV202 surrogate accepted``, and where it shows if that is told."""
    return f"{cause.code} {cause.title}" + (f" ({cause.place})" if cause.place else "")

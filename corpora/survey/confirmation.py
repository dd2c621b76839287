"""Confirms a divergence independently: by a program that does not know overlong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from corpora.survey.extent import extent
from corpora.survey.records import Record, records, witnesses
from corpora.survey.records.demonstrations import Demonstration, demonstrations
from corpora.survey.records.standalone import EndedBySignal, Shown, printed, shown, standalone
from overlong.conformance.oracle.target import TargetError
from overlong.conformance.protocol.wire import ENCODING

if TYPE_CHECKING:
    from overlong.conformance.results.model import Cause

_MOST = 24  # numbers that the words of an answer include
_MEMORY = ("SIGSEGV", "SIGBUS")
"""Signals by which a program ends that touched memory that is not its own."""


@dataclass(frozen=True)
class Confirmation:
    """The result of a standalone program for a divergence."""

    record: Record
    """The requirements to build and run it."""
    program: str
    """Its text."""
    printed: str
    """Its output; empty if it was not run."""
    why_not: str = ""
    """The reason why it does not confirm the divergence; empty if it does."""
    wide: str = ""
    """The extent of the divergence in words; empty if unknown."""
    memory: str = ""
    """The fault of memory that it shows, in words; empty if it shows another."""


def confirm(target: str, cause: Cause) -> Confirmation | None:
    """Give a decoder the octets of a divergence by a standalone program, and compare the results.

    None if there is no such program: the decoder has no record, witness or demonstration, or the program asks
    something else.
    """
    if (demonstration := demonstrated(target, cause)) is not None:
        return _demonstrated(demonstration, target, cause)
    record = records().get(target) or witnesses().get(target)
    if record is None or cause.operation != record.operation or cause.chunks is not None:
        return None
    program = standalone(record, cause.octets)
    try:
        answer = shown(record, cause.octets)
    except EndedBySignal as error:
        return ended_by(str(error), record, program, extent(target, cause))
    except TargetError as error:
        return Confirmation(record, program, "", str(error))
    why_not = _unlike(answer, cause)
    return Confirmation(record, program, answer.line, why_not, "" if why_not else extent(target, cause))


def ended_by(signal: str, record: Record, program: str, wide: str) -> Confirmation:
    """The confirmation by a program that a signal ended."""
    memory = f"the program ends by {signal}" if signal in _MEMORY else ""
    return Confirmation(record, program, f"nothing: it is ended by {signal}", "", wide, memory)


def demonstrated(target: str, cause: Cause) -> Demonstration | None:
    """The whole program that shows this divergence, if there is one."""
    found = demonstrations().get(f"{target}-{cause.code}")
    same = found is not None and (found.payload, found.chunks) == (cause.octets, cause.chunks)
    return found if same else None


def _demonstrated(demonstration: Demonstration, target: str, cause: Cause) -> Confirmation:
    """The result of a whole program: it prints the observed answer, or the text given beside it."""
    record = demonstration.record
    try:
        line = printed(record, record.code)
    except TargetError as error:
        return Confirmation(record, record.code, "", str(error))
    why_not = "" if line == (demonstration.prints or cause.observed) else f"it printed: {line}"
    wide = "" if why_not or cause.operation in ENCODING else extent(target, cause)
    return Confirmation(record, record.code, line, why_not, wide, demonstration.memory)


def _unlike(answer: Shown, cause: Cause) -> str:
    """The reason why an answer is not the observed one; empty if it is."""
    if cause.observed.startswith("internal error"):
        return f"it printed: {answer.line}; a refusal of any kind looks like that"
    observed = cause.observed.split()
    if (observed[:1] == ["accepted"]) != answer.accepted:
        return f"it printed: {answer.line}"
    points = [int(word.removeprefix("U+"), 16) for word in observed if word.startswith("U+")]
    values = list(answer.values[: len(points)])
    if answer.accepted and len(points) <= _MOST and points != values:
        return f"it printed: {answer.line}"
    return ""

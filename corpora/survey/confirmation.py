"""Confirms a divergence independently, by a program that does not know overlong; and finds its extent."""

from __future__ import annotations

import random
from contextlib import closing
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from corpora.survey.faults import KINDS_OF, NUMBERS, VALIDATION, name_of
from corpora.survey.kept import announced_by
from corpora.survey.records import Demonstration, Record, demonstrations, documented, records, witnesses
from corpora.survey.records.standalone import EndedBySignal, Shown, printed, shown, standalone
from overlong.conformance.oracle.compare import compare_batch
from overlong.conformance.oracle.target import TargetError
from overlong.conformance.protocol.wire import ENCODING
from overlong.conformance.targets.limits import Limits
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.batch import Batch
from overlong.reference import DEFECTS
from overlong.reference.automaton import OCTETS, OctetClass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.oracle.target import Target
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


# The extent of a divergence: the octets that show it in place of those of its example, and other kinds.

_ALL = 8192
"""The most strings that are all tested; from more, this many are drawn."""
_LONGEST = 8
_LIMITS = Limits(timeout=120.0, memory=0)
"""Several decoders share the machine, and some reserve more addresses than the usual limit allows."""
_BROKEN = ("80", "C2", "C2 41", "FE")
_KINDS = {NUMBERS: [*map(bytes.fromhex, KINDS_OF)], VALIDATION: [*map(bytes.fromhex, (*KINDS_OF, *_BROKEN))]}
"""One string of each kind that a fault may let pass."""


def extent(target: str, cause: Cause) -> str:
    """``all of `F5-F7 80-BF 80-BF 80-BF` (8 192 of 786 432 tested)``: the extent of a divergence; empty if unknown.

    Each octet of the example is replaced by its neighbours while the decoder diverges in the same way; then strings of
    all these octets are tested together. The comparison decides what diverges, as in any run. Of a fault that may let
    several kinds of strings pass, others that pass are named: ``; likewise `ED A0 80`, `F4 90 80 80```.

    Args:
        target: its name.
        cause: a cause of whole inputs; for streams and encoders there is no result.

    Raises:
        TargetError: the target cannot be asked.
    """
    if cause.chunks is not None or cause.earlier is not None or not 0 < len(cause.octets) <= _LONGEST:
        return ""
    with closing(resolve(target, _LIMITS)) as opened:
        opened.open()
        places = [_run(opened, cause, place) for place in range(len(cause.octets))]
        asked = _drawn(places)
        wrong = _wrong(opened, cause, asked)
        others = [each for each in _KINDS.get(name_of(cause), ()) if each not in asked]
        passing = _passing(target, opened, cause, others) if others else ()
    size = prod(map(len, places))
    if not wrong or (size == 1 and not passing):  # only suites judge an unknown error mode
        return ""
    how_many = f"{len(asked):,} of {size:,} tested" if len(asked) < size else f"{size:,} tested"
    pattern = " ".join(str(OctetClass(tuple(sorted(octets)))) for octets in places)
    part = "all" if len(wrong) == len(asked) else f"{len(wrong):,}"
    likewise = ", ".join(f"`{each.hex(' ').upper()}`" for each in others if each in passing)
    said = f"{part} of `{pattern}` ({how_many.replace(',', ' ')})".replace(",", " ")
    return f"{said}; likewise {likewise}" if likewise else said


def _run(target: Target, cause: Cause, place: int) -> list[int]:
    """The contiguous octets around the example's with which the target diverges in the same way."""
    octets = cause.octets
    strings = [octets[:place] + bytes([octet]) + octets[place + 1 :] for octet in OCTETS]
    wrong = {string[place] for string in _wrong(target, cause, strings)} | {octets[place]}
    low = high = octets[place]
    while low - 1 in wrong:
        low -= 1
    while high + 1 in wrong:
        high += 1
    return list(range(low, high + 1))


def _drawn(places: Sequence[Sequence[int]]) -> list[bytes]:
    """Strings with these octets: all, or the corners and a number of others, the same each time."""
    if prod(map(len, places)) <= _ALL:
        return [bytes(octets) for octets in product(*places)]
    corners = {bytes(octets) for octets in product(*({octets[0], octets[-1]} for octets in places))}
    draw = random.Random(0)  # noqa: S311 (no secret)
    while len(corners) < _ALL:
        corners.add(bytes(draw.choice(octets) for octets in places))
    return sorted(corners)


def _wrong(target: Target, cause: Cause, strings: Sequence[bytes]) -> set[bytes]:
    """The strings with which a target diverges under the code of a cause."""
    return {octets for octets, code in _found(target, cause, strings) if code == cause.code}


def _passing(name: str, target: Target, cause: Cause, strings: Sequence[bytes]) -> set[bytes]:
    """The ill-formed strings that a target of this name accepts, but for what its documentation announces."""
    words = documented(name)
    found = _found(target, cause, strings)
    return {octets for octets, code in found if code in DEFECTS and not announced_by(words, code)}


def _found(target: Target, cause: Cause, strings: Sequence[bytes]) -> Iterator[tuple[bytes, str]]:
    for answered in target.observe([(Batch.of_strings("input", strings), cause.operation)]):
        for finding in compare_batch(answered, target.greeting):
            yield finding.vector.octets, finding.code

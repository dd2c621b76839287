"""Judges a decoder with an unknown error mode, as far as possible without knowing the mode.

Well-formed text needs no error mode: it is judged as usual. For ill-formed octets any output may be intended, except:

- Another dialect accepts the octets, and the output is their meaning there: C0 AF became U+002F. So they were
  accepted, not replaced. A replacement may happen to be that very character (C0 BF, and a question mark), so a
  control decides: similar octets with another value in that dialect (C0 BE). If their output is the same, it is a
  replacement.
- The output does not begin with the ASCII characters at the input's start. Octets before the first error are no
  error. Only ASCII counts, because a mode may take the whole text for another encoding; and empty output is allowed.

The mode determines how much is lost after an error, and when output comes.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.protocol.kind import Code
from overlong.conformance.protocol.observation import Accepted, Refused
from overlong.conformance.protocol.wire import REPLACING
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.vector import Vector
from overlong.reference import DEFECTS, DIALECTS, Dialect, WellFormed, dialect, segments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.oracle.target import Target
    from overlong.conformance.protocol.observation import Observation

ASCII = 0x80
_SWALLOWED = Code.REPLACEMENT_TEXT


def is_open(vector: Vector, operation: str) -> bool:
    """True if more than one answer is right, and only some wrong ones are known."""
    return operation in REPLACING and bool(vector.profile.own_mode) and vector.flaw is not None


def own_mode_fault(vector: Vector, observed: Observation) -> tuple[str, str] | None:
    """The code and place of a fault in an answer to ill-formed octets; None if no fault is known.

    A code of a defect is a suspicion, which a control must confirm: see :func:`confirmed`.
    """
    flaw = vector.flaw
    assert flaw is not None
    if not isinstance(observed, Accepted) or not observed.values:
        return None
    if _reading(vector, observed.values) is not None:
        return flaw.defect.code, ""
    before = takewhile(lambda found: isinstance(found, WellFormed) and found.length == 1, vector.segments)
    ascii_before = tuple(found.scalar for found in before if isinstance(found, WellFormed) and found.scalar < ASCII)
    if observed.values[: len(ascii_before)] != ascii_before:
        return _SWALLOWED, flaw.defect.title
    return None


class Suspicion(NamedTuple):
    """A finding that a control must confirm."""

    finding: Finding
    control: Vector

    def confirmed_by(self, observed: Observation) -> bool:
        """True if the answer to the control confirms it: a verdict that differs in itself or in its output."""
        return isinstance(observed, Accepted | Refused) and observed != self.finding.observed


def suspicion(finding: Finding) -> Suspicion | None:
    """The finding with its control; None if it needs none."""
    vector = finding.vector
    if finding.code not in DEFECTS or not is_open(vector, finding.operation):
        return None
    assert isinstance(finding.observed, Accepted)
    reading = _reading(vector, finding.observed.values or ())
    assert reading is not None
    return Suspicion(finding, _control(vector, reading))


def confirmed(suspected: Sequence[Suspicion], target: Target) -> Iterator[Finding]:
    """The findings that remain after the controls: if the target answers a control alike, it replaces.

    Raises:
        BudgetSpent: it fails too often.
        TargetError: it does not start any more.
    """
    waiting = iter(suspected)  # separate, because requests run ahead of answers
    for answered in target.observe((Batch.of([each.control]), each.finding.operation) for each in suspected):
        (said,) = answered.observed(target.greeting)
        each = next(waiting)
        if each.confirmed_by(said):
            yield each.finding


def _reading(vector: Vector, values: tuple[int, ...]) -> Dialect | None:
    """A dialect that accepts the octets with these values, and for which there is a control."""
    for name in DIALECTS:
        spoken = dialect(name)
        if not spoken.automaton.accepts(vector.octets):
            continue
        found = segments(vector.octets, spoken=spoken)
        read = tuple(scalar for each in found if isinstance(each, WellFormed) for scalar in each.scalars)
        if read == values and _control(vector, spoken).flaw is not None:
            return spoken
    return None


def _control(vector: Vector, spoken: Dialect) -> Vector:
    """The vector with a changed last octet in each character that only another dialect accepts."""
    octets = bytearray(vector.octets)
    for found in segments(vector.octets, spoken=spoken):
        end = found.offset + found.length
        if not vector.profile.dialect.automaton.accepts(vector.octets[found.offset : end]):
            octets[end - 1] ^= 1
    other = bytes(octets)
    if other == vector.octets or not spoken.automaton.accepts(other):
        other = b""  # nothing ill-formed to compare with
    return Vector(
        "input", other, chunks=vector.chunks if other else None, earlier=vector.earlier, profile=vector.profile
    )

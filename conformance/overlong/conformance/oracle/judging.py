# pyright: basic
"""Judges answers in columns: as a whole if they equal the expected ones, otherwise by masks, never singly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from overlong.conformance.oracle.columnar import Habits, checksum
from overlong.conformance.oracle.expectation import NUL
from overlong.conformance.oracle.kinds import (
    ACCEPTED_ILL_FORMED,
    AGREES,
    BROKEN,
    CRASHED,
    FAULTS,
    MISBEHAVED,
    NOT_SUPPORTED,
    OTHER_INCOMPLETE,
    OTHER_LENGTH,
    OTHER_OFFSET,
    OTHER_OUTPUT,
    REFUSED_WELL_FORMED,
    TIMED_OUT,
    Fault,
)
from overlong.conformance.protocol.observation import Crashed, Misbehaved, TimedOut, describe
from overlong.conformance.protocol.units import UNITS
from overlong.conformance.protocol.wire import (
    ACCEPTED,
    BREACH,
    DECODE,
    FAILED,
    INCOMPLETE_NOT_SAID,
    NOT_SAID,
    REFUSED,
    UNSUPPORTED,
)
from overlong.conformance.support.printable import printable
from overlong.reference.layout import load_layout
from overlong.reference.order import SIGNATURE

if TYPE_CHECKING:
    from array import array
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from overlong.conformance.oracle.columnar import Expected
    from overlong.conformance.oracle.expectation import ExpectedAnswers
    from overlong.conformance.protocol.answers import Answers
    from overlong.conformance.protocol.observation import Fault as Observed

_TEXT = 1 << 10
"""The most octets to read of a target's text."""
_KIND_OF_FAULT = {Crashed: CRASHED, TimedOut: TIMED_OUT, Misbehaved: MISBEHAVED}


@dataclass
class Judged:
    """The results for some strings."""

    accepted: int
    """The number of strings that the target accepted."""
    checksum: int
    kinds: NDArray[np.uint8] | None = None
    """The kind of each string; None if all agree."""
    faults: list[Fault] = field(default_factory=list[Fault])
    ahead: Observed | None = None
    """The fault of an earlier string at the very end, before its judged string."""
    habits: Habits | None = None
    """The habits that the refusals show, if all strings agree and some are refused; None: not determined."""


@dataclass(frozen=True)
class _Columns:
    """The columns of a response, only for judged items."""

    statuses: NDArray[np.uint8]
    numbers: NDArray[np.uint32]
    lengths: NDArray[np.uint8]
    incompletes: NDArray[np.uint8]
    starts: NDArray[np.int64]
    """The start of each item's output or text among the units, in octets."""
    sizes: NDArray[np.int64]
    units: NDArray[np.uint8]


Items = Callable[[int, int], tuple["array[int]", bytes]]
"""From the first number and a count to the lengths of the items asked, and their concatenated octets."""


class Judge:
    """Judges the answers to numbered strings."""

    def __init__(self, items: Items, expectation: ExpectedAnswers, *, unit_size: int, step: int = 1) -> None:
        """Keep only the given rows.

        Args:
            items: makes the items asked again, if they must be examined.
            expectation: the expectation for the target.
            unit_size: the octets of an output unit, judged or not.
            step: 2 if an unjudged earlier string precedes each string, else 1.
        """
        self._items = items
        self._expectation = expectation
        self._step = step
        self._unit_size = unit_size
        self._decodes = expectation.operation == DECODE
        self._judges_output = self._decodes and bool(expectation.units)
        assert not self._judges_output or UNITS[expectation.units].size == unit_size

    def judge(
        self,
        answers: Answers,
        expected: Expected,
        first: int,
        *,
        from_earlier: bool = False,
        faults: Mapping[int, Observed] | None = None,
    ) -> Judged:
        """The result for the strings from ``first`` on.

        Args:
            answers: one for each string; in a grid with earlier strings, these alternate with judged ones.
            expected: the right answers to the same strings.
            first: the number of the first judged string.
            from_earlier: True if the first item is an earlier string.
            faults: indices of items without values in the columns; -1 is the earlier string before the first item.
        """
        if self._step == 1 and not faults and self._decodes == self._judges_output and answers.columns == expected.wire:
            return Judged(expected.verdicts.well_formed, expected.said.checksum(first))
        skipped = 1 if from_earlier else 0
        said = self._said(answers, skipped)
        kinds = self._kinds(said, expected, first)
        counted, found, ahead = np.ones(len(kinds), np.bool_), list[Fault](), None
        for place, fault in sorted((faults or {}).items()):
            string, earlier = divmod(place - skipped, self._step)
            string += earlier
            if string == len(kinds):
                ahead = fault
                continue
            kinds[string] = kind = _KIND_OF_FAULT.get(type(fault), BROKEN)
            text = describe(fault) + (", at the string that is tested before it" if earlier else "")
            found.append(Fault(first + string, kind, shown(text)))
            counted[string] = False
        found += self._texts(said, np.where(counted, kinds, AGREES), first)
        checksum = self._checksum(said, first, counted)
        accepted = int(np.count_nonzero((said.statuses == ACCEPTED[0]) & counted))
        if kinds.any():
            return Judged(accepted, checksum, kinds, found, ahead)
        return Judged(accepted, checksum, None, found, ahead, _habits(said))

    def _said(self, answers: Answers, skipped: int) -> _Columns:
        count = answers.count
        columns = np.frombuffer(answers.columns, np.uint8)
        statuses = columns[:count]
        numbers = columns[count : 5 * count].view(">u4").astype(np.uint32)
        sizes = numbers.astype(np.int64)
        sizes[statuses == ACCEPTED[0]] *= self._unit_size
        sizes[statuses == REFUSED[0]] = 0
        starts = np.cumsum(sizes) - sizes
        chosen = slice(skipped, None, self._step)
        return _Columns(
            statuses[chosen],
            numbers[chosen],
            columns[5 * count : 6 * count][chosen],
            columns[6 * count : 7 * count][chosen],
            starts[chosen],
            sizes[chosen],
            columns[7 * count :],
        )

    def _kinds(self, said: _Columns, expected: Expected, first: int) -> NDArray[np.uint8]:
        right = expected.verdicts
        accepts, refuses = said.statuses == ACCEPTED[0], said.statuses == REFUSED[0]
        kinds = np.full(len(said.statuses), AGREES, np.uint8)
        kinds[accepts & ~right.accepted] = ACCEPTED_ILL_FORMED
        kinds[refuses & right.accepted] = REFUSED_WELL_FORMED
        failed = said.statuses == FAILED[0]
        kinds[failed] = BROKEN
        kinds[failed & (said.incompletes == BREACH)] = MISBEHAVED
        kinds[said.statuses == UNSUPPORTED[0]] = NOT_SUPPORTED
        if self._judges_output:
            other = self._other_output(said, expected, accepts & right.accepted)
            if self._expectation.strips_signature and other.any():
                other &= ~self._begins_with_signature(first, len(kinds))
            kinds[other] = OTHER_OUTPUT
        if self._expectation.offsets:
            refused = refuses & ~right.accepted & (said.numbers != NOT_SAID)
            incomplete_said = said.incompletes != INCOMPLETE_NOT_SAID
            incomplete = refused & incomplete_said & (said.incompletes != right.incompletes)
            kinds[incomplete] = OTHER_INCOMPLETE
            kinds[refused & (said.lengths != 0) & (said.lengths != right.lengths)] = OTHER_LENGTH
            kinds[refused & (said.numbers != right.numbers)] = OTHER_OFFSET
            places = (kinds == OTHER_OFFSET) | (kinds == OTHER_LENGTH) | (kinds == OTHER_INCOMPLETE)
            if places.any() and (self._expectation.strips_signature or self._expectation.has_nul_trait):
                kinds[places & self._set_aside(first, len(kinds))] = AGREES
            kinds[incomplete & (said.incompletes > 1)] = MISBEHAVED
        return kinds

    def _other_output(self, said: _Columns, expected: Expected, both: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """A mask of strings that both sides accept but decode differently."""
        numbers = np.where(expected.verdicts.accepted, expected.verdicts.numbers, 0)
        other: NDArray[np.bool_] = both & (said.numbers != numbers)
        alike = np.flatnonzero(both & ~other)
        sizes = said.sizes[alike]
        ends = np.cumsum(sizes)
        total = int(ends[-1]) if len(ends) else 0
        if not total:
            return other
        right_units = np.frombuffer(expected.units, np.uint8)
        right_sizes = numbers.astype(np.int64) * self._unit_size
        right_starts = (np.cumsum(right_sizes) - right_sizes)[alike]
        if total == len(said.units) == len(right_units):
            wrong = said.units != right_units
        else:
            place = np.arange(total) - np.repeat(ends - sizes, sizes)
            theirs, ours = np.repeat(said.starts[alike], sizes), np.repeat(right_starts, sizes)
            wrong = said.units[theirs + place] != right_units[ours + place]
        if wrong.any():
            other[alike[np.unique(np.searchsorted(ends, np.flatnonzero(wrong), "right"))]] = True
        return other

    def _set_aside(self, first: int, count: int) -> NDArray[np.bool_]:
        """A mask of strings whose error offset a declared trait leaves unspecified."""
        found = np.zeros(count, np.bool_)
        if self._expectation.strips_signature:
            found |= self._begins_with_signature(first, count)
        if self._expectation.has_nul_trait:
            starts, sizes, octets = self._strings(first, count)
            before = np.concatenate(([0], np.cumsum(np.frombuffer(octets, np.uint8) == NUL)))
            found |= before[starts + sizes] > before[starts]
        return found

    def _strings(self, first: int, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64], bytes]:
        """The starts of judged strings among the octets, and their lengths."""
        lengths, octets = self._items(first, count)
        sizes = np.frombuffer(lengths, np.uint32).astype(np.int64)
        judged = slice(self._step - 1, None, self._step)
        return (np.cumsum(sizes) - sizes)[judged], sizes[judged], octets

    def _begins_with_signature(self, first: int, count: int) -> NDArray[np.bool_]:
        signature = load_layout("rfc3629").encode(SIGNATURE)
        assert signature is not None
        starts, sizes, octets = self._strings(first, count)
        begins: NDArray[np.bool_] = sizes >= len(signature)
        flat = np.frombuffer(octets + signature, np.uint8)  # so that every string has enough octets to examine
        for place, octet in enumerate(signature):
            begins &= flat[np.minimum(starts + place, len(flat) - 1)] == octet
        return begins

    def _texts(self, said: _Columns, kinds: NDArray[np.uint8], first: int) -> list[Fault]:
        """The first few faults that are visible in the columns."""
        found = list[Fault]()
        for kind in (BROKEN, MISBEHAVED, NOT_SUPPORTED):
            for string in np.flatnonzero(kinds == kind)[:FAULTS].tolist():
                if kind == MISBEHAVED and said.statuses[string] != FAILED[0]:
                    code = int(said.incompletes[string])
                    text = describe(Misbehaved(f"said {code:02X} for incomplete; it is 00, 01, or FF for not said"))
                else:
                    start, size = int(said.starts[string]), min(int(said.sizes[string]), _TEXT)
                    words = said.units[start : start + size].tobytes().decode("ascii", "backslashreplace")
                    text = (
                        words if kind != NOT_SUPPORTED else "it does not offer this" + (f": {words}" if words else "")
                    )
                found.append(Fault(first + string, kind, shown(text)))
        return found

    def _checksum(self, said: _Columns, first: int, counted: NDArray[np.bool_]) -> int:
        accepts, refuses = said.statuses == ACCEPTED[0], said.statuses == REFUSED[0]
        numbers = said.numbers.astype(np.uint64)
        if not self._decodes:
            numbers[accepts] = 0
        codes = (numbers << np.uint64(2)) + refuses + np.uint64(1)
        failed = (said.statuses == FAILED[0]) & (said.incompletes != BREACH)
        codes[failed] = np.uint64(3)
        codes[~(counted & (accepts | refuses | failed))] = np.uint64(0)
        return checksum(codes, first)


def _habits(said: _Columns) -> Habits | None:
    refused = said.statuses == REFUSED[0]
    if not refused.any():
        return None
    return Habits(
        bool((said.numbers[refused] != NOT_SAID).any()),
        bool(said.lengths[refused].any()),
        bool((said.incompletes[refused] != INCOMPLETE_NOT_SAID).any()),
    )


def shown(text: str) -> str:
    """Text from a target in ASCII, safe to show."""
    return printable(text).replace("…", "...").encode("ascii", "backslashreplace").decode("ascii")

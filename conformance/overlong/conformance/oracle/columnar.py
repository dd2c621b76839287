# pyright: basic
"""The columnar oracle: the right answers to millions of concatenated strings, and the judgement of answers.

The automaton, the layouts and the expectation are those of the readable oracle (``overlong.reference``), and tests
compare the two. The core in C reads the strings if there are many, otherwise NumPy does. Answers are judged as a whole
if they equal the expected ones, otherwise by masks, never singly.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from overlong.conformance.oracle.target import (
    ACCEPTED_ILL_FORMED,
    AGREES,
    BROKEN,
    CRASHED,
    FAULTS,
    MISBEHAVED,
    NOT_SUPPORTED,
    NUL,
    ODD,
    OTHER_INCOMPLETE,
    OTHER_LENGTH,
    OTHER_OFFSET,
    OTHER_OUTPUT,
    REFUSED_WELL_FORMED,
    TIMED_OUT,
    Fault,
)
from overlong.conformance.protocol.observation import Crashed, Misbehaved, TimedOut, describe
from overlong.conformance.protocol.wire import (
    ACCEPTED,
    BREACH,
    DECODE,
    FAILED,
    INCOMPLETE_NOT_SAID,
    NOT_SAID,
    REFUSED,
    UNITS,
    UNSUPPORTED,
)
from overlong.conformance.support.printable import printable
from overlong.reference.core import core, why_not
from overlong.reference.layout import load_layout
from overlong.reference.order import CODE_POINTS, SIGNATURE

if TYPE_CHECKING:
    from array import array
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from overlong.conformance.oracle.target import ExpectedAnswers
    from overlong.conformance.protocol.observation import Fault as Observed
    from overlong.conformance.protocol.wire import Answers
    from overlong.reference.automaton import Automaton
    from overlong.reference.layout import Layout


LARGEST_LENGTH = 0xFF
_LARGEST_UNIT = 0xFFFF
"""The largest unit of UTF-16."""
WORTH = 1 << 20
"""The octets after which the core reads: it may have to be built first."""
_STEP = 200
"""NumPy takes a step for each octet of the longest string, in the time of so many octets."""
_TEXT = 1 << 10
"""The most octets to read of a target's text."""
_KIND_OF_FAULT = {Crashed: CRASHED, TimedOut: TIMED_OUT, Misbehaved: MISBEHAVED}
_STATUSES = np.frombuffer(ACCEPTED + REFUSED, np.uint8)
"""The status of a string that is not refused, and of one that is."""


class Read(NamedTuple):
    """The results of reading strings: one value for each."""

    accepted: NDArray[np.bool_]
    last: NDArray[np.uint32]
    """The octets read when it was last accepted; 0 if it never was."""
    live: NDArray[np.uint32]
    """The octets read until no continuation could be accepted."""
    state: NDArray[np.uint8]
    """The state at its end."""


class ColumnReader:
    """An automaton, ready to read columns."""

    def __init__(self, automaton: Automaton, *, by_core: bool | None = None) -> None:
        """``by_core``: use the core in C or not; None: after :data:`WORTH` octets, if there is one."""
        self.automaton = automaton
        self.by_core = by_core
        """True if the core reads; None: it is not known yet."""
        self._table = np.array(automaton.table, np.uint8)
        self._accepting = np.array(automaton.accepting, np.bool_)
        self._dead = len(automaton) if automaton.dead is None else automaton.dead  # or one that is never reached
        self._octets = 0

    def read(self, octets: bytes, lengths: NDArray[np.uint32]) -> Read:
        """The results for concatenated strings.

        Args:
            octets: the octets of all strings.
            lengths: the number of octets of each.
        """
        flat = np.frombuffer(octets, np.uint8) if octets else np.empty(0, np.uint8)
        ends, size = np.cumsum(lengths, dtype=np.int64), len(lengths)
        last, live, states = np.zeros(size, np.uint32), np.zeros(size, np.uint32), np.zeros(size, np.uint8)
        if self._asks_core(len(octets) + _STEP * int(lengths.max(initial=0))):
            groups = (flat, ends), (self._table, self._accepting), (last, live, states)
            given, rules, filled = ([each.ctypes.data for each in group] for group in groups)
            core()("read_columns", *given, size, *rules, self._dead, *filled)
            return Read(self._accepting[states], last, live, states)
        starts, active, place = ends - lengths, np.flatnonzero(lengths), 0
        while len(active):  # one octet of every live string at a time
            now = self._table[states[active], flat[starts[active] + place]]
            place += 1
            states[active] = now
            last[active[self._accepting[now]]] = place
            active = active[now != self._dead]
            live[active] = place
            active = active[lengths[active] > place]
        return Read(self._accepting[states], last, live, states)

    def _asks_core(self, octets: int) -> bool:
        """True if the core reads so many octets more."""
        if self.by_core is None:
            self._octets += octets
            if self._octets > WORTH:
                self.by_core = not why_not()
        return bool(self.by_core)


def _written(scalars: NDArray[np.uint32], units: str) -> tuple[bytes, NDArray[np.int64]]:
    """Scalar values in the wire format, and the units of each, as in ``protocol.Units.write``."""
    if units == "utf-32":
        return scalars.astype(">u4").tobytes(), np.ones(len(scalars), np.int64)
    return _in_utf16(scalars) if units == "utf-16" else _in_utf8(scalars)


def _in_utf16(scalars: NDArray[np.uint32]) -> tuple[bytes, NDArray[np.int64]]:
    counts = 1 + (scalars > _LARGEST_UNIT).astype(np.int64)
    beyond = scalars >= CODE_POINTS.stop  # not in UTF-16: written as two noncharacters
    known = np.where(beyond, np.uint32(_LARGEST_UNIT + 1), scalars)
    text = known.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    units = np.frombuffer(text.encode("utf-16-be", "surrogatepass"), ">u2").copy()
    if beyond.any():
        starts = (np.cumsum(counts) - counts)[beyond]
        units[starts] = units[starts + 1] = _LARGEST_UNIT
    return units.tobytes(), counts


def _in_utf8(scalars: NDArray[np.uint32]) -> tuple[bytes, NDArray[np.int64]]:
    layout = load_layout("rfc2279")
    counts = np.zeros(len(scalars), np.int64)
    rows = [(row, (scalars >= row.numbers.start) & (scalars < row.numbers.stop)) for row in layout.rows]
    for row, chosen in rows:
        counts[chosen] = len(row.templates)
    starts = np.cumsum(counts) - counts
    octets = np.empty(int(counts.sum()), np.uint8)
    for row, chosen in rows:
        numbers, places = scalars[chosen], starts[chosen]
        for place in reversed(range(len(row.templates))):
            template = row.templates[place]
            octets[places + place] = template.fixed | numbers & np.uint32(template.bits(0xFF))
            numbers = numbers >> np.uint32(template.free)
    return octets.tobytes(), counts


def checksum(codes: NDArray[np.uint64], first: int) -> int:
    """The sum of the codes of some answers to the strings from ``first`` on: see ``target.answer_code``."""
    index = np.uint64(first) + np.arange(len(codes), dtype=np.uint64)
    return int((codes * (index * np.uint64(ODD) | np.uint64(1))).sum(dtype=np.uint64))


class Habits(NamedTuple):
    """The details that a target's refusals report, all of them or none."""

    offset: bool = True
    length: bool = True
    incomplete: bool = True


SAYS_ALL = Habits()


@dataclass(frozen=True)
class Expected:
    """The right answers to strings."""

    strings: tuple[NDArray[np.uint32], bytes]
    """The octets in each, and all octets."""
    statuses: NDArray[np.uint8]
    numbers: NDArray[np.uint32]
    """Accepted: the output units, 0 if output is not judged; refused: the offset."""
    lengths: NDArray[np.uint8]
    incompletes: NDArray[np.uint8]
    units: bytes = b""
    """The concatenated output of the accepted strings."""
    habits: Habits = SAYS_ALL
    """The habits of the target."""

    @cached_property
    def accepted(self) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self.statuses == ACCEPTED[0]
        return found

    @cached_property
    def _numbers_said(self) -> NDArray[np.uint32]:
        return self.numbers if self.habits.offset else np.where(self.accepted, self.numbers, np.uint32(NOT_SAID))

    @cached_property
    def wire(self) -> bytes:
        """The columns of the target's response, without the details that it does not report."""
        lengths, incompletes = self.lengths, self.incompletes
        if not self.habits.length:
            lengths = np.zeros_like(lengths)
        if not self.habits.incomplete:
            incompletes = np.where(self.accepted, np.uint8(0), np.uint8(INCOMPLETE_NOT_SAID))
        columns = self.statuses, self._numbers_said.astype(">u4"), lengths, incompletes
        return b"".join((*(each.tobytes() for each in columns), self.units))

    def checksum(self, first: int) -> int:
        """The checksum of these answers, as the target says them, to the strings from ``first`` on."""
        codes = self._numbers_said.astype(np.uint64) << np.uint64(2)
        return checksum(codes + np.where(self.accepted, np.uint64(1), np.uint64(2)), first)


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


class ColumnarOracle:
    """Computes the right answers of a target to any strings, and judges its answers."""

    def __init__(
        self, expectation: ExpectedAnswers, layout: Layout, unit_size: int, *, reader: ColumnReader | None = None
    ) -> None:
        """Prepare for one target.

        Args:
            expectation: the expectation for it.
            layout: the layout of the expected characters.
            unit_size: the octets of an output unit, judged or not.
            reader: a reader of the expectation's automaton; by default the fastest.
        """
        self._reader = reader or ColumnReader(expectation.automaton)
        self._expectation = expectation
        self._unit_size = unit_size
        self._decodes = expectation.operation == DECODE
        self._units = expectation.units if self._decodes else ""  # empty if they are not judged
        assert not self._units or UNITS[self._units].size == unit_size
        self._habits = SAYS_ALL
        self._layout, self._rows = layout, layout.rows
        announced = [layout.announced(octet) for octet in range(256)]
        self._row_of = np.array([self._rows.index(row) if row else len(self._rows) for row in announced], np.uint8)

    @cached_property
    def _bits(self) -> NDArray[np.uint64] | None:
        """The bits of each octet, for the core; None if an octet's bits depend on its character."""
        with suppress(ValueError):
            return np.array(self._layout.bits_by_octet((self._row_of < len(self._rows)).tolist()), np.uint64)
        return None

    def _numbers_in(
        self, flat: NDArray[np.uint8], lengths: NDArray[np.uint32], accepted: NDArray[np.bool_]
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """The numbers of the characters in the accepted ones of some strings, and the characters of each string."""
        if self._reader.by_core and self._bits is not None:
            numbers, characters = np.empty(len(flat) + 1, np.uint32), np.empty(len(lengths), np.uint32)
            ends = np.cumsum(lengths, dtype=np.int64)
            rest = (each.ctypes.data for each in (accepted, self._bits, numbers, characters))
            core()("number_columns", flat.ctypes.data, ends.ctypes.data, len(lengths), *rest)
            return numbers[1 : int(characters.sum(dtype=np.int64)) + 1], characters
        numbers, places = self._scalars_of(flat[np.repeat(accepted, lengths)])
        ends = np.cumsum(np.where(accepted, lengths, 0), dtype=np.int64)
        return numbers, np.diff(np.searchsorted(places, ends), prepend=0).astype(np.uint32)

    def _scalars_of(self, flat: NDArray[np.uint8]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The numbers of concatenated well-formed characters, and the offset of each."""
        rows = self._row_of[flat]
        places = np.flatnonzero(rows < len(self._rows))
        rows = rows[places]
        numbers = np.empty(len(places), np.uint32)
        for which, row in enumerate(self._rows):
            chosen = np.flatnonzero(rows == which)
            if len(chosen):
                value = np.zeros(len(chosen), np.uint32)
                for further, (free, mask) in enumerate(row.free_bits):
                    value = value << np.uint32(free) | flat[places[chosen] + further] & np.uint32(mask)
                numbers[chosen] = value
        return numbers, places

    def expected(self, lengths: array[int], octets: bytes) -> Expected:
        """The answers to concatenated strings, given the length of each, and all octets."""
        counts = np.frombuffer(lengths, np.uint32)
        read = self._reader.read(octets, counts)
        refused, units = ~read.accepted, b""
        numbers = read.last * refused
        if self._units:
            flat = np.frombuffer(octets, np.uint8)
            scalars, sizes = self._numbers_in(flat, counts, read.accepted)
            units, widths = _written(scalars, self._units)
            if self._units != "utf-32":
                before = np.concatenate(([0], np.cumsum(widths)))
                sizes = np.diff(before[np.cumsum(sizes, dtype=np.int64)], prepend=0).astype(np.uint32)
            numbers = np.where(read.accepted, sizes, numbers)
        flaws = np.minimum(np.maximum(read.live - read.last, 1), LARGEST_LENGTH).astype(np.uint8)
        incomplete = refused & (read.state != self._reader.automaton.dead)
        statuses = _STATUSES[refused.view(np.uint8)]
        found = statuses, numbers, flaws * refused, incomplete.view(np.uint8)
        return Expected((counts, octets), *found, units, self._habits)

    def judge(
        self,
        answers: Answers,
        expected: Expected,
        first: int,
        *,
        step: int = 1,
        from_earlier: bool = False,
        faults: Mapping[int, Observed] | None = None,
    ) -> Judged:
        """The result for the strings from ``first`` on.

        Args:
            answers: one for each string; in a grid with earlier strings, these alternate with judged ones.
            expected: the right answers to the same strings.
            first: the number of the first judged string.
            step: 2 if an unjudged earlier string precedes each string, else 1.
            from_earlier: True if the first item is an earlier string.
            faults: indices of items without values in the columns; -1 is the earlier string before the first item.
        """
        judges_all = self._decodes == bool(self._units)
        if step == 1 and not faults and judges_all and answers.columns == expected.wire:
            return Judged(int(np.count_nonzero(expected.accepted)), expected.checksum(first))
        skipped = 1 if from_earlier else 0
        said = self._said(answers, slice(skipped, None, step))
        kinds = self._kinds(said, expected)
        counted, found, ahead = np.ones(len(kinds), np.bool_), list[Fault](), None
        for place, fault in sorted((faults or {}).items()):
            string, earlier = divmod(place - skipped, step)
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
        self._habits = _habits(said) or self._habits
        return Judged(accepted, checksum, None, found, ahead)

    def _said(self, answers: Answers, chosen: slice) -> _Columns:
        count = answers.count
        columns = np.frombuffer(answers.columns, np.uint8)
        statuses = columns[:count]
        numbers = columns[count : 5 * count].view(">u4").astype(np.uint32)
        sizes = numbers.astype(np.int64)
        sizes[statuses == ACCEPTED[0]] *= self._unit_size
        sizes[statuses == REFUSED[0]] = 0
        starts = np.cumsum(sizes) - sizes
        return _Columns(
            statuses[chosen],
            numbers[chosen],
            columns[5 * count : 6 * count][chosen],
            columns[6 * count : 7 * count][chosen],
            starts[chosen],
            sizes[chosen],
            columns[7 * count :],
        )

    def _kinds(self, said: _Columns, right: Expected) -> NDArray[np.uint8]:
        accepts, refuses = said.statuses == ACCEPTED[0], said.statuses == REFUSED[0]
        kinds = np.full(len(said.statuses), AGREES, np.uint8)
        kinds[accepts & ~right.accepted] = ACCEPTED_ILL_FORMED
        kinds[refuses & right.accepted] = REFUSED_WELL_FORMED
        failed = said.statuses == FAILED[0]
        kinds[failed] = BROKEN
        kinds[failed & (said.incompletes == BREACH)] = MISBEHAVED
        kinds[said.statuses == UNSUPPORTED[0]] = NOT_SUPPORTED
        if self._units:
            other = self._other_output(said, right, accepts & right.accepted)
            if self._expectation.strips_signature and other.any():
                other &= ~_begins_with_signature(right)
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
                kinds[places & self._set_aside(right)] = AGREES
            kinds[incomplete & (said.incompletes > 1)] = MISBEHAVED
        return kinds

    def _other_output(self, said: _Columns, expected: Expected, both: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """A mask of strings that both sides accept but decode differently."""
        numbers = np.where(expected.accepted, expected.numbers, 0)
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

    def _set_aside(self, right: Expected) -> NDArray[np.bool_]:
        """A mask of strings whose error offset a declared trait leaves unspecified."""
        found = np.zeros(len(right.statuses), np.bool_)
        if self._expectation.strips_signature:
            found |= _begins_with_signature(right)
        if self._expectation.has_nul_trait:
            lengths, octets = right.strings
            ends = np.cumsum(lengths, dtype=np.int64)
            before = np.concatenate(([0], np.cumsum(np.frombuffer(octets, np.uint8) == NUL)))
            found |= before[ends] > before[ends - lengths]
        return found

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
                    text = words
                    if kind == NOT_SUPPORTED:
                        text = f"it does not offer this: {words}" if words else "it does not offer this"
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


def _begins_with_signature(right: Expected) -> NDArray[np.bool_]:
    signature = load_layout("rfc3629").encode(SIGNATURE) or b""
    lengths, octets = right.strings
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    begins: NDArray[np.bool_] = lengths >= len(signature)
    flat = np.frombuffer(octets + signature, np.uint8)  # so that every string has enough octets to examine
    for place, octet in enumerate(signature):
        begins &= flat[np.minimum(starts + place, len(flat) - 1)] == octet
    return begins


def _habits(said: _Columns) -> Habits | None:
    """The habits that the refusals of right answers show; None if there are none."""
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

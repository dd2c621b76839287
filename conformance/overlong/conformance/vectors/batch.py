"""Vectors in columns: the octets to send together, and the answers expected of a correct target.

A batch is first compared as a whole. If a target's columns equal the expected ones octet for octet, all its
answers are right, and Python makes no object for any of them. So a million vectors are cheap.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import accumulate, chain, pairwise, zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from overlong.conformance.protocol.wire import (
    ACCEPTED,
    AGAIN,
    ASK,
    DECODE,
    ENCODING,
    IN_MEMORY,
    INCOMPLETE_NOT_SAID,
    NOT_SAID,
    REFUSED,
    REPLACING,
    SEPARATE,
    STREAM_DECODE,
    STREAMING,
    VALIDATE,
    Answers,
    again_payload,
    big_endian,
    cut_evenly,
    stream_head,
    stream_payload,
)
from overlong.conformance.vectors.expected import answers, answers_to, certainty
from overlong.conformance.vectors.vector import RFC3629, Profile, Vector
from overlong.reference import ERROR_MODES, MaximalSubpart, segments
from overlong.reference.decoder import taken

if TYPE_CHECKING:
    from overlong.conformance.protocol.wire import Units
    from overlong.conformance.vectors.expected import Certainty
    from overlong.reference import Dialect, ErrorMode
    from overlong.reference.automaton import Automaton


T = TypeVar("T")
Closed = Callable[["Batch", str, "Units"], Answers]
"""Computes the answers to well-formed vectors without decoding: see ``suites/exhaustive.py``."""


class Member(NamedTuple):
    """A vector of a batch."""

    batch: Batch
    place: int

    @classmethod
    def of(cls, vector: Vector) -> Member:
        """The only vector of a batch."""
        return cls(Batch.of([vector]), 0)

    @property
    def vector(self) -> Vector:
        return self.batch[self.place]

    @property
    def alone(self) -> Member:
        """The same vector in a batch of its own, without the others and all that is known about them."""
        return Member.of(self.vector)


@dataclass(frozen=True)
class Batch:
    """Vectors of one category, as columns: each one's length, and all octets in a row."""

    category: str
    lengths: array[int]
    octets: bytes
    chunks: tuple[tuple[int, ...], ...] | None = None
    comments: tuple[str, ...] = ()
    earlier: tuple[tuple[bytes, ...], ...] | None = None
    """For each vector, the chunks of the stream that its decoder has decoded before."""
    closed: Closed | None = None
    suite: str = ""
    whole: tuple[Batch, int] | None = None
    """The batch that this one is a part of, and its start there."""
    members: tuple[Member, ...] = ()
    """The vectors in other batches, if those know the answers to them."""
    singly: bool = False
    """Each vector is sent in its own request."""
    threads: int = 0
    """The threads of the target that answer it at once; 0: as usual."""
    profile: Profile = RFC3629
    worked_out: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any], compare=False, repr=False)
    """Cached results about these octets; a key names everything else that the result depends on. Batches of the same
    vectors share the cache."""

    @classmethod
    def of(cls, vectors: Sequence[Vector]) -> Batch:
        """The batch of these vectors; they share a category, and all or none are chunked."""
        chunks = [vector.chunks for vector in vectors]
        return cls(
            vectors[0].category,
            array("I", [len(vector.octets) for vector in vectors]),
            b"".join(vector.octets for vector in vectors),
            tuple(chunk for chunk in chunks if chunk is not None) if chunks[0] is not None else None,
            tuple(vector.comment for vector in vectors),
            tuple(vector.earlier or () for vector in vectors) if vectors[0].earlier is not None else None,
            profile=vectors[0].profile,
        )

    @classmethod
    def of_strings(
        cls,
        category: str,
        strings: Sequence[bytes],
        chunks: tuple[tuple[int, ...], ...] | None = None,
        comments: tuple[str, ...] = (),
    ) -> Batch:
        """The batch of these octets: whole inputs, or streams in chunks of these lengths."""
        return cls(category, array("I", map(len, strings)), b"".join(strings), chunks, comments)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, place: int) -> Vector:
        start = place * self.lengths[0] if self._is_even else self._starts[place]
        return Vector(
            self.category,
            self.octets[start : start + self.lengths[place]],
            self.comments[place] if self.comments else "",
            self.chunks[place] if self.chunks is not None else None,
            earlier=self.earlier[place] if self.earlier is not None else None,
            profile=self.profile,
        )

    def __iter__(self) -> Iterator[Vector]:
        return map(self.__getitem__, range(len(self)))

    @cached_property
    def vectors(self) -> tuple[Vector, ...]:
        """All vectors as objects; made only if columns do not suffice."""
        return tuple(self)

    def strings(self, places: Sequence[int]) -> list[bytes]:
        """The octets of some vectors."""
        if len(places) == len(self) and min(self.lengths, default=0) and self._is_even:
            return cut_evenly(self.octets, self.lengths[0])
        octets, starts = self.octets, self._starts
        return [octets[starts[place] : starts[place + 1]] for place in places]

    @property
    def is_closed(self) -> bool:
        """All vectors are well-formed whole inputs, and the expected answers are known in columns."""
        return self.closed is not None or (self.whole is not None and self.whole[0].is_closed)

    @cached_property
    def _is_even(self) -> bool:
        """All vectors have the same number of octets."""
        return self.lengths == self.lengths[:1] * len(self)

    @cached_property
    def _starts(self) -> list[int]:
        return self._once("starts", lambda: list(accumulate(self.lengths, initial=0)))

    def _once(self, key: Hashable, make: Callable[[], T]) -> T:
        """The cached result of ``make``; ``key`` names everything that it depends on besides these vectors."""
        if key not in self.worked_out:
            self.worked_out[key] = make()
        known: T = self.worked_out[key]
        return known

    def within(self, suite: str, profile: Profile) -> Batch:
        """The same vectors, as part of a suite and for a profile; they keep the cached results."""
        whole = None if self.whole is None else (self.whole[0].within(suite, profile), self.whole[1])
        return replace(self, suite=suite, profile=profile, whole=whole)

    @property
    def flaws(self) -> list[MaximalSubpart | None]:
        """The first maximal subpart of each vector; None for a well-formed one."""
        if self.members:
            return [batch.flaws[place] for batch, place in self.members]
        return self._once(
            ("flaws", self.profile.speaks),
            lambda: [each if isinstance(each, MaximalSubpart) else None for each in self._outcomes],
        )

    @classmethod
    def gathered(cls, members: Sequence[Member]) -> Batch:
        """The batch of some vectors of others; it takes over what these know about them."""
        return replace(cls.of([member.vector for member in members]), members=tuple(members))

    def part(self, start: int, end: int) -> Batch:
        """The vectors from ``start`` to before ``end``, as a batch."""
        if (start, end) == (0, len(self)):
            return self
        whole, before = self.whole or (self, 0)
        return Batch(
            self.category,
            self.lengths[start:end],
            self.octets[self._starts[start] : self._starts[end]],
            None if self.chunks is None else self.chunks[start:end],
            self.comments[start:end],
            None if self.earlier is None else self.earlier[start:end],
            suite=self.suite,
            whole=(whole, before + start),
            singly=self.singly,
            threads=self.threads,
            profile=self.profile,
        )

    def payloads(self, operation: str) -> tuple[Sequence[int], bytes]:
        """Each item's payload length, and all payloads in a row, in the form that the operation needs."""
        if operation in AGAIN:
            return self._once("after others", self._make_again_payloads)
        if operation in STREAMING + SEPARATE:
            return self._once("on the wire", lambda: _in_a_row(self._streams))
        return self.lengths, self.octets

    def lengths_on_wire(self, operation: str) -> bytes:
        """The lengths of :meth:`payloads` in the wire format."""
        way = "streams" if operation in STREAMING + SEPARATE else "others" if operation in AGAIN else "octets"
        return self._once(("lengths on the wire", way), lambda: big_endian("I", self.payloads(operation)[0]))

    @property
    def _streams(self) -> list[bytes]:
        """Each item as a stream on the wire."""
        if self.whole is not None:
            batch, start = self.whole
            return batch._streams[start : start + len(self)]  # noqa: SLF001 (its own class)
        return self._once("streams", self._make_streams)

    def _make_streams(self) -> list[bytes]:
        octets = self.octets
        return [
            stream_head(chunks) + octets[start:end]
            for chunks, (start, end) in zip(self.cut, pairwise(self._starts), strict=True)
        ]

    def _make_again_payloads(self) -> tuple[Sequence[int], bytes]:
        firsts = map(_stream, self.earlier or ((),) * len(self))
        return _in_a_row(list(map(again_payload, firsts, self._streams)))

    @property
    def cut(self) -> Sequence[tuple[int, ...]]:
        """For each item the lengths of its chunks; an item without chunks counts as one chunk."""
        return [(length,) for length in self.lengths] if self.chunks is None else self.chunks

    def chunk_counts(self, operation: str) -> list[int] | None:
        """For a streaming operation, each item's number of chunks; None for any other."""
        if operation not in STREAMING + AGAIN:
            return None
        return [1] * len(self) if self.chunks is None else list(map(len, self.chunks))

    def right_columns(self, operation: str, units: Units) -> bytes | bytearray | None:
        """A correct target's whole response, if known in advance: a response equal to it needs no further check."""
        if self.whole is not None or operation in STREAMING + AGAIN:
            return None
        if self.closed is not None:
            return self.expected(operation, units).columns
        known = self.worked_out.get(self._key_of_expected(operation, units))
        return None if known is None else known.columns

    def expected(self, operation: str, units: Units) -> Answers:
        """The expected answers, on the wire (without the marks of streams: see :meth:`expected_marks`)."""
        if self.whole is not None:
            batch, start = self.whole
            return batch.expected(operation, units).part(start, start + len(self), units.size)
        make = self.closed or (Batch._gather if self.members else Batch._expect)
        key = self._key_of_expected(operation, units)
        return self._once(key, lambda: make(self, key[1], units))

    def _key_of_expected(self, operation: str, units: Units) -> tuple[str, str, str, Profile, bool]:
        if self.closed is not None and operation in REPLACING:  # all are well-formed: replacing equals decoding
            operation = DECODE
        return "expected", operation, units.name, self.profile.as_it_matters(operation), self.closed is None

    def expected_marks(self, operation: str, units: Units, *, marked: bool) -> bytes:
        """The marks of a correct target that holds nothing back; ``marked``: a refused stream has one, too."""
        if self.whole is not None:
            batch, start = self.whole
            marks = batch._marks(operation, units, marked=marked)  # noqa: SLF001 (its own class)
            return b"".join(marks[start : start + len(self)])
        key = "marks in a row", operation, units.name, self.profile.as_it_matters(operation), marked
        return self._once(key, lambda: b"".join(self._marks(operation, units, marked=marked)))

    def _marks(self, operation: str, units: Units, *, marked: bool) -> list[bytes]:
        """For each stream its marks in the wire format."""
        key = "marks", operation, units.name, self.profile.as_it_matters(operation), marked
        return self._once(key, lambda: self._expect_marks(operation, units, marked=marked))

    def _expect_marks(self, operation: str, units: Units, *, marked: bool) -> list[bytes]:
        replacing, marks = operation in REPLACING, list[bytes]()
        for sure, chunks in zip(self._certainties(operation, units), self.cut, strict=True):
            if replacing or not sure.flawed:
                marks.append(big_endian("I", sure.marks(chunks)))
            else:
                marks.append(big_endian("I", [sure.refused_in(chunks)]) if marked else b"")
        return marks

    def expected_offsets(self, units: Units, counted_from: str) -> list[int | None]:
        """For each stream the offset that a refusal in the first chunk that shows the flaw must report; None: any."""
        if self.whole is not None:
            batch, start = self.whole
            return batch.expected_offsets(units, counted_from)[start : start + len(self)]
        key = "offsets", units.name, self.profile.speaks, counted_from
        return self._once(key, lambda: self._expect_offsets(units, counted_from))

    def _expect_offsets(self, units: Units, counted_from: str) -> list[int | None]:
        return [
            sure.offset(chunks, sure.refused_in(chunks), counted_from) if sure.flawed else None
            for sure, chunks in zip(self._certainties(STREAM_DECODE, units), self.cut, strict=True)
        ]

    def _certainties(self, operation: str, units: Units) -> list[Certainty]:
        """The certainty of each input, as far as an operation shows it, in order."""
        matters = self.profile.as_it_matters(operation)
        return self._once(
            ("certainties", units.name, matters),
            lambda: [certainty(self.octets[start:end], units.name, matters) for start, end in pairwise(self._starts)],
        )

    @property
    def _outcomes(self) -> list[MaximalSubpart | tuple[int, ...]]:
        """For each vector its first flaw; or its scalar values, if it is well-formed."""
        return self._once(self._key_of_outcomes, self._make_outcomes)

    @property
    def _key_of_outcomes(self) -> tuple[str, str]:
        return "outcomes", self.profile.speaks

    def _make_outcomes(self) -> list[MaximalSubpart | tuple[int, ...]]:
        result = list[MaximalSubpart | tuple[int, ...]]()
        last: bytes | None = None
        for start, end in pairwise(self._starts):
            octets = self.octets[start:end]  # an input that is cut in many ways comes up many times in a row
            result.append(result[-1] if octets == last else first_flaw(octets, self._spoken))
            last = octets
        return result

    @cached_property
    def _spoken(self) -> Dialect:
        return self.profile.dialect

    def _expect(self, operation: str, units: Units) -> Answers:
        if operation in ENCODING:
            payloads = (self.octets[start:end] for start, end in pairwise(self._starts))
            return answers(operation, payloads, self.profile.dialect, self.profile.encodes)
        if operation == ASK:
            payloads = (self.octets[start:end] for start, end in pairwise(self._starts))
            return answers_to(payloads, self.profile.divides)
        if operation in IN_MEMORY:
            return Answers.of(ACCEPTED * len(self), bytes(4 * len(self)), bytes(len(self)), bytes(len(self)), b"")
        if operation == SEPARATE:
            return self._expect_of_lists()
        if operation in REPLACING:
            return self._expect_replaced(units)
        statuses, lengths, incompletes = bytearray(), bytearray(), bytearray()
        numbers, output = list[int](), list[int]()
        in_octets, silent = self.profile.counts == RFC3629.counts, operation == VALIDATE
        last, count = tuple[int, ...](), 0
        for start, outcome in zip(self._starts, self._outcomes, strict=False):
            if isinstance(outcome, MaximalSubpart):
                statuses.append(REFUSED[0])
                place, length, incomplete, _ = outcome
                numbers.append(place if in_octets else self.profile.offset(self.octets[start : start + place], place))
                lengths.append(length)
                incompletes.append(incomplete)
            else:
                if outcome is not last and not silent:  # an input that is cut in many ways has one output
                    last, count = outcome, units.count(outcome)
                statuses.append(ACCEPTED[0])
                numbers.append(count)
                lengths.append(0)
                incompletes.append(0)
                output += last
        columns = bytes(statuses), big_endian("I", numbers), bytes(lengths), bytes(incompletes)
        return Answers.of(*columns, units.write(output))

    def _expect_replaced(self, units: Units) -> Answers:
        mode, count, counts, output = self.profile.mode, len(self), list[int](), list[int]()
        known = self.worked_out.get(self._key_of_outcomes, ())
        last: bytes | None = None
        scalars: Sequence[int] = ()
        for (start, end), outcome in zip_longest(pairwise(self._starts), known):
            octets = self.octets[start:end]
            if octets != last:  # likewise
                last = octets
                if outcome is None or isinstance(outcome, MaximalSubpart):
                    scalars = replaced(octets, mode, self._spoken)
                else:
                    scalars = outcome
            counts.append(units.count(scalars))
            output += scalars
        return Answers.of(ACCEPTED * count, big_endian("I", counts), bytes(count), bytes(count), units.write(output))

    def _gather(self, operation: str, units: Units) -> Answers:
        """The answers that the batches of the members expect."""
        batches = {id(batch): batch for batch, _ in self.members}
        rows = {name: batch.expected(operation, units).rows(units.size) for name, batch in batches.items()}
        return Answers.of_rows(rows[id(batch)][place] for batch, place in self.members)

    def _expect_of_lists(self) -> Answers:
        """For each list of values only a verdict."""
        flawed = [vector.flawed_value is not None for vector in self]
        numbers = big_endian("I", [NOT_SAID if each else 0 for each in flawed])
        statuses = b"".join(REFUSED if each else ACCEPTED for each in flawed)
        silent = bytes(INCOMPLETE_NOT_SAID if each else 0 for each in flawed)
        return Answers.of(statuses, numbers, bytes(len(self)), silent, b"")


def _in_a_row(items: Sequence[bytes]) -> tuple[Sequence[int], bytes]:
    """The length of each item, and all items joined."""
    return array("I", map(len, items)), b"".join(items)


def _stream(chunks: Sequence[bytes]) -> bytes:
    return stream_payload(b"".join(chunks), list(map(len, chunks)))


# Output in bulk: a regular expression that the automaton gives cuts text into segments, and each is decoded once.
#
# The readable decoder says what a segment stands for; this remembers it. So long text costs a tenth, and dialects that
# give a segment a meaning by its place (a signature, pairs, wtf-8's lead surrogates) are left to that decoder.

_REMEMBERED = 1 << 16
"""The segments that are remembered for a mode."""
_ANY = ERROR_MODES["replacement"]
"""A mode for text without errors, of which all modes make the same."""


def replaced(octets: bytes, mode: ErrorMode, spoken: Dialect) -> list[int]:
    """The scalar values of octets in an error mode that refuses none."""
    if mode.each_alone is None or not _is_plain(spoken):
        return mode.output(taken(octets, mode, spoken), octets)
    known, found = _known(mode, spoken), _segment(spoken.automaton).findall(octets)
    if len(known) > _REMEMBERED:
        known.clear()
    for each in set(found).difference(known):
        known[each] = tuple(mode.output(segments(each, spoken=spoken), each))
    return list(chain.from_iterable(map(known.__getitem__, found)))


@cache
def _known(mode: ErrorMode, spoken: Dialect) -> dict[bytes, tuple[int, ...]]:
    """The output of a mode for each segment met so far."""
    del mode, spoken  # for each pair of them another one
    return {}


def first_flaw(octets: bytes, spoken: Dialect) -> MaximalSubpart | tuple[int, ...]:
    """The first maximal subpart of octets; or their scalar values, if they are well-formed."""
    start = 0
    if _is_plain(spoken):
        text = _text(spoken.automaton).match(octets)
        start = text.end() if text else 0
        if start == len(octets):
            return tuple(replaced(octets, _ANY, spoken))
    scalars = list[int]()
    for found in segments(octets, start, spoken):
        if isinstance(found, MaximalSubpart):
            return found
        scalars += found.scalars
    return tuple(scalars)


@cache
def _is_plain(spoken: Dialect) -> bool:
    """True if a segment has one meaning: no rule joins some, and all characters end in the start state."""
    automaton = spoken.automaton
    return spoken.rule == type(spoken.rule)() and automaton.accepting == (True, *[False] * (len(automaton) - 1))


@cache
def _segment(automaton: Automaton) -> re.Pattern[bytes]:
    """Matches a segment: a character, as much of one as is there, or else one octet."""
    return re.compile(_from(automaton, 0, b"?") + b"|[\\x00-\\xff]")


@cache
def _text(automaton: Automaton) -> re.Pattern[bytes]:
    """Matches all characters at the start."""
    return re.compile(b"(?:" + _from(automaton, 0, b"") + b")*")


def _from(automaton: Automaton, state: int, often: bytes) -> bytes:
    """The alternatives from a state on; ``?`` after what follows an octet lets it be missing."""
    following: dict[int, list[bytes]] = {}
    for octet, after in enumerate(automaton.table[state]):
        if after != automaton.dead:
            following.setdefault(after, []).append(b"\\x%02x" % octet)
    return b"|".join(
        b"["
        + b"".join(octets)
        + b"]"
        + (b"" if automaton.accepting[after] else b"(?:" + _from(automaton, after, often) + b")" + often)
        for after, octets in following.items()
    )

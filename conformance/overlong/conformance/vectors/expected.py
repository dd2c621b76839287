"""The right answers that need more than decoding a whole text: of stream decoders, of encoders, and to questions."""

from __future__ import annotations

import struct
from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, cast

from overlong.conformance.protocol.wire import (
    ACCEPTED,
    ANNOUNCE,
    ASKING,
    ENCODE,
    ENCODE_UTF16,
    NUMBERS,
    QUESTION,
    REFUSED,
    STREAM_REPLACE,
    UNITS,
    Answers,
    big_endian,
)
from overlong.conformance.support.printable import spaced_hex
from overlong.conformance.vectors.vector import IdError, Vector, known_at
from overlong.reference import Decoded, NotEncodable, Rejected, dialect, encode_scalars
from overlong.reference.error_mode import REPLACEMENT_CHARACTER
from overlong.reference.order import LEAD_SURROGATES, from_utf16
from overlong.reference.questions import BY_NUMBER, QUESTIONS, Question, Right, right
from overlong.reference.reading import FORMS, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.conformance.vectors.vector import Profile
    from overlong.reference import Dialect, Outcome
    from overlong.reference.automaton import Automaton
    from overlong.reference.questions import Numbers
    from overlong.reference.reading import Reading


# Streams: the output of a correct decoder after each chunk, and when and how it can refuse.
#
# The segments determine both: a character is certain when its last octet has come, an ill-formed sequence as soon as an
# octet shows it. A Certainty holds this for one input and all its cuts, so an input that is cut in a hundred ways is
# decoded once.

_ASCII = bytes(range(1, 0x80))
"""Without octet 00, which some dialects exclude."""


@dataclass(frozen=True, slots=True)
class Certainty:
    """The certain output and refusal of one input.

    ``total``: how many units a replacing decoder has put out after the end. ``flawed``: the input is ill-formed;
    ``shown``: the number of octets that show it, None if only the end does. ``flaw``: the offset of its first maximal
    subpart. ``_ascii``: the octets before the first one that is not ASCII. ``_out``, ``_held``: the results of
    :meth:`out` and :meth:`held`, counted from there.
    """

    total: int
    flawed: bool
    shown: int | None
    flaw: int
    _out: tuple[int, ...]
    _held: tuple[int, ...]
    _ascii: int = 0

    def behind(self, count: int) -> Certainty:
        """The same after so many octets of ASCII."""
        shown = None if self.shown is None else count + self.shown
        return replace(self, total=count + self.total, shown=shown, flaw=count + self.flaw, _ascii=count + self._ascii)

    def out(self, read: int) -> int:
        """How many units a replacing decoder can have put out after so many octets."""
        return read if read < self._ascii else self._ascii + self._out[read - self._ascii]

    def held(self, read: int) -> int:
        """The first octet that a decoder must keep after so many octets."""
        return read if read < self._ascii else self._ascii + self._held[read - self._ascii]

    def marks(self, chunks: Sequence[int]) -> list[int]:
        """The count of units out after each chunk, for a decoder that holds nothing back; after the last chunk: all."""
        marks = [self.out(read) for read in accumulate(chunks)]
        if marks:
            marks[-1] = self.total
        return marks

    def refused_in(self, chunks: Sequence[int]) -> int:
        """The first chunk, counted from 1, that shows that the input is ill-formed; the last if only its end does."""
        if self.shown is None:
            return len(chunks)
        return bisect_left(list(accumulate(chunks)), self.shown) + 1

    def offset(self, chunks: Sequence[int], refused_in: int, counted_from: str) -> int | None:
        """The offset that a decoder reports if it refuses in a chunk (1, 2, …); None: it cannot know it.

        ``counted_from`` comes from the greeting: ``stream``, ``chunk`` or ``kept``.
        """
        if counted_from == "stream":
            return self.flaw
        start = sum(chunks[: refused_in - 1])
        if counted_from == "kept":  # a decoder that refuses late has kept the flaw
            start = min(self.held(start), self.flaw)
        return self.flaw - start if self.flaw >= start else None


def certainty(octets: bytes, units: str, profile: Profile) -> Certainty:
    """The certainty of an input; ``units`` is a name of :data:`~overlong.conformance.protocol.wire.UNITS`."""
    before = _leading(octets, profile.dialect)
    sure = _certainty(octets[before:], units, profile.as_it_matters(STREAM_REPLACE))
    return sure.behind(before) if before else sure


@lru_cache(maxsize=1 << 15)
def _certainty(octets: bytes, units: str, profile: Profile) -> Certainty:
    vector = Vector("", octets, profile=profile)
    size, written = len(octets), UNITS[units]
    added, held = [0] * (size + 2), list(range(size + 1))
    total = 0
    for found, scalars in zip(vector.taken, vector.outputs, strict=True):
        count = written.count(scalars)
        known = known_at(octets, found, profile.dialect)
        added[size + 1 if known is None else known] += count
        total += count
    for found in vector.segments:
        known = known_at(octets, found, profile.dialect)
        moment = size + 1 if known is None else known
        for count in range(found.offset, min(moment, size + 1)):
            held[count] = min(held[count], found.offset)
    return Certainty(
        total,
        vector.flaw is not None,
        vector.detectable_at,
        0 if vector.flaw is None else vector.flaw.offset,
        tuple(accumulate(added[: size + 1])),
        tuple(held),
    )


def _leading(octets: bytes, spoken: Dialect) -> int:
    """The ASCII octets at the start, which cost nothing; 0 if the dialect gives a start or an ASCII octet a meaning."""
    if spoken.rule.drops_signature or not _is_apart(spoken.automaton):
        return 0
    return len(octets) - len(octets.lstrip(_ASCII))


@cache
def _is_apart(automaton: Automaton) -> bool:
    """True if each ASCII octet but 00 is a character, and continues none."""
    start, *others = automaton.table
    begins = all(start[octet] == 0 for octet in _ASCII)
    return begins and all(row[octet] == automaton.dead for row in others for octet in _ASCII)


# Encoders: the octets of code points or of UTF-16 code units, or their number.
#
# The octets of an encoder's vector hold the encoder's input: code points as u32 or code units as u16, big-endian. The
# reference encoder gives the octets that must come back (RFC 3629 section 3).

SCALARS, UTF16 = "encoding", "utf-16"
"""The categories of vectors that hold code points, and code units."""

CATEGORY_OF = {ENCODE: SCALARS, ANNOUNCE: SCALARS, ENCODE_UTF16: UTF16}
"""The category of the vectors for an operation."""

WIDTHS = {SCALARS: 4, UTF16: 2}
"""The number of octets of a vector that hold one number."""

QUESTION_MARK = b"?"
_LAST_UNIT = 0xFFFF


class Piece(NamedTuple):
    """One number of the input, or the two of a UTF-16 pair: its value, and its expected octets."""

    place: int
    """Its place in the input, counted in code points or code units."""
    number: int
    octets: bytes | None
    """None: the number is no scalar value, and the dialect has no octets for it."""


def given(operation: str, payload: bytes) -> tuple[int, ...]:
    """The code points, or the code units, of a payload.

    Raises:
        struct.error: the payload does not hold a whole number of them.
    """
    if operation == ENCODE_UTF16:
        return struct.unpack(f">{len(payload) // 2}H", payload)
    return struct.unpack(f">{len(payload) // 4}I", payload)


def pieces(operation: str, payload: bytes, spoken: Dialect) -> Iterator[Piece]:
    """The input piece by piece. Only UTF-16 joins pairs: among code points, each surrogate is a piece of its own."""
    for index, number in numbered(operation, payload):
        yield Piece(index, number, octets_of(number, spoken))


def numbered(operation: str, payload: bytes) -> Iterable[tuple[int, int]]:
    """The numbers, UTF-16 pairs joined, each with its place."""
    found = given(operation, payload)
    return from_utf16(found) if operation == ENCODE_UTF16 and _may_pair(found) else enumerate(found)


def _numbers(operation: str, payload: bytes) -> Sequence[int]:
    """The same without their places, which takes less time."""
    found = given(operation, payload)
    if operation == ENCODE_UTF16 and _may_pair(found):
        return [number for _, number in from_utf16(found)]
    return found


def _may_pair(units: Iterable[int]) -> bool:
    return any(unit in LEAD_SURROGATES for unit in set(units))


@lru_cache(maxsize=1 << 10)  # wrong answers to long text are looked at piece by piece
def octets_of(number: int, spoken: Dialect) -> bytes | None:
    """The octets of a number; None if the dialect has none for it."""
    try:
        return encode_scalars([number], spoken)
    except NotEncodable:
        return None


@lru_cache(maxsize=1 << 10)
def halves(supplementary: int) -> tuple[int, int]:
    """The lead and the trail surrogate of a supplementary character in UTF-16."""
    lead, trail = given(ENCODE_UTF16, chr(supplementary).encode("utf-16-be"))
    return lead, trail


def in_units(points: Sequence[int]) -> bytes:
    """Code points as UTF-16 code units."""
    return big_endian("H", [unit for each in points for unit in (halves(each) if each > _LAST_UNIT else (each,))])


def replacement(encode_errors: str, spoken: Dialect) -> bytes | None:
    """The octets that an encoder writes for a number that is no scalar value; None if it refuses."""
    if encode_errors == "replacement":
        return encode_scalars([REPLACEMENT_CHARACTER], spoken)
    return QUESTION_MARK if encode_errors == "question mark" else None


def encoded(operation: str, payload: bytes, spoken: Dialect, encode_errors: str = "fatal") -> Outcome:
    """The answer of a correct encoder: octets as the numbers of :class:`Decoded`, or the index of the refusal.

    An announced size is a u32, in four octets.
    """
    answer = _answer(operation, payload, spoken, encode_errors)
    return Rejected(answer, 1, incomplete=False) if isinstance(answer, int) else Decoded(tuple(answer))


def _answer(operation: str, payload: bytes, spoken: Dialect, encode_errors: str) -> bytes | int:
    """The octets, or the index of the refusal. Each number of a text is encoded once: long text has few."""
    numbers, instead = _numbers(operation, payload), replacement(encode_errors, spoken)
    octets = {number: octets_of(number, spoken) or instead for number in set(numbers)}
    if None in octets.values():
        refused = {number for number, known in octets.items() if known is None}
        return next(place for place, number in numbered(operation, payload) if number in refused)
    whole = b"".join(map(cast("dict[int, bytes]", octets).__getitem__, numbers))
    return len(whole).to_bytes(4, "big") if operation == ANNOUNCE else whole


def answers(operation: str, payloads: Iterable[bytes], spoken: Dialect, encode_errors: str) -> Answers:
    """The answers of a correct encoder to many payloads, in the wire format."""
    statuses, numbers, lengths, output = bytearray(), list[int](), bytearray(), bytearray()
    for payload in payloads:
        answer = _answer(operation, payload, spoken, encode_errors)
        if isinstance(answer, int):
            statuses += REFUSED
            numbers.append(answer)
            lengths.append(1)
        else:
            statuses += ACCEPTED
            numbers.append(len(answer))
            lengths.append(0)
            output += answer
    return Answers.of(bytes(statuses), big_endian("I", numbers), bytes(lengths), bytes(len(numbers)), bytes(output))


# Questions about a text: one by one, and in bulk.
#
# The octets of such a vector hold the question's number, its argument as u32, and the text; its category is the
# question's name. What is right stands in overlong.reference.questions.


class Asked(NamedTuple):
    """What a payload asks."""

    question: Question
    argument: int
    text: bytes

    @classmethod
    def of(cls, payload: bytes) -> Asked:
        """Raises: IdError: it holds no question that this version knows, or an argument that has no answer."""
        try:
            number, argument = QUESTION.unpack_from(payload)
            found = cls(BY_NUMBER[number], argument, payload[QUESTION.size :])
        except (struct.error, KeyError):
            found = None
        if found is None or found.argument not in found.question.asked(found.text):
            raise IdError(
                "no question: write its number in 2 digits, its argument in 8, and the octets of the text, as in "
                "truncate/0600000003e282ac; 'overlong docs functions' lists them"
            )
        return found

    @property
    def payload(self) -> bytes:
        return QUESTION.pack(self.question.number, self.argument) + self.text

    def right(self, mode: str) -> Right:
        """What is right; ``mode``: the declared one."""
        return right(self.question, self.text, self.argument, mode)

    @property
    def words(self) -> str:
        """``F0 9F 92 A9, limit 3``."""
        argument = f", {self.question.argument} {self.argument}" if self.question.argument else ""
        return spaced_hex(self.text) + argument


def units_of(question: Question, reading: Reading) -> Sequence[int]:
    """The units of the argument before each character, and in all: octets, unless the question says otherwise."""
    if question.written:
        return FORMS[question.written].ends(reading)
    match question.name.removeprefix("truncate-").removeprefix("offset-of-"):
        case "scalars" | "scalar":
            return reading.counts
        case "utf16":
            return reading.units
        case _:
            return reading.ends


def question_of(payload: bytes) -> str:
    """The name of the question that a payload asks; empty if it asks none."""
    try:
        return Asked.of(payload).question.name
    except IdError:
        return ""


def words_of(payload: bytes) -> str:
    """A payload in words; one of a newer version, or of a file that is wrong, in octets."""
    try:
        return Asked.of(payload).words
    except IdError:
        return spaced_hex(payload)


def category_of(operation: str, octets: bytes, other: str) -> str:
    """The category of the vector that holds an operation's input; ``other`` if that is a text to decode."""
    if operation in ASKING and (name := question_of(octets)):
        return name
    return CATEGORY_OF.get(operation, other)


def sample(names: Iterable[str]) -> bytes:
    """The first of some questions, about the letter a; a converter gets more room than it needs."""
    question = QUESTIONS[next(iter(names))]
    return Asked(question, question.asked(b"a")[-1 if question.written else 0], b"a").payload


# Questions about short texts whose octets are of the same classes: a right answer to one is one to all of them.
#
# Two octets are of one class if the automaton takes them to the same states, they announce as many octets, and both or
# neither may continue a character: no mode tells them apart. So the readable oracle answers once for each class of
# texts. Only scalar values differ, and they are read from the text.

SHORT = 3
"""The most octets of such a text: of longer ones, few are of a class that was asked before."""
_HEAD = QUESTION.size
_STEPS = bytes(QUESTIONS[name].number for name in ("next", "previous"))
_CONVERTERS = bytes(question.number for question in QUESTIONS.values() if question.written)


@cache
def classes() -> bytes:
    """For each octet the number of its class."""
    automaton, layout = dialect().automaton, dialect().layout
    keys = [
        (tuple(row[octet] for row in automaton.table), layout.announced(octet), layout.is_tail(octet))
        for octet in range(0x100)
    ]
    found = list(dict.fromkeys(keys))
    return bytes(map(found.index, keys))


def pattern(payload: bytes) -> bytes | None:
    """What a question has in common with others that have the same answer; None if that is nothing."""
    if len(payload) > _HEAD + SHORT or payload[0] in _CONVERTERS:
        return None
    return payload[:_HEAD] + payload[_HEAD:].translate(classes())


def right_numbers(payload: bytes, mode: str) -> Numbers:
    """The right answer to a question; ``mode``: the declared modes."""
    key = pattern(payload)
    if key is None:
        return Asked.of(payload).right(mode).numbers
    known = _RIGHT.get((key, mode))
    if known is None:
        found = Asked.of(payload).right(mode)
        known = _RIGHT[key, mode] = found.numbers, payload[0] in _STEPS and found.of_character
    numbers, is_character = known
    return (_scalar(payload, numbers[-1]), numbers[-1]) if is_character else numbers


_RIGHT = dict[tuple[bytes, str], tuple["Numbers", bool]]()
"""For each class of questions, by the mode: the answer, and whether its first number is a character's."""


def _scalar(payload: bytes, width: int) -> int:
    """The scalar value that a step goes over."""
    argument = int.from_bytes(payload[1:_HEAD], "big")
    start = argument - width if BY_NUMBER[payload[0]] is QUESTIONS["previous"] else argument
    return _value(payload[_HEAD + start : _HEAD + start + width])


@lru_cache(1 << 12)
def _value(character: bytes) -> int:
    return read(character).pieces[0].scalar


def answers_to(payloads: Iterable[bytes], mode: str) -> Answers:
    """The answers of a right function to many payloads, in the wire format."""
    found = [right_numbers(payload, mode) for payload in payloads]
    count = len(found)
    numbers = big_endian("I", list(map(len, found)))
    return Answers.of(
        ACCEPTED * count, numbers, bytes(count), bytes(count), NUMBERS.write([each for one in found for each in one])
    )

"""The reference decoder, one primitive and two decoders that fold over it; and the encoder.

:func:`segments` reads piece after piece from an offset on, and reports the length of each: a well-formed
character, or a maximal subpart of an ill-formed sequence. It follows the automaton until a character is
complete or cannot be completed any more. Nothing else in the project decides what is well-formed.

For the encoder, the layout gives the octets, and the grammar decides whether they are well-formed.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from overlong.reference.defect import classify
from overlong.reference.dialect import Dialect, dialect
from overlong.reference.error_mode import (
    ESCAPES,
    Fold,
    IllFormed,
    MaximalSubpart,
    Segment,
    Swallowed,
    WellFormed,
    error_mode_named,
)
from overlong.reference.order import LEAD_SURROGATES, SIGNATURE, TRAIL_SURROGATES, from_utf16, joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.reference.error_mode import ErrorMode, Taken


class Decoded(NamedTuple):
    """The octets were decoded to these scalar values."""

    scalars: tuple[int, ...]


class Rejected(NamedTuple):
    """The octets were refused: where, how many octets, and whether more input might have helped."""

    offset: int
    length: int
    incomplete: bool


Outcome = Decoded | Rejected


def segments(octets: bytes, offset: int = 0, spoken: Dialect | None = None) -> Iterator[Segment]:
    """The input from ``offset`` on as segments, without gap or overlap."""
    spoken = spoken or dialect()
    found = _sequences(octets, offset, spoken)
    if spoken.rule.joins_pairs:
        found = _with_pairs_joined(found)
    return _without_signature(found) if spoken.rule.drops_signature else found


_new: Any = cast("Any", tuple).__new__
"""Makes a NamedTuple of all its fields. Its own constructor is written in Python, and takes twice as long."""


def _sequences(octets: bytes, offset: int, spoken: Dialect) -> Iterator[Segment]:
    automaton, number = spoken.automaton, spoken.layout.number
    table, accepting, dead = automaton.table, automaton.accepting, automaton.dead
    size = len(octets)
    between = 0  # the state between characters: wtf-8 has two
    while offset < size:
        state, end = table[between][octets[offset]], offset + 1
        while not accepting[state] and state != dead and end < size:
            following = table[state][octets[end]]
            if following == dead:
                break
            state, end = following, end + 1
        if accepting[state]:
            yield _new(WellFormed, (offset, end - offset, number(octets[offset:end]), False))
            between = state
        else:
            defect = classify(octets[offset:end], octets[end : end + 1], hopeless=state == dead)
            yield _new(MaximalSubpart, (offset, end - offset, end == size and state != dead, defect))
            between = 0
        offset = end


def _with_pairs_joined(found: Iterable[Segment]) -> Iterator[Segment]:
    """A lead surrogate and the trail surrogate after it as one character."""
    lead: WellFormed | None = None
    for each in found:
        if lead is not None:
            if isinstance(each, WellFormed) and each.scalar in TRAIL_SURROGATES:
                yield WellFormed(lead.offset, lead.length + each.length, joined(lead.scalar, each.scalar))
                lead = None
                continue
            yield lead
            lead = None
        if isinstance(each, WellFormed) and each.scalar in LEAD_SURROGATES:
            lead = each
        else:
            yield each
    if lead is not None:
        yield lead


def _without_signature(found: Iterable[Segment]) -> Iterator[Segment]:
    for each in found:
        signature = isinstance(each, WellFormed) and each.offset == 0 and each.scalar == SIGNATURE
        yield each._replace(silent=True) if signature and isinstance(each, WellFormed) else each


def taken(octets: bytes, error_mode: ErrorMode, spoken: Dialect | None = None, owed: int = 0) -> Iterator[Taken]:
    """The input as an error mode reads it: its segments, and the octets that the mode swallows with them.

    ``owed``: the number of octets that the mode still swallows at the start.
    """
    if not error_mode.swallows:
        yield from segments(octets, spoken=spoken)
        return
    place = 0
    while place < len(octets):
        if owed:
            swallowed = Swallowed(place, min(owed, len(octets) - place))
            yield swallowed
            owed -= swallowed.length
            place += swallowed.length
        for found in segments(octets, place, spoken):
            yield found
            place = found.offset + found.length
            if isinstance(found, MaximalSubpart) and error_mode.absorbs is not None:
                owed = error_mode.absorbs(found, octets[found.offset])
                if owed:
                    break


def segment(octets: bytes, offset: int = 0, spoken: Dialect | None = None) -> Segment:
    """The segment at ``offset``.

    Raises:
        IndexError: ``offset`` is not inside ``octets``.
    """
    if not 0 <= offset < len(octets):
        raise IndexError(f"offset {offset} is not inside {len(octets)} octets")
    return next(segments(octets, offset, spoken))


def fold(octets: bytes, error_mode: ErrorMode, spoken: Dialect | None = None) -> Iterator[int]:
    """The scalar values of ``octets`` under an error mode.

    Raises:
        IllFormed: the mode refuses, and a segment is ill-formed.
    """
    return chain.from_iterable(error_mode.outputs(taken(octets, error_mode, spoken), octets))


def is_well_formed(octets: bytes, spoken: Dialect | None = None) -> bool:
    """True if ``octets`` match the grammar's start rule (RFC 3629 section 4)."""
    return (spoken or dialect()).automaton.accepts(octets)


def outcome(octets: bytes, error_mode: str = "fatal", spoken: Dialect | None = None) -> Outcome:
    """The answer required of a decoder, as a value.

    Raises:
        ValueError: there is no such error mode.
    """
    try:
        return Decoded(decode_scalars(octets, error_mode, spoken))
    except IllFormed as error:
        return Rejected(error.offset, error.length, error.incomplete)


def decode_scalars(octets: bytes, error_mode: str = "fatal", spoken: Dialect | None = None) -> tuple[int, ...]:
    """The numbers that octets encode, also those that no ``str`` can hold (rfc2279).

    Raises:
        IllFormed: the octets are ill-formed and ``error_mode`` is ``"fatal"``.
        ValueError: there is no such error mode.
    """
    return tuple(fold(octets, error_mode_named(error_mode), spoken))


def decode(octets: bytes, error_mode: str = "fatal") -> str:
    """The text that UTF-8 octets encode.

    Raises:
        IllFormed: the octets are ill-formed and ``error_mode`` is ``"fatal"``.
        ValueError: there is no such error mode.
    """
    return "".join(map(chr, decode_scalars(octets, error_mode)))


_OWED = 8  # more than a fold can owe; the remainder 7 stands for -1, "everything"


class IncrementalDecoder:
    """Decodes a stream of chunks, however it is cut (the protocol of :class:`codecs.IncrementalDecoder`).

    The text of all chunks together is that of the whole input. An ill-formed sequence is refused or
    replaced in the first chunk that shows it; only octets that may still become a character are kept back.
    """

    def __init__(self, error_mode: str = "fatal") -> None:
        """Raises: ValueError: there is no such error mode."""
        self._error_mode = error_mode_named(error_mode)
        self.reset()

    def reset(self) -> None:
        """Forget everything: the next chunk begins a new stream."""
        self._pending = b""
        self._offset = 0  # of the pending octets, in the stream
        self._owed = 0  # of the error mode: see Fold

    def getstate(self) -> tuple[bytes, int]:
        """The octets kept back; and a number that holds their offset in the stream and the state of the error mode."""
        return self._pending, self._offset * _OWED + self._owed % _OWED

    def setstate(self, state: tuple[bytes, int]) -> None:
        """Go back to what :meth:`getstate` returned."""
        self._pending, number = state
        self._offset, owed = divmod(number, _OWED)
        self._owed = owed - _OWED if owed == _OWED - 1 else owed

    def decode(self, chunk: bytes, final: bool = False) -> str:  # noqa: FBT001, FBT002 (the codecs protocol)
        """The text that ``chunk`` completes; with ``final``, nothing is kept back.

        Raises:
            IllFormed: with the offset in the stream. The decoder is then as it was before the call.
        """
        octets = self._pending + chunk
        found = list(taken(octets, self._error_mode, owed=self._owed))
        kept = b""
        if found and not final and isinstance(found[-1], MaximalSubpart) and found[-1].incomplete:
            kept = octets[found.pop().offset :]
        mode = Fold(self._error_mode, self._owed)
        try:
            text = "".join(chr(scalar) for each in found for scalar in mode.put_out(each, octets))
        except IllFormed as error:
            raise IllFormed(self._offset + error.offset, error.length, error.incomplete, error.defect) from None
        self._offset += len(octets) - len(kept)
        self._pending = kept
        self._owed = mode.owed
        return text


class NotEncodable(ValueError):
    """A number that the dialect cannot encode: a surrogate, or a number beyond the range.

    Attributes:
        number: the number refused.
        index: its place in the input.
    """

    def __init__(self, number: int, index: int) -> None:
        super().__init__(number, index)
        self.number = number
        self.index = index

    def __str__(self) -> str:
        return f"{self.number:X} at index {self.index} is not a Unicode scalar value: it cannot be encoded"


def encode_scalars(scalars: Iterable[int], spoken: Dialect | None = None) -> bytes:
    """The octets of scalar values, in the dialect's one form of each.

    Raises:
        NotEncodable: one of them is no scalar value of the dialect.
    """
    spoken = spoken or dialect()
    automaton, state = spoken.automaton, 0
    result = bytearray()
    for index, scalar in enumerate(scalars):
        octets = spoken.layout.encode(scalar)
        if octets is None or not automaton.accepting[state := automaton.run(octets, state)]:
            raise NotEncodable(scalar, index)  # alone, or after the ones before: in wtf-8, half of a pair
        result += octets
    return bytes(result)


def encode_utf16(units: Sequence[int], spoken: Dialect | None = None) -> bytes:
    """The octets of UTF-16 code units; a pair is one character (RFC 3629 section 3).

    Raises:
        NotEncodable: a surrogate stands alone, and the dialect has no octets for it; ``index`` counts code units.
    """
    result = bytearray()
    for place, scalar in from_utf16(units):
        try:
            result += encode_scalars([scalar], spoken)
        except NotEncodable as error:
            raise NotEncodable(error.number, place) from None
    return bytes(result)


def encode_escaped(scalars: Iterable[int]) -> bytes:
    """The octets whose decoding in the error mode ``utf-8b`` gives ``scalars``: its inverse, for every input (PEP 383).

    Raises:
        NotEncodable: that mode never puts out one of the values.
    """
    result = bytearray()
    for index, scalar in enumerate(scalars):
        if scalar - ESCAPES in range(0x80, 0x100):
            result.append(scalar - ESCAPES)
        else:
            try:
                result += encode_scalars([scalar])
            except NotEncodable:
                raise NotEncodable(scalar, index) from None
    return bytes(result)


def encode(text: str) -> bytes:
    """The UTF-8 octets of a text (RFC 3629 section 3).

    Raises:
        NotEncodable: the text holds a surrogate.
    """
    return encode_scalars(map(ord, text))

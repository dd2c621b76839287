"""A vector: octets for a decoder, and the expected answer."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Protocol

from overlong.conformance.vectors.dividing import first_flaw, replaced
from overlong.conformance.vectors.profile import RFC3629, Profile
from overlong.reference import Decoded, MaximalSubpart, Outcome, Rejected, Segment, dialect, is_well_formed, segments
from overlong.reference.decoder import taken

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.reference import Dialect
    from overlong.reference.error_mode import Taken
    from overlong.reference.grammar import Alternative

LONGEST_HEX = 40
"""The most octets that an id spells out; ids of longer inputs have a digest."""
LONGEST_EARLIER = 1 << 12
"""The most octets of an earlier stream that an id spells out; longer ones have a digest of the whole vector."""
FOUND, SWEPT = "fuzz", "sweep"
"""The categories of vectors that a campaign or a sweep found; no suite has such vectors."""


class Input(Protocol):
    """What a target is given: a vector, or what is kept of one."""

    @property
    def octets(self) -> bytes: ...
    @property
    def chunks(self) -> tuple[int, ...] | None: ...
    @property
    def earlier(self) -> tuple[bytes, ...] | None: ...


class IdError(ValueError):
    """A vector id that names no vector; the message says what to write."""


def vector_id(category: str, octets: bytes, chunks: Sequence[int] | None = None) -> str:
    """``category/hex``, with a dot at each chunk boundary; for a long input, a digest prefix."""
    if len(octets) > LONGEST_HEX:
        name = f"{category}/sha256-{_digest(octets)}"
        if chunks is None:
            return name
        lengths = ".".join(map(str, chunks))
        return f"{name}.{lengths if len(lengths) <= LONGEST_HEX else f'sha256-{_digest(lengths.encode())}'}"
    if chunks is None:
        return f"{category}/{octets.hex() or 'empty'}"
    return f"{category}/{'.'.join(piece.hex() for piece in cut(octets, chunks)) or 'empty'}"


def _digest(octets: bytes) -> str:
    return hashlib.sha256(octets).hexdigest()[:16]


def cut(octets: bytes, chunks: Sequence[int]) -> list[bytes]:
    """``octets`` in pieces of these lengths."""
    pieces, place = list[bytes](), 0
    for length in chunks:
        pieces.append(octets[place : place + length])
        place += length
    return pieces


@dataclass(frozen=True)
class Provenance:
    """A rule of the grammar, and one of its alternatives; empty if no single one applies."""

    rule: str
    alternative: str


@dataclass(frozen=True)
class Vector:
    """One input. The expected answers come from the reference; none is written by hand."""

    category: str
    octets: bytes
    comment: str = ""
    chunks: tuple[int, ...] | None = None
    cases: tuple[str, ...] = ()
    """``category/name`` of the cases that built it: alternative names, which all vectors of a case share."""
    decoder: str = ""
    """Decoders that got the vector wrong."""
    references: tuple[str, ...] = ()
    profile: Profile = RFC3629
    earlier: tuple[bytes, ...] | None = None
    """The chunks of another stream, which the same decoder has decoded before this one."""

    @property
    def id(self) -> str:
        if sum(map(len, self.earlier or ())) > LONGEST_EARLIER:
            return f"{self.category}/sha256-{_digest(self.in_full.encode())}"
        name = vector_id(self.category, self.octets, self.chunks)
        if self.earlier is None:
            return name
        category, _, text = name.partition("/")
        return f"{category}/{'.'.join(chunk.hex() for chunk in self.earlier)}+{text}"

    @property
    def apart(self) -> object:
        """The key that distinguishes the vector from others of its suite."""
        whole = self.chunks is None and self.earlier is None
        return self.octets if whole else (self.octets, self.chunks, self.earlier)

    @property
    def in_full(self) -> str:
        """Its id with every octet, even if long; :meth:`from_id` reads it without any suite."""
        chunks = (len(self.octets),) if self.chunks is None else self.chunks
        text = ".".join(piece.hex() for piece in cut(self.octets, chunks)) or "empty"
        earlier = "" if self.earlier is None else f"{'.'.join(chunk.hex() for chunk in self.earlier)}+"
        return f"{self.category}/{earlier}{text}"

    @classmethod
    def from_id(cls, identifier: str) -> Vector:
        """The vector that a short id or plain hexadecimal octets spell.

        Raises:
            IdError: the text is neither; the message says what to write.
        """
        category, slash, text = identifier.rpartition("/")
        if not slash:
            category = "input"
        if text == "empty":
            return cls(category, b"")
        first, plus, second = text.rpartition("+")

        def chunks_of(pieces: str) -> list[bytes]:
            if pieces == "empty":
                return [b""]
            return [bytes.fromhex(re.sub(r"[\s:_-]", "", piece)) for piece in pieces.split(".")]

        try:
            chunks, earlier = chunks_of(second), tuple(chunks_of(first)) if plus else None
        except ValueError:
            raise IdError(
                f"{identifier!r} is no vector id: write category/hex as in a report, or octets: E080AF"
            ) from None
        if not identifier.strip():
            raise IdError("an empty vector id: write category/hex as in a report, or octets: E080AF")
        whole = len(chunks) == 1 and earlier is None
        return cls(category, b"".join(chunks), chunks=None if whole else tuple(map(len, chunks)), earlier=earlier)

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        return segments_of(self.octets, self.profile)

    @cached_property
    def taken(self) -> tuple[Taken, ...]:
        """The octets as the profile's error mode reads them: :attr:`segments`, unless the mode swallows some."""
        return _taken(self.octets, self.profile) if self.profile.mode.swallows else self.segments

    @cached_property
    def outputs(self) -> tuple[tuple[int, ...], ...]:
        """The output for each of :attr:`taken` in the profile's error mode."""
        return _outputs(self.octets, self.profile)

    @cached_property
    def _found(self) -> MaximalSubpart | tuple[int, ...]:
        """The first maximal subpart; the scalar values if there is none."""
        return first_flaw(self.octets, self.profile.dialect)

    @property
    def flaw(self) -> MaximalSubpart | None:
        """The first maximal subpart, if there is one."""
        return self._found if isinstance(self._found, MaximalSubpart) else None

    @property
    def strict(self) -> Outcome:
        """The expected answer of a strict decoder."""
        if isinstance(self._found, MaximalSubpart):
            place, length, incomplete, _ = self._found
            return Rejected(self.profile.offset(self.octets, place), length, incomplete)
        return Decoded(self._found)

    @cached_property
    def replaced(self) -> Decoded:
        """The expected answer in the profile's error mode: by default, U+FFFD for each maximal subpart."""
        return Decoded(tuple(replaced(self.octets, self.profile.mode, self.profile.dialect)))

    @property
    def pieces(self) -> tuple[int, ...]:
        """The lengths of its chunks; without chunks, each octet counts as one."""
        return (1,) * len(self.octets) if self.chunks is None else self.chunks

    @cached_property
    def known(self) -> tuple[int, ...]:
        """The number of :attr:`taken` that are known after each of :attr:`pieces`; only the end shows the rest."""
        result: list[int] = []
        moments = [known_at(self.octets, found, self.profile.dialect) for found in self.taken]
        read = place = 0
        for length in self.pieces:
            read += length
            while place < len(moments) and (moments[place] or read + 1) <= read:
                place += 1
            result.append(place)
        return tuple(result)

    @property
    def released(self) -> Iterator[tuple[int | None, int | None]]:
        """Which of :attr:`taken` are known after each of :attr:`pieces`, from and to, and which only the end shows."""
        ends: tuple[int | None, ...] = (*self.known, None)
        return pairwise((0, *ends))

    @property
    def chunked(self) -> tuple[tuple[int, ...], ...]:
        """The output of a replacing decoder after each of :attr:`pieces`, and at the end.

        The decoder holds nothing back: it puts out a character when the last octet has come, and U+FFFD as soon as an
        octet shows the end of a maximal subpart.
        """
        return tuple(tuple(chain.from_iterable(self.outputs[start:end])) for start, end in self.released)

    @property
    def put_out(self) -> tuple[int, ...]:
        """The number of scalar values that a replacing decoder has put out after each of :attr:`pieces`."""
        return tuple(accumulate(map(len, self.chunked[:-1])))

    @property
    def detectable_at(self) -> int | None:
        """The number of octets that a decoder must read to know that the input is ill-formed.

        None if the input is well-formed, or if only its end shows the flaw.
        """
        return None if self.flaw is None else known_at(self.octets, self.flaw, self.profile.dialect)

    @property
    def flags(self) -> tuple[str, ...]:
        """The codes of its faults: the defect of its first flaw."""
        return () if self.flaw is None else (self.flaw.defect.code,)

    @property
    def provenance(self) -> Provenance | None:
        """Its place in the grammar; None for an empty input."""
        if not self.octets:
            return None
        spoken = self.profile.dialect
        text, character = next(iter(spoken.unfolded.open[0])).trail[:2]
        if self.flaw is None:
            forms = list(dict.fromkeys(form_at(self.octets, found.offset, spoken) for found in self.segments))
            form = forms[0] if len(forms) == 1 else text
        else:
            form = form_at(self.octets, self.flaw.offset, spoken)
        return Provenance(character.rule, "") if form is None else Provenance(form.rule, form.text)

    @cached_property
    def values(self) -> tuple[bytes, ...]:
        """Its chunks, as the values of a list; without chunks, one value."""
        return (self.octets,) if self.chunks is None else tuple(cut(self.octets, self.chunks))

    @cached_property
    def flawed_value(self) -> int | None:
        """The index, from 0, of the first of :attr:`values` that is ill-formed on its own; None if there is none."""
        return next((place for place, value in enumerate(self.values) if _is_flawed(value, self.profile)), None)


@lru_cache(maxsize=64)  # an input that is cut in many ways comes many times in a row
def segments_of(octets: bytes, profile: Profile) -> tuple[Segment, ...]:
    """The segments of an input, cached for the last few inputs: a long one takes a tenth of a second."""
    return tuple(segments(octets, spoken=profile.dialect))


@lru_cache(maxsize=1 << 10)  # few values stand in many lists
def _is_flawed(octets: bytes, profile: Profile) -> bool:
    return not is_well_formed(octets, profile.dialect)


@lru_cache(maxsize=64)
def _taken(octets: bytes, profile: Profile) -> tuple[Taken, ...]:
    return tuple(taken(octets, profile.mode, profile.dialect))


@lru_cache(maxsize=64)
def _outputs(octets: bytes, profile: Profile) -> tuple[tuple[int, ...], ...]:
    found = _taken(octets, profile) if profile.mode.swallows else segments_of(octets, profile)
    return tuple(profile.mode.outputs(found, octets))


def form_at(octets: bytes, offset: int, spoken: Dialect | None = None) -> Alternative | None:
    """The grammar's alternative of the character at ``offset``: the only one that its octets can belong to.

    None if the octets there begin no character, or could belong to several alternatives.
    """
    automaton = (spoken or dialect()).unfolded
    forms: set[Alternative] = set()
    state = 0
    for octet in octets[offset:]:
        positions = [position for position in automaton.open[state] if octet in position.octets]
        if not positions:
            break
        forms = {position.form for position in positions}
        state = automaton.table[state][octet]
        if automaton.accepting[state]:
            break
    return forms.pop() if len(forms) == 1 else None


def known_at(octets: bytes, found: Taken, spoken: Dialect | None = None) -> int | None:
    """The number of octets that a decoder must read to know ``found``; None if only the end of the input shows it."""
    end = found.offset + found.length
    if not isinstance(found, MaximalSubpart):
        return end
    if found.incomplete:
        return None
    automaton = (spoken or dialect()).automaton
    return end if automaton.run(octets[found.offset : end]) == automaton.dead else end + 1

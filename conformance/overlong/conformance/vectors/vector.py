"""A vector: octets to give to a decoder, and what must come back."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING

from overlong.conformance.vectors.profile import RFC3629, Profile
from overlong.reference import (
    Decoded,
    MaximalSubpart,
    Outcome,
    Rejected,
    Segment,
    dialect,
    is_well_formed,
    segments,
)
from overlong.reference.decoder import taken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.reference import Dialect
    from overlong.reference.grammar import Alternative
    from overlong.reference.segment import Taken

LONGEST_HEX = 40
"""Octets that an id spells out; longer inputs are named by digest."""
FOUND = "fuzz"
"""The category of what a campaign found: no suite has such vectors."""


class IdError(ValueError):
    """A vector id that names nothing; the message says what would."""


def vector_id(category: str, octets: bytes, chunks: Sequence[int] | None = None) -> str:
    """``category/hex``, with a dot at each chunk boundary; a digest prefix where that would be long."""
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
    """A rule of the grammar, and which of its alternatives; empty where no single one is meant."""

    rule: str
    alternative: str


@dataclass(frozen=True)
class Vector:
    """One input. What a right decoder answers is read off the reference, never stored by hand."""

    category: str
    octets: bytes
    comment: str = ""
    chunks: tuple[int, ...] | None = None
    cases: tuple[str, ...] = ()
    """``category/name`` of the cases that built it: second names, shared by all vectors of a case."""
    decoder: str = ""
    """The decoders that once got it wrong."""
    references: tuple[str, ...] = ()
    profile: Profile = RFC3629
    earlier: tuple[bytes, ...] | None = None
    """The chunks of another stream, which the same decoder has decoded before this one."""

    @property
    def id(self) -> str:
        name = vector_id(self.category, self.octets, self.chunks)
        if self.earlier is None:
            return name
        category, _, text = name.partition("/")
        return f"{category}/{'.'.join(chunk.hex() for chunk in self.earlier)}+{text}"

    @property
    def apart(self) -> object:
        """What tells it apart from others of its suite."""
        whole = self.chunks is None and self.earlier is None
        return self.octets if whole else (self.octets, self.chunks, self.earlier)

    @property
    def in_full(self) -> str:
        """Its id with every octet, however many: what :meth:`from_id` reads without any suite that has it."""
        chunks = (len(self.octets),) if self.chunks is None else self.chunks
        text = ".".join(piece.hex() for piece in cut(self.octets, chunks)) or "empty"
        earlier = "" if self.earlier is None else f"{'.'.join(chunk.hex() for chunk in self.earlier)}+"
        return f"{self.category}/{earlier}{text}"

    @classmethod
    def from_id(cls, identifier: str) -> Vector:
        """The vector that a short id spells, or that plain hexadecimal octets do.

        Raises:
            IdError: neither; the message says what to write.
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
        """How the profile's error mode takes the octets: :attr:`segments`, unless it swallows some."""
        return _taken(self.octets, self.profile) if self.profile.mode.swallows else self.segments

    @cached_property
    def outputs(self) -> tuple[tuple[int, ...], ...]:
        """What each of :attr:`taken` puts out in the profile's error mode."""
        return _outputs(self.octets, self.profile)

    @cached_property
    def strict(self) -> Outcome:
        """What a strict decoder answers."""
        flaw = self.flaw
        if flaw is not None:
            return Rejected(self.profile.offset(self.octets, flaw.offset), flaw.length, flaw.incomplete)
        return self.replaced

    @cached_property
    def replaced(self) -> Decoded:
        """What a decoder of the profile's error mode answers: U+FFFD for each maximal subpart, if nothing is said."""
        return Decoded(tuple(chain.from_iterable(self.outputs)))

    @property
    def pieces(self) -> tuple[int, ...]:
        """The lengths of its chunks; where it has none, each octet is one."""
        return (1,) * len(self.octets) if self.chunks is None else self.chunks

    @cached_property
    def known(self) -> tuple[int, ...]:
        """How many of :attr:`taken` are known after each of :attr:`pieces`; the rest only the end shows."""
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
    def released(self) -> tuple[tuple[Segment, ...], ...]:
        """The segments that are known after each of :attr:`pieces`, and those that only the end shows.

        For files of vectors, which hold no error mode that swallows.
        """
        return tuple(self.segments[start:end] for start, end in pairwise((0, *self.known, None)))

    @property
    def chunked(self) -> tuple[tuple[int, ...], ...]:
        """What a replacing decoder puts out after each of :attr:`pieces`, and at the end.

        Of a decoder that withholds nothing: a character when its last octet has come, U+FFFD as soon as
        an octet shows that its maximal subpart is one.
        """
        return tuple(
            tuple(chain.from_iterable(self.outputs[start:end])) for start, end in pairwise((0, *self.known, None))
        )

    @property
    def put_out(self) -> tuple[int, ...]:
        """How many scalar values a replacing decoder has put out after each of :attr:`pieces`."""
        return tuple(accumulate(map(len, self.chunked[:-1])))

    @property
    def detectable_at(self) -> int | None:
        """How many octets must be read to know that the input is ill-formed.

        None if it is not, or if only its end shows it.
        """
        return None if self.flaw is None else known_at(self.octets, self.flaw, self.profile.dialect)

    @property
    def flags(self) -> tuple[str, ...]:
        """The codes of what is wrong with it: the defect of its first flaw."""
        return () if self.flaw is None else (self.flaw.defect.code,)

    @property
    def provenance(self) -> Provenance | None:
        """Where in the grammar it comes from; None for an empty input."""
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
        """Its chunks, as the values of a list; one value where it has none."""
        return (self.octets,) if self.chunks is None else tuple(cut(self.octets, self.chunks))

    @cached_property
    def flawed_value(self) -> int | None:
        """Which of :attr:`values` is the first that is ill-formed by itself, counted from 0; None if all are right."""
        return next((place for place, value in enumerate(self.values) if _is_flawed(value, self.profile)), None)

    @cached_property
    def flaw(self) -> MaximalSubpart | None:
        """The first thing that is ill-formed, if any."""
        return next((each for each in self.segments if isinstance(each, MaximalSubpart)), None)


@lru_cache(maxsize=64)  # an input that is cut in many ways comes many times in a row
def segments_of(octets: bytes, profile: Profile) -> tuple[Segment, ...]:
    """The segments of an input, kept of the last few: a long one takes a tenth of a second."""
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
    """The grammar's alternative of the character at ``offset``: the one that its octets can belong to.

    None where the octets there begin no character, or could begin several.
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
    """How many octets must be read to know what ``found`` is; None if only the end of the input shows it."""
    end = found.offset + found.length
    if not isinstance(found, MaximalSubpart):
        return end
    if found.incomplete:
        return None
    automaton = (spoken or dialect()).automaton
    return end if automaton.run(octets[found.offset : end]) == automaton.dead else end + 1

"""A vector: octets for a decoder with a stable id, the profile that is the yardstick, and the expected answers.

:func:`record` gives a vector as plain data, with every expectation; ``schemas/vectors-1.schema.json`` describes it.
Ids are added or withdrawn; no id ever changes its meaning.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Any, Protocol

from overlong.conformance.protocol.wire import ASK, ENCODING, REPLACING
from overlong.reference import (
    ERROR_MODES,
    Decoded,
    Dialect,
    ErrorMode,
    MaximalSubpart,
    Outcome,
    Rejected,
    Segment,
    WellFormed,
    decode_scalars,
    dialect,
    is_well_formed,
    segments,
)
from overlong.reference.decoder import taken
from overlong.reference.defect import DEFECTS, FOREIGN
from overlong.reference.error_mode import REPLACEMENT_CHARACTER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from overlong.conformance.protocol.greeting import Greeting
    from overlong.reference.error_mode import Taken
    from overlong.reference.grammar import Alternative

SUITE_VERSION = "1.2.0"
"""Version of the vectors. A new vector raises the second number; no id ever changes its meaning."""

LICENCE = "CC0-1.0"
"""Licence of every exported file: anyone may vendor it."""

SCHEMA = "overlong/vectors-1"
FIRST = "1.0.0"
"""The first version: that of the ids of computed suites."""

LONGEST_HEX = 40
"""The most octets that an id spells out; ids of longer inputs have a digest."""
LONGEST_EARLIER = 1 << 12
"""The most octets of an earlier stream that an id spells out; longer ones have a digest of the whole vector."""
FOUND, SWEPT = "fuzz", "sweep"
"""The categories of vectors that a campaign or a sweep found; no suite has such vectors."""


def puts_out(error_mode: str) -> bool:
    """True for a known error mode that replaces or skips: only then can all answers to L and T be judged."""
    mode = ERROR_MODES.get(error_mode)
    return mode is not None and mode.stands_for is not None


@dataclass(frozen=True)
class Profile:
    """A dialect and an error mode, by name."""

    speaks: str = "rfc3629"
    replaces: str = "replacement"
    encodes: str = "fatal"
    """The error mode of its encoder: ``fatal``, ``replacement`` or ``question mark``."""
    own_mode: str = ""
    """The target's name of an error mode unknown to overlong; empty if :attr:`replaces` is its mode."""
    counts: str = "octets"
    """The unit of a refusal's offset: ``octets``, ``scalars``, or ``utf-16`` code units."""
    functions: str = ""
    """The names of the questions that it answers, with spaces between; empty: all."""
    divides: str = ""
    """The declared modes of its functions: for ill-formed text, and of converters; empty if none is declared."""

    @property
    def name(self) -> str:
        """The name in a certificate; its number is that of the frozen list of vectors."""
        return f"{self.speaks}@1"

    def as_said(self, greeting: Greeting) -> Profile:
        """The profile of a target with this greeting; an unknown error mode leaves :attr:`replaces` unchanged."""
        of_units = {"utf-8": "octets", "utf-16": "utf-16", "utf-32": "scalars"}
        known = puts_out(greeting.error_mode)
        return replace(
            self,
            replaces=greeting.error_mode if known else self.replaces,
            own_mode="" if known else greeting.error_mode or "unnamed",
            encodes=greeting.encode_errors,
            counts=of_units[greeting.units.name] if greeting.offsets == "units" else greeting.offsets,
            functions=" ".join(greeting.functions),
            divides=f"{greeting.ill_formed} {greeting.stops}".strip(),
        )

    def offset(self, octets: bytes, place: int) -> int:
        """An offset in octets, converted to the target's unit; the octets before it are well-formed."""
        if self.counts == "octets":
            return place
        scalars = decode_scalars(octets[:place], spoken=self.dialect)
        return len(scalars) + (sum(scalar > 0xFFFF for scalar in scalars) if self.counts == "utf-16" else 0)

    def as_it_matters(self, operation: str) -> Profile:
        """The profile without the fields that do not affect an operation: these are as in :data:`RFC3629`."""
        return Profile(
            self.speaks,
            self.replaces if operation in REPLACING else RFC3629.replaces,
            self.encodes if operation in ENCODING else RFC3629.encodes,
            counts=RFC3629.counts if operation in REPLACING + ENCODING + ASK else self.counts,
            divides=self.divides if operation == ASK else RFC3629.divides,
        )

    @property
    def dialect(self) -> Dialect:
        return dialect(self.speaks)

    @property
    def mode(self) -> ErrorMode:
        return ERROR_MODES[self.replaces]


RFC3629 = Profile()


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
    def flaw(self) -> MaximalSubpart | None:
        """The first maximal subpart, if there is one."""
        return next((found for found in self.segments if isinstance(found, MaximalSubpart)), None)

    @property
    def strict(self) -> Outcome:
        """The expected answer of a strict decoder."""
        if self.flaw is not None:
            place, length, incomplete, _ = self.flaw
            return Rejected(self.profile.offset(self.octets, place), length, incomplete)
        characters = (found for found in self.segments if not isinstance(found, MaximalSubpart))
        return Decoded(tuple(chain.from_iterable(found.scalars for found in characters)))

    @property
    def replaced(self) -> Decoded:
        """The expected answer in the profile's error mode: by default, U+FFFD for each maximal subpart."""
        return Decoded(tuple(chain.from_iterable(self.outputs)))

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
    def provenance(self) -> tuple[str, str]:
        """The rule of the grammar, and its alternative if a single one applies; both are empty for an empty input."""
        if not self.octets:
            return "", ""
        spoken = self.profile.dialect
        text, character = next(iter(spoken.unfolded.open[0])).trail[:2]
        if self.flaw is None:
            forms = list(dict.fromkeys(form_at(self.octets, found.offset, spoken) for found in self.segments))
            form = forms[0] if len(forms) == 1 else text
        else:
            form = form_at(self.octets, self.flaw.offset, spoken)
        return (character.rule, "") if form is None else (form.rule, form.text)

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


def spelt(*scalars: int) -> str:
    """``002F FFFD``: scalar values as hexadecimal numbers of at least four digits."""
    return " ".join(f"{scalar:04X}" for scalar in scalars)


def scalar_of(found: WellFormed) -> str:
    return f"{found.scalar:04X}"


def record(
    vector: Vector, identifier: str = "", octets: str = "", scalar: Callable[[WellFormed], str] = scalar_of
) -> dict[str, Any]:
    """The vector as plain data.

    Args:
        vector: the vector.
        identifier: text in place of its id; for templates.
        octets: text in place of its octets in hexadecimal.
        scalar: gives the text in place of the scalar value of a segment.
    """
    replaced = spelt(REPLACEMENT_CHARACTER)
    words = [scalar(each) if isinstance(each, WellFormed) else replaced for each in vector.segments]
    output = " ".join(words)
    flaw = vector.flaw
    strict: dict[str, Any]
    if flaw is None:
        strict = {"verdict": "accept", "scalars": output}
    else:
        strict = {
            "verdict": "reject",
            "offset": flaw.offset,
            "length": flaw.length,
            "incomplete": flaw.incomplete,
            "detectable_at": vector.detectable_at,
        }
    # no error mode of a file swallows octets, so its segments are what is taken
    chunked = [" ".join(words[start:end]) for start, end in vector.released]
    result: dict[str, Any] = {"id": identifier or vector.id, "hex": octets or vector.octets.hex()}
    if vector.chunks is not None:
        result["chunks"] = list(vector.chunks)
    if vector.earlier is not None:
        result["earlier"] = [chunk.hex() for chunk in vector.earlier]
    if vector.comment:
        result["comment"] = vector.comment
    if vector.cases:
        result["cases"] = list(vector.cases)
    if vector.decoder:
        result["decoder"] = vector.decoder
    if vector.references:
        result["references"] = list(vector.references)
    rule, alternative = vector.provenance
    if rule:
        result["provenance"] = {"document": "RFC 3629", "section": "4", "rule": rule}
        if alternative:
            result["provenance"]["alternative"] = alternative
    expect = {"strict": strict, "replacement": {"scalars": output, "chunked": chunked}}
    return {**result, "flags": list(vector.flags), "since": since(vector.id), "expect": expect}


def document_of(vector: Vector, selection: str) -> dict[str, Any]:
    """A document of one vector; ``selection`` says in words where it is from."""
    return {**about(selection), "notes": {}, "groups": [{"category": vector.category, "tests": [record(vector)]}]}


def notes() -> dict[str, dict[str, Any]]:
    """The meaning of each flag: title, effect, weaknesses, known cases."""
    return {
        defect.code: {
            "title": defect.title,
            "text": defect.paragraph,
            "section": defect.section,
            "effect": defect.effect,
            "cwe": list(defect.cwe),
            "cves": list(defect.cves),
            "links": [f"https://cwe.mitre.org/data/definitions/{number}.html" for number in defect.cwe]
            + [f"https://www.cve.org/CVERecord?id={cve}" for cve in defect.cves],
        }
        for defect in DEFECTS.values()
        if defect is not FOREIGN  # files are written for rfc3629, which never has this defect
    }


def notice(selection: str) -> tuple[str, ...]:
    """The first lines of a generated file, which describe it."""
    from overlong.conformance.support.provenance import generator

    return (
        f"UTF-8 test vectors: {selection}. Suite {SUITE_VERSION}, generated by {generator()}. Do not edit.",
        f"Expected answers are those of RFC 3629. Licence: {LICENCE}, public domain.",
    )


def about(selection: str) -> dict[str, str]:
    """The same description as plain data, for formats that have a place for it."""
    from overlong.conformance.support.provenance import generator

    return {
        "schema": SCHEMA,
        "suite": SUITE_VERSION,
        "generator": generator(),
        "licence": LICENCE,
        "selection": selection,
    }


def digest_of_ids(ids: Iterable[str]) -> str:
    """SHA-256 of the sorted ids, each with a line feed: ids spell octets, so the digest fixes the vectors."""
    return hashlib.sha256("".join(f"{each}\n" for each in sorted(ids)).encode("ascii")).hexdigest()


@cache
def withdrawn() -> dict[str, dict[str, str]]:
    """Every id that is no longer used, and never will be, with the ``version`` that withdrew it and the ``reason``."""
    text = (files("overlong.conformance") / "registry" / "withdrawn.json").read_text("ascii")
    return {each["id"]: each for each in json.loads(text)["withdrawn"]}


@cache
def published() -> dict[str, str]:
    """Every id that a named suite ever had, and the version of the suite that added it."""
    text = (files("overlong.conformance") / "registry" / "ids.tsv").read_text("ascii")
    rows = (line.split("\t") for line in text.splitlines())
    return {identifier: version for identifier, version in rows}  # noqa: C416 (names both columns)


def since(identifier: str) -> str:
    """The version of the suite that added the id; ids of computed suites came with the first version."""
    return published().get(identifier, FIRST)

"""Text as pieces, one for each character, with ill-formed octets divided as a mode says; and as code units.

A program that counts characters, or steps from one to the next, must divide ill-formed text in some way, and no
standard says how. A mode names a way that programs have. On well-formed text all modes agree.

Functions that convert from one encoding to another have their text as units of UTF-8, UTF-16, UTF-32 or Latin-1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from overlong.reference.decoder import segment, segments
from overlong.reference.dialect import dialect
from overlong.reference.error_mode import REPLACEMENT_CHARACTER, WellFormed
from overlong.reference.order import LEAD_SURROGATES, TRAIL_SURROGATES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


LARGEST_UNIT = 0xFFFF
"""The largest UTF-16 code unit: a greater scalar value takes two."""


class Piece(NamedTuple):
    """A character, or ill-formed octets that count as one."""

    offset: int
    length: int
    scalar: int
    """Its scalar value; U+FFFD for ill-formed octets."""
    units: int
    """The UTF-16 code units that it counts for."""
    missing: bool
    """The input ended before it did."""
    is_character: bool
    """It is a well-formed character."""

    @property
    def end(self) -> int:
        return self.offset + self.length


def _by_subparts(octets: bytes) -> Iterator[Piece]:
    for each in segments(octets):
        if isinstance(each, WellFormed):
            yield Piece(each.offset, each.length, each.scalar, 1 + (each.scalar > LARGEST_UNIT), False, True)  # noqa: FBT003
        else:
            yield Piece(each.offset, each.length, REPLACEMENT_CHARACTER, 1, each.incomplete, False)  # noqa: FBT003


def _by_octets(octets: bytes) -> Iterator[Piece]:
    for piece in _by_subparts(octets):
        if piece.is_character:
            yield piece
        else:
            yield from (piece._replace(offset=offset, length=1) for offset in range(piece.offset, piece.end))


def _by_tails(octets: bytes) -> Iterator[Piece]:
    layout = dialect().layout
    starts = [offset for offset, octet in enumerate(octets) if not layout.is_tail(octet)]
    for start, end in zip(starts, [*starts[1:], len(octets)], strict=False):
        yield _announced(octets, start, end - start)


def _by_leads(octets: bytes) -> Iterator[Piece]:
    layout, offset = dialect().layout, 0
    while offset < len(octets):
        row = layout.announced(octets[offset])
        length = min(len(row.templates) if row else 1, len(octets) - offset)
        yield _announced(octets, offset, length)
        offset += length


def _announced(octets: bytes, offset: int, length: int) -> Piece:
    """A piece of which only the lead was looked at."""
    found = segment(octets[offset : offset + length])
    row = dialect().layout.announced(octets[offset])
    is_character = isinstance(found, WellFormed) and found.length == length
    return Piece(
        offset,
        length,
        found.scalar if isinstance(found, WellFormed) and is_character else REPLACEMENT_CHARACTER,
        1 + (row is not None and row.numbers.stop > LARGEST_UNIT + 1),
        row is not None and offset + length == len(octets) and length < len(row.templates),
        is_character,
    )


MODES = {
    "maximal-subparts": "each maximal subpart counts as one (Unicode, D93b; WHATWG)",
    "single-octets": "each octet that belongs to no character counts as one (Go)",
    "tails": "each octet but 80 to BF starts a character, which lasts to the next",
    "announced-length": "each lead is believed, as far as the input goes (utf8 length tables)",
}
"""Ways to divide ill-formed octets, each with a line on it; the recommended one is the first."""
_PIECES = dict(zip(MODES, (_by_subparts, _by_octets, _by_tails, _by_leads), strict=True))
SUBPARTS, LEADS = "maximal-subparts", "announced-length"


@dataclass(frozen=True)
class Reading:
    """Octets as pieces."""

    octets: bytes
    pieces: tuple[Piece, ...]
    mode: str
    """The name of its mode."""

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """The offset of each piece, and the end of the text."""
        return (*(piece.offset for piece in self.pieces), len(self.octets))

    @cached_property
    def starts(self) -> frozenset[int]:
        """The offsets at which a piece begins."""
        return frozenset(self.ends[:-1])

    @cached_property
    def boundaries(self) -> tuple[int, ...]:
        """The offsets at which no piece is cut, ascending: also those of both ends of the text."""
        return tuple(sorted({0, *self.ends}))

    @cached_property
    def units(self) -> Sequence[int]:
        """The UTF-16 code units before each piece, and in all."""
        return tuple(accumulate((piece.units for piece in self.pieces), initial=0))

    @cached_property
    def counts(self) -> Sequence[int]:
        """The pieces before each piece, and in all."""
        return range(len(self.ends))

    @cached_property
    def is_well_formed(self) -> bool:
        return all(piece.is_character for piece in self.pieces)

    def cut(self, offset: int) -> Piece | None:
        """The well-formed character that an offset cuts; None if it cuts none."""
        found = (piece for piece in self.pieces if piece.offset < offset < piece.end)
        return next((piece for piece in found if piece.is_character), None)


def read(octets: bytes, mode: str = SUBPARTS) -> Reading:
    """The octets as that mode divides them.

    Raises:
        KeyError: there is no such mode.
    """
    return _read(octets, mode)


@lru_cache(maxsize=1 << 10)  # a text comes with many questions and arguments
def _read(octets: bytes, mode: str) -> Reading:
    return Reading(octets, tuple(_PIECES[mode](octets)), mode)


_SUPPLEMENTARY = 0x10000


@dataclass(frozen=True)
class Form:
    """A way to write text."""

    name: str
    title: str
    word: str
    """One unit, in words."""
    size: int
    """Octets in a unit."""
    write: Callable[[int], Sequence[int]]
    """The units of a scalar value; none if it has none."""

    def ends(self, text: Reading) -> tuple[int, ...]:
        """The units before each character of a well-formed text, and in all."""
        return _ends(self.name, text.octets, text.mode)

    def units(self, text: Reading) -> tuple[int, ...]:
        """The units of a well-formed text."""
        return _units(self.name, text.octets, text.mode)

    def holds(self, text: Reading) -> bool:
        """True if the text is well-formed, and each of its characters has units."""
        return text.is_well_formed and all(end < after for end, after in pairwise(self.ends(text)))


@lru_cache(maxsize=1 << 6)  # a text comes with many rooms
def _ends(form: str, octets: bytes, mode: str) -> tuple[int, ...]:
    write = FORMS[form].write
    return tuple(accumulate((len(write(piece.scalar)) for piece in read(octets, mode).pieces), initial=0))


@lru_cache(maxsize=1 << 6)
def _units(form: str, octets: bytes, mode: str) -> tuple[int, ...]:
    write = FORMS[form].write
    return tuple(unit for piece in read(octets, mode).pieces for unit in write(piece.scalar))


def _in_octets(scalar: int) -> Sequence[int]:
    return dialect().layout.encode(scalar) or b""


def _in_utf16(scalar: int) -> Sequence[int]:
    if scalar < _SUPPLEMENTARY:
        return (scalar,)
    lead, trail = divmod(scalar - _SUPPLEMENTARY, len(TRAIL_SURROGATES))
    return LEAD_SURROGATES[lead], TRAIL_SURROGATES[trail]


FORMS = {
    form.name: form
    for form in (
        Form("utf-8", "UTF-8", "octet", 1, _in_octets),
        Form("utf-16", "UTF-16", "UTF-16 code unit", 2, _in_utf16),
        Form("utf-32", "UTF-32", "scalar value", 4, lambda scalar: (scalar,)),
        Form("latin-1", "Latin-1", "character of Latin-1", 1, lambda scalar: (scalar,) if scalar <= 0xFF else ()),
    )
}
"""The forms by name."""

"""How one more octet changes a decoder's answer, described in a size that does not grow with the input.

Outputs grow without bound, and machines are finite. So a number put out is described by its source: "the number
of the last three octets", "U+FFFD", "the last octet but one plus DC00". A place is described by its distance.
Both are counted from the end of the input.
"""

from __future__ import annotations

from typing import NamedTuple

from overlong.reference.decoder import Outcome, Rejected, decode_scalars
from overlong.reference.dialect import dialect
from overlong.reference.error_mode import ERROR_MODES, REPLACEMENT_CHARACTER
from overlong.reference.layout import load_layout
from overlong.reference.order import LEAD_SURROGATES, SIGNATURE, TRAIL_SURROGATES, from_utf16, joined

_FAR = 6
"""The number of octets within which the source of an output is sought: the length of the longest sequence."""


FIRST_ABOVE_ASCII = 0x80


class Traced(NamedTuple):
    """A number put out: its source, and how many octets back the source begins. ``back`` is 0 for a constant."""

    made_by: str
    back: int
    number: int = 0


class OutputChange(NamedTuple):
    """The answer loses its last ``dropped`` numbers, then gains others."""

    dropped: int
    added: tuple[Traced, ...]


class Place(NamedTuple):
    """The place of the refusal that a decoder reports; None for each part that it does not report."""

    offset: int
    length: int | None
    incomplete: bool | None


class PlaceChange(NamedTuple):
    """The input is refused, ``back`` octets before its end."""

    back: int
    length: int | None
    incomplete: bool | None


ACCEPTED, REFUSED, REFUSED_AT_THE_END, THE_SAME = "accepted", "refused", "refused at the end", "the same place"
PAIRS_JOINED, SIGNATURE_DROPPED, OTHER_VALUES = (
    "accepted, pairs of surrogates joined",
    "accepted, signature dropped",
    "accepted, other values",
)


def traced(number: int, octets: bytes) -> Traced:
    """The source of a number that was put out when ``octets`` had been read.

    If several sources are possible, the first of: the constant U+FFFD; the last octet, as an error mode maps it; a
    sequence at the end; an octet before the last. So U+0080 to U+00BF are always traced to their last octet.
    """
    if number == REPLACEMENT_CHARACTER:
        return Traced("constant", 0, number)
    backs = range(1, min(_FAR, len(octets)) + 1)
    return (
        _of_octet(number, octets, 1)
        or next((found for back in backs if (found := _of_sequence(number, octets, back))), None)
        or next((found for back in backs if (found := _of_octet(number, octets, back))), None)
        or (Traced("pair", _FAR) if joined_from(octets[-_FAR:]) == number else Traced("constant", 0, number))
    )


def _of_octet(number: int, octets: bytes, back: int) -> Traced | None:
    octet = octets[-back:][:1]
    if octet and octet[0] >= FIRST_ABOVE_ASCII:
        for name in ("iso-8859-1", "utf-8b", "windows-1252"):
            stands_for = ERROR_MODES[name].stands_for
            assert stands_for is not None
            if stands_for(octet) == (number,):
                return Traced(name, back)
    return None


def _of_sequence(number: int, octets: bytes, back: int) -> Traced | None:
    tail = octets[-back:]
    row = load_layout("rfc2279").announced(tail[0])
    if row is not None and len(row.templates) == back and row.fits(tail) and row.number(tail) == number:
        return Traced("octets", back)
    return None


def joined_from(octets: bytes) -> int | None:
    """The supplementary character of two surrogates in three octets each; None for any other octets."""
    row = load_layout("rfc2279").rows[2]
    if len(octets) != 6 or not row.fits(octets[:3]) or not row.fits(octets[3:]):
        return None
    lead, trail = row.number(octets[:3]), row.number(octets[3:])
    return joined(lead, trail) if lead in LEAD_SURROGATES and trail in TRAIL_SURROGATES else None


def output_change(octets: bytes, before: tuple[int, ...], after: tuple[int, ...]) -> OutputChange:
    """The change of the output by the last of ``octets``."""
    kept = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        kept += 1
    return OutputChange(len(before) - kept, tuple(traced(number, octets) for number in after[kept:]))


def place_change(octets: bytes, before: Place | None, after: Place | None) -> PlaceChange | str:
    """The change of the place of refusal by the last of ``octets``; a place of None means accepted."""
    if after is None:
        return ACCEPTED
    if before == after:
        return THE_SAME
    return PlaceChange(len(octets) - after.offset, after.length, after.incomplete)


def verdict(octets: bytes, after: Outcome) -> str:
    """The verdict on ``octets``: accepted or refused, and the scalar rule that applies."""
    if isinstance(after, Rejected):
        return REFUSED
    plain = _read(octets)
    if plain is not None:
        if after.scalars == plain:
            return ACCEPTED
        if after.scalars == tuple(number for _, number in from_utf16(plain)):
            return PAIRS_JOINED
        if plain[:1] == (SIGNATURE,) and after.scalars == plain[1:]:
            return SIGNATURE_DROPPED
    return OTHER_VALUES


def _read(octets: bytes) -> tuple[int, ...] | None:
    """The numbers of sequences whose lengths their lead octets announce; None if ``octets`` are no such sequences."""
    laxest = dialect("lax-rfc2279")
    return decode_scalars(octets, spoken=laxest) if laxest.automaton.accepts(octets) else None

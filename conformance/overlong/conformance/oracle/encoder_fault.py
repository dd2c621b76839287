"""The fault in an encoder's answer: a kind of divergence, and its place."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from overlong.conformance.protocol.greeting import WORDS
from overlong.conformance.protocol.kind import Code
from overlong.conformance.protocol.observation import Accepted, Refused
from overlong.conformance.protocol.wire import ANNOUNCE
from overlong.conformance.support.printable import counted
from overlong.conformance.vectors.expected import pieces, replacement
from overlong.reference import Decoded
from overlong.reference.order import CODE_POINTS, LEAD_SURROGATES, SURROGATES, TRAIL_SURROGATES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.protocol.observation import Observation
    from overlong.conformance.vectors.expected import Piece
    from overlong.conformance.vectors.vector import Vector
    from overlong.reference import Dialect, Outcome

BEYOND, LONE, REVERSED, HALVES, SEVERAL, NOTHING = (
    "number beyond 10FFFF",
    "lone surrogate",
    "reversed pair",
    "the halves of a pair",
    "several characters",
    "no character",
)


_SUPPLEMENTARY = range(0x10000, CODE_POINTS.stop)


def encoder_fault(vector: Vector, operation: str, expected: Outcome, observed: Observation) -> tuple[str, str] | None:
    """The code and the place of a divergence; None if there is none.

    An encoder that replaces may refuse numbers beyond 10FFFF, which few string types can hold. An encoder that
    announces a size may refuse everything that is no scalar value.
    """
    spoken = vector.profile.dialect
    found = tuple(pieces(operation, vector.octets, spoken))
    bad = next((piece for piece in found if piece.octets is None), None)
    match expected, observed:
        case Decoded(octets), Accepted(values) if values == octets:
            return None
        case _, Accepted(values) if operation == ANNOUNCE:
            return Code.SIZE, _name(bad) if bad else _name(found[0]) if len(
                found
            ) == 1 else SEVERAL if found else NOTHING
        case _, Accepted(values):
            return _wrong_octets(found, bytes(values or ()), replacement(vector.profile.encodes, spoken), spoken)
        case _, Refused(offset=offset) if bad is None:
            return Code.SCALAR_REFUSED, _refused(found, offset)
        case _, Refused(offset=offset):
            assert bad is not None
            right = _refusable(found, replaces=isinstance(expected, Decoded), announces=operation == ANNOUNCE)
            if not right:
                return Code.ENCODER_REPLACEMENT, f"{_name(bad)} refused"
            return None if offset is None or offset in right else (Code.REFUSAL_PLACE, _name(bad))
        case _:
            return None


def _refusable(found: Sequence[Piece], *, replaces: bool, announces: bool) -> set[int]:
    """The places at which a refusal is right: the first piece of each sort that may be refused."""
    bad = [piece.place for piece in found if piece.octets is None]
    beyond = [piece.place for piece in found if piece.number not in CODE_POINTS]
    if not replaces:
        return set(bad[:1])
    return {*beyond[:1], *(bad[:1] if announces else ())}


def _wrong_octets(found: Sequence[Piece], rest: bytes, instead: bytes | None, spoken: Dialect) -> tuple[str, str]:
    """The first piece whose octets are not the output's continuation."""
    for place, piece in enumerate(found):
        wanted = instead if piece.octets is None else piece.octets
        if wanted is not None and rest.startswith(wanted):
            rest = rest[len(wanted) :]
            continue
        if piece.octets is not None:
            return (
                (Code.SURROGATE_ENCODED, HALVES)
                if in_halves(piece.number, rest, spoken)
                else (Code.WRONG_OCTETS, _name(piece))
            )
        others = {replacement(each, spoken) or b"" for each in WORDS["encode_errors"]}
        left_out = b"".join(each.octets or b"" for each in found[place:])
        if rest == left_out or any(each and rest.startswith(each) for each in others):
            return Code.ENCODER_REPLACEMENT, _name(piece)
        if piece.number not in SURROGATES:
            return Code.BEYOND_ENCODED, ""
        after = found[place + 1].number if place + 1 < len(found) else 0
        joined = piece.number in TRAIL_SURROGATES and after in LEAD_SURROGATES
        alone = spoken.layout.encode(piece.number)
        return Code.SURROGATE_ENCODED, REVERSED if joined and not (alone and rest.startswith(alone)) else LONE
    return Code.WRONG_OCTETS, _name(found[-1]) if found else NOTHING  # extra output


def in_halves(number: int, written: bytes, spoken: Dialect) -> bool:
    """True if the output begins with two sequences for a supplementary character, as in CESU-8."""
    if number not in _SUPPLEMENTARY:
        return False
    place = number - _SUPPLEMENTARY.start
    lead, trail = (_surrogates_written(spoken)[half] for half in (place >> 10, 0x400 + (place & 0x3FF)))
    return lead is not None and trail is not None and written.startswith(lead + trail)


@lru_cache(maxsize=16)
def _surrogates_written(spoken: Dialect) -> Sequence[bytes | None]:
    """The sequence of each surrogate, leads first; None if the layout has none."""
    return [spoken.layout.encode(each) for each in SURROGATES]


def _refused(found: Sequence[Piece], index: int | None) -> str:
    """The refused character: the one at the reported index, or the first of the longest."""
    if not found:
        return NOTHING
    if index is not None and index >= 0:
        return _name([piece for piece in found if piece.place <= index][-1])
    return _name(max(found, key=lambda piece: len(piece.octets or b"")))


def _name(piece: Piece) -> str:
    if piece.octets is None:
        return LONE if piece.number in SURROGATES else BEYOND
    return f"a character of {counted(len(piece.octets), 'octet')}"

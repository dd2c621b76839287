"""The tables by which the numbers of many characters are found at once (``core/decoding.c``).

Theory of operation. A processor can pick octets from a row of 16, by their places (so do simdutf's decoders, whose
tables are typed in; these are derived). For each four octets of a text, where characters end among them and the three
before tells what to pick: for each character that ends among the four, its octets, brought to four by zeros before
them. It also tells which bits of these belong to the number. The core joins the bits, of many characters at once.

:meth:`Gathering.of` checks that a layout can be read so:

1. A character's length, which is at most four, tells which bits of its octets belong to the number.
2. All octets within characters have equally many of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from overlong.reference.automaton import OCTETS
from overlong.reference.nibbles import MOST

if TYPE_CHECKING:
    from overlong.reference.dialect import Dialect
    from overlong.reference.layout import Row
    from overlong.reference.nibbles import Nibbles

_NOWHERE = b"\x80"
"""The place of a picked zero."""
_ROW = 16
_SEEN = 2 * MOST - 1
"""Four octets, and the three before."""


class Gathering(NamedTuple):
    """The tables, as ``layout`` of ``core/decoding.h`` has them."""

    free: int
    """The count of bits of each octet within a character that belong to the number."""
    single: int
    """The bits of a character's only octet that belong to the number."""
    within: bytes
    """For each upper nibble FF, if its octets stand within characters."""
    picks: bytes
    """For each set of ends the places of 16 octets, and their bits that belong to numbers."""

    @classmethod
    def of(cls, spoken: Dialect, nibbles: Nibbles) -> Gathering:
        """Raises:
        ValueError: the layout does not meet the conditions above.
        """
        rows: dict[int, Row] = {}
        for octet in OCTETS:
            row = spoken.layout.announced(octet)
            if spoken.automaton.table[0][octet] != spoken.automaton.dead and row is not None:
                length = nibbles.length(octet)
                if len(row.templates) != length or rows.setdefault(length, row) != row:
                    raise ValueError("a character's length does not tell which bits belong to its number")
        free = {template.free for row in rows.values() for template in row.templates[1:]}
        if len(free) != 1:
            raise ValueError("octets within characters have different counts of bits that belong to the number")
        return cls(
            free=free.pop(),
            single=rows[1].templates[0].bits(0xFF),
            within=bytes(0xFF * (each > 0) for each in nibbles.within),
            picks=b"".join(_picks(ends, rows) for ends in range(1 << _SEEN)),
        )


def _picks(ends: int, rows: dict[int, Row]) -> bytes:
    places = bits = b""
    begin = 0
    for place in range(_SEEN):
        if not ends >> place & 1:
            continue
        if place >= MOST - 1:  # it is one of the four
            row = rows.get(place + 1 - begin)  # there is no other length
            places += bytes(range(begin, place + 1) if row else ()).rjust(MOST, _NOWHERE)
            bits += bytes(mask for _, mask in (row.free_bits if row else ())).rjust(MOST, b"\0")
        begin = place + 1
    return places.ljust(_ROW, _NOWHERE) + bits.ljust(_ROW, b"\0")

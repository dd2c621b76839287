"""Octets in hexadecimal and in bits, with the marker bits of a lead or tail octet set apart.

The marker bits come from the layout of RFC 2279, the widest form of UTF-8, so its octets are marked, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from overlong.reference import MaximalSubpart
from overlong.reference.decoder import segments
from overlong.reference.layout import load_layout

if TYPE_CHECKING:
    from overlong.reference import Dialect

SHOWN = 24
"""The number of octets drawn of a long input: those around the first ill-formed ones."""
_BEFORE = 6
_LONGEST = 1 << 14  # octets in which the first ill-formed ones are searched


@dataclass(frozen=True)
class Cell:
    """One octet."""

    offset: int
    hex: str
    marker: str
    """The marker bits, which give the kind of octet."""
    free: str
    """The bits of the scalar value."""
    role: str
    """``lead of 3``, ``tail``, ``alone``, ``none``."""
    ill_formed: bool
    """True if the octet is part of a maximal subpart."""
    begins_chunk: bool


@cache
def _parts(octet: int) -> tuple[str, str, str]:
    """The marker bits, the other bits and the role of an octet."""
    bits, layout = f"{octet:08b}", load_layout("rfc2279")
    if layout.is_tail(octet):
        free, role = layout.rows[-1].templates[-1].free, "tail"
    elif (row := layout.announced(octet)) is not None:
        free, length = row.templates[0].free, len(row.templates)
        role = "alone" if length == 1 else f"lead of {length}"
    else:
        free, role = 0, "no UTF-8"
    return bits[: 8 - free], bits[8 - free :], role


def cells_of(octets: bytes, chunks: tuple[int, ...] | None, spoken: Dialect | None) -> tuple[list[Cell], int, int]:
    """The octets to draw, and the numbers of those left out before and after them.

    Args:
        octets: of the input.
        chunks: lengths, if it came in chunks.
        spoken: the dialect that defines which octets are ill-formed; None: mark none.
    """
    begins = set(accumulate((chunks or ())[:-1]))
    wrong: set[int] = set()
    if spoken is not None and len(octets) <= _LONGEST:
        for found in segments(octets, spoken=spoken):
            if isinstance(found, MaximalSubpart):
                wrong.update(range(found.offset, found.offset + found.length))
    first = 0 if len(octets) <= SHOWN else max(0, min(min(wrong, default=0) - _BEFORE, len(octets) - SHOWN))
    shown = octets[first : first + SHOWN]
    cells = [
        Cell(offset, f"{octet:02X}", *_parts(octet), offset in wrong, offset > 0 and offset in begins)
        for offset, octet in enumerate(shown, first)
    ]
    return cells, first, len(octets) - first - len(cells)

# pyright: basic
"""Scalar values of well-formed strings in columns, and how targets write them. All of it is read off layouts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from overlong.reference.layout import load_layout
from overlong.reference.order import CODE_POINTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from overlong.reference.layout import Layout

_LARGEST_UNIT = 0xFFFF
"""Of UTF-16."""


class LayoutRead:
    """A layout, ready to read columns."""

    def __init__(self, layout: Layout) -> None:
        self._rows = layout.rows
        announced = [layout.announced(octet) for octet in range(256)]
        self._row_of = np.array([self._rows.index(row) if row else len(self._rows) for row in announced], np.uint8)

    def scalars_of(self, flat: NDArray[np.uint8]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The numbers of characters in a row, all of them well-formed, and where each begins."""
        rows = self._row_of[flat]
        places = np.flatnonzero(rows < len(self._rows))
        rows = rows[places]
        numbers = np.empty(len(places), np.uint32)
        for which, row in enumerate(self._rows):
            chosen = np.flatnonzero(rows == which)
            if len(chosen):
                value = np.zeros(len(chosen), np.uint32)
                for further, (free, mask) in enumerate(row.free_bits):
                    value = value << np.uint32(free) | flat[places[chosen] + further] & np.uint32(mask)
                numbers[chosen] = value
        return numbers, places


def written(scalars: NDArray[np.uint32], units: str) -> tuple[bytes, NDArray[np.int64]]:
    """Scalar values as they stand on the wire, and how many units each is: as ``protocol.Units.write`` has it."""
    if units == "utf-32":
        return scalars.astype(">u4").tobytes(), np.ones(len(scalars), np.int64)
    return _in_utf16(scalars) if units == "utf-16" else _in_utf8(scalars)


def _in_utf16(scalars: NDArray[np.uint32]) -> tuple[bytes, NDArray[np.int64]]:
    counts = 1 + (scalars > _LARGEST_UNIT).astype(np.int64)
    beyond = scalars >= CODE_POINTS.stop  # stands in no UTF-16: two noncharacters
    known = np.where(beyond, np.uint32(_LARGEST_UNIT + 1), scalars)
    text = known.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    units = np.frombuffer(text.encode("utf-16-be", "surrogatepass"), ">u2").copy()
    if beyond.any():
        starts = (np.cumsum(counts) - counts)[beyond]
        units[starts] = units[starts + 1] = _LARGEST_UNIT
    return units.tobytes(), counts


def _in_utf8(scalars: NDArray[np.uint32]) -> tuple[bytes, NDArray[np.int64]]:
    layout = load_layout("rfc2279")
    counts = np.zeros(len(scalars), np.int64)
    rows = [(row, (scalars >= row.numbers.start) & (scalars < row.numbers.stop)) for row in layout.rows]
    for row, chosen in rows:
        counts[chosen] = len(row.templates)
    starts = np.cumsum(counts) - counts
    octets = np.empty(int(counts.sum()), np.uint8)
    for row, chosen in rows:
        numbers, places = scalars[chosen], starts[chosen]
        for place in reversed(range(len(row.templates))):
            template = row.templates[place]
            octets[places + place] = template.fixed | numbers & np.uint32(template.bits(0xFF))
            numbers = numbers >> np.uint32(template.free)
    return octets.tobytes(), counts

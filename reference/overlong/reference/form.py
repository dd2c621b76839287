"""Text as code units: of UTF-8, UTF-16 and UTF-32, and of Latin-1, for functions that convert from one to another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from overlong.reference.dialect import dialect
from overlong.reference.order import LEAD_SURROGATES, TRAIL_SURROGATES
from overlong.reference.reading import read

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.reference.reading import Reading

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

"""Scalar values from the bit layout of RFC 3629 section 3.

A layout file is the standard's table, unchanged: a range of character numbers, and the octets with an ``x``
for every bit of the number. No other file describes bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_REMEMBERED = 1 << 12
"""The number of sequences whose numbers are cached."""
_OUT = 32
"""The shift for octets that begin a character; the shift of any other octet shares no bit with it."""
_MOVES = 6
"""The bits of an octet's row that say how far it shifts."""


@dataclass(frozen=True, slots=True)
class Template:
    """One octet of a row: which bits are fixed, to what, and which carry the number."""

    fixed: int
    free: int  # low bits that belong to the number

    @classmethod
    def parse(cls, bits: str) -> Template:
        free = bits.count("x")
        if len(bits) != 8 or "x" in bits.rstrip("x") or set(bits) - set("01x"):
            raise ValueError(f"{bits!r} is not eight bits with the free ones last, such as 110xxxxx")
        return cls(int(bits.replace("x", "0"), 2), free)

    def fits(self, octet: int) -> bool:
        return octet >> self.free == self.fixed >> self.free

    def bits(self, octet: int) -> int:
        return octet & (1 << self.free) - 1


@dataclass(frozen=True)
class Row:
    """The numbers that sequences of one length encode, and the octets that do it."""

    numbers: range
    templates: tuple[Template, ...]
    less: int = 0
    """Subtracted from the number before its bits are laid out: 1 0000 where octets spell a UTF-16 pair."""

    @cached_property
    def free_bits(self) -> tuple[tuple[int, int], ...]:
        """For each octet the count of bits that belong to the number, and their mask."""
        return tuple((template.free, template.bits(0xFF)) for template in self.templates)

    def number(self, octets: bytes) -> int:
        """The number in the bits marked x; those of the first octet are the highest."""
        value = 0
        for (free, mask), octet in zip(self.free_bits, octets, strict=True):
            value = value << free | octet & mask
        return value + self.less

    def octets(self, number: int) -> bytes:
        """The inverse of :meth:`number`: the lowest bits go into the last octet (section 3, steps 2 and 3)."""
        result = bytearray()
        number -= self.less
        for template in reversed(self.templates):
            result.append(template.fixed | template.bits(number))
            number >>= template.free
        return bytes(reversed(result))

    def fits(self, octets: bytes) -> bool:
        """True if the fixed bits of ``octets``, which may be too few, are those of the row."""
        return all(template.fits(octet) for template, octet in zip(self.templates, octets, strict=False))

    def reach(self, prefix: bytes) -> range | None:
        """The numbers of sequences that start with ``prefix``; None if the row has no such sequences."""
        if len(prefix) > len(self.templates) or not self.fits(prefix):
            return None
        missing = len(self.templates) - len(prefix)
        tail = b"".join(bytes([template.fixed]) for template in self.templates[len(prefix) :])
        low = self.number(prefix + tail)
        free = sum(template.free for template in self.templates[len(self.templates) - missing :])
        return range(low, low + (1 << free))


@dataclass(frozen=True)
class Layout:
    """The table: a row for each form of sequence."""

    rows: tuple[Row, ...]

    @classmethod
    def parse(cls, text: str, name: str) -> Layout:
        """The layout in ``text``, one row per line: ``LOW-HIGH [less NUMBER] | bits bits …``.

        Raises:
            ValueError: a line is not such a row; the message names the file and the line.
        """
        rows: list[Row] = []
        for number, line in enumerate(text.splitlines(), 1):
            numbers, _, octets = line.partition("|")
            numbers, _, less = numbers.replace(" ", "").partition("less")
            low, _, high = numbers.partition("-")
            try:
                templates = tuple(map(Template.parse, octets.split()))
                if not templates:
                    raise ValueError("no octets; write LOW-HIGH | bits bits")
                rows.append(Row(range(int(low, 16), int(high, 16) + 1), templates, int(less or "0", 16)))
            except ValueError as error:
                raise ValueError(f"{name}:{number}: not a row of a layout: {line!r}: {error}") from error
        return cls(tuple(rows))

    @cached_property
    def _numbers(self) -> dict[bytes, int]:
        """A cache of the first sequences looked up: suites look up few characters, many times."""
        return {}

    @cached_property
    def _of_length(self) -> dict[int, tuple[Row, ...]]:
        lengths = {len(row.templates) for row in self.rows}
        return {length: tuple(row for row in self.rows if len(row.templates) == length) for length in lengths}

    def number(self, octets: bytes) -> int:
        """The number in the bits of a sequence, which may be ill-formed."""
        known = self._numbers.get(octets)
        if known is None:
            rows = self._of_length[len(octets)]
            row = rows[0] if len(rows) == 1 else next((row for row in rows if row.fits(octets)), rows[-1])
            known = row.number(octets)
            if len(self._numbers) < _REMEMBERED:
                self._numbers[octets] = known
        return known

    def announced(self, lead: int) -> Row | None:
        """The row that begins with the octet ``lead``; None for a tail octet and for FE and FF."""
        return next((row for row in self.rows if row.templates[0].fits(lead)), None)

    def is_tail(self, octet: int) -> bool:
        return self.rows[-1].templates[-1].fits(octet)

    def bits_by_octet(self, begins: Sequence[bool]) -> list[int]:
        """For each octet its bits of the number, above six bits that say how far it shifts the bits of earlier octets.

        An octet that begins a character shifts them by 32, out of the number.

        Args:
            begins: for each octet whether it does.

        Raises:
            ValueError: an octet's bits depend on the character that it is in.
        """
        rows: list[int] = []
        for octet, is_first in enumerate(begins):
            if is_first:
                row = self.announced(octet)
                assert row is not None, "a lead octet stands in the layout"
                own = {(_OUT, row.templates[0].bits(octet))}
            else:
                inner = [each for row in self.rows for each in row.templates[1:] if each.fits(octet)]
                own = {(each.free, each.bits(octet)) for each in inner} or {(0, 0)}
            if len(own) > 1:
                raise ValueError(f"the bits of octet {octet:02X} depend on its character")
            ((moves, bits),) = own
            rows.append(bits << _MOVES | moves)
        return rows

    def encode(self, number: int) -> bytes | None:
        """The octets of ``number`` in the one row that includes it; None if there is no such row."""
        row = next((row for row in self.rows if number in row.numbers), None)
        return None if row is None else row.octets(number)


@cache
def load_layout(name: str) -> Layout:
    """The layout of that name among the data files."""
    file = f"{name}.layout"
    return Layout.parse((files("overlong.reference") / "grammars" / file).read_text("ascii"), file)

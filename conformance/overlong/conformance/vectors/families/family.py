"""A family of vectors: functions that build octets. The name is the case; the docstring gives its purpose.

A case is octets, or a tuple of chunks if the place of the cut matters::

    FAMILY.one("inside", well_formed(0x61, 0, 0x62), "NUL inside a text does not end it")


    @FAMILY.case
    def every_tail() -> bytes:
        \"\"\"all 64 tail octets in order\"\"\"
        return bytes(range(0x80, 0xC0))


    @FAMILY.cases("scalar, length", product((0x2F, 0x2E), range(2, 7)))
    def filtered(scalar: int, length: int) -> bytes:
        \"\"\"U+{scalar:04X} in {length:octets}\"\"\"
        return overlong(scalar, length)

Where several families stand in a module, a function's name may begin with its family's, which is no part of the case's
name. A docstring may name the parameters; beside Python's own format specifications, ``octets`` writes a count
("1 octet", "3 octets"). Octets are written in hexadecimal. Below are builders of octets, named after the unlawful move.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import chain
from typing import Any

from overlong.conformance.support.printable import spaced_hex
from overlong.conformance.vectors.vector import Vector
from overlong.reference import dialect, encode_scalars
from overlong.reference.layout import load_layout
from overlong.reference.order import CODE_POINTS, SURROGATES, well_formed_products

Built = bytes | tuple[bytes, ...]
Builder = Callable[..., Built]


def _sentence(text: str, values: Mapping[str, Any]) -> str:
    """A docstring with parameters in it."""

    def counted(place: re.Match[str]) -> str:
        count = values[place[1]]
        return "1 octet" if count == 1 else f"{count} octets"

    text = re.sub(r"{(\w+):octets}", counted, text)
    return text.format(**{name: spaced_hex(each) if isinstance(each, bytes) else each for name, each in values.items()})


@dataclass
class Family:
    """Vectors of one category. ``shows`` is their purpose."""

    category: str
    shows: str
    made: list[Callable[[], Iterable[Vector]]] = field(default_factory=list[Callable[[], Iterable[Vector]]])
    """Each makes the vectors of a case, or of several."""

    def one(self, name: str, built: Built, text: str) -> None:
        """Add one vector, given in one line."""
        self.made.append(partial(self._case, name, text, lambda: built, ({},)))

    def case(self, builder: Builder) -> Builder:
        """Add the vector of a function."""
        return self._registered(builder, ({},))

    def cases(self, names: str, values: Iterable[Any]) -> Callable[[Builder], Builder]:
        """Add a vector for each of ``values``; ``names`` are the parameters, separated by commas, as in pytest."""
        keys = [name.strip() for name in names.split(",")]
        rows = [dict(zip(keys, value if len(keys) > 1 else (value,), strict=True)) for value in values]
        return lambda builder: self._registered(builder, rows)

    def _registered(self, builder: Builder, parameters: Sequence[Mapping[str, Any]]) -> Builder:
        name = builder.__name__.strip("_").replace("_", "-").removeprefix(f"{self.category}-")
        text = " ".join((inspect.getdoc(builder) or "").split())
        self.made.append(partial(self._case, name, text, builder, parameters))
        return builder

    def _case(
        self, name: str, text: str, builder: Builder, parameters: Sequence[Mapping[str, Any]]
    ) -> Iterator[Vector]:
        for values in parameters:
            built = builder(**values)
            yield Vector(
                self.category,
                b"".join(built) if isinstance(built, tuple) else built,
                _sentence(text, values),
                tuple(map(len, built)) if isinstance(built, tuple) else None,
                cases=(f"{self.category}/{name}",),
            )

    def vectors(self) -> Iterator[Vector]:
        """The family's vectors, in the order of the source."""
        return chain.from_iterable(make() for make in self.made)


# Builders of octets for cases: ill-formed ones in RFC 2279's layout, and the ends of the grammar's ranges.


def well_formed(*scalars: int) -> bytes:
    """The lawful move, for contrast."""
    return encode_scalars(scalars)


def overlong(scalar: int, length: int) -> bytes:
    """``scalar`` in ``length`` octets, which is more than it needs.

    Raises:
        ValueError: ``length`` octets would not be overlong.
    """
    row = load_layout("rfc2279").rows[length - 1]
    if scalar >= row.numbers.start:
        raise ValueError(f"U+{scalar:04X} in {length} octets is not overlong")
    return row.octets(scalar)


def surrogate(code_point: int) -> bytes:
    """A surrogate in three octets.

    Raises:
        ValueError: ``code_point`` is not a surrogate.
    """
    if code_point not in SURROGATES:
        raise ValueError(f"U+{code_point:04X} is not a surrogate")
    return _spell(code_point)


def surrogate_pair(scalar: int) -> bytes:
    """A scalar value beyond U+FFFF in CESU-8: the two surrogates of UTF-16, three octets each."""
    high, low = divmod(scalar - 0x10000, 0x400)
    return surrogate(0xD800 + high) + surrogate(0xDC00 + low)


def out_of_range(number: int) -> bytes:
    """A number beyond U+10FFFF, in the form of RFC 2279.

    Raises:
        ValueError: the number is in range.
    """
    if number in CODE_POINTS:
        raise ValueError(f"U+{number:04X} is in range")
    return _spell(number)


def truncated(scalar: int, octets: int) -> bytes:
    """The first ``octets`` octets of a character.

    Raises:
        ValueError: ``octets`` is the whole character, or nothing of it.
    """
    whole = encode_scalars([scalar])
    if not 0 < octets < len(whole):
        raise ValueError(f"U+{scalar:04X} has {len(whole)} octets; {octets} of them are no truncation")
    return whole[:octets]


def _spell(number: int) -> bytes:
    octets = load_layout("rfc2279").encode(number)
    if octets is None:
        raise ValueError(f"{number:X} has no octets in any layout")
    return octets


CHARACTERS = tuple(character.encode() for character in "aé€😀")
"""A character of each length."""


def filled(length: int, character: bytes) -> bytes:
    """So many octets of one character, after as many letters as are needed."""
    whole, rest = divmod(length, len(character))
    return b"a" * rest + character * whole


def products() -> tuple[tuple[range, ...], ...]:
    """The well-formed characters as products of octet ranges, in octet order (RFC 3629 section 4)."""
    return well_formed_products(dialect().automaton)


@cache
def first_and_last() -> tuple[bytes, ...]:
    """The first and the last character of each product."""
    return tuple(bytes(octets[end] for octets in ranges) for ranges in products() for end in (0, -1))


@cache
def prefixes() -> tuple[bytes, ...]:
    """Every proper prefix of a product's first or last character, each once, in that order."""
    return tuple(dict.fromkeys(octets[:end] for octets in first_and_last() for end in range(1, len(octets))))


@cache
def class_octets() -> tuple[int, ...]:
    """The least and the greatest octet of every run of each class of octets."""
    runs = (run for octets in dialect().automaton.classes for run in octets.ranges)
    return tuple(sorted({octet for run in runs for octet in (run.low, run.high)}))


def spelt(ranges: tuple[range, ...]) -> str:
    """``E0 A0-BF 80-BF``."""
    return " ".join(
        f"{octets[0]:02X}" if len(octets) == 1 else f"{octets[0]:02X}-{octets[-1]:02X}" for octets in ranges
    )

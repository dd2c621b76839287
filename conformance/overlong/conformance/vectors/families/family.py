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
("1 octet", "3 octets") and ``hex`` writes octets.
"""

from __future__ import annotations

import inspect
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

from overlong.conformance.vectors.vector import Vector

Built = bytes | tuple[bytes, ...]
Builder = Callable[..., Built]


class _Sentence(string.Formatter):
    """Docstrings with parameters in them."""

    def format_field(self, value: Any, format_spec: str) -> Any:
        if format_spec == "octets":
            return "1 octet" if value == 1 else f"{value} octets"
        if format_spec == "hex":
            return value.hex(" ").upper()
        return super().format_field(value, format_spec)


@dataclass
class Family:
    """Vectors of one category. ``shows`` is their purpose."""

    category: str
    shows: str
    made: list[Callable[[], Iterable[Vector]]] = field(default_factory=list[Callable[[], Iterable[Vector]]])
    """Each makes the vectors of a case, or of several."""

    def one(self, name: str, built: Built, text: str) -> None:
        """Add one vector, given in one line."""
        self._add(name, text, lambda: built, ({},))

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
        self._add(name, " ".join((inspect.getdoc(builder) or "").split()), builder, parameters)
        return builder

    def _add(self, name: str, text: str, builder: Builder, parameters: Sequence[Mapping[str, Any]]) -> None:
        self.made.append(partial(self._case, name, text, builder, parameters))

    def _case(
        self, name: str, text: str, builder: Builder, parameters: Sequence[Mapping[str, Any]]
    ) -> Iterator[Vector]:
        sentence = _Sentence()
        for values in parameters:
            built = builder(**values)
            yield Vector(
                self.category,
                b"".join(built) if isinstance(built, tuple) else built,
                sentence.vformat(text, (), values),
                tuple(map(len, built)) if isinstance(built, tuple) else None,
                cases=(f"{self.category}/{name}",),
            )

    def vectors(self) -> Iterator[Vector]:
        """The family's vectors, in the order of the source."""
        return chain.from_iterable(make() for make in self.made)

"""A format: a name, a file name, and a function that writes a selection into a sink."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager

    from overlong.conformance.vectors.selection import Selection


class Writable(Protocol):
    """The methods of a file that a format may use: it is written from start to end."""

    def write(self, octets: bytes, /) -> int:
        """Append octets; return their number."""
        ...

    def writelines(self, lines: Iterable[bytes], /) -> None:
        """Append each of the lines."""
        ...


class Sink(Protocol):
    """The destination of a format: one main file, and others beside it."""

    def open(self, name: str = "") -> AbstractContextManager[Writable]:
        """Open a file to write; without a name, the main file."""
        ...


@dataclass(frozen=True)
class VectorFormat:
    """A format of vector files. ``file`` is the main file's name if the user gave only a folder."""

    name: str
    file: str
    write: Callable[[Selection, Sink], None]
    several: bool = False
    """The format writes more than its main file, so it needs a folder."""
    extra: str = ""
    """The extra of the distribution that the format needs, if any."""

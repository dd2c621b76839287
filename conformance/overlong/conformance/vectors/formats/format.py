"""What a format is: a name, a file name, and a function that writes a selection into a sink."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager

    from overlong.conformance.vectors.selection import Selection


class Writable(Protocol):
    """What a format may count on in a file: it can be written from first to last."""

    def write(self, octets: bytes, /) -> int:
        """Append; returns how many octets."""
        ...

    def writelines(self, lines: Iterable[bytes], /) -> None:
        """Append one after another."""
        ...


class Sink(Protocol):
    """Where a format writes: one main file, and others beside it."""

    def open(self, name: str = "") -> AbstractContextManager[Writable]:
        """A file to write; without a name, the main file."""
        ...


@dataclass(frozen=True)
class VectorFormat:
    """A format of vector files. ``file`` is the main file's name where the user gave only a folder."""

    name: str
    file: str
    write: Callable[[Selection, Sink], None]
    several: bool = False
    """It writes more than its main file, so it needs a folder."""
    extra: str = ""
    """The extra of the distribution that it needs, if any."""

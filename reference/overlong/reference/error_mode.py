"""Error modes: how ill-formed octets become output. Each is a function of one maximal subpart."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from overlong.reference.defect import Defect
    from overlong.reference.segment import MaximalSubpart

ErrorMode = Callable[["MaximalSubpart"], tuple[int, ...]]
"""The scalar values put out for a maximal subpart; or it raises."""

REPLACEMENT_CHARACTER = 0xFFFD


class IllFormed(ValueError):
    """The octets are ill-formed.

    Attributes:
        offset: of the first ill-formed octet, counted in octets from the start of the input (or stream).
        length: of the maximal subpart there, in octets: 1 to 3.
        incomplete: the input ended inside a character that more octets might have completed.
        defect: what a person would call it.
    """

    def __init__(self, offset: int, length: int, incomplete: bool, defect: Defect) -> None:  # noqa: FBT001
        super().__init__(offset, length, incomplete, defect)
        self.offset = offset
        self.length = length
        self.incomplete = incomplete
        self.defect = defect

    def __str__(self) -> str:
        octets = "octet" if self.length == 1 else "octets"
        return f"ill-formed at offset {self.offset} ({self.length} {octets}): {self.defect}: {self.defect.line}"


def fatal(subpart: MaximalSubpart) -> tuple[int, ...]:
    """Refuse the input.

    Raises:
        IllFormed: always.
    """
    raise IllFormed(*subpart)


def replacement(_: MaximalSubpart) -> tuple[int, ...]:
    """One U+FFFD for each maximal subpart (Unicode chapter 3; WHATWG Encoding, "replacement")."""
    return (REPLACEMENT_CHARACTER,)


ERROR_MODES: dict[str, ErrorMode] = {"fatal": fatal, "replacement": replacement}
"""Every error mode, by its name."""


def error_mode_named(name: str) -> ErrorMode:
    """The error mode of that name.

    Raises:
        ValueError: there is no such error mode; the message lists those there are.
    """
    try:
        return ERROR_MODES[name]
    except KeyError:
        raise ValueError(f"no error mode {name!r}; there is {', '.join(ERROR_MODES)}") from None

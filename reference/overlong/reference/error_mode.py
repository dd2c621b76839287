"""Segments, the steps of decoding; and error modes, which turn the ill-formed ones into output.

Each error mode is a fold over segments. The output for a maximal subpart is a function of its octets. Some modes treat
more than a maximal subpart as one error: they absorb octets after it, which put out nothing. Most modes absorb only
octets that are ill-formed anyway. Modes that swallow take any octets, and decoding starts afresh after them
(:func:`overlong.reference.decoder.taken`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from overlong.reference.defect import SURROGATE, UNEXPECTED_TAIL
from overlong.reference.dialect import dialect
from overlong.reference.layout import load_layout

if TYPE_CHECKING:
    from overlong.reference.defect import Defect

REPLACEMENT_CHARACTER = 0xFFFD
ESCAPES = 0xDC00
"""Added to an octet by the error mode ``utf-8b``: its octets 80 to FF become U+DC80 to U+DCFF."""


class WellFormed(NamedTuple):
    """A well-formed sequence and its scalar value (Unicode D85).

    ``silent``: it is a signature that the dialect drops.
    """

    offset: int
    length: int
    scalar: int
    silent: bool = False

    @property
    def scalars(self) -> tuple[int, ...]:
        """The scalar values that it puts out."""
        return () if self.silent else (self.scalar,)


class MaximalSubpart(NamedTuple):
    """Ill-formed octets that form one unit: the longest start of a character, or one octet.

    Unicode's "maximal subpart of an ill-formed subsequence" (chapter 3, D93b; also the WHATWG Encoding
    Standard's unit of replacement). ``incomplete``: the input ended before the character did.
    """

    offset: int
    length: int
    incomplete: bool
    defect: Defect


class Swallowed(NamedTuple):
    """Octets that an error mode discards with the maximal subpart before them, even if they are well-formed."""

    offset: int
    length: int


Segment = WellFormed | MaximalSubpart
Taken = Segment | Swallowed
"""The input of an error mode: see :func:`overlong.reference.decoder.taken`."""


class IllFormed(ValueError):
    """The octets are ill-formed.

    Attributes:
        offset: the offset of the first ill-formed octet, in octets from the start of the input (or stream).
        length: the length of the maximal subpart there, in octets: 1 to 3 in RFC 3629.
        incomplete: the input ended inside a character that more octets might have completed.
        defect: the name of the error for people.
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


Absorbs = Callable[[MaximalSubpart, int], int]
"""The number of octets after a maximal subpart that belong to it, given the subpart and its first octet."""


@dataclass(frozen=True, eq=False)
class ErrorMode:
    """A way to turn ill-formed octets into output."""

    name: str
    line: str
    source: str
    stands_for: Callable[[bytes], tuple[int, ...]] | None
    """The scalar values put out for the octets of a maximal subpart; None: the input is refused."""
    absorbs: Absorbs | None = None
    swallows: bool = False
    """The mode absorbs any octets; otherwise tail octets only."""
    absorbs_broken: bool = False
    """The mode absorbs any octet that cannot begin a character; otherwise tail octets only."""
    whole_runs: bool = False
    """All ill-formed octets up to the next well-formed character are one error."""
    lossless: bool = False
    """:func:`overlong.reference.decoder.encode_escaped` restores the octets."""

    @property
    def each_alone(self) -> Callable[[bytes], tuple[int, ...]] | None:
        """:attr:`stands_for`, if the output for a segment depends on its own octets alone, as it does in most modes."""
        return None if self.absorbs is not None or self.whole_runs else self.stands_for

    def outputs(self, found: Iterable[Taken], octets: bytes) -> Iterator[tuple[int, ...]]:
        """The output for each segment of ``octets``, as the mode reads them.

        Raises:
            IllFormed: the mode refuses, and a segment is ill-formed.
        """
        if (put := self.each_alone) is not None:
            return (
                each.scalars if isinstance(each, WellFormed) else put(octets[each.offset : each.offset + each.length])
                for each in found
            )
        fold = Fold(self)
        return (fold.put_out(each, octets) for each in found)

    def output(self, found: Iterable[Taken], octets: bytes) -> list[int]:
        """The output for all segments of ``octets``, as the mode reads them. Raises: as :meth:`outputs`."""
        return list(chain.from_iterable(self.outputs(found, octets)))


class Fold:
    """An error mode at work.

    Attributes:
        owed: the number of following octets that the mode absorbs if they are tail octets, or if it swallows; -1: all
            ill-formed octets that follow.
    """

    def __init__(self, mode: ErrorMode, owed: int = 0) -> None:
        self._mode = mode
        self.owed = owed

    def put_out(self, found: Taken, octets: bytes) -> tuple[int, ...]:
        """The output for the next segment of ``octets``.

        Raises:
            IllFormed: the mode refuses, and the segment is ill-formed.
        """
        mode = self._mode
        if isinstance(found, Swallowed):
            self.owed -= found.length
            return ()
        if isinstance(found, WellFormed):
            self.owed = 0
            return found.scalars
        if mode.stands_for is None:
            raise IllFormed(*found)
        if self.owed < 0:
            return ()
        broken = mode.absorbs_broken and not _leads(octets[found.offset])
        if self.owed and (broken or found.defect is UNEXPECTED_TAIL):
            self.owed = max(self.owed - found.length, 0)
            return ()
        if mode.whole_runs:
            self.owed = -1
        elif mode.absorbs is not None:
            self.owed = mode.absorbs(found, octets[found.offset])
        return mode.stands_for(octets[found.offset : found.offset + found.length])


def _once(_: bytes) -> tuple[int, ...]:
    return (REPLACEMENT_CHARACTER,)


def _for_each_octet(octets: bytes) -> tuple[int, ...]:
    return (REPLACEMENT_CHARACTER,) * len(octets)


def _nothing(_: bytes) -> tuple[int, ...]:
    return ()


def _escaped(octets: bytes) -> tuple[int, ...]:
    return tuple(ESCAPES + octet for octet in octets)


@cache
def _windows_1252() -> tuple[int, ...]:
    """The 256 characters; the five unassigned octets are C1 controls, as in WHATWG's index."""
    table = bytes(range(0x100)).decode("cp1252", "replace")
    return tuple(octet if char == "\ufffd" else ord(char) for octet, char in enumerate(table))


def _as_windows_1252(octets: bytes) -> tuple[int, ...]:
    return tuple(_windows_1252()[octet] for octet in octets)


def _announced(subpart: MaximalSubpart, lead: int) -> int:
    row = load_layout("rfc2279").announced(lead)
    return 0 if row is None else len(row.templates) - subpart.length


def _leads(octet: int) -> bool:
    """True if the octet begins characters of RFC 3629: it is ASCII, or from C2 to F4."""
    utf8 = dialect().automaton
    return utf8.table[0][octet] != utf8.dead


def _announced_by_a_lead(subpart: MaximalSubpart, lead: int) -> int:
    return _announced(subpart, lead) if _leads(lead) else 0


def _of_a_surrogate(subpart: MaximalSubpart, lead: int) -> int:
    return _announced(subpart, lead) if subpart.defect is SURROGATE else 0


_UNICODE = "Unicode ch. 3"

ERROR_MODES = {
    mode.name: mode
    for mode in (
        ErrorMode("fatal", "refuse the input", "RFC 3629 §3", None),
        ErrorMode("replacement", "one U+FFFD for each maximal subpart", f"{_UNICODE}, D93b; WHATWG", _once),
        ErrorMode("replacement-per-octet", "one U+FFFD for each octet (Go)", _UNICODE, _for_each_octet),
        ErrorMode(
            "replacement-per-sequence",
            "one U+FFFD for a lead octet and the tails that it announces",
            "older practice; RFC 2279 §2",
            _once,
            _announced,
        ),
        ErrorMode(
            "replacement-per-length",
            "one U+FFFD for a lead octet and as many octets after it as it announces, whatever they are (Uutf)",
            "Unicode TR 36 §3.1 warns of it",
            _once,
            _announced_by_a_lead,
            swallows=True,
        ),
        ErrorMode(
            "replacement-up-to-lead",
            "one U+FFFD for a lead octet and as many octets after it as it announces, up to one that can begin a "
            "character (PHP)",
            "PHP, get_next_char of ext/standard/html.c",
            _once,
            _announced_by_a_lead,
            absorbs_broken=True,
        ),
        ErrorMode(
            "replacement-per-surrogate",
            "one U+FFFD for each maximal subpart, and for a surrogate's three octets (Java)",
            "JDK, sun.nio.cs.UTF_8",
            _once,
            _of_a_surrogate,
        ),
        ErrorMode(
            "replacement-per-run", "one U+FFFD for all ill-formed octets in a row", _UNICODE, _once, whole_runs=True
        ),
        ErrorMode("skip", "no output for ill-formed octets", "Unicode TR 36 §3.5 warns of it", _nothing),
        ErrorMode("utf-8b", "U+DC80 to U+DCFF for each octet", "PEP 383", _escaped, lossless=True),
        ErrorMode("iso-8859-1", "each octet's character in ISO 8859-1", "fall-back practice", tuple),
        ErrorMode("windows-1252", "each octet's character in Windows-1252", "fall-back practice", _as_windows_1252),
    )
}
"""Every error mode, by its name."""

REPLACEMENT = ERROR_MODES["replacement"]


def error_mode_named(name: str) -> ErrorMode:
    """The error mode of that name.

    Raises:
        ValueError: there is no such error mode; the message lists all error modes.
    """
    try:
        return ERROR_MODES[name]
    except KeyError:
        raise ValueError(f"no error mode {name!r}; there is {', '.join(ERROR_MODES)}") from None

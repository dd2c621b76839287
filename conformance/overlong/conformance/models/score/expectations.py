"""One string of a list: its octets, its place, the list's expectations, and their comparison with the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from overlong.conformance.support.printable import code_points, spaced_hex
from overlong.reference.decoder import fold
from overlong.reference.error_mode import REPLACEMENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.models.score.faults import Specimen


class ReadError(ValueError):
    """A list that cannot be read; the message is one line and names the file, the place and the remedy."""


class Expectation(NamedTuple):
    """A list's expected answer of a correct decoder. A part is None if the list does not give it."""

    accept: bool | None = None
    scalars: tuple[int, ...] | None = None
    offset: int | None = None
    length: int | None = None
    incomplete: bool | None = None
    replaced: tuple[int, ...] | None = None


NOTHING_SAID = Expectation()


class ScoreEntry(NamedTuple):
    """One string. ``place`` is for messages: a file and a line, or a file and a path into its JSON."""

    octets: bytes
    place: str
    expected: Expectation = NOTHING_SAID
    chunks: tuple[int, ...] | None = None


VERDICTS = {
    "accept": True, "valid": True, "ok": True, "true": True, "well-formed": True,
    "reject": False, "invalid": False, "bad": False, "false": False, "ill-formed": False,
}  # fmt: skip
"""Words for verdicts in lists, in lower case."""


def verdict_word(word: str) -> bool | None:
    """The verdict of a word; None if it has no such meaning."""
    return VERDICTS.get(word.strip(" \t:,;\"'").lower())


@dataclass(frozen=True)
class WrongExpectation:
    """An expectation of a list that differs from a correct decoder's answer."""

    place: str
    octets: bytes
    what: str
    said: str
    right: str

    def __str__(self) -> str:
        return f"{self.place}: {spaced_hex(self.octets)}: {self.what} {self.said}, must be {self.right}"

    def to_json(self) -> dict[str, Any]:
        """The expectation as plain data."""
        return {
            "place": self.place, "hex": self.octets.hex(), "what": self.what, "said": self.said, "right": self.right,
        }  # fmt: skip


def wrong_expectations(entry: ScoreEntry, specimen: Specimen) -> Iterator[WrongExpectation]:
    """The wrong expectations of an entry. A wrong verdict is reported alone: the rest follows from it."""
    expected = entry.expected

    def wrong(what: str, said: str, must: str) -> WrongExpectation:
        return WrongExpectation(entry.place, entry.octets, what, said, must)

    if expected.accept is not None and expected.accept != specimen.accepted:
        yield wrong("verdict", _verdict(expected.accept), _verdict(specimen.accepted))
        return
    if expected[1:] == (None,) * 5:
        return
    if expected.scalars is not None and expected.scalars != specimen.scalars:
        must = "a refusal" if specimen.scalars is None else code_points(specimen.scalars)
        yield wrong("scalars", code_points(expected.scalars), must)
    flaw = specimen.flaw
    for what in ("offset", "length", "incomplete"):
        said, right = getattr(expected, what), None if flaw is None else getattr(flaw, what)
        if said is not None and said != right:
            yield wrong(what, str(said), "none: it is well-formed" if right is None else str(right))
    if expected.replaced is not None:
        replaced = tuple(fold(specimen.octets, REPLACEMENT))
        if expected.replaced != replaced:
            yield wrong("replacement", code_points(expected.replaced), code_points(replaced))


def _verdict(accept: bool) -> str:  # noqa: FBT001 (a verdict is a Boolean)
    return "accept" if accept else "reject"

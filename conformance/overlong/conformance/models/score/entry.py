"""One string of a list: its octets, where it stands, and what the list says of it."""

from __future__ import annotations

from typing import NamedTuple


class ReadError(ValueError):
    """A list that cannot be read; the message is one line and names the file, the place and the remedy."""


class Expectation(NamedTuple):
    """What a list says that a right decoder answers. None where it says nothing."""

    accept: bool | None = None
    scalars: tuple[int, ...] | None = None
    offset: int | None = None
    length: int | None = None
    incomplete: bool | None = None
    replaced: tuple[int, ...] | None = None


NOTHING_SAID = Expectation()


class Entry(NamedTuple):
    """One string. ``place`` is for messages: a file and a line, or a file and a path into its JSON."""

    octets: bytes
    place: str
    expected: Expectation = NOTHING_SAID
    chunks: tuple[int, ...] | None = None


VERDICTS = {
    "accept": True, "valid": True, "ok": True, "true": True, "well-formed": True,
    "reject": False, "invalid": False, "bad": False, "false": False, "ill-formed": False,
}  # fmt: skip
"""Words that lists use for a verdict, in lower case."""


def verdict_word(word: str) -> bool | None:
    """The verdict that a word stands for; None if it stands for none."""
    return VERDICTS.get(word.strip(" \t:,;\"'").lower())

"""Patterns in which ``*`` stands for anything, indexed so that a text is compared with few of them.

A file may hold ten thousand patterns, and a run may find millions of divergences. So each pattern is kept under a
piece of it that a text must contain: its beginning, else its end, else its longest piece. A text is
looked up by its own pieces of these lengths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")


def matches(pattern: str, text: str) -> bool:
    """True if a pattern matches a text. ``*`` matches any text, also none; other characters match themselves."""
    first, star, rest = pattern.partition("*")
    if not star:
        return pattern == text
    *middle, last = rest.split("*")
    place, end = len(first), len(text) - len(last)
    if place > end or not text.startswith(first) or not text.endswith(last):
        return False
    for piece in middle:
        place = text.find(piece, place, end)
        if place < 0:
            return False
        place += len(piece)
    return True


def says_nothing(pattern: str, separators: str = "") -> bool:
    """True if a pattern consists of ``*`` and ``separators``, which all texts of its kind have."""
    return not pattern.strip("* " + separators)


class Patterns(Generic[T]):
    """A value for each pattern, which a lookup by any matching text finds."""

    def __init__(self) -> None:
        self._exact: dict[str, T] = {}
        self._any: list[T] = []
        self._first: dict[int, dict[str, dict[str, T]]] = {}
        self._last: dict[int, dict[str, dict[str, T]]] = {}
        self._within: dict[int, dict[str, dict[str, T]]] = {}
        self.tried = 0
        """The number of comparisons of a text with a pattern: the cost of all lookups."""

    def of(self, pattern: str, make: Callable[[], T]) -> T:
        """The value of a pattern; a new pattern gets a new value."""
        if "*" not in pattern:
            if pattern not in self._exact:
                self._exact[pattern] = make()
            return self._exact[pattern]
        if not pattern.strip("*"):
            if not self._any:
                self._any.append(make())
            return self._any[0]
        pieces = pattern.split("*")
        if pieces[0]:
            by_length, piece = self._first, pieces[0]
        elif pieces[-1]:
            by_length, piece = self._last, pieces[-1]
        else:
            by_length, piece = self._within, max(pieces, key=len)
        alike = by_length.setdefault(len(piece), {}).setdefault(piece, {})
        if pattern not in alike:
            alike[pattern] = make()
        return alike[pattern]

    def matching(self, text: str) -> Iterator[T]:
        """The values of all patterns that match a text, each once, in no order."""
        if text in self._exact:
            self.tried += 1
            yield self._exact[text]
        yield from self._any
        size = len(text)
        for length, by_piece in self._first.items():
            yield from self._of(by_piece.get(text[:length]), text)
        for length, by_piece in self._last.items():
            yield from self._of(by_piece.get(text[max(size - length, 0) :]), text)
        for length, by_piece in self._within.items():
            for piece in {text[start : start + length] for start in range(size - length + 1)}:
                yield from self._of(by_piece.get(piece), text)

    def _of(self, alike: dict[str, T] | None, text: str) -> Iterator[T]:
        for pattern, value in (alike or {}).items():
            self.tried += 1
            if matches(pattern, text):
                yield value

"""Questions to a decoder, drawn inside and just outside the condition of a fault, which the caller knows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from mutants.faults import CHARACTERS, NOTABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

KINDS = (b"a", "é".encode(), "€".encode(), "😀".encode())
"""A character of each length."""
_FAR = 63
_ATTEMPTS = 60
_INSIDE = 2000
"""Attempts to draw parts inside a condition: a state of an automaton is seldom met by chance."""


@dataclass(frozen=True)
class Question:
    """All that a decoder is given: the input, and what may matter besides it."""

    octets: bytes
    earlier: tuple[bytes, ...] = ()
    """Inputs of calls before, the last one just before."""
    address: int = 0
    """The address of the first octet, modulo 64."""
    chunks: tuple[int, ...] | None = None
    """The lengths of the chunks of a stream; None: the input comes whole."""

    @property
    def pieces(self) -> list[bytes]:
        """The chunks themselves."""
        ends = [0, *accumulate(self.chunks or (len(self.octets),))]
        return [self.octets[start:end] for start, end in pairwise(ends)]


@dataclass(frozen=True)
class Parts:
    """A question in parts: what a fault concerns, and what stands around it."""

    before: bytes
    piece: bytes
    behind: bytes
    earlier: tuple[bytes, ...] = ()
    address: int = 0
    cuts: tuple[int, ...] | None = None
    """The places in a stream at which a chunk ends, counted from the start of the piece."""

    @property
    def question(self) -> Question:
        octets = self.before + self.piece + self.behind
        if self.cuts is None:
            return Question(octets, self.earlier, self.address)
        places = sorted({len(self.before) + cut for cut in self.cuts} & {*range(len(octets) + 1)})
        chunks = tuple(end - start for start, end in pairwise([0, *places, len(octets)]))
        return Question(octets, self.earlier, self.address, chunks)


def text(random: Random, size: int, kind: bytes | None = None) -> bytes:
    """Well-formed text of so many octets: one character again and again, filled up with ASCII, or several kinds.

    Args:
        random: the source of the draw.
        size: the number of octets.
        kind: the character; if None, one is drawn, or several.
    """
    if kind is None and random.random() < 0.4:
        found = b""
        while len(found) < size:
            character = random.choice((*KINDS, *CHARACTERS, chr(random.choice(NOTABLE)).encode()))
            found += character if len(found) + len(character) <= size else b"a" * (size - len(found))
        return found
    kind = kind or random.choice(KINDS)
    fill = b"a" * (size % len(kind))
    whole = kind * (size // len(kind))
    return whole + fill if random.random() < 0.5 else fill + whole


def some_text(random: Random, most: int = 24) -> bytes:
    """Text of a random length, often none."""
    return text(random, random.choice((0, 0, random.randrange(4), random.randrange(most))))


def _octet_changed(random: Random, parts: Parts) -> Parts:
    place = random.randrange(len(parts.piece))
    octet = parts.piece[place]
    octet = random.choice((random.randrange(256), (octet + 1) % 256, (octet - 1) % 256, octet ^ 0x10))
    return replace(parts, piece=parts.piece[:place] + bytes([octet]) + parts.piece[place + 1 :])


def _piece_cut(random: Random, parts: Parts) -> Parts:
    place = random.randrange(len(parts.piece))
    return replace(parts, piece=parts.piece[:place] + parts.piece[place + 1 :])


def _before_longer(random: Random, parts: Parts) -> Parts:
    return replace(parts, before=text(random, random.choice((1, 1, 2, 3, random.randint(1, _FAR)))) + parts.before)


def _before_shorter(random: Random, parts: Parts) -> Parts:
    return replace(parts, before=_without_first(parts.before, random.choice((1, 1, 1, 2, random.randint(1, _FAR)))))


def _without_first(octets: bytes, count: int) -> bytes:
    """The text without so many of its first characters."""
    place = 0
    for _ in range(count):
        place += 1
        while place < len(octets) and 0x80 <= octets[place] < 0xC0:
            place += 1
    return octets[place:]


def _before_of_another_kind(random: Random, parts: Parts) -> Parts:
    return replace(parts, before=text(random, len(parts.before), random.choice((*KINDS, None))))


def _behind_changed(random: Random, parts: Parts) -> Parts:
    if random.random() < 0.5:
        return replace(parts, behind=parts.behind[: random.randrange(len(parts.behind) + 1)])
    return replace(parts, behind=parts.behind + text(random, random.choice((1, 1, 2, 3, random.randint(1, _FAR)))))


def _another_error(random: Random, parts: Parts) -> Parts:
    wrong = random.choice((b"\x80", b"\xff", b"\xc3", b"\xe2\x82", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80"))
    if random.random() < 0.5:
        return replace(parts, before=wrong + parts.before)
    return replace(parts, behind=parts.behind + wrong)


def _piece_again(random: Random, parts: Parts) -> Parts:
    return replace(parts, behind=parts.behind + random.choice((b"", b"a")) + parts.piece)


def _another_history(random: Random, parts: Parts) -> Parts:
    other = random.choice(((), (b"a",), (b"\x80",), (b"\xc3",), (b"\xe2\x82",), (b"\xf0\x9f\x98",), (b"a" * 64,)))
    return replace(parts, earlier=other)


def _another_address(random: Random, parts: Parts) -> Parts:
    return replace(parts, address=random.randrange(64))


def _other_cuts(random: Random, parts: Parts) -> Parts:
    octets = len(parts.piece) + len(parts.behind)
    return replace(parts, cuts=tuple(random.randint(-len(parts.before), octets) for _ in range(random.randrange(3))))


_CHANGES: tuple[tuple[Callable[[Random, Parts], Parts], int], ...] = (
    (_octet_changed, 4),
    (_piece_cut, 1),
    (_before_longer, 4),
    (_before_shorter, 4),
    (_before_of_another_kind, 2),
    (_behind_changed, 3),
    (_another_error, 1),
    (_piece_again, 1),
    (_another_history, 1),
    (_another_address, 1),
    (_other_cuts, 3),
)
"""The changes of one factor, and how often each is drawn."""


def changed(random: Random, parts: Parts) -> Parts:
    """The parts with one factor changed."""
    changes, weights = zip(*_CHANGES, strict=True)
    while True:
        change: Callable[[Random, Parts], Parts] = random.choices(changes, weights)[0]
        if change in {_octet_changed, _piece_cut} and not parts.piece:
            continue
        if change is _other_cuts and parts.cuts is None:
            continue
        return change(random, parts)


def fresh(
    random: Random, draw: Callable[[Random], Parts], wrong: Callable[[Question], bool], count: int
) -> Iterator[tuple[Question, bool]]:
    """Questions, half with a wrong answer, each followed by one with a right answer that differs in one factor.

    Args:
        random: the source of all draws.
        draw: draws parts that are likely inside the condition.
        wrong: the condition itself: whether the answer is wrong.
        count: the number of questions.
    """
    for _ in range((count + 1) // 2):
        inside = drawn_inside(random, draw, wrong)
        if inside is None:
            return
        yield inside.question, True
        for _ in range(_ATTEMPTS):
            question = changed(random, inside).question
            if not wrong(question):
                yield question, False
                break


def drawn_inside(random: Random, draw: Callable[[Random], Parts], wrong: Callable[[Question], bool]) -> Parts | None:
    """Parts that are answered wrongly; None if none was drawn."""
    return next((parts for _ in range(_INSIDE) if wrong((parts := draw(random)).question)), None)

"""Series: strings in which each kind of error, or of character, stands at many places, one after another.

A replacing decoder goes on after an error, so one string asks about many. Each piece comes after every lead and every
last octet; at each offset up to some hundreds, and as far from the end; in texts of each length; and after and before
many characters and many errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.vectors.pieces import OWN_MEANING, fillers, of_every_lead, pieces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.reference.automaton import Automaton

_LETTER, _STRAY = b"a", b"\x80"
_FAR = 520
"""The offsets at which every piece stands: two blocks of 256 octets, and some more."""
_LENGTHS = 260
"""The lengths of text in which every piece stands; beyond, those near the following numbers."""
_FURTHEST = 10_000
"""The greatest of these numbers."""
POWERS, _ROUND = range(7, 18), (1_000, 10_000, 100_000)
_EXACT = (512, 1_000, 1_024, 2_048)
"""The characters before every piece, and the octets left where it begins."""
_MANY = (1 << 17) + 64
"""The octets, of characters or of errors, that precede every piece: counters and offsets of fewer end before. Decoders
that take each octet off the front of an array need seconds for them."""


def numbers(small: int, most: int) -> list[int]:
    """All numbers up to a small one, and those near powers of two and of ten up to most."""
    near = {number + by for number in (*(1 << power for power in POWERS), *_ROUND) for by in (-1, 0, 1)}
    return sorted(number for number in {*range(1, small + 1), *near} if number <= most + 1)


def series(automaton: Automaton) -> Iterator[bytes]:
    """All strings."""
    own = filter(automaton.accepts, OWN_MEANING)
    every = tuple(dict.fromkeys((*pieces(automaton).ill_formed, *pieces(automaton).characters, *own)))
    yield from _after_each(automaton, every)
    for piece in every:
        for phase in range(len(piece) + 1):
            yield _LETTER * phase + (piece + _LETTER) * (_FAR // (len(piece) + 1)) + _LETTER * phase
    for length in numbers(_LENGTHS, _FURTHEST):
        yield from _of_length(every, length)
    for number in _EXACT:
        for piece in every:
            yield _LETTER * number + piece + _LETTER * (number - len(piece))
    all_of_them = b"".join(piece + _LETTER for piece in every)
    for before in (_LETTER, fillers(automaton)[1], _STRAY):
        yield before * (_MANY // len(before)) + all_of_them
    yield all_of_them + _LETTER * _MANY


def _after_each(automaton: Automaton, every: tuple[bytes, ...]) -> Iterator[bytes]:
    """Every piece after the first and the last character of each lead, each last octet, and two characters."""
    two = fillers(automaton)[1]
    tails = (two[:-1] + bytes([octet]) for octet in range(0x80, 0xC0))
    letters = (bytes([octet]) for octet in range(1, 0x80))
    before = tuple(filter(automaton.accepts, dict.fromkeys((*of_every_lead(automaton), *letters, *tails))))
    for piece in every:
        yield b"".join(character + piece for character in before)


def _of_length(every: tuple[bytes, ...], length: int) -> Iterator[bytes]:
    """Every piece in strings of so many octets, at their end and before it."""
    found = b""
    for piece in every:
        if len(piece) > length:
            continue
        if len(found) + len(piece) + 1 > length and found:
            yield found.rjust(length, _LETTER)
            found = b""
        found += piece + _LETTER * (len(found) + len(piece) < length)
    yield found.ljust(length, _LETTER)

"""Text of plans' strings: octets, classes of octets, and well-formed text of every length."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from overlong.conformance.vectors.pieces import GREATEST, LEAST, OWN_MEANING, fillers, of_every_lead, pieces

if TYPE_CHECKING:
    from collections.abc import Iterable

    from overlong.reference.automaton import Automaton, OctetClass

SLASH = b"\xc0\xaf"
"""The overlong form that attacks use."""
BEHIND = 16
"""The octets of text after a possible error, if any."""


def every_octet() -> tuple[bytes, ...]:
    """The 256 octets."""
    return tuple(bytes([octet]) for octet in range(256))


def class_strings(automaton: Automaton, length: int, *, ends: bool = False) -> tuple[bytes, ...]:
    """Every string of that many octet classes, where the least octet represents its class; a letter replaces octet 00.

    Octet 00 has a special meaning to many decoders, and the class of ASCII has other octets. For octets that occur in
    no well-formed string the greatest is used: FF is a special mark to some decoders. With ``ends`` each class is also
    represented by its other end: C0 is a special mark as well.
    """
    names = [_name(automaton, octets) for octets in automaton.classes]
    others = [bytes([octets.octets[end]]) for octets in automaton.classes for end in (LEAST, GREATEST) if ends]
    names += [name for name in dict.fromkeys(others) if name not in names and name != b"\0"]
    return tuple(map(b"".join, product(names, repeat=length)))


def _name(automaton: Automaton, octets: OctetClass) -> bytes:
    if octets.least == 0 and ord("A") in octets.octets:
        return b"A"
    occurs = any(row[octets.least] != automaton.dead for row in automaton.table)
    return bytes([octets.least if occurs else octets.octets[GREATEST]])


def filled(filler: bytes, length: int) -> bytes:
    """``length`` octets of well-formed text: fillers, with as many ASCII letters before them as needed."""
    count, letters = divmod(length, len(filler))
    return b"a" * letters + filler * count


def text_of(filler: bytes, lengths: Iterable[int]) -> tuple[bytes, ...]:
    """Text of each of these lengths, in octets."""
    return tuple(filled(filler, length) for length in dict.fromkeys(lengths))


@cache
def of_all(automaton: Automaton) -> bytes:
    """Well-formed text with a character of every kind and every lead after one of every length."""
    own = filter(automaton.accepts, OWN_MEANING)
    every = dict.fromkeys((*of_every_lead(automaton), *pieces(automaton).characters, *own))
    return b"".join(filler + character for character in every for filler in fillers(automaton))

"""What several plans are made of: class strings, fillers, tails."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from overlong.reference.order import well_formed_products

if TYPE_CHECKING:
    from overlong.reference.automaton import Automaton, OctetClass


def every_octet() -> tuple[bytes, ...]:
    """The 256 octets."""
    return tuple(bytes([octet]) for octet in range(256))


def class_strings(automaton: Automaton, length: int, *, ends: bool = False) -> tuple[bytes, ...]:
    """Every string of that many classes of octets, each class by its least octet; octet 00 gives way to a letter.

    An octet 00 says something of its own to many decoders, and the class of ASCII has others. Of octets that occur in
    nothing well-formed it is the greatest: FF is a mark of their own to some. With ``ends`` each class goes by its
    other end, too: C0 is a mark of its own as well.
    """
    names = [_name(automaton, octets) for octets in automaton.classes]
    others = [bytes([octets.octets[end]]) for octets in automaton.classes for end in (0, -1) if ends]
    names += [name for name in dict.fromkeys(others) if name not in names and name != b"\0"]
    return tuple(map(b"".join, product(names, repeat=length)))


def _name(automaton: Automaton, octets: OctetClass) -> bytes:
    if octets.least == 0 and ord("A") in octets.octets:
        return b"A"
    occurs = any(row[octets.least] != automaton.dead for row in automaton.table)
    return bytes([octets.least if occurs else octets.octets[-1]])


def fillers(automaton: Automaton) -> tuple[bytes, ...]:
    """One character of each length that there is, in the middle of its range: neither its first nor its last."""
    found: dict[int, bytes] = {}
    for ranges in well_formed_products(automaton):
        found.setdefault(len(ranges), bytes(octets[len(octets) // 2] for octets in ranges))
    return tuple(found[length] for length in sorted(found))


def filled(filler: bytes, length: int) -> bytes:
    """``length`` octets of well-formed text: fillers, and before them as many ASCII letters as it takes."""
    count, letters = divmod(length, len(filler))
    return b"a" * letters + filler * count

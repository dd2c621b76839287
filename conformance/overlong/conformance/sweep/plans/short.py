"""Plans of short strings: all, those that distinguish decoders of some number of states, and all of every form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.sweep.grid import Grid, Scheme
from overlong.conformance.sweep.plans.text import every_octet
from overlong.conformance.vectors.pieces import every_class
from overlong.reference import dialect
from overlong.reference.automaton import access_words, characterising_set
from overlong.reference.order import well_formed_products

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.profile import Profile
    from overlong.reference.automaton import Automaton

_LONGEST_FORM = 4
"""The octets of the longest form whose every string is asked."""
_BEFORE, _WITHIN = b"a" * 64, (b"a" * 31, b"a" * 32)
"""Text before a form at the end, and around one: enough for a decoder to begin reading blocks of octets."""


def _exhaustive(_profile: Profile, longest: int) -> Iterator[Grid]:
    """All strings of 1 to ``longest`` octets."""
    for length in range(1, longest + 1):
        yield Grid((every_octet(),) * length)


EXHAUSTIVE = Scheme("exhaustive", "every string of 1 to {} octets", _exhaustive, 1, 3, 6)


def _depth(profile: Profile, depth: int) -> Iterator[Grid]:
    """The complete suite to any depth, made as it is asked: the W-method (Vasilevskii 1973, Chow 1978).

    An access word for every state, then every string of up to ``depth + 1`` octets, then every word of a
    characterising set. Let some deterministic automaton compute a decoder's verdict: one of at most ``n + depth``
    states, or of any number of states, each reached by an access word and at most ``depth`` octets more. Then the
    decoder passes the whole suite if and only if it accepts exactly the well-formed strings (docs/theory.md).
    """
    automaton = profile.dialect.automaton
    for length in range(depth + 2):
        yield Grid((access_words(automaton), *(every_octet(),) * length, characterising_set(automaton)))


def words_within(automaton: Automaton, depth: int) -> int:
    """The number of words of an access word and up to ``depth`` more octets: the most states that ``depth`` reaches.

    Prefixes of access words are access words, so a word longer than ``depth`` is an access word and ``depth`` octets.
    """
    return sum(1 << 8 * more for more in range(depth + 1)) + (len(automaton) - 1 << 8 * depth)


DEPTH = Scheme(
    "depth",
    "no decoder of up to {states} states that differs from {speaks} passes this; nor does one of up to {within}, "
    "if each is reached within {} of the grammar's",
    *(_depth, 0, 1, 4),
)


def _forms() -> Iterator[tuple[tuple[bytes, ...], int]]:
    """The leads of each form of a character that UTF-8 ever had (RFC 2279), and the number of octets that follow.

    No octet follows octets that are no lead.
    """
    leads: set[int] = set()
    for ranges in well_formed_products(dialect("lax-rfc2279").automaton):
        leads.update(ranges[0])
        yield tuple(bytes([octet]) for octet in ranges[0]), len(ranges) - 1
    yield tuple(bytes([octet]) for octet in range(256) if octet not in leads), 0


def _leads(_profile: Profile, _number: int) -> Iterator[Grid]:
    """All 256 octets at each place of each lead, and right after; the others at the ends of their classes."""
    tails = dialect("lax-rfc2279").automaton.table[dialect("lax-rfc2279").automaton.run(b"\xc2")]
    ends = [octets[end] for octets in every_class() for end in (0, -1)]
    second = tuple(bytes([octet]) for octet in dict.fromkeys(ends) if tails[octet] == 0)
    least, greatest = min(second), max(second)
    for leads, many in _forms():
        for place in range(1, many + 2):
            axes = [leads]
            if place > 1:
                axes.append(second)
            if place > 2:
                axes.append((least * (place - 2), greatest * (place - 2)))
            axes.append(every_octet())
            if place < many:
                axes.append((least * (many - place), greatest * (many - place)))
            yield Grid(tuple(axes))
            yield Grid(((_BEFORE,), *axes))
            yield Grid(((_WITHIN[0],), *axes, (_WITHIN[1],)))


LEADS = Scheme("leads", "every octet at each place after every lead, alone, at the end of text and within it", _leads)


def _every_form(_profile: Profile, _number: int) -> Iterator[Grid]:
    """Every string with the form of a character of two to four octets, well-formed or not."""
    tails = tuple(bytes([octet]) for octet in range(0x80, 0xC0))
    for leads, many in _forms():
        if 0 < many < _LONGEST_FORM:
            yield Grid((leads, *(tails,) * many))


FORMS = Scheme("forms", "every lead of two to four octets with all of its tails", _every_form)

"""The tokens of inputs: short octet strings with a meaning in the grammar.

The minimal automaton and the layouts give them, for any dialect: characters at the corners of the grammar's
products, every transition (the least word that leads to a state, then an octet at the edge of a class), beginnings of
characters, and what a lenient decoder takes for one: any number in any row of RFC 2279's layout that has room for it.
Those are octets at edges; of what may be wrong anywhere between them there are products of ranges, to draw octets from.
"""

from __future__ import annotations

from functools import cache
from itertools import groupby, product
from typing import TYPE_CHECKING, NamedTuple

from overlong.reference.automaton import OCTETS, access_words, in_shortlex
from overlong.reference.layout import load_layout
from overlong.reference.order import (
    CODE_POINTS,
    LEAD_SURROGATES,
    SIGNATURE,
    SURROGATES,
    TRAIL_SURROGATES,
    well_formed_products,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.reference.automaton import Automaton
    from overlong.reference.dialect import Dialect

LONGEST_TOKEN = 7
"""The longest token, in octets: it and its length fit in a word."""
Ranges = tuple[range, ...]
"""Octets to draw, one from each range."""
LETTER = b"a"
"""The octet that stands for any ASCII text."""
FILTERED = b"\0\t\n\r \"%&'./;<>\\a"
"""Characters with a meaning to filters and parsers, and a letter."""


class Tokens(NamedTuple):
    """Tokens by kind, each group without duplicates and in shortlex order."""

    ascii: tuple[bytes, ...]
    """Well-formed characters of one octet: those at the ends of ranges, and those with a meaning to filters."""
    characters: tuple[bytes, ...]
    """Well-formed characters of two octets and more: the corners of each product of ranges, and some that software
    treats specially: the signature, noncharacters, U+FFFD."""
    transitions: tuple[bytes, ...]
    """For every state from which something is accepted the least word that leads to it, then one octet: the edges of
    each run of each class."""
    dead_ends: tuple[bytes, ...]
    """Beginnings of characters with an octet that cannot follow, and octets alone that cannot begin a character."""
    lenient: tuple[bytes, ...]
    """Octets that a laxer decoder takes for a character, and the dialect does not: overlong forms, surrogates, one
    and in pairs, numbers out of range, five and six octets."""
    completed: tuple[bytes, ...]
    """Transitions that no character has, and tail octets up to the length that the first octet announces: ``C0 80``,
    ``ED A0 80``, ``F4 90 80 80``. They are the commonest flaws of decoders, so they come more often."""
    beginnings: tuple[bytes, ...]
    """Proper beginnings of characters, which more octets could complete."""
    signature: tuple[bytes, ...]
    """U+FEFF."""
    octets: tuple[bytes, ...]
    """Every octet."""
    products: tuple[Ranges, ...]
    """All well-formed characters."""
    flawed: tuple[Ranges, ...]
    """All beginnings of characters, the same with an octet that cannot follow, and these completed."""

    @property
    def opening(self) -> tuple[bytes, ...]:
        """The tokens that begin a campaign, each alone."""
        return in_order(
            (b"", *self.transitions, *self.completed, *self.lenient, *self.beginnings, *self.characters, *self.ascii)
        )


def filled(unit: bytes, length: int) -> bytes:
    """At least a number of filler octets: letters, then a repeated unit, from place ``len(unit) - 1`` on."""
    return LETTER * (len(unit) - 1) + unit * (length // len(unit) + 1)


@cache
def tokens_of(spoken: Dialect) -> Tokens:
    """The tokens of a dialect."""
    automaton = spoken.automaton
    corners = [octets for ranges in well_formed_products(automaton) for octets in _corners(ranges)]
    notable = (SIGNATURE, CODE_POINTS[-1] & 0xFFFF, (CODE_POINTS[-1] & 0xFFFF) - 1, 0xFFFD)
    spelt = [octets for number in notable if (octets := spoken.layout.encode(number)) and automaton.accepts(octets)]
    accepted = in_order(corners + spelt + [bytes([octet]) for octet in FILTERED if automaton.accepts([octet])])
    beginnings = in_order(octets[:end] for octets in corners for end in range(1, len(octets)))
    edges = tuple({end for octets in automaton.classes for run in octets.ranges for end in (run.low, run.high)})
    dead = automaton.dead
    alive = [word for state, word in enumerate(access_words(automaton)) if state != dead]
    transitions = in_order(word + bytes([octet]) for word in alive for octet in edges)
    return Tokens(
        ascii=tuple(octets for octets in accepted if len(octets) == 1),
        characters=tuple(octets for octets in accepted if len(octets) > 1),
        transitions=transitions,
        dead_ends=in_order(
            octets
            for before in (b"", *beginnings)
            for octet in edges
            if automaton.run(octets := before + bytes([octet])) == dead
        ),
        lenient=in_order(octets for octets in _lenient() if not automaton.accepts(octets)),
        completed=in_order(
            whole for octets in transitions if automaton.run(octets) == dead for whole in _completed(octets)
        ),
        beginnings=beginnings,
        signature=tuple(spelt[:1]),
        octets=tuple(bytes([octet]) for octet in OCTETS),
        products=tuple(well_formed_products(automaton)),
        flawed=tuple(dict.fromkeys((*_flawed(automaton), *_surrogate_pairs(automaton)))),
    )


@cache
def fillers_of(spoken: Dialect) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """Units of fillers, of one octet and longer: characters at the corners of each product, and all sizes in a row."""
    products = list(well_formed_products(spoken.automaton))
    single = [ranges[0] for ranges in products if len(ranges) == 1]
    ends = in_order(bytes([octets[end]]) for octets in single for end in (0, -1))
    letters = bytes(octet for octets in single for octet in octets if chr(octet).isalnum())
    long = in_order(bytes(octets[end] for octets in ranges) for ranges in products for end in (0, -1))
    longer = [octets for octets in long if len(octets) > 1 and spoken.automaton.accepts(octets * 2)]
    sizes = {len(octets): octets for octets in (LETTER, *longer)}
    mixed = b"".join(sizes.values())
    plain = (LETTER, *(unit for unit in (*ends, letters) if spoken.automaton.accepts(unit)))
    return plain, (*longer, *([mixed] if spoken.automaton.accepts(mixed * 2) else []))


def in_order(words: Iterable[bytes]) -> tuple[bytes, ...]:
    """Each once, in shortlex order."""
    return tuple(in_shortlex(set(words)))


def reaching(automaton: Automaton) -> tuple[bool, ...]:
    """For each octet, True if it may begin a character."""
    return tuple(to != automaton.dead for to in automaton.table[0])


def _completed(octets: bytes) -> Iterator[bytes]:
    """The octets and least tail octets, up to the length that the first announces, if the others are tail octets."""
    row = load_layout("rfc2279").announced(octets[0])
    if row is not None and len(octets) <= len(row.templates) and row.fits(octets):
        yield octets + bytes(template.fixed for template in row.templates[len(octets) :])


def _flawed(automaton: Automaton) -> Iterator[Ranges]:
    """Every proper beginning of a character, alone and with each run that cannot follow, completed.

    The octets of a run are in one class and announce the same; tail octets are added where what is there is a lead
    octet and some of its tail octets.
    """
    layout = load_layout("rfc2279")
    known = {
        octet: (number, layout.announced(octet))
        for number, each in enumerate(automaton.classes)
        for octet in each.octets
    }
    runs = [list(run) for _, run in groupby(OCTETS, known.__getitem__)]
    begun = dict.fromkeys(ranges[:end] for ranges in well_formed_products(automaton) for end in range(len(ranges)))
    for ranges in begun:
        if ranges:
            yield ranges
        before = bytes(octets[0] for octets in ranges)
        for run in runs:
            octets = before + bytes(run[:1])
            if automaton.run(octets) == automaton.dead:
                row = layout.announced(octets[0])
                fits = row is not None and len(octets) <= len(row.templates) and row.fits(octets)
                rest = row.templates[len(octets) :] if row is not None and fits else ()
                tails = (range(each.fixed, each.fixed + (1 << each.free)) for each in rest)
                yield (*ranges, range(run[0], run[-1] + 1), *tails)


def _surrogate_pairs(automaton: Automaton) -> Iterator[Ranges]:
    """All pairs in the form of CESU-8, if ill-formed; halves are products, since they end at multiples of 64."""
    row = load_layout("rfc2279").rows[2]
    ends = [(row.octets(half[0]), row.octets(half[-1])) for half in (LEAD_SURROGATES, TRAIL_SURROGATES)]
    if not automaton.accepts(b"".join(first for first, _ in ends)):
        yield tuple(range(low, high + 1) for first, last in ends for low, high in zip(first, last, strict=True))


def _corners(ranges: tuple[range, ...]) -> Iterator[bytes]:
    """The corners of a product: in each place the first or the last octet."""
    return map(bytes, product(*({octets[0], octets[-1]} for octets in ranges)))


@cache
def _lenient() -> tuple[bytes, ...]:
    """The numbers at the ends of each row and range, and those with a meaning to filters, in all rows with room."""
    rows, numbers = load_layout("rfc2279").rows, set(FILTERED)
    ends = [*(row.numbers for row in rows), SURROGATES, CODE_POINTS]
    numbers |= {number for each in ends for number in (each.start, each.stop - 1, each.stop)}
    halves = [rows[2].octets(number) for number in (SURROGATES[0], SURROGATES[-1])]
    middle = (SURROGATES.start + SURROGATES.stop) // 2
    numbers |= {middle - 1, middle}
    room = {row: 1 << sum(free for free, _ in row.free_bits) for row in rows}
    single = [row.octets(number) for row in rows for number in numbers if number < room[row]]
    pairs = [halves[0] + rows[2].octets(middle), rows[2].octets(middle - 1) + halves[1]]
    return in_order(single + pairs)

"""Turn a number into an input, by choices that depend on the number, the seed and the tables alone; and the tokens
from which they choose.

``generator.h`` of :mod:`overlong.reference.core` makes the same choices faster, and tests hold both equal. Numbers
stay between 0 and 2**63. ``table`` is a sequence of them, laid out by :mod:`.generated`; ``pool`` is ``bytes``, ``out``
and ``spare`` are a ``bytearray``.

A state of the generator of numbers is followed by the next one of a linear congruential generator modulo 2**63, of
which only high bits are used (Knuth, The Art of Computer Programming, 3.2.1); the first one of an input is the number
of the input, mixed (Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014).

A token is a short octet string with a meaning in the grammar. The minimal automaton and the layouts give them, for any
dialect: characters at the corners of the grammar's products, every transition (the least word that leads to a state,
then an octet at the edge of a class), beginnings of characters, and what a lenient decoder takes for one: any number in
any row of RFC 2279's layout that has room for it. Those are octets at edges; of what may be wrong anywhere between them
there are products of ranges, to draw octets from.
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
    from collections.abc import Iterable, Iterator, Sequence

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


LONGEST = 4224
"""Octets of the longest input: a filler of 2**12 + 4, and some tokens."""
SLACK = 64
"""The octets after an input that may be overwritten."""
REACH = 2 * LONGEST + 2 * SLACK
"""The most octets of ``out`` that are written; ``spare`` has twice as many."""

KEY, OPENING, OPENINGS, STRATEGIES, STRATEGY_COUNT, CHANGES, CHANGE_COUNT, RANGES, RANGE_COUNT, ANY, ANY_COUNT = range(
    11
)
OCTETS_AT, OCTETS_COUNT, BEGINS, SEEDS, SEED_COUNT = range(11, 16)
HEADER = 16
"""Cells at the start of the table; each pair is a group: its start and its size."""

ROUNDS, SECTIONS, SECTIONS_END = range(3)
"""Cells of a strategy: how often it mutates its inputs, and the start and end of its sections."""
LENGTHS, LENGTH_COUNT, KINDS, KIND_COUNT, COUNTS, COUNT_COUNT, TOKENS, TOKEN_COUNT, RUNS, RUN_COUNT, PIECES = range(11)
SECTION = 11
"""Cells of a section: groups of lengths of a filler and of its kinds, of numbers of tokens and of tokens, of lengths of
a run of them; and whether a piece of a seed comes first: 1 for a whole one, 2 for a part."""

DELETE, INSERT, CHANGE, DUPLICATE, MOVE, SPLICE, CROSS = range(7)
"""The mutations of an input."""

_MASK = (1 << 63) - 1
DRAWN = 1 << 62
"""A token from this number on draws octets from ranges, and holds their place in the table."""

_ODD = 0x1E3779B97F4A7C15
_MIX_1, _MIX_2 = 0x3F58476D1CE4E5B9, 0x14D049BB133111EB
_TIMES, _PLUS = 0x5851F42D4C957F2D, 0x14057B7EF767814F
_COIN = 1 << 30
"""The highest bit of a state that :func:`below` does not use."""
_NEAR = 64
"""If an input takes parts of another, the numbers of the two differ only in these bits."""


def multiplied(one: int, other: int, more: int) -> int:
    """Multiply two numbers and add one, modulo 2**63."""
    return (one * other + more) & (1 << 63) - 1


def copy(to: bytearray, at: int, source: bytes | bytearray, start: int, count: int) -> None:
    """Copy a number of octets; the call may overwrite octets after them."""
    to[at : at + count] = source[start : start + count]


def write_word(to: bytearray, at: int, word: int) -> None:
    """Write the octets of a token, given as a word (see :func:`word_of`); the call may overwrite seven more."""
    count = word >> 56
    to[at : at + count] = word.to_bytes(8, "little")[:count]


def word_of(token: bytes) -> int:
    """A token of at most seven octets as a word: the first octet is the lowest, the length the highest."""
    return int.from_bytes(token.ljust(7, b"\0") + bytes([len(token)]), "little")


def words_of(ranges: Sequence[range]) -> tuple[int, int]:
    """At most seven ranges of octets as two words: their first octets as a token, and their sizes less one."""
    spans = bytes(octets[-1] - octets[0] for octets in ranges)
    return word_of(bytes(octets[0] for octets in ranges)), int.from_bytes(spans, "little")


def mixed(number: int) -> int:
    """A number of 63 bits; each bit depends on all bits of the other."""
    number &= _MASK
    number = multiplied(number ^ number >> 30, _MIX_1, 0)
    number = multiplied(number ^ number >> 27, _MIX_2, 0)
    return number ^ number >> 31


def following(state: int) -> int:
    """The next state."""
    return multiplied(state, _TIMES, _PLUS)


def below(state: int, count: int) -> int:
    """A number below a bound of at most 2**31, by the state."""
    return (state >> 31) * count >> 32


def one_of(table: Sequence[int], group: int, state: int) -> int:
    """A member of the group whose place and size are two cells of the table."""
    return table[table[group] + below(state, table[group + 1])]


def spelt(table: Sequence[int], token: int, state: int) -> int:
    """The octets of a token as a word: fixed, or each drawn from its range by the state."""
    if token < DRAWN:
        return token
    word, spans = table[token - DRAWN], table[token - DRAWN + 1]
    number, shift = mixed(state), 0
    while spans:  # as octets, each the last one of a range that begins at 0: nine bits decide for each
        word += (number & 0x1FF) * ((spans & 0xFF) + 1) >> 9 << shift
        number >>= 9
        spans >>= 8
        shift += 8
    return word


def piece_of_seed(table: Sequence[int], pool: bytes, out: bytearray, at: int, state: int, lengths: int) -> int:
    """Write a seed, or a part of one with the length of a filler; return its end."""
    entry = one_of(table, SEEDS, state)
    start, length = entry >> 16, entry & 0xFFFF
    if lengths:
        state = following(state)
        wanted = one_of(table, lengths, state)
        state = following(state)
        begin = below(state, length + 1) if state & _COIN else 0
        start += begin
        length = min(wanted, length - begin)
    copy(out, at, pool, start, length)
    return at + length


def section(row: int, state: int, table: Sequence[int], pool: bytes, out: bytearray, at: int) -> tuple[int, int]:
    """Write a section of an input; return the new state and the section's end."""
    begin = at
    if table[row + PIECES]:
        at = piece_of_seed(table, pool, out, at, state, (row + LENGTHS) * (table[row + PIECES] - 1))
        state = following(following(following(state)))
    elif table[row + LENGTH_COUNT]:
        length = one_of(table, row + LENGTHS, state)
        state = following(state)
        kind = one_of(table, row + KINDS, state)
        state = following(state)
        period = kind & 0xFFFF
        start = kind >> 16
        if period > 1:
            start += period - 1 - length % period
        copy(out, at, pool, start, length)
        at += length
    count = one_of(table, row + COUNTS, state)
    state = following(state)
    group, size = table[row + TOKENS], table[row + TOKEN_COUNT]
    for _ in range(count):
        token = spelt(table, table[group + below(state, size)], state)
        state = following(state)
        write_word(out, at, token)
        at += token >> 56
    if table[row + RUN_COUNT]:
        end = begin + one_of(table, row + RUNS, state)
        state = following(state)
        while begin < at < end:
            length = min(at - begin, end - at)
            copy(out, at, out, begin, length)
            at += length
    return state, at


def sections(strategy: int, state: int, table: Sequence[int], pool: bytes, out: bytearray, at: int) -> int:
    """Write the sections of a strategy from a place on; return their length in octets."""
    begin = at
    for row in range(table[strategy + SECTIONS], table[strategy + SECTIONS_END], SECTION):
        state, at = section(row, state, table, pool, out, at)
    return min(at - begin, LONGEST)


def first_state(index: int, table: Sequence[int]) -> int:
    """The first state of an input's choices."""
    return mixed(multiplied(index, _ODD, 0) ^ table[KEY])


def base(index: int, table: Sequence[int], pool: bytes, out: bytearray, at: int) -> int:
    """Write the input of that number without its mutations; return its length in octets."""
    state = first_state(index, table)
    strategy = one_of(table, STRATEGIES, state)
    return sections(strategy, following(state), table, pool, out, at)


def place_in(table: Sequence[int], octets: bytearray, at: int, length: int, state: int) -> int:
    """A place in the octets from ``at``: any place, or as often one where a character may begin."""
    place = below(state, length + 1)
    if state & _COIN:
        while 0 < place < length and not table[table[BEGINS] + octets[at + place]]:
            place -= 1
    return place


def changed(
    index: int,
    state: int,
    table: Sequence[int],
    pool: bytes,
    spare: bytearray,
    at: int,
    length: int,
    out: bytearray,
    to: int,
) -> tuple[int, int]:
    """Write the octets of ``spare`` with one mutation; return the new state and the length in octets.

    ``at`` and ``length`` are their place, ``to`` is the place in ``out`` of the result: ``out`` may be ``spare`` if
    the two places are ``REACH`` octets apart. ``index`` is the number of another input, to take octets from.
    """
    way = one_of(table, CHANGES, state)
    state = following(state)
    place = place_in(table, spare, at, length, state)
    state = following(state)
    many = min(one_of(table, RANGES, state), length - place)
    state = following(state)
    end, resumed = to + place, place
    copy(out, to, spare, at, place)
    if way == DELETE:
        resumed += many
    elif way <= CHANGE:
        token = spelt(table, one_of(table, ANY if way == INSERT else OCTETS_AT, state), state)
        write_word(out, end, token)
        end += token >> 56
        resumed = min(place + way - INSERT, length)
    elif way == DUPLICATE:
        copy(out, end, spare, at + place, many)
        end += many
    elif way == MOVE:  # two adjacent ranges change places
        more = min(one_of(table, RANGES, state), length - place - many)
        copy(out, end, spare, at + place + many, more)
        copy(out, end + more, spare, at + place, many)
        end, resumed = end + more + many, place + many + more
    else:
        other = 2 * REACH
        size = base(index, table, pool, spare, other)
        start = place_in(table, spare, other, size, state)
        if way == CROSS:
            size = min(size, start + many)
            resumed += many
        else:
            resumed = length
        copy(out, end, spare, other + start, size - start)
        end += size - start
    copy(out, end, spare, at + resumed, length - resumed)
    return following(state), min(end - to + length - resumed, LONGEST)


def write(index: int, table: Sequence[int], pool: bytes, out: bytearray, spare: bytearray) -> int:
    """Write input number ``index`` to the start of ``out``; return its length in octets, at most ``LONGEST``.

    It writes at most ``REACH`` octets, and three times as many of ``spare``, which holds nothing between calls.
    """
    if index < table[OPENINGS]:
        token = table[table[OPENING] + index]
        write_word(out, 0, token)
        return token >> 56
    number = index - table[OPENINGS]
    if number < table[SEED_COUNT]:
        seed = table[table[SEEDS] + number]
        copy(out, 0, pool, seed >> 16, seed & 0xFFFF)
        return seed & 0xFFFF
    state = first_state(index, table)
    strategy = one_of(table, STRATEGIES, state)
    state = following(state)
    rounds = table[strategy + ROUNDS]
    if rounds == 0:
        return sections(strategy, state, table, pool, out, 0)
    length = base(index ^ 1 + below(state, _NEAR - 1), table, pool, spare, 0)
    state = following(state)
    at = 0
    for _ in range(rounds - 1):
        state, length = changed(index ^ _NEAR, state, table, pool, spare, at, length, spare, REACH - at)
        at = REACH - at
    _, length = changed(index ^ _NEAR, state, table, pool, spare, at, length, out, 0)
    return length

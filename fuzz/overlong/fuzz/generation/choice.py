"""Turn a number into an input, by choices that depend on the number, the seed and the tables alone.

``generator.h`` of :mod:`overlong.reference.core` does the same faster, and tests hold both equal. Numbers stay between
0 and 2**63. ``table`` is a sequence of them, laid out by :mod:`.tables`; ``pool`` is ``bytes``, ``out`` and ``spare``
are a ``bytearray``.

A state of the generator of numbers is followed by the next one of a linear congruential generator modulo 2**63, of
which only high bits are used (Knuth, The Art of Computer Programming, 3.2.1); the first one of an input is the number
of the input, mixed (Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


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
STRATEGY = 3
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


def cell(table: Sequence[int], place: int) -> int:
    """A cell of a table."""
    return table[place]


def product(one: int, other: int, more: int) -> int:
    """Multiply two numbers and add one, modulo 2**63."""
    return (one * other + more) & (1 << 63) - 1


def octet_at(octets: bytearray, place: int) -> int:
    """An octet."""
    return octets[place]


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
    number = product(number ^ number >> 30, _MIX_1, 0)
    number = product(number ^ number >> 27, _MIX_2, 0)
    return number ^ number >> 31


def following(state: int) -> int:
    """The next state."""
    return product(state, _TIMES, _PLUS)


def below(state: int, count: int) -> int:
    """A number below a bound of at most 2**31, by the state."""
    return (state >> 31) * count >> 32


def one_of(table: Any, group: int, state: int) -> int:
    """A member of the group whose place and size are two cells of the table."""
    return cell(table, cell(table, group) + below(state, cell(table, group + 1)))


def spelt(table: Any, token: int, state: int) -> int:
    """The octets of a token as a word: fixed, or each drawn from its range by the state."""
    if token < DRAWN:
        return token
    word, spans = cell(table, token - DRAWN), cell(table, token - DRAWN + 1)
    number, shift = mixed(state), 0
    while spans:  # as octets, each the last one of a range that begins at 0: nine bits decide for each
        word += (number & 0x1FF) * ((spans & 0xFF) + 1) >> 9 << shift
        number >>= 9
        spans >>= 8
        shift += 8
    return word


def piece_of_seed(table: Any, pool: Any, out: Any, at: int, state: int, lengths: int) -> int:
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


def section(row: int, state: int, table: Any, pool: Any, out: Any, at: int) -> tuple[int, int]:
    """Write a section of an input; return the new state and the section's end."""
    begin = at
    if cell(table, row + PIECES):
        at = piece_of_seed(table, pool, out, at, state, (row + LENGTHS) * (cell(table, row + PIECES) - 1))
        state = following(following(following(state)))
    elif cell(table, row + LENGTH_COUNT):
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
    group, size = cell(table, row + TOKENS), cell(table, row + TOKEN_COUNT)
    for _ in range(count):
        token = spelt(table, cell(table, group + below(state, size)), state)
        state = following(state)
        write_word(out, at, token)
        at += token >> 56
    if cell(table, row + RUN_COUNT):
        end = begin + one_of(table, row + RUNS, state)
        state = following(state)
        while begin < at < end:
            length = min(at - begin, end - at)
            copy(out, at, out, begin, length)
            at += length
    return state, at


def sections(strategy: int, state: int, table: Any, pool: Any, out: Any, at: int) -> int:
    """Write the sections of a strategy from a place on; return their length in octets."""
    begin = at
    for row in range(cell(table, strategy + SECTIONS), cell(table, strategy + SECTIONS_END), SECTION):
        state, at = section(row, state, table, pool, out, at)
    return min(at - begin, LONGEST)


def first_state(index: int, table: Any) -> int:
    """The first state of an input's choices."""
    return mixed(product(index, _ODD, 0) ^ cell(table, KEY))


def base(index: int, table: Any, pool: Any, out: Any, at: int) -> int:
    """Write the input of that number without its mutations; return its length in octets."""
    state = first_state(index, table)
    strategy = one_of(table, STRATEGIES, state)
    return sections(strategy, following(state), table, pool, out, at)


def place_in(table: Any, octets: Any, at: int, length: int, state: int) -> int:
    """A place in the octets from ``at``: any place, or as often one where a character may begin."""
    place = below(state, length + 1)
    if state & _COIN:
        while 0 < place < length and not cell(table, cell(table, BEGINS) + octet_at(octets, at + place)):
            place -= 1
    return place


def changed(
    index: int, state: int, table: Any, pool: Any, spare: Any, at: int, length: int, out: Any, to: int
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


def write(index: int, table: Any, pool: Any, out: Any, spare: Any) -> int:
    """Write input number ``index`` to the start of ``out``; return its length in octets, at most ``LONGEST``.

    It writes at most ``REACH`` octets, and three times as many of ``spare``, which holds nothing between calls.
    """
    if index < cell(table, OPENINGS):
        token = cell(table, cell(table, OPENING) + index)
        write_word(out, 0, token)
        return token >> 56
    number = index - cell(table, OPENINGS)
    if number < cell(table, SEED_COUNT):
        seed = cell(table, cell(table, SEEDS) + number)
        copy(out, 0, pool, seed >> 16, seed & 0xFFFF)
        return seed & 0xFFFF
    state = first_state(index, table)
    strategy = one_of(table, STRATEGIES, state)
    state = following(state)
    rounds = cell(table, strategy + ROUNDS)
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

# pyright: basic
"""The inputs of the grammar engine: a function of their number, a seed, and given octet strings.

The tables of the choices are numbers: groups of tokens, fillers and lengths, and weighted strategies. Most inputs are
short, since short inputs find most faults and cost little. A few have fillers of the length of blocks, for faults that
depend on a place, a block or a length.

Some inputs are not asked any more, because a target dies, or hangs, of others like them: a death costs a new process,
and a hang all of the time limit. So in each block it is learned what a few of those inputs have in common that nothing
has which the target survived: two octets side by side, two classes of octets, a length. Others that have it, too, are
left out; all the rest of the block is asked. That is a pure function of the target's answers to the block, wherever a
campaign is cut.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from functools import cached_property
from itertools import accumulate, chain, pairwise
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from overlong.conformance.oracle.target import TIMED_OUT
from overlong.fuzz import choice
from overlong.reference.core import core, why_not
from overlong.reference.dialect import Dialect, dialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from overlong.fuzz.choice import Ranges, Tokens

    _Part = tuple[Sequence[bytes | Ranges], float]

Member = TypeVar("Member")

MIXTURE = 2048
"""The entries of a group that holds shares of other groups."""
MANY, FEW = 1 << 16, 1 << 13
"""The most characters of a product whose share is their number; a larger product has this share."""
PADDING = 16
"""Octets after the pool, which are read and not used."""

BLOCKS = (8, 16, 32, 64)
NEAR = (*range(73), *(block + step for block in BLOCKS for step in range(-4, 3) for _ in range(2)))
"""The lengths of most fillers: all up to a little more than a block of 64; more often near the edges of blocks."""
SHORT = (*range(9), 0, 1, 2, 3, 13, 14, 15, 16)
FAR = tuple((1 << power) + step for power in (7, 7, 7, 8, 8, 8, 9, 9, 10, 11, 12) for step in range(-4, 5))
"""The lengths of some fillers: usual sizes of buffers, and their neighbours."""

CHANGE_WAYS = (
    *(choice.DELETE,) * 2, *(choice.INSERT,) * 3, *(choice.CHANGE,) * 4, *(choice.DUPLICATE,) * 2, choice.MOVE,
    *(choice.SPLICE,) * 2, *(choice.CROSS,) * 2,
)  # fmt: skip
RANGE_LENGTHS = (1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 6, 8, 12, 16, 24, 32)
WHOLE, PART = 1, 2


class Section(NamedTuple):
    """A part of an input: a piece of a seed or a filler, then tokens; the whole may be repeated."""

    tokens: str = "any"
    """The name of a group."""
    counts: Sequence[int] = (1,)
    """The possible numbers of tokens, equally likely."""
    filler: Sequence[int] = ()
    """Lengths."""
    runs: Sequence[int] = ()
    """Its length after the repetition."""
    piece: int = 0
    """Take a piece of a seed in place of a filler."""


class Strategy(NamedTuple):
    """A way to make inputs, and its weight."""

    weight: int
    sections: tuple[Section, ...]
    rounds: int = 0
    """How often it mutates an input."""


_FEW = Section("text", (0, 0, 1, 1, 2, 3))
_BASE = (Section("any", (1, 2, 3, 4, 5, 6)),)
MIX = (
    Strategy(24, (Section("flaws"),)),
    Strategy(250, (_FEW, Section("flaws"), _FEW)),
    Strategy(90, (Section("text", (1, 2, 3, 4, 5, 6)),)),
    Strategy(150, (Section("any", (1, 2, 3, 4, 5)),)),
    Strategy(150, (Section("any", filler=NEAR), Section("any", (0, 0, 1, 2)))),
    Strategy(70, (Section("flaws", filler=NEAR), Section("text", (0, 0, 1, 2)))),
    Strategy(30, (Section("flaws", filler=NEAR), Section("flaws", (1, 2), filler=SHORT))),
    Strategy(40, (Section("octets", (1, 2, 3, 4, 5, 6, 8)),)),
    Strategy(70, (Section("scalars", (1, 2, 3, 4, 5, 6, 7, 8)),)),
    Strategy(30, (Section("scalars", (0, 0, 1, 2)), Section("flawed"), Section("scalars", (0, 0, 0, 1)))),
    Strategy(20, (Section("signature"), Section("any", (0, 1, 1, 2, 3)))),
    Strategy(20, (Section("any", (0, 0, 1)), Section("any", (1, 1, 1, 2, 3), runs=NEAR), Section("any", (0, 0, 1, 2)))),
    Strategy(4, (Section("any", filler=FAR), Section("any", (0, 0, 1, 2)))),
    Strategy(1, (Section("any", (1, 1, 2), runs=FAR), Section("any", (0, 1)))),
    Strategy(110, _BASE, rounds=1),
    Strategy(40, _BASE, rounds=2),
)
"""The strategies of the grammar alone; the weights add up to some thousand."""
OF_SEEDS = (
    Strategy(10, (Section("any", (0, 0, 0, 1), piece=WHOLE),)),
    Strategy(60, (Section("any", (0, 1, 1), piece=PART, filler=NEAR), Section("any", (0, 1)))),
    Strategy(60, (Section("any", (0, 1), piece=PART, filler=SHORT), Section("any", (0, 1), piece=PART, filler=SHORT))),
    Strategy(30, (Section("any", (0,), piece=PART, filler=NEAR),), rounds=1),
)
"""The strategies that also take seeds, if there are any."""


def laid_out(key: int, seeds: Sequence[bytes], spoken: Dialect) -> tuple[list[int], bytes]:
    """The table and the pool of :mod:`.choice` for a key, a number of 63 bits, a dialect and some seed strings."""
    cells, tokens = [0] * choice.HEADER, choice.tokens_of(spoken)

    def group(members: Iterable[int]) -> tuple[int, int]:
        """Add numbers; return their place and their count."""
        begin = len(cells)
        cells.extend(members)
        return begin, len(cells) - begin

    cells[choice.KEY] = key
    places = {ranges: choice.DRAWN + group(choice.words_of(ranges))[0] for ranges in (*tokens.products, *tokens.flawed)}
    groups = {
        name: group(choice.word_of(each) if isinstance(each, bytes) else places[each] for each in members)
        for name, members in _groups(tokens, key).items()
    }
    plain, longer = choice.fillers_of(spoken)
    octets, pieces = list[bytes](), list[tuple[int, int]]()
    for filler in (*plain, *longer):
        pieces.append((sum(map(len, octets)), len(filler)))
        octets.append(choice.filled(filler, FAR[-1] + PADDING))
    kinds = [start << 16 | period for start, period in pieces]
    fillers = group(_shared(((kinds[: len(plain)], 1), (kinds[len(plain) :], 1)), 64, key))
    cuts = [seed[at : at + choice.LONGEST] for seed in seeds for at in range(0, len(seed), choice.LONGEST)]
    starts = accumulate(map(len, cuts), initial=sum(map(len, octets)))
    entries = [start << 16 | len(seed) for start, seed in zip(starts, cuts, strict=False)]
    for place, (begin, size) in (
        (choice.SEEDS, group(entries)),
        (choice.OPENING, group(map(choice.word_of, tokens.opening))),
        (choice.ANY, groups["any"]),
        (choice.OCTETS_AT, groups["octets"]),
        (choice.CHANGES, group(CHANGE_WAYS)),
        (choice.RANGES, group(RANGE_LENGTHS)),
    ):
        cells[place : place + 2] = begin, size
    cells[choice.BEGINS] = group(map(int, choice.reaching(spoken.automaton)))[0]
    numbers: dict[Sequence[int], tuple[int, int]] = {}
    rows = list[int]()
    for strategy in (*MIX, *(OF_SEEDS if entries else ())):
        sections = list[int]()
        for section in strategy.sections:
            for lengths in (section.filler, section.counts, section.runs):
                if lengths not in numbers:
                    numbers[lengths] = group(lengths)
            sections += (
                *numbers[section.filler], *fillers, *numbers[section.counts],
                *groups[section.tokens], *numbers[section.runs], section.piece,
            )  # fmt: skip
        begin, size = group(sections)
        rows += [group((strategy.rounds, begin, begin + size))[0]] * strategy.weight
    cells[choice.STRATEGIES : choice.STRATEGIES + 2] = group(rows)
    return cells, b"".join((*octets, *cuts, bytes(PADDING)))


def _groups(tokens: Tokens, key: int) -> dict[str, Sequence[bytes | Ranges]]:
    """The groups of tokens, by the names in sections."""
    scalars = _shared((((ranges,), _share(ranges)) for ranges in tokens.products), MIXTURE, key)
    plain: tuple[_Part, ...] = (tokens.ascii, 2), (tokens.characters, 3), (tokens.signature, 0.1), (scalars, 0.3)
    text = _shared(plain, MIXTURE, key)
    completed: tuple[_Part, ...] = (tokens.lenient, 3), (tokens.completed, 3)
    wrong: tuple[_Part, ...] = (tokens.transitions, 2), (tokens.dead_ends, 2), (tokens.beginnings, 3)
    flaws = _shared((*completed, *wrong, (tokens.flawed, 1)), MIXTURE, key)
    return {
        "text": text,
        "flaws": flaws,
        "any": _shared(((text, 5), (flaws, 5), (tokens.octets, 0.5)), MIXTURE, key),
        "octets": tokens.octets,
        "scalars": scalars,
        "flawed": tokens.flawed,
        "signature": tokens.signature or tokens.ascii,
    }


def _share(ranges: Ranges) -> int:
    """The share of a product: its number of characters, limited for very many."""
    characters = prod(map(len, ranges))
    return characters if characters < MANY else FEW


def _shared(parts: Iterable[tuple[Sequence[Member], float]], size: int, key: int) -> list[Member]:
    """A number of members, about: of each part by its share, and at least one.

    If a part has more members than its share, the key chooses.
    """
    shares = [(part, share) for part, share in parts if part]
    total, members = sum(share for _, share in shares), list[Member]()
    for number, (part, share) in enumerate(shares):
        room, order = max(1, round(size * share / total)), range(len(part))
        if len(part) > room:
            by_chance = {member: choice.mixed(choice.mixed(key + number) + member) for member in order}
            members += (part[member] for member in sorted(order, key=by_chance.__getitem__)[:room])
        else:
            members += (part[place % len(part)] for place in range(room))
    return members


BLOCK = 1 << 12
"""Inputs of a block: units are whole blocks, except the last one of a campaign with a limit on inputs."""
SIZE = 1 << 62
"""The number of inputs."""
ENOUGH = 2048
"""The least inputs for which asking the core pays."""
_TAKEN = 1 << 16
"""The most inputs to choice.write at a time into columns."""

_CHUNKS, _EARLIER = 0x6368756E6B73, 0x6561726C696572
"""Other numbers drive the choices of an input's chunks, and of the stream before it."""


class Generated:
    """Inputs by number, from 0 up to :data:`SIZE`; any process can make any range of them, in any order.

    The first are the tokens of the grammar, each alone (with every transition of the automaton), then the seeds; all
    others are random combinations. Threads must not share an object.

    Args:
        seed: any number; another number gives other inputs.
        seeds: octet strings to take parts from, in order. Long strings are cut, empty strings are left out.
        spoken: the dialect whose grammar it is; RFC 3629's if there is none.
    """

    size = SIZE
    """How many there are."""

    def __init__(self, seed: int, seeds: tuple[bytes, ...] = (), spoken: Dialect | None = None) -> None:
        self.seed = seed
        self.seeds = seeds
        self.spoken = spoken or dialect()
        self._out, self._spare = bytearray(choice.REACH), bytearray(3 * choice.REACH)

    @cached_property
    def tables(self) -> tuple[list[int], bytes]:
        """The table of the choices, and the pool."""
        key = int.from_bytes(hashlib.sha256(str(self.seed).encode()).digest()[:8], "little") >> 1
        return laid_out(key, self.seeds, self.spoken)

    @cached_property
    def _memory(self) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int64]]:
        """For the core in C, whose ``generator.h`` is :mod:`.choice`: the pool, ``spare``, a ``generator``."""
        import numpy as np

        cells, octets = self.tables
        pool, spare = np.frombuffer(octets, np.uint8), np.empty(3 * choice.REACH, np.uint8)
        return pool, spare, np.array((pool.ctypes.data, spare.ctypes.data, *cells), np.int64)

    @property
    def address(self) -> int:
        """That of a ``generator`` (needs NumPy)."""
        return int(self._memory[-1].ctypes.data)

    def string(self, index: int) -> bytes:
        """Input number ``index``.

        Raises:
            IndexError: there is no such input.
        """
        if not 0 <= index < SIZE:
            raise IndexError(f"inputs have numbers from 0 to {SIZE - 1}, so there is no input {index}")
        length = choice.write(index, *self.tables, self._out, self._spare)
        return bytes(self._out[:length])

    def chunks(self, index: int) -> tuple[int, ...]:
        """The chunks of that input as a stream: the octets of each, sometimes 0."""
        length = len(self.string(index))
        state = choice.first_state(index ^ _CHUNKS, self.tables[0])
        way, state = choice.below(state, 8), choice.following(state)
        if way <= 1:
            return (1,) * length
        if way <= 3:  # in two, half of the time after one of the last three octets
            cut = choice.below(state, length + 1) if way == 2 else max(length - 1 - choice.below(state, 3), 0)
            return cut, length - cut
        if way == 4:
            block = 1 << 1 + choice.below(state, 7)
            return tuple(min(block, length - at) for at in range(0, length, block))
        chunks = list[int]()
        while length:
            state = choice.following(state)
            chunks.append(choice.below(state, min(length, (0, 2, 4, 9)[way - 4]) + 1))
            length -= chunks[-1]
        return tuple(chunks)

    def earlier(self, index: int) -> tuple[bytes, ...]:
        """The chunks of the stream before it; none for every other input."""
        state = choice.first_state(index ^ _EARLIER, self.tables[0])
        if choice.below(state, 2):
            return ()
        octets = self.string(index ^ 1 + choice.below(choice.following(state), 63))
        cut = choice.below(choice.following(choice.following(state)), len(octets) + 1)
        return (octets[:cut], octets[cut:]) if 0 < cut < len(octets) else (octets,)

    def columns(self, first: int, count: int) -> tuple[array[int], bytes]:
        """A number of inputs from ``first`` on: the length of each in octets, and all octets in a row.

        Raises:
            IndexError: there are fewer.
        """
        if not 0 <= first <= first + count <= SIZE:
            raise IndexError(f"inputs have numbers from 0 to {SIZE - 1}, so there are no {count} from {first} on")
        if count >= ENOUGH and not why_not():
            return self.by_core(first, count)
        strings = [self.string(index) for index in range(first, first + count)]
        return array("I", map(len, strings)), b"".join(strings)

    def by_core(self, first: int, count: int) -> tuple[array[int], bytes]:
        """As :meth:`columns`, by the core in C (needs NumPy)."""
        import numpy as np

        lengths, octets, done = np.empty(count, np.uint32), list[bytes](), 0
        room = np.empty(choice.REACH + 32 * min(count, _TAKEN), np.uint8)
        cells = np.empty(2, np.int64)
        while done < count:
            into = room.ctypes.data, len(room), lengths[done:].ctypes.data, cells.ctypes.data
            core()("write_inputs", self.address, first + done, min(count - done, _TAKEN), *into)
            made, size = cells.tolist()
            octets.append(room[:size].tobytes())
            done += made
        column = array("I")
        column.frombytes(lengths.tobytes())
        return column, octets[0] if len(octets) == 1 else b"".join(octets)


DEATHS, HANGS = 3, 2
"""Inputs that fail and have something in common, after which others that have it are left out."""
ALL_DEATHS, ALL_HANGS = 64, 6
"""Inputs of a block that fail, after which nothing more of it is asked."""
_SIZES = (16, 64)
"""Octets from which on other code is at work: fast paths."""
_CLASSES, _SIZE = 1 << 16, 1 << 17
"""Mark what an input has that is no pair of octets: a pair of classes, a length."""
_EDGE = 0xFF
"""Stands for the start of an input, and for its end; no class of octets has that number."""


class Sparing:
    """Told of each input that a target fails on, in order, it says which ones are not to be asked."""

    def __init__(self, generated: Generated, first: int, end: int) -> None:
        """Nothing has failed; the inputs from ``first`` up to before ``end`` are asked."""
        self._generated = generated
        classes = generated.spoken.automaton.classes
        number_of = {octet: number for number, each in enumerate(classes) for octet in each.octets}
        self._class_of = bytes(number_of[octet] for octet in range(256))
        self._first, self._end = first, end
        self._start = -1
        """The first number of the block in which an input has failed; what follows is about places in it."""
        self._looked = 0
        self._has: list[frozenset[int]] = []
        self._survived, self._left_out = set[int](), set[int]()
        self._failed: dict[bool, list[int]] = {}

    def failed(self, index: int, kind: int) -> Sequence[int]:
        """Numbers behind ``index`` that are left out now, ascending.

        Args:
            index: of the input that was not answered; higher than any before.
            kind: ``CRASHED``, ``TIMED_OUT`` or ``MISBEHAVED`` (see ``oracle/target.py``).
        """
        if self._start != (start := index // BLOCK * BLOCK):
            self._begin(start)
        place = index - start
        for each in range(self._looked, place):
            if each not in self._left_out:
                self._survived |= self._has[each]
        self._looked = place + 1
        self._failed[kind == TIMED_OUT].append(place)
        rest = [each for each in range(place + 1, len(self._has)) if each not in self._left_out]
        if len(self._failed[False]) < ALL_DEATHS and len(self._failed[True]) < ALL_HANGS:
            guilty = self._guilty()
            rest = [each for each in rest if not guilty.isdisjoint(self._has[each])]
        self._left_out.update(rest)
        return [start + each for each in rest]

    def _begin(self, start: int) -> None:
        """Nothing has failed in a block."""
        lengths, octets = self._generated.columns(start, min(start + BLOCK, self._end) - start)
        bounds = pairwise(accumulate(lengths, initial=0))
        strings = [octets[low:high] for low, high in bounds]
        self._start, self._looked = start, max(self._first - start, 0)
        self._has = [_had(each, each.translate(self._class_of)) for each in strings]
        self._survived, self._left_out = set[int](), set[int]()
        self._failed = {False: [], True: []}

    def _guilty(self) -> set[int]:
        """What inputs have that fail, as far as one can tell."""
        guilty = set[int]()
        for failed, enough in ((self._failed[False], DEATHS), (self._failed[True], HANGS)):
            common = Counter(chain.from_iterable(self._has[each] - self._survived for each in failed))
            guilty.update(each for each, count in common.items() if count >= enough)
        return guilty


def _had(octets: bytes, classes: bytes) -> frozenset[int]:
    """What an input has, given its octets and their classes."""
    sizes = (_SIZE | size for size in _SIZES if len(octets) >= size)
    pairs = (one << 8 | other for one, other in pairwise(octets))
    of_classes = (_CLASSES | one << 8 | other for one, other in pairwise((_EDGE, *classes, _EDGE)))
    return frozenset((*pairs, *of_classes, *sizes))

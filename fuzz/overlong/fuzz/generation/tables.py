"""The tables of the choices, as numbers: groups of tokens, fillers and lengths, and weighted strategies.

Most inputs are short, since short inputs find most faults and cost little. A few have fillers of the length of blocks,
for faults that depend on a place, a block or a length.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from overlong.fuzz.generation.choice import (
    ANY,
    BEGINS,
    CHANGE,
    CHANGES,
    CROSS,
    DELETE,
    DRAWN,
    DUPLICATE,
    HEADER,
    INSERT,
    KEY,
    LONGEST,
    MOVE,
    OCTETS_AT,
    OPENING,
    RANGES,
    SEEDS,
    SPLICE,
    STRATEGIES,
    STRATEGY,
    mixed,
    word_of,
    words_of,
)
from overlong.fuzz.generation.tokens import filled, fillers_of, reaching, tokens_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from overlong.fuzz.generation.tokens import Ranges, Tokens
    from overlong.reference.dialect import Dialect

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
    *(DELETE,) * 2, *(INSERT,) * 3, *(CHANGE,) * 4, *(DUPLICATE,) * 2, MOVE, *(SPLICE,) * 2, *(CROSS,) * 2
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


@dataclass
class Tables:
    """The tables for a seed, a dialect and some seed strings: see :mod:`.choice`."""

    cells: list[int] = field(default_factory=lambda: [0] * HEADER)
    pool: bytes = b""

    @classmethod
    def of(cls, key: int, seeds: Sequence[bytes], spoken: Dialect) -> Tables:
        """Build the tables for a key, a number of 63 bits."""
        tables, tokens = cls(), tokens_of(spoken)
        tables.cells[KEY] = key
        places = {ranges: DRAWN + tables._group(words_of(ranges))[0] for ranges in (*tokens.products, *tokens.flawed)}
        groups = {
            name: tables._group(word_of(each) if isinstance(each, bytes) else places[each] for each in members)
            for name, members in _groups(tokens, key).items()
        }
        plain, longer = fillers_of(spoken)
        octets, pieces = list[bytes](), list[tuple[int, int]]()
        for filler in (*plain, *longer):
            pieces.append((sum(map(len, octets)), len(filler)))
            octets.append(filled(filler, FAR[-1] + PADDING))
        kinds = [start << 16 | period for start, period in pieces]
        groups["fillers"] = tables._group(_shared(((kinds[: len(plain)], 1), (kinds[len(plain) :], 1)), 64, key))
        cuts = [seed[at : at + LONGEST] for seed in seeds for at in range(0, len(seed), LONGEST)]
        start, entries = sum(map(len, octets)), list[int]()
        for seed in cuts:
            entries.append(start << 16 | len(seed))
            start += len(seed)
        tables.pool = b"".join((*octets, *cuts, bytes(PADDING)))
        tables._set(SEEDS, tables._group(entries))
        tables._set(OPENING, tables._group(map(word_of, tokens.opening)))
        tables._set(ANY, groups["any"])
        tables._set(OCTETS_AT, groups["octets"])
        tables._set(CHANGES, tables._group(CHANGE_WAYS))
        tables._set(RANGES, tables._group(RANGE_LENGTHS))
        tables.cells[BEGINS] = tables._group(map(int, reaching(spoken.automaton)))[0]
        tables._set(STRATEGIES, tables._strategies((*MIX, *(OF_SEEDS if entries else ())), groups))
        return tables

    def _group(self, members: Iterable[int]) -> tuple[int, int]:
        """Add numbers; return their place and their count."""
        begin = len(self.cells)
        self.cells.extend(members)
        return begin, len(self.cells) - begin

    def _set(self, place: int, group: tuple[int, int]) -> None:
        self.cells[place : place + 2] = group

    def _strategies(self, strategies: Sequence[Strategy], groups: dict[str, tuple[int, int]]) -> tuple[int, int]:
        """Add strategies; return a group that has each as often as its weight."""
        numbers: dict[Sequence[int], tuple[int, int]] = {}
        rows = list[int]()
        for strategy in strategies:
            cells = list[int]()
            for section in strategy.sections:
                for lengths in (section.filler, section.counts, section.runs):
                    if lengths not in numbers:
                        numbers[lengths] = self._group(lengths)
                cells += (
                    *numbers[section.filler], *groups["fillers"], *numbers[section.counts],
                    *groups[section.tokens], *numbers[section.runs], section.piece,
                )  # fmt: skip
            begin, size = self._group(cells)
            row = len(self.cells)
            self._group((strategy.rounds, begin, begin + size))
            assert len(self.cells) - row == STRATEGY
            rows.append(row)
        return self._group(row for row, strategy in zip(rows, strategies, strict=True) for _ in range(strategy.weight))


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
            by_chance = {member: mixed(mixed(key + number) + member) for member in order}
            members += (part[member] for member in sorted(order, key=by_chance.__getitem__)[:room])
        else:
            members += (part[place % len(part)] for place in range(room))
    return members

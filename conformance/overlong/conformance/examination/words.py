"""Sets of words of one length, learned by experiment: which octets at each place make no difference.

The octets of a place are of one class if no context tells them apart. A context is a word with a gap. At first the only
context is the example; a word that the classes predict wrongly yields another, as counterexamples do in Angluin's
algorithm.
"""

from __future__ import annotations

from itertools import pairwise, product
from math import prod
from typing import TYPE_CHECKING

from overlong.conformance.examination.text import Product, exactly, merged

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    Shows = Callable[[Sequence[bytes]], list[bool]]

_MOST = 1 << 10
"""The most combinations of classes."""
_ROUNDS = 12
ALL = tuple(range(256))


class _Place:
    """The octets at a place, by what contexts tell of them."""

    def __init__(self, octets: Sequence[int]) -> None:
        self.octets = octets
        self.rows: dict[int, tuple[bool, ...]] = dict.fromkeys(octets, ())

    def classes(self) -> dict[tuple[bool, ...], list[int]]:
        found: dict[tuple[bool, ...], list[int]] = {}
        for octet, row in self.rows.items():
            found.setdefault(row, []).append(octet)
        return found


class _Learner:
    def __init__(self, example: bytes, shows: Shows, random: Random, octets: Sequence[int]) -> None:
        self.example, self.shows, self.random = example, shows, random
        self.places = [_Place(sorted({*octets, *range(max(octet - 1, 0), min(octet + 2, 256))})) for octet in example]
        self.known: dict[bytes, bool] = {}

    def ask(self, words: Sequence[bytes]) -> list[bool]:
        new = [word for word in dict.fromkeys(words) if word not in self.known]
        self.known.update(zip(new, self.shows(new), strict=True))
        return [self.known[word] for word in words]

    def learn_context(self, place: int, word: bytes) -> None:
        at, first = self.places[place], not any(self.places[place].rows.values())
        shown = dict[int, bool]()
        new = list(at.octets)
        while new:
            shown.update(
                zip(new, self.ask([word[:place] + bytes([each]) + word[place + 1 :] for each in new]), strict=True)
            )
            new = _between(shown) if first else []
        at.octets = sorted(shown)
        at.rows = {octet: (*at.rows.get(octet, ()), shown[octet]) for octet in at.octets}

    def representative(self, place: int, row: tuple[bool, ...]) -> int:
        at = self.places[place]
        own = self.example[place]
        return own if at.rows[own] == row else at.classes()[row][0]

    def table(self) -> dict[tuple[tuple[bool, ...], ...], bool] | None:
        rows = [list(place.classes()) for place in self.places]
        if prod(map(len, rows)) > _MOST:
            return None
        keys = list(product(*rows))
        words = [bytes(self.representative(place, row) for place, row in enumerate(key)) for key in keys]
        return dict(zip(keys, self.ask(words), strict=True))

    def drawn(self, table: dict[tuple[tuple[bool, ...], ...], bool], count: int) -> list[bytes]:
        """Words to check: often of a combination that shows it, often at the edges of classes."""
        inside = [key for key, shown in table.items() if shown]
        every, random = list(table), self.random
        classes = [place.classes() for place in self.places]
        edges = [
            {
                row: [each for each in some if each - 1 not in of or each + 1 not in of]
                for row, some in found.items()
                for of in [set(some)]
            }
            for found in classes
        ]
        words = list[bytes]()
        for _ in range(count):
            key = random.choice(inside if inside and random.random() < 0.7 else every)
            word = bytearray()
            for place, row in enumerate(key):
                draw = random.random()
                octets = (
                    self.places[place].octets
                    if draw < 0.1
                    else edges[place][row]
                    if draw < 0.55
                    else classes[place][row]
                )
                word.append(random.choice(octets or classes[place][row]))
            words.append(bytes(word))
        return words

    def tell_apart(self, word: bytes) -> None:
        """Learn from a word that its classes' representatives do not speak for."""
        key = [place.rows[octet] for place, octet in zip(self.places, word, strict=True)]
        other = bytes(self.representative(place, row) for place, row in enumerate(key))
        steps = [word[:place] + other[place:] for place in range(len(word) + 1)]
        said = self.ask(steps)
        for place in range(len(word)):
            if said[place] != said[place + 1]:
                self.learn_context(place, steps[place])
                return


def _between(shown: dict[int, bool]) -> list[int]:
    """The octets halfway between neighbours that differ."""
    return [
        (one + other) // 2 for one, other in pairwise(sorted(shown)) if shown[one] != shown[other] and other - one > 1
    ]


def learned(
    example: bytes,
    shows: Shows,
    random: Random,
    *,
    checks: int = 200,
    octets: Sequence[int] = ALL,
    known: Sequence[bytes] = (),
) -> tuple[Product, ...]:
    """The words of the example's length that show the same, in one setting.

    Args:
        example: one of them, not empty.
        shows: asks words.
        random: where words to check come from.
        checks: words to check in each round.
        octets: the octets to try at each place; each stands for those up to the next.
        known: words to check in any case.
    """
    learner = _Learner(example, shows, random, octets)
    for place in range(len(example)):
        learner.learn_context(place, example)
    table = learner.table()
    certain = [
        word
        for word in known
        if len(word) == len(example) and all(octet in at.rows for octet, at in zip(word, learner.places, strict=True))
    ]
    for _ in range(_ROUNDS):
        if table is None or not checks:
            break
        drawn = [*certain, *learner.drawn(table, checks)]
        said = learner.ask(drawn)
        wrong = next(
            (
                word
                for word, shown in zip(drawn, said, strict=True)
                if table[tuple(place.rows[octet] for place, octet in zip(learner.places, word, strict=True))] != shown
            ),
            None,
        )
        if wrong is None:
            break
        learner.tell_apart(wrong)
        table = learner.table()  # None: too many classes
    if table is None:
        return (exactly(example),)
    classes = [
        {row: frozenset(_spread(some, place.octets)) for row, some in place.classes().items()}
        for place in learner.places
    ]
    products = merged(
        tuple(of[row] for of, row in zip(classes, key, strict=True))
        for key, shown in table.items()
        if shown and all(row in of for of, row in zip(classes, key, strict=True))
    )
    return tuple(products)


def _spread(some: Sequence[int], of: Sequence[int]) -> list[int]:
    """The octets that some stand for: each of them, and those after it up to the next one that was tried."""
    if len(of) == len(ALL):
        return list(some)
    chosen, tried, found, last = set(some), set(of), list[int](), min(of)
    for octet in range(256):
        last = octet if octet in tried else last
        if last in chosen:
            found.append(octet)
    return found

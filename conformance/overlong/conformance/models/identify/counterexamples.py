"""The differences between a learned machine and one of the reference, as products of octet ranges."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, islice
from typing import TYPE_CHECKING

from overlong.reference.answer import REFUSED
from overlong.reference.automaton import OCTETS, OctetClass
from overlong.reference.theory import shortlex
from overlong.reference.transducer import Transducer, difference

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

MOST = 200
"""The most counterexamples that the search collects; a decoder with more is like no known one."""


@dataclass(frozen=True)
class Counterexample:
    """Words whose answers differ at the last octet: one octet of each class."""

    classes: tuple[OctetClass, ...]
    said: Hashable
    wanted: Hashable

    @cached_property
    def witness(self) -> bytes:
        """The least of the words."""
        return bytes(octets.least for octets in self.classes)

    def __str__(self) -> str:
        """``FE 82-BF 5(80-BF)``: one octet of each range, with ABNF's notation for repetitions."""
        runs = [(str(octets).replace(" ", ","), len(list(run))) for octets, run in groupby(self.classes)]
        return " ".join(name if count == 1 else f"{count}({name})" for name, count in runs)


def counterexamples(learned: Transducer, known: Transducer) -> list[Counterexample]:
    """Up to :data:`MOST` counterexamples, the shortlex-least witness first.

    A counterexample ends with the first octet whose answer differs: later differences follow from it.
    """
    found = islice(_counterexamples(learned, known), MOST)
    return sorted(found, key=lambda counterexample: shortlex(counterexample.witness))


def _counterexamples(learned: Transducer, known: Transducer) -> Iterator[Counterexample]:
    """Search breadth first. A pair of states is visited once, by its shortest word; inside a character, by all words.

    Inside a character, both machines refuse the octets so far. So the search finds every form that only one accepts.
    """
    start: tuple[int, int] = 0, 0
    seen, equal = set[tuple[int, int]]({start}), dict[tuple[int, int], bool]()
    queue: deque[tuple[tuple[int, int], tuple[OctetClass, ...], frozenset[tuple[int, int]]]] = deque()
    queue.append((start, (), frozenset()))
    while queue:
        pair, path, passed = queue.popleft()
        left, right = pair
        groups: dict[tuple[tuple[int, int], Hashable, Hashable], list[int]] = {}
        for octet in OCTETS:
            to = learned.table[left][octet], known.table[right][octet]
            groups.setdefault((to, learned.changes[left][octet], known.changes[right][octet]), []).append(octet)
        for (to, said, wanted), octets in groups.items():
            here = (*path, OctetClass(tuple(octets)))
            if said != wanted:
                yield Counterexample(here, said, wanted)
                continue
            if to not in equal:
                equal[to] = difference(learned, known, to) is None
            if equal[to] or to in (passed if said == REFUSED else seen):
                continue
            seen.add(to)
            queue.append((to, here, passed | {to}))

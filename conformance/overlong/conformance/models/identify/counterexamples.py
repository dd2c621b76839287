"""Where a learned machine departs from one of the reference, as products of octet ranges."""

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
"""Counterexamples that are looked for; a decoder that has more is like nothing known."""


@dataclass(frozen=True)
class Counterexample:
    """Words that are answered otherwise at their last octet: one octet of each class."""

    classes: tuple[OctetClass, ...]
    said: Hashable
    wanted: Hashable

    @cached_property
    def witness(self) -> bytes:
        """The least of the words."""
        return bytes(octets.least for octets in self.classes)

    def __str__(self) -> str:
        """``FE 82-BF 5(80-BF)``: one octet of each, repetitions as ABNF has them."""
        runs = [(str(octets).replace(" ", ","), len(list(run))) for octets, run in groupby(self.classes)]
        return " ".join(name if count == 1 else f"{count}({name})" for name, count in runs)


def counterexamples(learned: Transducer, known: Transducer) -> list[Counterexample]:
    """Up to :data:`MOST` counterexamples, the shortlex-least witness first.

    Only the first octet that is answered otherwise is told: what follows from it is not.
    """
    found = islice(_counterexamples(learned, known), MOST)
    return sorted(found, key=lambda counterexample: shortlex(counterexample.witness))


def _counterexamples(learned: Transducer, known: Transducer) -> Iterator[Counterexample]:
    """Breadth first. A pair of states is gone on from once, by its shortest way; but inside a character by every way.

    There, both refuse what was read so far. So every form that only one of the two accepts is told.
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

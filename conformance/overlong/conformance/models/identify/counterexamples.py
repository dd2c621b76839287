"""How a decoder differs from a machine of the reference: by its learned machine, or by the answers to a sample."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest
from itertools import groupby, islice
from typing import TYPE_CHECKING

from overlong.reference import dialect
from overlong.reference.automaton import OCTETS, OctetClass, shortlex
from overlong.reference.machine import REFUSED, Transducer, difference

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from overlong.conformance.models.identify.aspects import Aspect, KnownAspect
    from overlong.conformance.models.identify.membership_oracle import MembershipOracle

MOST = 200
"""The most counterexamples that the search collects; a decoder with more is like no known one."""
_OF_A_SAMPLE = 3
"""The most of them that a sample gives."""
_SHORTEST = 20_000  # of the strings that were asked, the shortest, among which that search runs


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


@dataclass(frozen=True)
class Example:
    """A counterexample at its least witness, with the answers of the target and of the reference."""

    counterexample: Counterexample
    said: str
    wanted: str


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


def likeness(oracle: MembershipOracle, aspect: Aspect, core: Sequence[bytes]) -> tuple[str, list[Example]]:
    """The known machine that is most like a decoder, by the answers so far, without new questions.

    Args:
        oracle: the oracle with the answers.
        aspect: the aspect to compare.
        core: the core vectors; those that were asked are the sample.

    Returns:
        ``; most like skip, as 9 of 10 core vectors have it``, empty without answers; and up to three strings whose
        answers differ, the shortlex-least first.
    """
    strings = [string for string in core if string and oracle.knows(string)]
    if not strings:
        return "", []
    answers = [aspect.change(oracle, string) for string in strings]

    def alike(known: KnownAspect) -> int:
        return sum(known.machine.along(string)[-1] == said for string, said in zip(strings, answers, strict=True))

    agreeing, known = max(((alike(known), known) for known in aspect.known()), key=lambda pair: pair[0])
    fits = f"as {agreeing} of {len(answers)} core vectors have it"
    if agreeing == len(answers):
        fits = f"which fits all {agreeing} core vectors that were tested, but not all other strings"
    return f"; most like {known.name}, {fits}", list(_examples(oracle, aspect, known))


def _examples(oracle: MembershipOracle, aspect: Aspect, known: KnownAspect) -> Iterator[Example]:
    """The shortest strings whose answers differ at the last octet; one of each set that RFC 3629 treats alike."""
    asked = (string for string, _ in oracle.items() if string and oracle.knows(string))
    classes = dialect("rfc3629").automaton.classes
    number = {octet: place for place, each in enumerate(classes) for octet in each.octets}
    seen = set[tuple[int, ...]]()
    for string in nsmallest(_SHORTEST, asked, key=shortlex):
        kind = tuple(number[octet] for octet in string)
        if any(kind[:end] in seen for end in range(1, len(kind) + 1)):
            continue
        said, wanted = aspect.change(oracle, string), known.machine.along(string)[-1]
        words = aspect.words(oracle, string), known.words(string)
        if said != wanted and words[0] != words[1]:
            seen.add(kind)
            yield Example(Counterexample(tuple(OctetClass((octet,)) for octet in string), said, wanted), *words)
            if len(seen) == _OF_A_SAMPLE:
                return

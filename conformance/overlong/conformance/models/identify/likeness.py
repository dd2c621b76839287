"""The known machine that is most like a decoder without a learned machine, and examples that distinguish both."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nsmallest
from typing import TYPE_CHECKING

from overlong.conformance.models.identify.counterexamples import Counterexample
from overlong.reference import dialect
from overlong.reference.automaton import OctetClass
from overlong.reference.theory import shortlex

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.models.identify.aspects import Aspect, KnownAspect
    from overlong.conformance.models.identify.membership_oracle import MembershipOracle

EXAMPLES = 3
_SHORTEST = 20_000  # of the strings that were asked, the shortest, among which the search runs


@dataclass(frozen=True)
class Example:
    """A counterexample at its least witness, with the answers of the target and of the reference."""

    counterexample: Counterexample
    said: str
    wanted: str


@dataclass(frozen=True)
class Likeness:
    """The known machine that is nearest by a sample; reports say that it is a sample."""

    words: str = ""
    """``; most like skip, as 9 of 10 core vectors have it``; empty without answers."""
    examples: tuple[Example, ...] = ()
    """Up to :data:`EXAMPLES` strings whose answers differ, the shortlex-least first."""


def likeness(oracle: MembershipOracle, aspect: Aspect, core: Sequence[bytes]) -> Likeness:
    """The known machine that is most like a decoder, by the answers so far, without new questions.

    Args:
        oracle: the oracle with the answers.
        aspect: the aspect to compare.
        core: the core vectors; those that were asked are the sample.
    """
    strings = [string for string in core if string and oracle.knows(string)]
    if not strings:
        return Likeness()
    answers = [aspect.change(oracle, string) for string in strings]

    def alike(known: KnownAspect) -> int:
        return sum(known.machine.along(string)[-1] == said for string, said in zip(strings, answers, strict=True))

    agreeing, known = max(((alike(known), known) for known in aspect.known()), key=lambda pair: pair[0])
    fits = f"as {agreeing} of {len(answers)} core vectors have it"
    if agreeing == len(answers):
        fits = f"which fits all {agreeing} core vectors that were tested, but not all other strings"
    return Likeness(f"; most like {known.name}, {fits}", tuple(_examples(oracle, aspect, known)))


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
            if len(seen) == EXAMPLES:
                return

"""What a decoder that could not be learned is most like, and examples that tell it from that."""

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
_SHORTEST = 20_000  # strings that are looked through: the shortest that were asked


@dataclass(frozen=True)
class Example:
    """A counterexample at its least witness: what the target answers, and what the reference does."""

    counterexample: Counterexample
    said: str
    wanted: str


@dataclass(frozen=True)
class Likeness:
    """The nearest of what is known, by a sample, and said to be one."""

    words: str = ""
    """``; most like skip, as 9 of 10 core vectors have it``; empty if nothing was asked."""
    examples: tuple[Example, ...] = ()
    """Up to :data:`EXAMPLES` that are answered otherwise, the shortlex-least first."""


def likeness(oracle: MembershipOracle, aspect: Aspect, core: Sequence[bytes]) -> Likeness:
    """What a decoder is most like, as far as it was asked; nothing more is asked.

    Args:
        oracle: with the answers.
        aspect: what it does with them.
        core: the core vectors, of which those that were asked are the sample.
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
        fits = f"which fits all {agreeing} core vectors that were asked, and not all else"
    return Likeness(f"; most like {known.name}, {fits}", tuple(_examples(oracle, aspect, known)))


def _examples(oracle: MembershipOracle, aspect: Aspect, known: KnownAspect) -> Iterator[Example]:
    """The shortest strings that are answered otherwise at their last octet; one of those that RFC 3629 takes alike."""
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

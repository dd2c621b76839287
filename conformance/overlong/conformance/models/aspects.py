"""The aspects of a decoder to learn: the effect of an octet, the machines to compare with, and how they differ.

A decoder differs from a machine of the reference by its learned machine, or by its answers to a sample.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property, partial
from heapq import nsmallest
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.models.beside import RESULTS
from overlong.conformance.oracle.finding import expected_in_words, observed_in_words
from overlong.conformance.protocol.observation import EARLIEST, POSITION, Accepted, Refused
from overlong.conformance.support.printable import code_points
from overlong.conformance.vectors.vector import Profile, Vector
from overlong.reference import DIALECTS, ERROR_MODES, Decoded, Dialect, decode_scalars, dialect, outcome
from overlong.reference.automaton import OCTETS, OctetClass, shortlex
from overlong.reference.machine import (
    ACCEPTED,
    REFUSED,
    REFUSED_AT_THE_END,
    Place,
    Transducer,
    detection_machine,
    difference,
    output_change,
    output_machine,
    place_change,
    place_machine,
    release_machine,
    verdict,
    verdict_machine,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from overlong.conformance.models.learner import MembershipOracle
    from overlong.conformance.protocol.wire import Units


class KnownAspect(NamedTuple):
    """A known machine by name, and its decoder's answers in words."""

    name: str
    machine: Transducer
    words: Callable[[bytes], str]
    profile: Profile | None = None
    """The profile of a decoder with this machine; None if no single dialect and error mode describes it."""


@dataclass(frozen=True)
class Aspect:
    """One aspect of a decoder's behaviour.

    ``known`` yields the machines to compare with, the likeliest first.
    """

    title: str
    change: Callable[[MembershipOracle, bytes], Hashable]
    words: Callable[[MembershipOracle, bytes], str]
    known: Callable[[], Iterator[KnownAspect]]
    claims: frozenset[str] = RESULTS
    """The claims of a certificate about this aspect."""


def dialect_aspect(*, with_values: bool) -> Aspect:
    """The accepted language, and its scalar rule."""

    def change(oracle: MembershipOracle, octets: bytes) -> Hashable:
        observed = oracle[octets]
        if isinstance(observed, Refused):
            return REFUSED
        assert isinstance(observed, Accepted)
        return ACCEPTED if observed.values is None else verdict(octets, Decoded(observed.values))

    def machine(spoken: Dialect) -> Transducer:
        if with_values:
            return verdict_machine(spoken)
        accepts = Transducer.of(spoken.automaton)
        rows = tuple(tuple(ACCEPTED if each else REFUSED for each in row) for row in accepts.changes)
        return Transducer(accepts.table, rows).minimal()

    def known() -> Iterator[KnownAspect]:
        for name in DIALECTS:
            spoken = dialect(name)
            yield KnownAspect(name, machine(spoken), partial(_expected, spoken), Profile(name))

    return Aspect("dialect", change, _observed, known)


def place_aspect(speaks: Iterable[str], refusals: Iterable[Refused]) -> Aspect:
    """The reported place of a refusal."""
    said = list(refusals)
    lengths, incompletes = any(r.length is not None for r in said), any(r.incomplete is not None for r in said)

    def place(oracle: MembershipOracle, octets: bytes) -> Place | None:
        observed = oracle[octets]
        if not isinstance(observed, Refused):
            return None
        return Place(-1 if observed.offset is None else observed.offset, observed.length, observed.incomplete)

    def change(oracle: MembershipOracle, octets: bytes) -> Hashable:
        return place_change(octets, place(oracle, octets[:-1]), place(oracle, octets))

    def known() -> Iterator[KnownAspect]:
        for name in speaks:
            spoken = dialect(name)
            machine = place_machine(spoken, lengths=lengths, incompletes=incompletes)
            yield KnownAspect(name, machine, partial(_expected, spoken), Profile(name))

    return Aspect("error position", change, _observed, known, frozenset({POSITION}))


def output_aspect(speaks: Iterable[str]) -> Aspect:
    """The output for ill-formed octets."""

    def change(oracle: MembershipOracle, octets: bytes) -> Hashable:
        return output_change(octets, _values(oracle, octets[:-1]), _values(oracle, octets))

    def known() -> Iterator[KnownAspect]:
        for name in speaks:
            for mode in ERROR_MODES.values():
                if mode.stands_for is not None:
                    label = mode.name if name == "rfc3629" else f"{mode.name} over {name}"
                    spoken = dialect(name)
                    replaced = partial(_replaced, spoken, mode.name)
                    yield KnownAspect(label, output_machine(spoken, mode), replaced, Profile(name, mode.name))

    return Aspect("error mode", change, _put_out, known)


def release_aspect(spoken: str, mode: str, units: Units) -> Aspect:
    """The time of a stream's output, octet by octet."""

    def released(oracle: MembershipOracle, octets: bytes) -> tuple[int, ...]:
        values = _values(oracle, octets)
        *_, before_the_end, _ = (0, *oracle.marks(octets))
        count, taken = 0, 0
        while count < before_the_end and taken < len(values):
            count += units.count(values[taken : taken + 1])
            taken += 1
        return values[:taken]

    def change(oracle: MembershipOracle, octets: bytes) -> Hashable:
        return output_change(octets, released(oracle, octets[:-1]), released(oracle, octets))

    def known() -> Iterator[KnownAspect]:
        machine = release_machine(dialect(spoken), ERROR_MODES[mode])
        profile = Profile(spoken, mode)

        def certain(octets: bytes) -> str:
            vector = Vector("input", octets, chunks=(1,) * len(octets), profile=profile)
            return f"{code_points(tuple(chain.from_iterable(vector.chunked[:-1])))} is out"

        yield KnownAspect("nothing held back", machine, certain, profile)

    def words(oracle: MembershipOracle, octets: bytes) -> str:
        return f"{code_points(released(oracle, octets))} is out"

    return Aspect("withholding", change, words, known, frozenset({EARLIEST}))


def detection_aspect(spoken: str) -> Aspect:
    """The time of a stream's refusal, octet by octet."""

    def change(oracle: MembershipOracle, octets: bytes) -> Hashable:
        observed = oracle[octets]
        if isinstance(observed, Accepted):
            return ACCEPTED
        return REFUSED if oracle.marks(octets)[0] <= len(octets) else REFUSED_AT_THE_END

    def known() -> Iterator[KnownAspect]:
        machine = detection_machine(dialect(spoken))

        def expected(octets: bytes) -> str:
            return str(machine.along(octets)[-1])

        yield KnownAspect("as early as can be", machine, expected, Profile(spoken))

    def words(oracle: MembershipOracle, octets: bytes) -> str:
        return str(change(oracle, octets))

    return Aspect("detection", change, words, known, frozenset({EARLIEST}))


def _expected(spoken: Dialect, octets: bytes) -> str:
    return expected_in_words(outcome(octets, "fatal", spoken))


def _replaced(spoken: Dialect, mode: str, octets: bytes) -> str:
    return code_points(decode_scalars(octets, mode, spoken))


def _observed(oracle: MembershipOracle, octets: bytes) -> str:
    return observed_in_words(oracle[octets])


def _put_out(oracle: MembershipOracle, octets: bytes) -> str:
    observed = oracle[octets]
    if isinstance(observed, Accepted) and observed.values is not None:
        return code_points(observed.values)
    return observed_in_words(observed)


def _values(oracle: MembershipOracle, octets: bytes) -> tuple[int, ...]:
    observed = oracle[octets]
    if isinstance(observed, Accepted) and observed.values is not None:
        return observed.values
    return (REFUSES,)


REFUSES = -1
"""Stands in the output of a decoder that refused instead of replacing."""


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
    words: tuple[str, str] | None = None
    """The answers of the target and of the reference to the witness; only the first examples have them."""

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


def likeness(oracle: MembershipOracle, aspect: Aspect, core: Sequence[bytes]) -> tuple[str, list[Counterexample]]:
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


def _examples(oracle: MembershipOracle, aspect: Aspect, known: KnownAspect) -> Iterator[Counterexample]:
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
            yield Counterexample(tuple(OctetClass((octet,)) for octet in string), said, wanted, words)
            if len(seen) == _OF_A_SAMPLE:
                return

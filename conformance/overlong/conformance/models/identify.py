"""Identify a target by equivalence of machines: its dialect, its error mode, its treatment of streams."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from operator import eq
from typing import TYPE_CHECKING

from overlong.conformance.models.aspects import (
    Aspect,
    Counterexample,
    KnownAspect,
    counterexamples,
    detection_aspect,
    dialect_aspect,
    likeness,
    output_aspect,
    place_aspect,
    release_aspect,
)
from overlong.conformance.models.beside import evidence, tried_on
from overlong.conformance.models.learner import Learner, MembershipOracle, Unlearnable
from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.protocol.observation import Refused
from overlong.conformance.protocol.wire import DECODE, REPLACE, STREAM_DECODE, STREAM_REPLACE, VALIDATE
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.suites.suite import core_vectors
from overlong.reference import DIALECTS
from overlong.reference.automaton import OCTETS
from overlong.reference.machine import difference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from overlong.conformance.models.beside import Against
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.oracle.target import Target
    from overlong.conformance.targets.limits import Limits
    from overlong.conformance.vectors.vector import Profile
    from overlong.reference.machine import Transducer

QUESTIONS = 1_000_000
"""The most strings for one operation."""

LEARNED = (DECODE, VALIDATE, REPLACE, STREAM_DECODE, STREAM_REPLACE)
"""The operations that have a machine."""

EXAMPLES = 12
"""The number of counterexamples that are shown with answers."""

_MANY = 8
_DEPTH = 2
_ENOUGH = 40_000  # strings of a deeper suite: an interpreted decoder answers them in a second
_FOUR = 0xF0  # from this lead octet on, zeros may come first: Perl's longest form has some
_TAILS = 13  # one more than Perl's longest form
_LONGEST = 16  # octets of the longest core vectors that are tried, with all their prefixes


@dataclass(frozen=True)
class LearnedPart:
    """The result for one aspect."""

    title: str
    operation: str
    name: str
    """The equal or nearest known machine."""
    counterexamples: tuple[Counterexample, ...] = ()
    """Its differences from that machine; none if both are equal. If no machine was learned: a few, from the nearest.
    The first have the answers in words.
    """
    machine: Transducer | None = None
    """The learned machine; None if it could not be learned."""
    depth: int = 0
    """The depth of its tests."""
    why_not: str = ""
    """The reason, if no machine was learned."""
    tried: int = 0
    """The number of strings from elsewhere; they are asked if the machine is a known one."""
    against: tuple[Against, ...] = ()
    """The evidence of these strings against the learned machine."""
    profile: Profile | None = None
    """The profile of a decoder that is exactly this machine."""

    @property
    def exact(self) -> bool:
        """True if its machine is a known one, and no answer contradicts that."""
        return self.machine is not None and not self.counterexamples and not self.against


class LearnedModel:
    """What is learned of a target: the result for each aspect, and the answers that it rests on."""

    def __init__(
        self,
        target: Target,
        questions: int,
        progress: Callable[[str, int], None] = lambda _title, _asked: None,
        operations: Sequence[str] = LEARNED,
    ) -> None:
        """``target``: open. The others are as in :func:`identify`."""
        self.target, self.greeting = target.id, target.greeting
        self.parts: list[LearnedPart] = []
        offered = [op for op in operations if op in target.greeting.operations]
        if DECODE in offered and VALIDATE in offered:
            offered.remove(VALIDATE)
        self.oracles = {operation: MembershipOracle(target, operation, questions) for operation in offered}
        self.tried = 0
        """The number of strings from elsewhere, over all operations: see ``beside.py``."""
        self._open, self._progress, self._most = target, progress, questions
        self._tried: dict[tuple[str, Profile], tuple[int, list[Finding]]] = {}

    @property
    def questions(self) -> int:
        """The number of strings that the learner asked, over all operations."""
        return sum(oracle.asked for oracle in self.oracles.values())

    def part(self, title: str, operation: str = "") -> LearnedPart | None:
        """The result for the aspect of that title."""
        wanted = (each for each in self.parts if each.title == title and operation in ("", each.operation))
        return next(wanted, None)

    def learn(self) -> None:
        """Learn one aspect after another.

        Raises:
            BudgetSpent: the target fails too often.
            TargetError: it does not start any more.
        """
        oracles = self.oracles
        for operation in (DECODE, VALIDATE):
            if operation in oracles:
                part = self._learn(dialect_aspect(with_values=operation == DECODE), operation)
                self._places(operation, part)
        if REPLACE in oracles:
            self._learn(output_aspect(self._speaks()), REPLACE)
        if STREAM_DECODE in oracles:
            self._learn(self._as_whole(dialect_aspect(with_values=True), DECODE), STREAM_DECODE)
            if self.greeting.marks_refusals:
                self._learn(detection_aspect(self._speaks()[0]), STREAM_DECODE)
        if STREAM_REPLACE in oracles:
            self._learn(self._as_whole(output_aspect(self._speaks()), REPLACE), STREAM_REPLACE)
            mode = self.part("error mode", REPLACE)
            if mode is not None and mode.exact and " over " not in mode.name:
                units = self.greeting.units
                self._learn(release_aspect(self._speaks()[0], mode.name, units), STREAM_REPLACE)

    def learn_dialect(self) -> None:
        """Learn the dialect, from the first operation that shows it."""
        operation = next((each for each in (DECODE, VALIDATE) if each in self.oracles), None)
        if operation is not None:
            self._learn(dialect_aspect(with_values=operation == DECODE), operation, depth=0)

    def learn_error_mode(self, speaks: Sequence[str]) -> None:
        """Learn the error mode on whole inputs."""
        if REPLACE in self.oracles:
            if not speaks:
                self.learn_dialect()
            self._learn(output_aspect(speaks or self._speaks()), REPLACE)

    def _speaks(self) -> list[str]:
        """The dialects, the identified one first."""
        part = self.part("dialect")
        if part is None:
            return list(DIALECTS)
        return list(dict.fromkeys((part.name, "rfc3629"))) if part.name else ["rfc3629"]

    def _places(self, operation: str, part: LearnedPart) -> None:
        """The error position, if the target reports one."""
        if part.machine is None or self.greeting.offsets != "octets":
            return
        refusals = [said for _, said in self.oracles[operation].items() if isinstance(said, Refused)]
        if any(refused.offset is not None for refused in refusals):
            self._learn(place_aspect(self._speaks(), refusals), operation)

    def _as_whole(self, aspect: Aspect, operation: str) -> Aspect:
        """The aspect in streams: compare it with the result for the whole input."""
        whole = self.part(aspect.title, operation)
        title = f"{aspect.title} in streams"
        if whole is None or whole.machine is None:
            return replace(aspect, title=title)
        oracle = self.oracles[operation]

        def words(octets: bytes) -> str:
            oracle.ask([octets])
            return aspect.words(oracle, octets)

        known = KnownAspect("as of the whole", whole.machine, words, whole.profile if whole.exact else None)
        return replace(aspect, title=title, known=lambda: iter([known]))

    def _learn(self, aspect: Aspect, operation: str, depth: int = _DEPTH) -> LearnedPart:
        """Learn an aspect, and identify its machine."""
        oracle = self.oracles[operation]
        self._progress(aspect.title, self.questions)
        first = next(aspect.known())
        learner = Learner(oracle, aspect.change, first.machine.characterising_set)
        trials: list[Sequence[bytes]] = [_core_strings(), _long_forms(), first.machine.complete_strings()]
        try:
            part = self._compared(aspect, operation, *learner.learn(trials, depth, _ENOUGH))
            if short := [each.octets for each in part.against if len(each.octets) <= _LONGEST]:
                part = self._learned_from(short, aspect, part, learner, trials, depth)
        except Unlearnable as error:
            with suppress(Unlearnable):  # these show which known machine is most like it
                oracle.ask(_core_strings())
            words, examples = likeness(oracle, aspect, _core_strings())
            part = LearnedPart(aspect.title, operation, "", tuple(examples), why_not=f"{error}{words}")
        self.parts.append(part)
        return part

    def _compared(self, aspect: Aspect, operation: str, machine: Transducer, depth: int) -> LearnedPart:
        """The known machine that a learned one is, and the evidence against that."""
        oracle = self.oracles[operation]
        known, found = _nearest(machine, aspect.known())
        shown = found[:EXAMPLES]
        oracle.ask(each.witness for each in shown)
        for place, each in enumerate(shown):
            words = aspect.words(oracle, each.witness), known.words(each.witness)
            found[place] = replace(each, words=words)
        part = LearnedPart(aspect.title, operation, known.name, tuple(found), machine, depth, profile=known.profile)
        if found or known.profile is None:
            return part
        tried, findings = self._tried_on(operation, known.profile)
        return replace(part, tried=tried, against=evidence(findings, aspect.claims))

    def _learned_from(
        self,
        short: Sequence[bytes],
        aspect: Aspect,
        part: LearnedPart,
        learner: Learner,
        trials: list[Sequence[bytes]],
        depth: int,
    ) -> LearnedPart:
        """Learn the aspect again with counterexamples from elsewhere, if a machine of few states can have them."""
        before = part.machine
        assert before is not None
        try:
            machine, reached = learner.learn([*trials, short], depth, _ENOUGH)
            again = self._compared(aspect, part.operation, machine, reached)
        except Unlearnable:
            return part
        left = tuple(each for each in part.against if machine.along(each.octets) == before.along(each.octets))
        return replace(again, tried=part.tried, against=left)

    def _tried_on(self, operation: str, profile: Profile) -> tuple[int, list[Finding]]:
        """The results of the strings from elsewhere, asked once for each operation and profile."""
        key = operation, profile
        if key not in self._tried:
            self._progress("strings from elsewhere", self.questions)
            most = self._most - self.oracles[operation].asked
            self._tried[key] = tried_on(self._open, operation, profile, most)
            self.tried += self._tried[key][0]
        return self._tried[key]


def identify(
    name: str | Sequence[str],
    limits: Limits | None = None,
    *,
    questions: int = QUESTIONS,
    progress: Callable[[str, int], None] = lambda _title, _asked: None,
    operations: Sequence[str] = LEARNED,
) -> LearnedModel:
    """Identify a target.

    Args:
        name: the target, as on the command line.
        limits: the target's limits, such as the time for a request.
        questions: the most strings for one operation.
        progress: called with the present aspect, and the number of strings so far.
        operations: those to learn, if the target offers them.

    Raises:
        TargetError: the target cannot be measured.
    """
    target = resolve(name, limits)
    try:
        target.open()
        model = LearnedModel(target, questions, progress, operations)
        model.learn()
    except BudgetSpent as error:
        raise TargetError(str(error)) from error
    finally:
        target.close()
    return model


def identify_dialect(target: Target, questions: int) -> LearnedModel:
    """Identify only the dialect of an open target, with fewer trials than :func:`identify`.

    Args:
        target: a target that offers V or D; for others the model is empty.
        questions: the most strings.

    Raises:
        BudgetSpent: the target fails too often.
        TargetError: the target does not start any more.
    """
    model = LearnedModel(target, questions)
    model.learn_dialect()
    return model


def identify_error_mode(target: Target, questions: int, speaks: Sequence[str] = ()) -> LearnedModel:
    """Identify only the error mode of an open target.

    Args:
        target: a target that offers L; for others the model is empty.
        questions: the most strings for one operation.
        speaks: the possible dialects of its replacing decoder, if they are known. Otherwise the dialect that it decodes
        or validates is learned first; if it does neither, all are tried.

    Raises:
        BudgetSpent: the target fails too often.
        TargetError: the target does not start any more.
    """
    model = LearnedModel(target, questions)
    model.learn_error_mode(speaks)
    return model


def _nearest(machine: Transducer, known: Iterable[KnownAspect]) -> tuple[KnownAspect, list[Counterexample]]:
    """The equal or nearest machine of the reference, and the counterexamples against it.

    The nearest machine has the fewest counterexamples. If all machines have many, counting them says little, since
    later differences are left out. Then the nearest machine agrees with the target on the most core vectors.
    """
    strings = _core_strings()
    answers = [machine.along(string) for string in strings]
    candidates: list[tuple[int, int, KnownAspect, list[Counterexample]]] = []
    for each in known:
        if difference(machine, each.machine) is None:
            return each, []
        found = counterexamples(machine, each.machine)
        alike = sum(map(eq, answers, map(each.machine.along, strings)))
        candidates.append((min(len(found), _MANY), -alike, each, found))
    *_, nearest, found = min(candidates, key=lambda candidate: candidate[:2])
    return nearest, found


@cache
def _long_forms() -> list[bytes]:
    """Every octet before more tail octets than any known form has, so that no form is missed for its length."""
    tails = range(0x80, 0xC0)
    few = (tails[0], tails[2], tails[len(tails) // 2], tails[-1])
    return [
        bytes([octet]) + bytes([few[0]]) * place + bytes([tail]) * (_TAILS - place)
        for octet in OCTETS
        for place in (range(_TAILS) if octet >= _FOUR else (0,))
        for tail in few
    ]


@cache
def _core_strings() -> list[bytes]:
    return [vector.octets for vector in core_vectors() if len(vector.octets) <= _LONGEST]

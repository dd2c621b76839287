"""Identify a target: what it speaks, how it replaces, what it does with streams; by equivalence of machines."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from operator import eq
from typing import TYPE_CHECKING

from overlong.conformance.models.identify.aspects import (
    Aspect,
    Known,
    detection_aspect,
    dialect_aspect,
    output_aspect,
    place_aspect,
    release_aspect,
)
from overlong.conformance.models.identify.beside import tried_on
from overlong.conformance.models.identify.departures import Departure, departures
from overlong.conformance.models.identify.learner import Learned, Learner
from overlong.conformance.models.identify.teacher import Teacher, Unlearnable
from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.protocol.observation import Refused
from overlong.conformance.protocol.wire import DECODE, REPLACE, STREAM_DECODE, STREAM_REPLACE, VALIDATE
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.suites.core import core_vectors
from overlong.reference import DIALECTS
from overlong.reference.automaton import OCTETS
from overlong.reference.transducer import difference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from overlong.conformance.models.identify.beside import Against, Tried
    from overlong.conformance.oracle.target import Target
    from overlong.conformance.protocol.wire import Greeting
    from overlong.conformance.targets.resolve import Limits
    from overlong.conformance.vectors.profile import Profile
    from overlong.reference.transducer import Transducer

QUESTIONS = 1_000_000
"""Strings that are asked of one operation, at most."""

EXAMPLES = 12
"""Departures that are shown with answers."""

_MANY = 8
_DEPTH = 2
_ENOUGH = 40_000  # strings of a deeper suite: what an interpreted decoder answers in a second
_FOUR = 0xF0  # from this lead octet on, zeros may come first: Perl's longest form has some
_TAILS = 13  # one more than Perl's longest form
_LONGEST = 16  # octets of core vectors that are tried, with all their prefixes


@dataclass(frozen=True)
class Example:
    """A departure at its least witness: what the target answers, and what the reference does."""

    departure: Departure
    said: str
    wanted: str


@dataclass(frozen=True)
class Trait:
    """What one aspect turned out to be."""

    title: str
    operation: str
    name: str
    """What it is, or is nearest to."""
    departures: tuple[Departure, ...] = ()
    """Where it is not that; none if it is exactly that."""
    examples: tuple[Example, ...] = ()
    """Of the first departures."""
    learned: Learned | None = None
    """None if its machine could not be learned."""
    why_not: str = ""
    """Why nothing was learned."""
    tried: int = 0
    """Strings from elsewhere that were asked, since its machine is one that is known."""
    against: tuple[Against, ...] = ()
    """What of these was answered otherwise than by the machine that was learned."""
    profile: Profile | None = None
    """What a decoder that is exactly this is measured by."""

    @property
    def exact(self) -> bool:
        """Its machine is one that is known, and no answer to anything says otherwise."""
        return self.learned is not None and not self.departures and not self.against


@dataclass
class Portrait:
    """What a target is."""

    target: str
    greeting: Greeting
    traits: list[Trait] = field(default_factory=list[Trait])
    teachers: dict[str, Teacher] = field(default_factory=dict[str, Teacher])

    tried: int = 0
    """Strings from elsewhere, over all operations: see ``beside.py``."""

    @property
    def questions(self) -> int:
        """Strings asked to learn, over all operations."""
        return sum(teacher.asked for teacher in self.teachers.values())

    def trait(self, title: str, operation: str = "") -> Trait | None:
        """What is known under a title."""
        wanted = (each for each in self.traits if each.title == title and operation in ("", each.operation))
        return next(wanted, None)


def identify(
    name: str | Sequence[str],
    limits: Limits | None = None,
    *,
    questions: int = QUESTIONS,
    progress: Callable[[str, int], None] | None = None,
) -> Portrait:
    """What a target is.

    Args:
        name: the target, as on the command line.
        limits: what the target may take.
        questions: strings that one operation is asked at most.
        progress: called with what is being learned, and the strings asked so far.

    Raises:
        TargetError: the target cannot be measured.
    """
    target = resolve(name, limits)
    try:
        target.open()
        return _Painter(target, questions, progress or _quietly).portrait()
    except BudgetSpent as error:
        raise TargetError(str(error)) from error
    finally:
        target.close()


def identify_dialect(target: Target, questions: int) -> Portrait:
    """The dialect of a target that is open, and nothing else; it is tried less hard than :func:`identify` does.

    Args:
        target: that offers V or D; else there is nothing in the portrait.
        questions: strings that it is asked at most.

    Raises:
        BudgetSpent: it fails too often.
        TargetError: it does not start any more.
    """
    return _Painter(target, questions, _quietly).dialect_alone()


def _quietly(_title: str, _asked: int) -> None:
    pass


class _Painter:
    def __init__(self, target: Target, questions: int, progress: Callable[[str, int], None]) -> None:
        self._target, self._progress = target, progress
        operations = [
            op for op in (DECODE, VALIDATE, REPLACE, STREAM_DECODE, STREAM_REPLACE) if op in target.greeting.operations
        ]
        if DECODE in operations and VALIDATE in operations:
            operations.remove(VALIDATE)
        teachers = {operation: Teacher(target, operation, questions) for operation in operations}
        self._portrait = Portrait(target.id, target.greeting, teachers=teachers)
        self._questions = questions
        self._tried: dict[tuple[str, Profile], Tried] = {}

    def portrait(self) -> Portrait:
        """Aspect after aspect."""
        teachers = self._portrait.teachers
        for operation in (DECODE, VALIDATE):
            if operation in teachers:
                trait = self._paint(dialect_aspect(with_values=operation == DECODE), operation)
                self._places(operation, trait)
        if REPLACE in teachers:
            self._paint(output_aspect(self._speaks()), REPLACE)
        if STREAM_DECODE in teachers:
            self._paint(self._as_whole(dialect_aspect(with_values=True), DECODE), STREAM_DECODE)
            if self._target.greeting.marks_refusals:
                self._paint(detection_aspect(self._speaks()[0]), STREAM_DECODE)
        if STREAM_REPLACE in teachers:
            self._paint(self._as_whole(output_aspect(self._speaks()), REPLACE), STREAM_REPLACE)
            mode = self._portrait.trait("error mode", REPLACE)
            if mode is not None and mode.exact and " over " not in mode.name:
                units = self._target.greeting.units
                self._paint(release_aspect(self._speaks()[0], mode.name, units), STREAM_REPLACE)
        return self._portrait

    def dialect_alone(self) -> Portrait:
        """The first aspect, of the first operation that shows it."""
        operation = next((each for each in (DECODE, VALIDATE) if each in self._portrait.teachers), None)
        if operation is not None:
            self._paint(dialect_aspect(with_values=operation == DECODE), operation, depth=0)
        return self._portrait

    def _speaks(self) -> list[str]:
        """Dialects, the one that was found first."""
        trait = self._portrait.trait("dialect")
        if trait is None:
            return list(DIALECTS)
        return list(dict.fromkeys((trait.name, "rfc3629"))) if trait.name else ["rfc3629"]

    def _places(self, operation: str, trait: Trait) -> None:
        """The error position, if it says one."""
        if trait.learned is None or self._target.greeting.offsets != "octets":
            return
        refusals = [said for _, said in self._portrait.teachers[operation].items() if isinstance(said, Refused)]
        if any(refused.offset is not None for refused in refusals):
            self._paint(place_aspect(self._speaks(), refusals), operation)

    def _as_whole(self, aspect: Aspect, operation: str) -> Aspect:
        """The aspect in streams: is it what was learned of the whole input?"""
        whole = self._portrait.trait(aspect.title, operation)
        title = f"{aspect.title} in streams"
        if whole is None or whole.learned is None:
            return replace(aspect, title=title)
        machine = whole.learned.machine
        teacher = self._portrait.teachers[operation]

        def words(octets: bytes) -> str:
            teacher.ask([octets])
            return aspect.words(teacher, octets)

        known = Known("as of the whole", machine, words, whole.profile if whole.exact else None)
        return replace(aspect, title=title, known=lambda: iter([known]))

    def _paint(self, aspect: Aspect, operation: str, depth: int = _DEPTH) -> Trait:
        """Learn an aspect, and find what it is."""
        teacher = self._portrait.teachers[operation]
        self._progress(aspect.title, self._portrait.questions)
        first = next(aspect.known())
        learner = Learner(teacher, aspect.change, first.machine.characterising_set)
        trials: list[Sequence[bytes]] = [_core_strings(), _long_forms(), first.machine.complete_strings()]
        try:
            trait = self._compared(aspect, operation, learner.learn(trials, depth, _ENOUGH))
            if short := [each.octets for each in trait.against if len(each.octets) <= _LONGEST]:
                trait = self._learned_from(short, aspect, trait, learner, trials, depth)
        except Unlearnable as error:
            trait = Trait(aspect.title, operation, "", why_not=f"{error}{_likeness(teacher, aspect)}")
        self._portrait.traits.append(trait)
        return trait

    def _compared(self, aspect: Aspect, operation: str, learned: Learned) -> Trait:
        """What a machine is, and what speaks against it."""
        teacher = self._portrait.teachers[operation]
        known, found = _nearest(learned.machine, aspect.known())
        shown = found[:EXAMPLES]
        teacher.ask(each.witness for each in shown)
        examples = tuple(
            Example(each, aspect.words(teacher, each.witness), known.words(each.witness)) for each in shown
        )
        trait = Trait(aspect.title, operation, known.name, tuple(found), examples, learned, profile=known.profile)
        if found or known.profile is None:
            return trait
        tried = self._tried_on(operation, known.profile)
        return replace(trait, tried=tried.count, against=tried.against(aspect.claims))

    def _learned_from(
        self,
        short: Sequence[bytes],
        aspect: Aspect,
        trait: Trait,
        learner: Learner,
        trials: list[Sequence[bytes]],
        depth: int,
    ) -> Trait:
        """The aspect learned again with counterexamples from elsewhere, if a machine of few states can have them."""
        assert trait.learned is not None
        before = trait.learned.machine
        try:
            again = self._compared(aspect, trait.operation, learner.learn([*trials, short], depth, _ENOUGH))
        except Unlearnable:
            return trait
        assert again.learned is not None
        machine = again.learned.machine
        left = tuple(each for each in trait.against if machine.along(each.octets) == before.along(each.octets))
        return replace(again, tried=trait.tried, against=left)

    def _tried_on(self, operation: str, profile: Profile) -> Tried:
        """What the strings from elsewhere show, asked once of an operation that is measured in one way."""
        key = operation, profile
        if key not in self._tried:
            portrait = self._portrait
            self._progress("strings from elsewhere", portrait.questions)
            most = self._questions - portrait.teachers[operation].asked
            self._tried[key] = tried_on(self._target, operation, profile, most)
            portrait.tried += self._tried[key].count
        return self._tried[key]


def _nearest(machine: Transducer, known: Iterable[Known]) -> tuple[Known, list[Departure]]:
    """The machine of the reference that is equal, or nearest; and the departures from it.

    Nearest is the one with the fewest departures. If all have many, those say little, since what follows one is not
    told: then it is the one that answers most core vectors as the target does.
    """
    strings = _core_strings()
    answers = [machine.along(string) for string in strings]
    candidates: list[tuple[int, int, Known, list[Departure]]] = []
    for each in known:
        if difference(machine, each.machine) is None:
            return each, []
        found = departures(machine, each.machine)
        alike = sum(map(eq, answers, map(each.machine.along, strings)))
        candidates.append((min(len(found), _MANY), -alike, each, found))
    *_, nearest, found = min(candidates, key=lambda candidate: candidate[:2])
    return nearest, found


def _likeness(teacher: Teacher, aspect: Aspect) -> str:
    """What a decoder that was not learned is most like: a sample, and said to be one."""
    strings = [string for string in _core_strings() if string and teacher.knows(string)]
    if not strings:
        return ""
    answers = [aspect.change(teacher, string) for string in strings]

    def alike(known: Known) -> int:
        return sum(known.machine.along(string)[-1] == said for string, said in zip(strings, answers, strict=True))

    agreeing, name = max(((alike(known), known.name) for known in aspect.known()), key=lambda pair: pair[0])
    return f"; most like {name}, as {agreeing} of {len(answers)} core vectors have it"


@cache
def _long_forms() -> list[bytes]:
    """Every octet before tails, more of them than any known form has: a form is not missed for its length."""
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

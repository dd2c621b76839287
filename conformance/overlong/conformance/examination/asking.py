"""Asks a target questions in large batches, and has the oracle judge the answers: only whether and how they differ."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from overlong.conformance.oracle.apart import affected, limits_of
from overlong.conformance.oracle.columnar import ColumnarOracle
from overlong.conformance.oracle.compare import FAULTS, compare_batch, control_of
from overlong.conformance.oracle.target import (
    ACCEPTED_ILL_FORMED,
    AGREES,
    BROKEN,
    CRASHED,
    MISBEHAVED,
    OTHER_INCOMPLETE,
    OTHER_LENGTH,
    OTHER_OFFSET,
    OTHER_OUTPUT,
    REFUSED_WELL_FORMED,
    TIMED_OUT,
    TargetError,
    expectation,
)
from overlong.conformance.protocol.observation import Code, Refused, Unsupported
from overlong.conformance.protocol.wire import AGAIN, DECODE, REPLACING, STREAMING, VALIDATE
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.expected import category_of
from overlong.conformance.vectors.vector import Vector
from overlong.reference import DEFECTS

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.oracle.target import Target
    from overlong.conformance.vectors.vector import Profile

RIGHT, ACCEPTS = "", "accepts"
"""The symptoms of a right answer, and of accepted ill-formed octets. Others are codes of divergences."""
_SYMPTOMS: dict[int, str] = {
    ACCEPTED_ILL_FORMED: ACCEPTS,
    REFUSED_WELL_FORMED: Code.REFUSED,
    OTHER_OUTPUT: Code.SCALARS,
    OTHER_OFFSET: Code.OFFSET,
    OTHER_LENGTH: Code.LENGTH,
    OTHER_INCOMPLETE: Code.INCOMPLETE,
    BROKEN: Code.INTERNAL_ERROR,
    CRASHED: Code.CRASHED,
    TIMED_OUT: Code.TIMED_OUT,
    MISBEHAVED: Code.MISBEHAVED,
}
"""Those of results; of others it is that of a right answer."""
REPLACED = Code.REPLACEMENT_TEXT
"""The symptom of all wrong output of a replacer, which one cause may make in many ways."""
_OCTETS = 1 << 20
"""About how many octets make a batch."""
_FAULTS = 8
"""After so many failures of its process a target is asked no more."""


@dataclass(frozen=True, slots=True)
class Question:
    """Octets, and the circumstances in which they are given to a decoder."""

    octets: bytes
    earlier: tuple[bytes, ...] = ()
    """What the same decoder was given before: the chunks of another stream, or the inputs of earlier calls."""
    chunks: tuple[int, ...] | None = None
    """The lengths of a stream's chunks; None for a whole input."""
    address: int | None = None
    """The address of the first octet, modulo 64; None if it is not known."""

    @classmethod
    def of(cls, vector: Vector) -> Question:
        """The question that a vector asks."""
        return cls(vector.octets, vector.earlier or (), vector.chunks)


class OutOfBudget(Exception):
    """The examination has asked what it may ask."""


def symptom_of(code: str) -> str:
    """The symptom of a finding's code: accepted defects are one."""
    return ACCEPTS if code in DEFECTS else code


def between(known: Mapping[int, bool]) -> list[int]:
    """The numbers halfway between neighbours of which one is answered wrongly, and the other rightly."""
    return [
        (one + other) // 2 for one, other in pairwise(sorted(known)) if known[one] != known[other] and other - one > 1
    ]


class Asker:
    """Asks one open target by one operation."""

    def __init__(self, target: Target, profile: Profile, operation: str, *, questions: int, octets: int) -> None:
        """Prepare.

        Args:
            target: open.
            profile: what it is measured by, as the target says itself.
            operation: one that it offers.
            questions: the most questions to ask it.
            octets: the most octets in them.
        """
        self.target, self.profile, self.operation = target, profile, operation
        self.questions, self.octets = questions, octets
        self.asked = 0
        self._faults = 0
        self._limits = limits_of(target.greeting)
        self.earlier: tuple[bytes, ...] = ()
        """What is asked right before each question, if answers depend on that."""
        self._oracle: ColumnarOracle | None = None
        if operation in VALIDATE + DECODE:
            try:
                expected = expectation(profile, target.greeting, operation)
            except TargetError:  # it can only be judged singly
                return
            size = target.greeting.units_of(operation).size
            self._oracle = ColumnarOracle(expected, profile.dialect.layout, size)

    @property
    def left(self) -> int:
        """The number of questions that may still be asked."""
        return self.questions - self.asked

    @contextmanager
    def reserving(self, share: float) -> Generator[None]:
        """Keep a share of what is left for later; a block that would need it breaks off."""
        questions, octets = int(self.left * share), int(self.octets * share)
        self.questions -= questions
        self.octets -= octets
        try:
            with suppress(OutOfBudget):
                yield
        finally:
            self.questions += questions
            self.octets += octets

    @property
    def streams(self) -> bool:
        """True if it is asked streams."""
        return self.operation in STREAMING + AGAIN

    def ask(self, questions: Sequence[Question]) -> list[str]:
        """The symptom of each answer.

        Raises:
            OutOfBudget: there are too many questions.
            BudgetSpent: the target fails too often.
            TargetError: it cannot be asked any more.
        """
        found = list[str]()
        for some in self._parts(questions):
            self._spend(some)
            if self._oracle is not None:
                found += self._in_columns(some, self._oracle)
            elif self.operation in REPLACING and not self.streams and not self.profile.own_mode:
                found += self._replaced(some)
            else:
                found += (RIGHT if each is None else symptom_of(each.code) for each in self._surely(some))
        return found

    def finding(self, question: Question) -> Finding | None:
        """What is wrong with the answer to one question."""
        self.asked += 1
        (found,) = self._singly([question])
        return found

    def findings(self, questions: Sequence[Question]) -> list[Finding | None]:
        """What is wrong with the answer to each question, but for what only a control could confirm.

        Raises:
            OutOfBudget, BudgetSpent, TargetError: as :meth:`ask`.
        """
        said = list["Finding | None"]()
        for some in self._parts(questions):
            self._spend(some)
            said += self._surely(some)
        return said

    def says_offsets(self) -> bool:
        """True if a refusal of the target names an offset."""
        self.asked += 1
        asked = [(Batch.of([self.vector(Question(b"a\xff"))]), self.operation)]
        for answered in self.target.observe(asked):
            (seen,) = answered.observed(self.target.greeting)
            return isinstance(seen, Refused) and seen.offset is not None
        return False

    def _spend(self, questions: Sequence[Question]) -> None:
        octets = sum(len(each.octets) for each in questions)
        if len(questions) > self.left or octets > self.octets or self._faults > _FAULTS:
            raise OutOfBudget
        self.asked += len(questions)
        self.octets -= octets

    def _parts(self, questions: Sequence[Question]) -> list[Sequence[Question]]:
        parts: list[Sequence[Question]] = []
        start = size = 0
        for end, each in enumerate(questions, 1):
            size += len(each.octets)
            if size >= _OCTETS or end == len(questions):
                parts.append(list(questions[start:end]))
                start, size = end, 0
        return parts

    def _in_columns(self, questions: Sequence[Question], oracle: ColumnarOracle) -> list[str]:
        strings, chosen = list[bytes](), list[int]()
        for each in questions:
            strings += each.earlier or self.earlier
            chosen.append(len(strings))
            strings.append(each.octets)
        found = list[str]()
        for answered in self.target.observe([(Batch.of_strings("input", strings), self.operation)]):
            batch = answered.batch
            self._faults += len(answered.faults)
            right = oracle.expected(batch.lengths, batch.octets)
            judged = oracle.judge(answered.answers, right, 0, faults=answered.faults)
            kinds = judged.kinds.tolist() if judged.kinds is not None else [AGREES] * len(batch)
            found += (_SYMPTOMS.get(kind, RIGHT) for kind in kinds)
        return [RIGHT if self.is_limited(strings[place]) else found[place] for place in chosen]

    def _replaced(self, questions: Sequence[Question]) -> list[str]:
        """The symptoms of answers with replacements: any other output than the right one is the same symptom."""
        found, units = list[str](), self.target.greeting.units_of(self.operation)
        for answered in self.target.observe([(Batch.of(list(map(self.vector, questions))), self.operation)]):
            self._faults += len(answered.faults)
            expected = answered.batch.expected(self.operation, units)
            said, right = (each.observations(units, verdict_only=False) for each in (answered.answers, expected))
            for place, (observed, wanted) in enumerate(zip(said, right, strict=True)):
                if place in answered.faults:
                    found.append(FAULTS.get(type(answered.faults[place]), RIGHT))
                else:
                    found.append(RIGHT if observed == wanted or isinstance(observed, Unsupported) else REPLACED)
        judged = zip(questions, found, strict=True)
        return [RIGHT if self.is_limited(each.octets) else symptom for each, symptom in judged]

    def is_limited(self, octets: bytes) -> bool:
        """True if the target says itself that it does not take these octets."""
        return affected(octets, self.operation, self._limits)

    def _singly(self, questions: Sequence[Question]) -> list[Finding | None]:
        vectors = [self.vector(each, str(number)) for number, each in enumerate(questions)]
        found: dict[str, Finding] = {}
        for answered in self.target.observe([(Batch.of(vectors), self.operation)] if vectors else []):
            self._faults += len(answered.faults)
            for each in compare_batch(answered, self.target.greeting):
                if not self.is_limited(each.vector.octets):
                    found.setdefault(each.vector.comment, replace(each, vector=replace(each.vector, comment="")))
        return [found.get(vector.comment) for vector in vectors]

    def _surely(self, questions: Sequence[Question]) -> list[Finding | None]:
        """The same without what only a control could confirm."""
        return [None if each is None or control_of(each) is not None else each for each in self._singly(questions)]

    def vector(self, question: Question, comment: str = "") -> Vector:
        """The question as a vector for the operation."""
        chunks = earlier = None
        if self.streams:
            chunks = question.chunks if question.chunks is not None else (len(question.octets),)
        if self.operation in AGAIN:
            earlier = question.earlier
        category = category_of(self.operation, question.octets, "input")
        return Vector(category, question.octets, comment, chunks=chunks, earlier=earlier, profile=self.profile)

"""Examines one divergence of many: chooses it and the operation, and explains it.

An explanation has the least example of a divergence, its condition, and how well that predicts.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from overlong.conformance.examination.asking import REPLACED, Asker, OutOfBudget, Question, symptom_of
from overlong.conformance.examination.condition import Condition
from overlong.conformance.examination.course import confirm, experiment, least_finding, telling
from overlong.conformance.examination.encoders import EncoderCourse, OfNumbers
from overlong.conformance.examination.functions import LONGEST, FunctionCourse, OfQuestions
from overlong.conformance.examination.inquiry import Inquiry
from overlong.conformance.examination.least import cause_of, shrunk
from overlong.conformance.examination.sentence import sentence_of
from overlong.conformance.examination.streams import StreamCourse
from overlong.conformance.examination.text import text_of
from overlong.conformance.oracle.compare import compare_batch
from overlong.conformance.oracle.finding import Why, id_of, share_of
from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.protocol.observation import EARLIEST, Accepted, Code, Failed, Refused
from overlong.conformance.protocol.wire import (
    AGAIN,
    ASK,
    BATCH,
    DECODE,
    ENCODING,
    GUARDED,
    IN_MEMORY,
    MEASURED,
    REPLACE,
    REPLACING,
    STREAMING,
    VALIDATE,
)
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.vector import RFC3629, Profile, Vector
from overlong.reference import DEFECTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from overlong.conformance.examination.rules import AnyCondition
    from overlong.conformance.examination.text import Text
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.oracle.target import Target
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.targets.limits import Limits
    from overlong.conformance.vectors.vector import Profile


GOOD = 0.99
"""The share of fresh questions that a rule must predict to count as one."""
_VAGUE = 0.95
"""A rule that predicts less of fresh inputs tells nothing apart."""


@dataclass(frozen=True)
class Explanation:
    """Why a decoder diverges."""

    finding: Finding | None
    """What is wrong with the least example; None if the decoder answers rightly when it is asked again."""
    condition: AnyCondition | None
    """When it diverges so; None if no experiment could be made, as of a crash or of a changing answer."""
    sentence: str
    predicted: int = 0
    """Of fresh questions, those that the condition predicted."""
    checked: int = 0
    """The fresh questions."""
    asked: int = 0
    """All questions that the examination took."""
    telling: Finding | None = None
    """An example that says more, if there is one."""
    operation: str = ""

    @property
    def example(self) -> bytes:
        """The octets of the least example."""
        return self.finding.vector.octets if self.finding is not None else b""

    @property
    def code(self) -> str:
        """The code of the divergence."""
        return self.finding.code if self.finding is not None else ""

    @property
    def share(self) -> float:
        """The share of fresh questions that the condition predicts."""
        return share_of(self.predicted, self.checked)

    @property
    def confirmed(self) -> bool:
        """True if the condition predicts nearly all fresh questions."""
        return self.condition is not None and self.share >= GOOD

    @property
    def recalls(self) -> bool:
        """True if an earlier call or stream is the cause."""
        return self.condition is not None and self.condition.recalls

    @property
    def id(self) -> str:
        """The condition's id; that of the code if there is none."""
        return self.condition.id if self.condition is not None else id_of(self.code).replace("D-", "C-")

    @property
    def why(self) -> Why:
        """What a bucket keeps of it; only if there is a condition."""
        assert self.condition is not None
        return Why(self.sentence, self.id, self.condition.to_json(), (self.predicted, self.checked))

    def united(self, other: Explanation) -> Explanation | None:
        """The explanation of a cause that two examinations explain in part; None if these are two causes."""
        if not isinstance(self.condition, Condition) or not isinstance(other.condition, Condition):
            return None
        condition = self.condition.united(other.condition)
        if condition is None or min(self.share, other.share) < _VAGUE:
            return None
        predicted, checked = self.predicted + other.predicted, self.checked + other.checked
        return replace(
            self,
            condition=condition,
            sentence=in_words(condition, self.code, predicted, checked),
            predicted=predicted,
            checked=checked,
            asked=self.asked + other.asked,
        )

    def among(self, causes: Iterable[Explanation]) -> tuple[int, Explanation] | None:
        """The place among known causes of the one of which this is a part, or all; and both as one. None: it is new."""
        for place, known in enumerate(causes):
            united = known if known.id == self.id else known.united(self)
            if united is not None:
                return place, united
        return None

    def joins(self, finding: Finding) -> bool:
        """True if the condition predicts another finding: then that belongs to the same cause."""
        if self.condition is None:
            return finding.code == self.code and finding.operation == self.operation
        return self.condition.predicts(self.code, finding)

    def takes(self, finding: Finding) -> bool:
        """True if another finding belongs to the same cause: the condition predicts it, or it resembles the example."""
        if self.condition is None or self.finding is None:
            return self.joins(finding)
        return takes(self.condition, self.finding, self.share, finding)

    def to_json(self) -> dict[str, object]:
        """The explanation for files."""
        chunks = self.finding.vector.chunks if self.finding is not None else None
        return {
            "code": self.code,
            "id": self.id,
            "sentence": self.sentence,
            "operation": self.operation,
            "example": self.example.hex(),
            **({"chunks": list(chunks)} if chunks is not None else {}),
            **({"telling": self.telling.vector.octets.hex()} if self.telling is not None else {}),
            "condition": self.condition.to_json() if self.condition is not None else None,
            "confirmed": [self.predicted, self.checked],
            "asked": self.asked,
        }


def in_words(condition: AnyCondition, code: str, predicted: int, checked: int) -> str:
    """The sentence of a condition, marked if it predicts too few of the fresh questions.

    Args:
        condition: of any type.
        code: of the example.
        predicted: fresh questions.
        checked: all of them.
    """
    if isinstance(condition, OfNumbers | OfQuestions):
        sentence = condition.sentence
    else:
        assert isinstance(condition, Condition)
        sentence = sentence_of(condition, code)
    return f"nearly: {sentence}" if predicted < GOOD * checked else sentence


def condition_of(read: Mapping[str, Any]) -> AnyCondition:
    """The condition that :meth:`AnyCondition.kept` gave.

    Raises:
        ValueError, LookupError, TypeError: it is none.
    """
    kind = OfQuestions if "question" in read else OfNumbers if "numbers" in read else Condition
    return kind.of_json(read)


class Shown(Protocol):
    """What is read of the example of a cause."""

    @property
    def code(self) -> str: ...
    @property
    def operation(self) -> str: ...
    @property
    def place(self) -> str: ...
    @property
    def claim(self) -> str: ...


def takes(condition: AnyCondition, example: Shown, share: float, finding: Finding) -> bool:
    """True if a finding belongs to a cause: its condition predicts it, or it resembles the example."""
    return condition.predicts(example.code, finding) or resembles(finding, example, condition, share)


def resembles(finding: Finding, example: Shown, condition: AnyCondition, share: float) -> bool:
    """True if a finding belongs to a cause by its code and place, even if the condition does not predict it.

    A rule that predicts not quite all takes the others of the code and place of the example, too; one that predicts
    less, or a rule of streams, all of the code. Faults of memory and internal errors of one code are one cause, and so
    are output and refusals at a wrong time at one place.

    Args:
        finding: another finding of the same target.
        example: the examined one.
        condition: what explains that.
        share: of fresh questions, that the condition predicted.
    """
    if finding.claim == example.claim == EARLIEST and (finding.place == example.place or condition.withholds):
        return True
    if share >= GOOD and example.operation not in IN_MEMORY and example.code != Code.INTERNAL_ERROR:
        return False
    vague = share < GOOD and (share < _VAGUE or condition.streams)
    return finding.code == example.code and (vague or finding.place == example.place)


EXAMINED = DECODE + VALIDATE + REPLACE + STREAMING + AGAIN + ENCODING + GUARDED + ASK
"""The operations whose answers are examined so far."""
_OF_PLACE = (Code.PLACE_IN_MEMORY, Code.EARLIER_CALLS)
"""What an examination of memory finds in answers: the other operations show it, too."""
_ORDER = DECODE + VALIDATE + REPLACE
MOST = 12
"""The most examinations of a run. Seconds would give another certificate on a slower machine."""
UNSTEADY = (Code.UNSTABLE, Code.IN_COMPANY)
"""The codes of answers that vary: an earlier call may be the cause, and hardly anything else that can be learned."""
_TELLING: tuple[Sequence[str], ...] = (
    (Code.READ_BEFORE_START, Code.READ_PAST_END, Code.WRITTEN_OUTSIDE, Code.LEFT_UNWRITTEN, Code.INPUT_WRITTEN),
    (Code.EARLIER_CALLS, Code.PLACE_IN_MEMORY, *UNSTEADY),
    (Code.REFUSED,),
    (*DEFECTS,),
    (Code.SCALARS, Code.INTERNAL_ERROR),
    (Code.REPLACEMENT_TEXT,),
    (Code.REPLACEMENT_COUNT,),
    (Code.OFFSET,),
    (Code.LENGTH, Code.INCOMPLETE),
    (Code.CHUNKING,),
    (Code.STREAM_OFFSET, Code.LATE, Code.HELD_BACK, Code.EARLY),
    (Code.SCALAR_REFUSED,),
    (Code.SURROGATE_ENCODED, Code.BEYOND_ENCODED, Code.WRONG_OCTETS, Code.ENCODER_REPLACEMENT),
    (Code.REFUSAL_PLACE, Code.SIZE),
    (Code.QUESTION_REFUSED,),
    (Code.CHARACTER_CUT, Code.OUT_OF_RANGE),
    (Code.WRONG_COUNT, Code.WRONG_BOUNDARY, Code.WRONG_LENGTH, Code.WRONG_STEP, Code.WRONG_INDEX),
    (Code.WRONG_CONVERSION,),
)
"""The codes that are examined. What one says may explain those after it: memory, what a reader loses, what is merely
counted or placed otherwise, and when answers come."""
_IN_STREAMS = (Code.CHUNKING, Code.STREAM_OFFSET, Code.LATE, Code.HELD_BACK, Code.EARLY)
"""The codes of what chunks cause."""
_RANKS = {str(code): rank for rank, codes in enumerate(_TELLING) for code in codes}


class Budget(NamedTuple):
    """What an examination may cost a target."""

    questions: int
    octets: int
    longest: int
    """The most octets of a string."""
    fresh: int
    """The fresh questions of the last check."""
    fine: bool
    """True if all octets and all lengths can be tried."""


_FUNCTION = Budget(40_000, 32 << 20, 1 << 18, 2000, fine=True)
_WITH_OUTPUT = Budget(40_000, 10 << 20, 1 << 18, 2000, fine=True)
_IN_BATCHES = Budget(12_000, 1 << 20, 1 << 14, 500, fine=True)
_SINGLY = Budget(1000, 1 << 18, 1 << 10, 100, fine=False)
_OF_NUMBERS = 4
"""An encoder is given so many times the octets: its numbers have four, and are read quickly."""
_STARTED = Budget(80, 1 << 16, 256, 20, fine=False)
_AS_LONG, _AT_MOST = 240, 16 << 20
"""What is asked in batches may be asked so many strings as long as the example, up to so many octets in all."""


def budget_of(greeting: Greeting, operation: str, size: int) -> Budget:
    """Thousands of questions for a function, hundreds for an adapter, tens for a program that starts each time.

    Args:
        greeting: of the target.
        operation: to be examined.
        size: the octets of the example.
    """
    if GUARDED in greeting.operations:
        return _FUNCTION if operation in VALIDATE else _WITH_OUTPUT
    if "slow" in greeting.traits:
        return _STARTED
    if BATCH not in greeting.operations:
        return _SINGLY
    octets, longest = max(_IN_BATCHES.octets, min(size * _AS_LONG, _AT_MOST)), max(_IN_BATCHES.longest, 2 * size)
    return _IN_BATCHES._replace(octets=octets, longest=longest)


def examine(
    target: str | Sequence[str],
    octets: bytes,
    *,
    chunks: tuple[int, ...] | None = None,
    earlier: tuple[bytes, ...] = (),
    address: int | None = None,
    operation: str = "",
    profile: Profile = RFC3629,
    limits: Limits | None = None,
) -> Explanation:
    """Why a target answers some octets wrongly.

    Args:
        target: named as on the command line.
        octets: an input that it answers wrongly.
        chunks: of a stream, the lengths of its chunks.
        earlier: what the same decoder was given before: the chunks of another stream, or the inputs of earlier calls.
        address: the address of the first octet modulo 64, if the answer depends on it.
        operation: the letter of the operation; empty for the first one that shows a divergence.
        profile: what the target is measured by.
        limits: of its processes.

    Raises:
        TargetError: the target cannot be measured.
    """
    question = Question(octets, earlier, chunks, address)
    opened = resolve(target, limits)
    opened.open()
    try:
        wanted = operation if operation in EXAMINED.replace(GUARDED, "") else ""
        for each in wanted or _fitting(opened.greeting, question):
            found = explained(opened, question, each, profile)
            if found is not None:
                return found
        return Explanation(None, None, "answers rightly")
    finally:
        opened.close()


def _fitting(greeting: Greeting, question: Question) -> str:
    """The operations to try, the most telling first."""
    streams = AGAIN + STREAMING if question.earlier else STREAMING
    return "".join(each for each in (_ORDER if question.chunks is None else streams) if each in greeting.operations)


def explained(target: Target, question: Question, operation: str, profile: Profile = RFC3629) -> Explanation | None:
    """Why an open target answers a question wrongly by one operation; None if it answers rightly.

    Raises:
        TargetError: the target cannot be measured.
    """
    greeting = target.greeting
    if operation not in greeting.operations:
        raise TargetError(f"{target.id}: it does not offer {operation}")
    budget = budget_of(greeting, operation, len(question.octets))
    profile = profile.as_said(greeting)
    octets = budget.octets * (_OF_NUMBERS if operation in ENCODING else 1)
    asker = Asker(target, profile, operation, questions=budget.questions, octets=octets)
    guarded = _in_memory(target, question, profile) if operation in _ORDER else None
    if guarded is not None and guarded.code not in _OF_PLACE:  # what it causes depends on memory that is not its own
        return _unexplained(asker, guarded)
    finding = asker.finding(question) or guarded
    cause = cause_of(finding, lambda each: asker.finding(Question.of(each))) if finding is not None else None
    if cause is not None:
        finding = cause
        question = Question.of(cause.vector)
    if operation in ENCODING:
        return None if finding is None else _of_encoder(asker, question, finding)
    if operation == ASK:
        return None if finding is None else _of_function(asker, finding, budget)
    if operation in STREAMING + AGAIN:
        return None if finding is None else _of_stream(asker, question, finding, text_of(profile.dialect))
    if finding is None or isinstance(finding.observed, Accepted | Refused | Failed):
        place = None
        if finding is not None and isinstance(finding.observed, Refused) and profile.counts == "octets":
            place = finding.observed.offset
        offsets = operation in DECODE + VALIDATE and profile.counts == "octets" and asker.says_offsets()
        inquiry = Inquiry(asker, text_of(profile.dialect), offsets=offsets, fine=budget.fine, most=budget.longest)
        if question.chunks is None:
            asker.earlier = question.earlier
        if guarded is not None and guarded.code == Code.PLACE_IN_MEMORY:
            inquiry.in_memory()
        found = _by_course(inquiry, question, finding, place, budget)
        if found is not None or finding is None:
            return found
    return _unexplained(asker, finding)


def _unexplained(asker: Asker, finding: Finding) -> Explanation:
    """The least example of what experiments cannot explain: of a crash, say."""
    if finding.operation != asker.operation:  # memory is examined by an operation of its own
        asker = Asker(asker.target, asker.profile, finding.operation, questions=asker.left, octets=asker.octets)

    def ask(vectors: Sequence[Vector]) -> list[Finding | None]:
        try:
            return asker.findings(list(map(Question.of, vectors)))
        except BudgetSpent as spent:
            raise OutOfBudget from spent

    return _found(asker, shrunk(finding, ask)[0])


def _of_encoder(asker: Asker, question: Question, finding: Finding) -> Explanation:
    condition, predicted, checked = None, 0, 0
    course = EncoderCourse(asker, symptom_of(finding.code))
    with suppress(OutOfBudget):
        condition, predicted, checked = course.run(question)
        if condition is not None:
            finding = asker.finding(course.question(course.least)) or finding
    return _found(asker, finding, condition, predicted, checked)


def _of_function(asker: Asker, finding: Finding, budget: Budget) -> Explanation:
    course = FunctionCourse(asker, finding, budget.fresh)
    if len(course.asked.text) > LONGEST:  # each experiment would read a text as long, character by character
        return _found(asker, finding)
    with suppress(OutOfBudget):
        condition, predicted, checked = course.run()
        return _found(asker, course.finding, condition, predicted, checked)
    return _found(asker, course.finding)


def _of_stream(asker: Asker, question: Question, finding: Finding, text: Text) -> Explanation:
    condition, predicted, checked = None, 0, 0
    course = StreamCourse(asker, text, symptom_of(finding.code))
    with suppress(OutOfBudget):
        condition, predicted, checked = course.run(question)
    if condition is None:
        return _unexplained(asker, finding)
    least, more = course.examples(condition)
    found = _found(asker, finding if least is None else asker.finding(least) or finding, condition, predicted, checked)
    return replace(found, telling=asker.finding(more) if more is not None else None)


def _found(
    asker: Asker,
    finding: Finding | None,
    condition: AnyCondition | None = None,
    predicted: int = 0,
    checked: int = 0,
) -> Explanation:
    code = finding.code if finding is not None else ""
    sentence = finding.title if finding is not None else ""
    if condition is not None:
        sentence = in_words(condition, code, predicted, checked)
    return Explanation(finding, condition, sentence, predicted, checked, asker.asked, operation=asker.operation)


def _by_course(
    inquiry: Inquiry, question: Question, finding: Finding | None, place: int | None, budget: Budget
) -> Explanation | None:
    """The explanation by experiments with whole inputs; None if the example does not show it again."""
    asker, condition = inquiry.asker, experiment(inquiry, question.octets, place)
    if condition is None:
        return None
    predicted, checked = confirm(inquiry, budget.fresh)
    least = least_finding(inquiry)
    if condition.symptom == REPLACED and least is not None and asker.operation in REPLACING:
        condition = replace(condition, symptom=least.code)
    found = _found(asker, least or finding, condition, predicted, checked)
    return replace(found, telling=telling(inquiry, least))


def _in_memory(target: Target, question: Question, profile: Profile) -> Finding | None:
    """What an examination of memory finds: it is named before what it causes."""
    if GUARDED not in target.greeting.operations or question.chunks is not None:
        return None
    batch = Batch.of([Vector("input", question.octets, profile=profile)])
    for answered in target.observe([(batch, GUARDED)]):
        return next(compare_batch(answered, target.greeting), None)
    return None


def is_examinable(code: str, operation: str) -> bool:
    """True if experiments may tell why an answer to this operation diverges so."""
    whole = operation in STREAMING and code not in _IN_STREAMS
    return code in _RANKS and (operation in EXAMINED or whole)


def rank(code: str, operation: str) -> tuple[int, int]:
    """The place of a divergence in the order of examinations; only of one that is examinable."""
    return _RANKS[code], MEASURED.index(operation)


def why(finding: Finding, target: Target, profile: Profile) -> Explanation | None:
    """Examine an examinable finding; None if the target answers rightly when it is asked again.

    Raises:
        BudgetSpent: the target fails too often.
        TargetError: it cannot be asked any more.
    """
    vector, operation = finding.vector, finding.operation
    question = Question.of(vector)
    if operation == GUARDED or (operation in STREAMING and finding.code not in _IN_STREAMS):
        # memory is examined beside answers, and what does not depend on chunks is examined without
        whole = REPLACE if operation in REPLACING else VALIDATE + DECODE + REPLACE
        operation = next((each for each in whole if each in target.greeting.operations), "")
        question = Question(vector.octets)
    return explained(target, question, operation, profile) if operation else None

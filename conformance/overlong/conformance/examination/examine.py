"""Examines one divergence of many: chooses it and the operation, and returns the explanation."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.examination.asking import REPLACED, Asker, OutOfBudget, Question, symptom_of
from overlong.conformance.examination.consequence import cause_of
from overlong.conformance.examination.course import confirm, experiment, least_finding, telling
from overlong.conformance.examination.encoders import EncoderCourse, TextCourse
from overlong.conformance.examination.explanation import Explanation, in_words
from overlong.conformance.examination.functions import LONGEST, FunctionCourse
from overlong.conformance.examination.inquiry import Inquiry
from overlong.conformance.examination.shrinking import shrunk
from overlong.conformance.examination.streams import StreamCourse
from overlong.conformance.examination.text import text_of
from overlong.conformance.oracle.compare import compare_batch
from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.protocol.observation import Accepted, Code, Failed, Refused
from overlong.conformance.protocol.wire import (
    AGAIN,
    ASK,
    BATCH,
    DECODE,
    ENCODING,
    GUARDED,
    MEASURED,
    REPLACE,
    REPLACING,
    STREAMING,
    VALIDATE,
)
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.profile import RFC3629, Profile
from overlong.conformance.vectors.vector import Vector
from overlong.reference import DEFECTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.examination.condition import AnyCondition
    from overlong.conformance.examination.text import Text
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.oracle.target import Target
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.targets.limits import Limits
    from overlong.conformance.vectors.profile import Profile

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
    with suppress(OutOfBudget):
        course, symptom = EncoderCourse(asker, symptom_of(finding.code)), symptom_of(finding.code)
        condition, predicted, checked = course.run(question.octets)
        least = [first for first, _ in condition.runs[:1]] if condition is not None else []
        if condition is None or not condition.holds(question):
            texts = TextCourse(asker, symptom)
            condition, predicted, checked = texts.run(question.octets)
            least = texts.least
        if condition is not None:
            finding = asker.finding(course.question(least)) or finding
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
